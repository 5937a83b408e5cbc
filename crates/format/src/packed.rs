//! The fast codec of 32-byte packed positions. The tables of a family (Apery or YaneuraOu) define its encoding.
//!
//! `docs/formats/packed.md` describes the layout. [`super::reference`] explains why bytes are rejected.

pub(crate) mod family;
mod squares;
mod steps;
mod sum;
mod tables;
mod transcoding;
pub(crate) mod words;

use kyokumen_shogi::byte_board::NUMBERS;
use kyokumen_shogi::{Color, Setup};

use super::error::{DecodeError, EncodeError};
use super::reference;
use crate::packed::steps::{board_steps, kings, last_step, off_board_steps, write_off_board};
use squares::OtherSquares;
use sum::PackedSum;
use tables::{PackedHands, Tables};
use transcoding::{canonical_two_valid, canonical_valid, transcode_two_valid, transcode_valid};
use words::Words;

pub use crate::packed::words::LEN;
pub use family::Family;

/// Squares whose codes, of at most eight bits each, fit in a word.
const SQUARES_PER_WORD: usize = 8;

/// Decodes a packed position. It has no move number, so the number is set to 1.
///
/// # Errors
/// [`DecodeError`] if the kings are not on two squares of the board, if bits are missing or do not encode a piece, or
/// if board, hands and box do not contain exactly one set of pieces.
pub fn decode(family: Family, bytes: &[u8; LEN]) -> Result<Setup, DecodeError> {
    decode_with_ply(family, bytes, 1)
}

/// Like [`decode`], with a move number that is stored outside the packed position.
pub(super) fn decode_with_ply(
    family: Family,
    bytes: &[u8; LEN],
    ply: u16,
) -> Result<Setup, DecodeError> {
    match decode_valid(family.tables(), bytes, ply) {
        Some(setup) => Ok(setup),
        None => explain(family, bytes),
    }
}

/// Like [`decode`], without an error description, which takes much longer.
pub(super) fn decode_if_valid(family: Family, bytes: &[u8; LEN]) -> Option<Setup> {
    decode_valid(family.tables(), bytes, 1)
}

/// Encodes a packed position in canonical form: P L N S G B R in each hand and in the box.
///
/// # Errors
/// [`EncodeError::MissingKing`].
pub fn encode(family: Family, setup: &Setup) -> Result<[u8; LEN], EncodeError> {
    let tables = family.tables();
    let king = |color| match setup.king(color) {
        Some(king) => Ok(u64::from(king.number())),
        None => Err(EncodeError::MissingKing { color }),
    };
    let header = setup.side_to_move() as u64 | king(Color::Black)? << 1 | king(Color::White)? << 8;
    let mut words = Words::ZERO;
    words.put(0, header);
    let mut sum = PackedSum::HEADER;
    // No branch on empty squares: it would be unpredictable.
    let mut write = |squares: &[u8]| {
        let start = sum.bit();
        let mut bits = 0;
        for &number in squares {
            let number = usize::from(number) % NUMBERS;
            bits |= u64::from(tables.codes[number]) << (sum.bit() - start);
            sum = sum.plus(tables.squares[number]);
        }
        words.put(start, bits);
    };
    let (groups, rest) = setup.board().numbers().as_chunks::<SQUARES_PER_WORD>();
    for group in groups {
        write(group);
    }
    write(rest);
    write_off_board(tables, &mut words, sum, setup.hands());
    Ok(words.into_bytes())
}

/// The position in the code of the other family, in canonical form. Equal to [`encode`] after [`decode`], without a
/// board in between.
///
/// ```
/// use kyokumen_format::packed::{self, Family};
/// use kyokumen_shogi::Position;
/// let [hcp, psv] = Family::ALL.map(|f| packed::encode(f, &Position::start().setup()).unwrap());
/// assert_eq!(packed::transcode(Family::Apery, &hcp), Ok(psv));
/// assert_eq!(packed::transcode(Family::YaneuraOu, &psv), Ok(hcp));
/// ```
///
/// # Errors
/// The errors of [`decode`].
pub fn transcode(from: Family, bytes: &[u8; LEN]) -> Result<[u8; LEN], DecodeError> {
    match transcode_valid(from.tables(), from.other().tables(), bytes) {
        Some(transcoded) => Ok(transcoded),
        None => explain_rewriting(from, from.other(), bytes),
    }
}

/// Like [`transcode`], for two positions at once in three quarters of the time: the steps of one position run while the
/// other waits for its previous step. `None` for a position that `transcode` rejects.
pub fn transcode_two(from: Family, bytes: [&[u8; LEN]; 2]) -> [Option<[u8; LEN]>; 2] {
    transcode_two_valid(from.tables(), from.other().tables(), bytes)
}

/// The position in canonical form: pieces off the board in canonical order. Equal to [`encode`] after [`decode`].
///
/// # Errors
/// The errors of [`decode`].
pub fn canonical(family: Family, bytes: &[u8; LEN]) -> Result<[u8; LEN], DecodeError> {
    match canonical_valid(family.tables(), bytes) {
        Some(canonical) => Ok(canonical),
        None => explain_rewriting(family, family, bytes),
    }
}

/// Like [`canonical`], for two positions at once, in less time than one by one. `None` for a position that `canonical`
/// rejects.
pub fn canonical_two(family: Family, bytes: [&[u8; LEN]; 2]) -> [Option<[u8; LEN]>; 2] {
    canonical_two_valid(family.tables(), bytes)
}

/// The position. `None` if the bytes are invalid.
fn decode_valid(tables: &Tables, bytes: &[u8; LEN], ply: u16) -> Option<Setup> {
    let kings = kings(bytes)?;
    let words = Words::of(bytes);
    let mut squares = OtherSquares::ALL_EMPTY;
    let mut sum = PackedSum::HEADER;
    let last = loop {
        let last = board_steps(&tables.board, &words, &mut sum, |index, sum| {
            squares.write(sum.squares(), tables.board.contents[index]);
        });
        if let Some(index) = last {
            break index;
        }
    };
    let (mut end, index) = last_step(&tables.board, sum, last);
    squares.write(sum.squares(), tables.board.contents[index]);
    let mut held = PackedHands::NOTHING;
    while off_board_steps(&tables.off_board, &words, &mut end, |index, _| {
        held = held.plus(tables.off_board.held[index]);
    }) {}
    if end != PackedSum::WHOLE {
        return None;
    }
    let side_to_move = if bytes[0] & 1 == 0 { Color::Black } else { Color::White };
    let hands = Color::ALL.map(|color| held.of(color));
    Some(Setup::from_counted(squares.with_kings(kings), kings.map(Some), hands, side_to_move, ply))
}

/// Returns the error for bytes that the fast paths reject.
#[cold]
fn explain(family: Family, bytes: &[u8; LEN]) -> Result<Setup, DecodeError> {
    reference::decode(family, bytes)
}

#[cold]
fn explain_rewriting(
    from: Family,
    to: Family,
    bytes: &[u8; LEN],
) -> Result<[u8; LEN], DecodeError> {
    let setup = explain(from, bytes)?;
    Ok(encode(to, &setup).expect("a position that was decoded has both kings"))
}

#[cfg(test)]
mod tests {
    use bitvec::prelude::{BitVec, Lsb0};

    use super::super::alphabet::PieceOwner;
    use kyokumen_shogi::HandKind;

    use super::*;

    /// Kings on 5i and 5a, no other pieces on the board, and these pieces off the board in this order.
    fn bare_kings(family: Family, held: &[(HandKind, PieceOwner)]) -> [u8; LEN] {
        let mut bits: BitVec<u8, Lsb0> = BitVec::from_slice(&[0x58, 0x24]);
        let header_bits = PackedSum::HEADER.bit();
        bits.truncate(header_bits);
        bits.resize(header_bits + PackedSum::HEADER.squares_left(), false);
        for &(kind, holder) in held {
            let code = family.alphabet().off_board(kind, holder);
            bits.extend((0..code.len).map(|i| code.bits >> i & 1 != 0));
        }
        bits.into_vec().try_into().expect("38 pieces off the board fill 256 bits")
    }

    fn full_set(
        order: &[HandKind],
        holder: impl Fn(usize) -> PieceOwner,
    ) -> Vec<(HandKind, PieceOwner)> {
        let pieces = order
            .iter()
            .flat_map(|&kind| std::iter::repeat_n(kind, HandKind::SET[kind.index()].into()));
        pieces.enumerate().map(|(i, kind)| (kind, holder(i))).collect()
    }

    /// The orders of older YaneuraOu and of rshogi, and an order where hands and box alternate.
    #[test]
    fn pieces_in_hand_are_read_in_any_order() {
        use HandKind::{Bishop, Gold, Knight, Lance, Pawn, Rook, Silver};
        let orders = [
            HandKind::ALL,
            [Pawn, Lance, Knight, Silver, Bishop, Rook, Gold],
            [Rook, Bishop, Gold, Silver, Knight, Lance, Pawn],
        ];
        for family in Family::ALL {
            let canonical = bare_kings(family, &full_set(&HandKind::ALL, |_| PieceOwner::Black));
            let expected = decode(family, &canonical).unwrap();
            assert_eq!(expected.hands()[0].count(Pawn), 18);
            for order in orders {
                let bytes = bare_kings(family, &full_set(&order, |_| PieceOwner::Black));
                assert_eq!(decode(family, &bytes), Ok(expected.clone()), "{order:?}");
                assert_eq!(encode(family, &expected), Ok(canonical));
            }
            let mixed = bare_kings(family, &full_set(&orders[1], |i| PieceOwner::ALL[i % 3]));
            let setup = decode(family, &mixed).unwrap();
            assert_eq!(reference::decode(family, &mixed), Ok(setup.clone()));
            let total: u8 = HandKind::ALL
                .iter()
                .map(|&kind| {
                    let [black, white] = setup.hands();
                    black.count(kind) + white.count(kind) + setup.piece_box().count(kind)
                })
                .sum();
            assert_eq!(total, 38);
            assert_eq!([setup.hands()[0].count(Pawn), setup.hands()[1].count(Gold)], [6, 2]);
        }
    }
}
