//! Decodes packed positions several squares and pieces at a time.

use kyokumen_shogi::{Hand, HandKind, Square};

use crate::packed::sum::PackedSum;
use crate::packed::tables::{
    BOARD_BITS, BOARD_STEPS, BoardSteps, OFF_BOARD_BITS, OFF_BOARD_STEPS, OffBoardSteps, Tables,
};
use crate::packed::words::{BITS, LEN, Words};

/// Bits of the side to move and the kings.
#[inline]
pub(crate) fn header(bytes: &[u8; LEN]) -> u64 {
    u64::from(u16::from_le_bytes([bytes[0], bytes[1]]) & 0x7fff)
}

/// Squares of the kings, Black's first. `None` if they are equal or off the board.
#[inline]
pub(crate) fn kings(bytes: &[u8; LEN]) -> Option<[Square; 2]> {
    let header = header(bytes);
    let black = Square::new((header >> 1 & 0x7f) as u8)?;
    let white = Square::new((header >> 8) as u8)?;
    (black != white).then_some([black, white])
}

/// Takes as many steps on the board as one load of bits allows. Calls `step` with each step and the sum before it. A
/// step that fills the board is returned for [`last_step`].
#[inline]
pub(crate) fn board_steps(
    steps: &BoardSteps,
    words: &Words,
    sum: &mut PackedSum,
    mut step: impl FnMut(usize, PackedSum),
) -> Option<usize> {
    let mut window = words.window(sum.bit());
    for _ in 0..BOARD_STEPS {
        let index = (window % (1 << BOARD_BITS)) as usize;
        let next = sum.plus(steps.sums[index]);
        if next.fills_board() {
            return Some(index);
        }
        step(index, *sum);
        *sum = next;
        window = steps.sums[index].shift_out(window);
    }
    None
}

/// Cuts a step down to the squares that are left on the board. Returns the sum after it, and the index of the step
/// followed by empty squares.
#[inline]
pub(crate) fn last_step(steps: &BoardSteps, sum: PackedSum, index: usize) -> (PackedSum, usize) {
    let bits = steps.end(index, sum.squares_left());
    let index = index % (1 << bits);
    (sum.plus_last(steps.sums[index], bits), index)
}

/// Takes some steps off the board. Calls `step` with each step and the sum before it. Returns whether there may be
/// more. Invalid bits do not advance the sum, so such a position never becomes whole.
#[inline]
pub(crate) fn off_board_steps(
    steps: &OffBoardSteps,
    words: &Words,
    sum: &mut PackedSum,
    mut step: impl FnMut(usize, PackedSum),
) -> bool {
    let start = *sum;
    let mut window = words.window(sum.bit());
    for _ in 0..OFF_BOARD_STEPS {
        let index = (window % (1 << OFF_BOARD_BITS)) as usize;
        step(index, *sum);
        *sum = sum.plus(steps.sums[index]);
        window = steps.sums[index].shift_out(window);
    }
    sum.bit() < BITS && *sum != start
}

/// Kinds whose copies fit in one word together, in canonical order.
pub(crate) const KINDS_PER_WORD: [&[HandKind]; 3] = [
    &[HandKind::Pawn],
    &[HandKind::Lance, HandKind::Knight, HandKind::Silver],
    &[HandKind::Gold, HandKind::Bishop, HandKind::Rook],
];

/// Writes hands and box in canonical order, after `board`.
#[inline]
pub(crate) fn write_off_board(
    tables: &Tables,
    words: &mut Words,
    board: PackedSum,
    [black, white]: [Hand; 2],
) {
    let piece_box = board.off_board().minus(black).minus(white);
    let mut bit = board.bit();
    for (held, copies) in [black, white, piece_box].into_iter().zip(&tables.copies) {
        if held.is_empty() {
            continue;
        }
        for kinds in KINDS_PER_WORD {
            let (mut bits, mut len) = (0, 0);
            for &kind in kinds {
                let (copies, copies_len) = copies[kind.index()].take(held.count(kind));
                bits |= copies << len;
                len += copies_len;
            }
            words.put(bit, bits);
            bit += len;
        }
    }
}
