//! A key for comparing positions: board, hands and side to move in 32 bytes.
//!
//! The bytes are Apery's packed position in canonical form (`docs/formats/packed.md`), so the key does not depend on
//! the format that a position comes from.

use kyokumen_shogi::{Board, Color, Piece, PieceKind, Setup, Square};

use super::error::DecodeError;
use super::spec::Codec;
use super::transcode::Lookahead;
use super::{Format, packed};
use crate::packed::family::Family;
use crate::record_ref::RecordRef;

/// Equal for equal positions only. The ply does not matter.
///
/// ```
/// use kyokumen_format::{Format, PositionKey, RecordRef};
/// use kyokumen_shogi::{Setup, sfen::START};
/// let setup: Setup = START.parse().unwrap();
/// let record = RecordRef::new(Format::Sfen, START.as_bytes()).unwrap();
/// assert_eq!(PositionKey::of(&setup), record.position_key().unwrap());
/// assert_eq!(PositionKey::of(&setup), PositionKey::of(&setup.with_ply(40)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PositionKey([u8; packed::LEN]);

/// First bit of each king's square number in the first two bytes.
const KING_SHIFTS: [u32; 2] = [1, 8];

impl PositionKey {
    /// The key of a position.
    pub fn of(setup: &Setup) -> Self {
        let packed = packed::encode(Family::Apery, setup);
        Self(packed.unwrap_or_else(|_| without_a_king(setup)))
    }

    /// The bytes.
    pub const fn bytes(&self) -> &[u8; packed::LEN] {
        &self.0
    }
}

impl RecordRef<'_> {
    /// The key of the position.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not a position, or use more than one set of pieces.
    pub fn position_key(&self) -> Result<PositionKey, DecodeError> {
        self.position_key_with_lookahead((&mut Lookahead::default(), &|| &[]))
    }

    /// Like [`RecordRef::position_key`], for consecutive records. `next` returns the bytes after this record.
    ///
    /// # Errors
    /// The errors of [`RecordRef::position_key`].
    pub fn position_key_with_lookahead<'a>(
        &self,
        (lookahead, next): (&mut Lookahead, &dyn Fn() -> &'a [u8]),
    ) -> Result<PositionKey, DecodeError> {
        match self.packed() {
            Some((family, bytes)) => {
                lookahead.rewrite((family, Family::Apery), bytes, next).map(PositionKey)
            }
            None => self.setup().map(|setup| PositionKey::of(&setup)),
        }
    }
}

/// The keys of consecutive packed records. Processes two records at a time, which is faster than one by one. `None` if
/// a record is invalid or the format is not packed.
pub fn position_keys_of_row(
    format: Format,
    row: &[u8],
    each: &mut dyn FnMut(&PositionKey),
) -> Option<()> {
    let Codec::Packed(layout) = &format.spec().codec else { return None };
    let rewrite_two = match layout.family {
        Family::Apery => |both| packed::canonical_two(Family::Apery, both),
        Family::YaneuraOu => |both| packed::transcode_two(Family::YaneuraOu, both),
    };
    let mut records = row.chunks_exact(layout.len).map(<[u8]>::first_chunk);
    while let Some(first) = records.next() {
        let first = first?;
        match records.next() {
            Some(second) => {
                let [first, second] = rewrite_two([first, second?]);
                each(&PositionKey(first?));
                each(&PositionKey(second?));
            }
            None => each(&PositionKey(rewrite_two([first, first])[0]?)),
        }
    }
    Some(())
}

/// The bytes of a position without one of the kings, which would take 257 bits. The king is put on the first empty
/// square, and 81 is added to the number of that square. The sum stays below 128 because 39 pieces fill at most the
/// squares below number 39.
pub(crate) fn without_a_king(setup: &Setup) -> [u8; packed::LEN] {
    let color = if setup.king(Color::Black).is_none() { Color::Black } else { Color::White };
    let mut board = Board::from(setup.board());
    let empty = Square::all()
        .find(|square| board[square.index()].is_none())
        .expect("a set has 40 pieces, the board 81 squares");
    board[empty.index()] = Some(Piece::new(color, PieceKind::King));
    let setup = Setup::new(board, setup.hands(), setup.side_to_move(), setup.ply())
        .expect("the position has at most one king per side");
    let mut bytes = packed::encode(Family::Apery, &setup).expect("both kings are on the board");
    let shifted_header = u16::from_le_bytes([bytes[0], bytes[1]])
        + ((Square::COUNT as u16) << KING_SHIFTS[color.index()]);
    bytes[..2].copy_from_slice(&shifted_header.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::{Format, HandOrder, reference};
    use kyokumen_shogi::Position;
    use kyokumen_shogi::random_play::RandomPlay;

    fn key(sfen: &str) -> PositionKey {
        let setup: Setup = sfen.parse().unwrap_or_else(|error| panic!("{sfen}: {error}"));
        PositionKey::of(&setup)
    }

    #[test]
    fn keys_are_equal_for_equal_positions_only() {
        let mut keys: HashMap<String, PositionKey> = HashMap::new();
        for game in RandomPlay::new(5, 120).take(20) {
            let mut position = Position::start();
            for m in game.moves {
                position.make(m);
                let setup = position.setup();
                let text = setup.clone().with_ply(1).to_string();
                let key = PositionKey::of(&setup);
                assert_eq!(*keys.entry(text).or_insert(key), key);
            }
        }
        let mut distinct: Vec<&PositionKey> = keys.values().collect();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), keys.len());
        assert!(keys.len() > 500);
    }

    #[test]
    fn all_parts_of_a_position_except_the_ply_affect_the_key() {
        let base = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1";
        assert_eq!(key(base), key("4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 8"));
        for other in [
            "4k4/9/4P4/9/9/9/9/9/4K4 w G2r2b3g4s4n4l17p 1",
            "4k4/9/4P4/9/9/9/9/9/4K4 b 2r2b4g4s4n4l17p 1",
            // One pawn fewer on the board and in hand: it is in the box.
            "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l16p 1",
            "4k4/9/4+P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
            "4k4/9/4p4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
            "4k4/9/3P5/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1",
            "4k4/9/4P4/9/9/9/9/9/3K5 b G2r2b3g4s4n4l17p 1",
        ] {
            assert_ne!(key(other), key(base), "{other}");
        }
    }

    /// Square numbers begin at 1a, where a missing king is put.
    #[test]
    fn a_missing_king_differs_from_a_king_on_the_first_empty_square() {
        let keys = [
            "4k4/9/9/9/9/9/9/9/9 b G 1",
            "4k3K/9/9/9/9/9/9/9/9 b G 1",
            "4K4/9/9/9/9/9/9/9/9 b G 1",
            "4K3k/9/9/9/9/9/9/9/9 b G 1",
            "4K4/9/9/9/9/9/9/9/8g b - 1",
        ]
        .map(key);
        for (i, key) in keys.iter().enumerate() {
            assert!(!keys[..i].contains(key), "{i}");
        }
    }

    /// 38 pieces and a king fill the first 39 squares. The missing king gets square number 39, which is 120 in the key.
    #[test]
    fn the_shifted_square_of_the_fullest_board_fits_in_seven_bits() {
        let file = |from: u8| (0..9).map(move |rank| from * 9 + rank);
        let mut board = [None; Square::COUNT];
        let mut kinds = Vec::new();
        for (kind, copies) in PieceKind::ALL.into_iter().zip([18, 4, 4, 4, 4, 2, 2, 1]) {
            kinds.extend(std::iter::repeat_n(kind, copies));
        }
        let squares = (0..5).flat_map(file);
        for (square, kind) in squares.zip(kinds) {
            board[usize::from(square)] = Some(Piece::new(Color::Black, kind));
        }
        let hands = [kyokumen_shogi::Hand::EMPTY; 2];
        let setup = Setup::new(board, hands, Color::Black, 1).unwrap();
        let bytes = *PositionKey::of(&setup).bytes();
        assert_eq!(u16::from_le_bytes([bytes[0], bytes[1]]) >> 8 & 0x7f, 39 + 81);
        // The bit after the number belongs to the first square, which has a pawn.
        assert_eq!(bytes[1] >> 7, 1);
    }

    #[test]
    fn keys_of_a_row_equal_the_keys_of_its_records() {
        for format in [Format::Hcp, Format::Hcpe, Format::Psv] {
            let len = format.record_len().unwrap();
            let mut row = Vec::new();
            for game in RandomPlay::new(5, 60).take(3) {
                let mut position = Position::start();
                for m in game.moves {
                    position.make(m);
                }
                let setup = position.setup();
                let family = if format == Format::Psv { Family::YaneuraOu } else { Family::Apery };
                let order = HandOrder::ALL[row.len() / len % HandOrder::ALL.len()];
                let packed = reference::encode_in_order(family, &setup, order.kinds()).unwrap();
                row.extend_from_slice(&packed);
                row.resize(row.len().next_multiple_of(len), 0);
            }
            for records in 0..=3 {
                let row = &row[..records * len];
                let mut keys = Vec::new();
                position_keys_of_row(format, row, &mut |key| keys.push(*key)).unwrap();
                let one_by_one = row
                    .chunks(len)
                    .map(|record| RecordRef::new(format, record).unwrap().position_key().unwrap());
                assert_eq!(keys, one_by_one.collect::<Vec<_>>(), "{format}");
                // An invalid position in any record is detected.
                for record in 0..records {
                    let mut row = row.to_vec();
                    row[record * len..][..32].fill(0xff);
                    assert_eq!(position_keys_of_row(format, &row, &mut |_| ()), None);
                }
            }
        }
        assert_eq!(position_keys_of_row(Format::Sfen, b"", &mut |_| ()), None);
    }

    #[test]
    fn keys_do_not_depend_on_format_or_hand_order() {
        let text = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
        let setup: Setup = text.parse().unwrap();
        let expected = PositionKey::of(&setup);
        for order in HandOrder::ALL {
            for (family, format) in [(Family::Apery, Format::Hcp), (Family::YaneuraOu, Format::Psv)]
            {
                let mut bytes =
                    reference::encode_in_order(family, &setup, order.kinds()).unwrap().to_vec();
                bytes.resize(format.record_len().unwrap(), 0);
                let record = RecordRef::new(format, &bytes).unwrap();
                assert_eq!(record.position_key(), Ok(expected));
            }
        }
    }
}
