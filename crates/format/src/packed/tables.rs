//! Tables indexed by the next bits of a packed position. An entry holds all codes that are complete within these bits.
//!
//! The compiler computes them from [`Alphabet`]. A family takes 88 KiB for the board and 10 KiB for pieces off the
//! board. Real positions use about a tenth of that, which fits in the second-level cache.

use kyokumen_shogi::byte_board::{EMPTY, NUMBERS, number};
use kyokumen_shogi::{Color, Hand, HandKind, Piece, PieceKind};

use super::super::alphabet::{APERY, Alphabet, Code, PieceOwner, YANEURAOU};
use super::sum::PackedSum;

/// Index bits of a step on the board. With 11 a position takes 7 % longer. With 13 it takes 1 % less, but the tables
/// are twice as large.
pub(super) const BOARD_BITS: u32 = 12;
/// Maximum number of squares in a step: the number of bytes in a word.
pub(super) const STEP_SQUARES: usize = 8;
/// Number of steps that fit in 64 bits.
pub(super) const BOARD_STEPS: usize = 5;
/// Index bits of a step off the board.
pub(super) const OFF_BOARD_BITS: u32 = 9;
/// Number of steps off the board between two checks of progress. Enough for most hands.
pub(super) const OFF_BOARD_STEPS: usize = 4;

const BOARD_WINDOWS: usize = 1 << BOARD_BITS;
const OFF_BOARD_WINDOWS: usize = 1 << OFF_BOARD_BITS;

pub(super) struct Tables {
    pub(super) board: BoardSteps,
    pub(super) off_board: OffBoardSteps,
    /// The contribution of a square, by the number of its content. Kings are stored separately and contribute nothing.
    pub(super) squares: [PackedSum; NUMBERS],
    /// The codes of squares.
    pub(super) codes: [u8; NUMBERS],
    /// Copies of codes, by owner and kind.
    pub(super) copies: [[Copies; HandKind::COUNT]; 3],
}

/// Steps on the board, by index bits. A step is up to eight squares with complete codes.
pub(super) struct BoardSteps {
    pub(super) sums: [PackedSum; BOARD_WINDOWS],
    /// Numbers of the contents of the squares, followed by zeros.
    pub(super) contents: [[u8; STEP_SQUARES]; BOARD_WINDOWS],
    /// The same squares in the other code. It has the same number of bits.
    pub(super) translated: [u16; BOARD_WINDOWS],
    /// The end of each square in bits, four bits each.
    ends: [u32; BOARD_WINDOWS],
}

/// Steps off the board, by index bits. A step is a sequence of pieces with complete codes. It is empty if the first
/// code is invalid or incomplete.
pub(super) struct OffBoardSteps {
    pub(super) sums: [PackedSum; OFF_BOARD_WINDOWS],
    /// The pieces that the hands gain.
    pub(super) held: [PackedHands; OFF_BOARD_WINDOWS],
    /// The same pieces in the other code. It has the same number of bits.
    pub(super) translated: [u16; OFF_BOARD_WINDOWS],
    pub(super) ranks: [Ranks; OFF_BOARD_WINDOWS],
}

/// Both hands: [`Hand::bits`] of Black in the lower half, of White in the upper half.
#[derive(Clone, Copy)]
pub(super) struct PackedHands(u64);

impl PackedHands {
    pub(super) const NOTHING: Self = Self(0);

    /// Invalid bits may overflow. They are rejected later.
    #[inline]
    pub(super) const fn plus(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The hand of `color`. The caller ensures that both hands are within the set.
    #[inline]
    pub(super) const fn of(self, color: Color) -> Hand {
        Hand::from_bits((self.0 >> (32 * color as u32)) as u32)
    }
}

/// Places of the first and the last piece of a step in canonical order, from 1.
#[derive(Clone, Copy)]
pub(super) struct Ranks {
    /// 0 if the step itself is not in canonical order.
    pub(super) first: u8,
    pub(super) last: u8,
}

/// Repeated code of a piece off the board.
#[derive(Clone, Copy)]
pub(super) struct Copies {
    /// As many copies as a set has.
    bits: u64,
    len: u8,
}

impl Copies {
    /// The code `count` times, and its length.
    #[inline]
    pub(super) const fn take(self, count: u8) -> (u64, usize) {
        let len = self.len as usize * count as usize;
        (self.bits & ((1 << len) - 1), len)
    }
}

pub(super) static APERY_TABLES: Tables = Tables::new(&APERY, &YANEURAOU);
pub(super) static YANEURAOU_TABLES: Tables = Tables::new(&YANEURAOU, &APERY);

impl Tables {
    const fn new(alphabet: &Alphabet, other: &Alphabet) -> Self {
        let codes = codes(alphabet);
        let squares = squares(&codes);
        Self {
            board: BoardSteps::new(&codes, &squares, other),
            off_board: OffBoardSteps::new(alphabet, other),
            squares,
            codes: bits(&codes),
            copies: copies(alphabet),
        }
    }
}

impl BoardSteps {
    /// The end, in bits, of the first `count` squares of a step.
    #[inline]
    pub(super) const fn end(&self, index: usize, count: usize) -> u8 {
        (self.ends[index] >> (4 * (count - 1) % 32) & 15) as u8
    }

    #[expect(clippy::large_stack_arrays, reason = "used at compile time only")]
    const fn new(
        codes: &[Code; NUMBERS],
        squares: &[PackedSum; NUMBERS],
        other: &Alphabet,
    ) -> Self {
        let translations = self::codes(other);
        let numbers = numbers_by_prefix(codes);
        let mut steps = Self {
            sums: [PackedSum::ZERO; BOARD_WINDOWS],
            contents: [[EMPTY; STEP_SQUARES]; BOARD_WINDOWS],
            translated: [0; BOARD_WINDOWS],
            ends: [0; BOARD_WINDOWS],
        };
        let mut window = 0;
        while window < BOARD_WINDOWS {
            let mut end = 0;
            let mut count = 0;
            while count < STEP_SQUARES {
                let number = numbers[window >> end & (PREFIXES - 1)] as usize;
                if end + codes[number].len > BOARD_BITS as u8 {
                    break;
                }
                steps.sums[window] = steps.sums[window].plus(squares[number]);
                steps.contents[window][count] = number as u8;
                steps.translated[window] |= (translations[number].bits as u16) << end;
                end += codes[number].len;
                steps.ends[window] |= (end as u32) << (4 * count);
                count += 1;
            }
            window += 1;
        }
        steps
    }
}

/// Number of windows of the longest code.
const PREFIXES: usize = 1 << 8;

/// The number whose code is at the start of a window. The codes of the board cover all windows.
const fn numbers_by_prefix(codes: &[Code; NUMBERS]) -> [u8; PREFIXES] {
    let mut numbers = [EMPTY; PREFIXES];
    let mut number = 0;
    while number < NUMBERS {
        let code = codes[number];
        let mut window = code.bits as usize;
        while code.len > 0 && window < PREFIXES {
            numbers[window] = number as u8;
            window += 1 << code.len;
        }
        number += 1;
    }
    numbers
}

/// Codes of squares. Kings have none.
const fn codes(alphabet: &Alphabet) -> [Code; NUMBERS] {
    let mut codes = [Code { bits: 0, len: 0 }; NUMBERS];
    codes[EMPTY as usize].len = 1;
    let mut i = 0;
    while i < 2 * PieceKind::COUNT {
        let piece = Piece::new(Color::ALL[i % 2], PieceKind::ALL[i / 2]);
        if let Some(code) = alphabet.on_board(piece) {
            codes[number(piece) as usize] = code;
        }
        i += 1;
    }
    codes
}

const fn bits(codes: &[Code; NUMBERS]) -> [u8; NUMBERS] {
    let mut bits = [0; NUMBERS];
    let mut number = 0;
    while number < NUMBERS {
        bits[number] = codes[number].bits;
        number += 1;
    }
    bits
}

const fn squares(codes: &[Code; NUMBERS]) -> [PackedSum; NUMBERS] {
    let mut squares = [PackedSum::ZERO; NUMBERS];
    squares[EMPTY as usize] = PackedSum::SQUARE.plus(PackedSum::bits(1));
    let mut i = 0;
    while i < 2 * PieceKind::COUNT {
        let piece = Piece::new(Color::ALL[i % 2], PieceKind::ALL[i / 2]);
        let number = number(piece) as usize;
        if let Some(kind) = piece.kind.hand_kind() {
            let bits = PackedSum::bits(codes[number].len);
            squares[number] = PackedSum::SQUARE.plus(PackedSum::piece(kind)).plus(bits);
        }
        i += 1;
    }
    squares
}

impl OffBoardSteps {
    const fn new(alphabet: &Alphabet, other: &Alphabet) -> Self {
        let mut steps = Self {
            sums: [PackedSum::ZERO; OFF_BOARD_WINDOWS],
            held: [PackedHands::NOTHING; OFF_BOARD_WINDOWS],
            translated: [0; OFF_BOARD_WINDOWS],
            ranks: [Ranks { first: NO_RANK, last: NO_RANK }; OFF_BOARD_WINDOWS],
        };
        let mut window = 0;
        while window < OFF_BOARD_WINDOWS {
            let mut end = 0;
            while let Some((kind, holder)) = first_held(alphabet, window >> end)
                && end + alphabet.off_board(kind, holder).len <= OFF_BOARD_BITS as u8
            {
                let len = alphabet.off_board(kind, holder).len;
                let sum = PackedSum::piece(kind).plus(PackedSum::bits(len));
                steps.sums[window] = steps.sums[window].plus(sum);
                steps.held[window] = steps.held[window].plus(held(kind, holder));
                steps.translated[window] |= (other.off_board(kind, holder).bits as u16) << end;
                let rank = 1 + holder as u8 * HandKind::COUNT as u8 + kind as u8;
                steps.ranks[window] = steps.ranks[window].then(rank);
                end += len;
            }
            window += 1;
        }
        steps
    }
}

/// The rank of a step without pieces: after all other ranks.
const NO_RANK: u8 = u8::MAX;

impl Ranks {
    const fn then(self, rank: u8) -> Self {
        let first = match (self.first, self.last) {
            (NO_RANK, NO_RANK) => rank,
            (first, last) if last <= rank => first,
            _ => 0,
        };
        Self { first, last: rank }
    }
}

const fn held(kind: HandKind, holder: PieceOwner) -> PackedHands {
    let one = Hand::EMPTY.with_count(kind, 1).bits() as u64;
    match holder {
        PieceOwner::Black => PackedHands(one),
        PieceOwner::White => PackedHands(one << 32),
        PieceOwner::Box => PackedHands::NOTHING,
    }
}

/// The piece off the board whose code is at the start of a window.
const fn first_held(alphabet: &Alphabet, window: usize) -> Option<(HandKind, PieceOwner)> {
    let mut i = 0;
    while i < 3 * HandKind::COUNT {
        let (kind, holder) = (HandKind::ALL[i / 3], PieceOwner::ALL[i % 3]);
        let code = alphabet.off_board(kind, holder);
        if window & ((1 << code.len) - 1) == code.bits as usize {
            return Some((kind, holder));
        }
        i += 1;
    }
    None
}

const fn copies(alphabet: &Alphabet) -> [[Copies; HandKind::COUNT]; 3] {
    let mut copies = [[Copies { bits: 0, len: 0 }; HandKind::COUNT]; 3];
    let mut i = 0;
    while i < 3 * HandKind::COUNT {
        let kind = HandKind::ALL[i / 3];
        let code = alphabet.off_board(kind, PieceOwner::ALL[i % 3]);
        let copies = &mut copies[i % 3][i / 3];
        copies.len = code.len;
        let mut count = 0;
        while count < HandKind::SET[i / 3] {
            copies.bits |= (code.bits as u64) << (code.len * count);
            count += 1;
        }
        i += 1;
    }
    copies
}
