//! Moves as the engines store them, 16 bits: converted here and nowhere else.
//!
//! Layouts from the public sources of Apery (`move.hpp`), YaneuraOu (`types.h`) and rshogi
//! (`migrate_psv_move16`); all put the target in bits 0–6 and number the pieces in hand P L N S B R G from 1.

use kyokumen_shogi::{HandKind, Move, Square};
use thiserror::Error;

/// Who wrote the 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dialect {
    /// Origin in bits 7–13, where a drop is 80 + piece; promotion in bit 14. Used by `hcpe`; found in
    /// `psv` files that were made from others without a look at the moves, where it is known as C.
    Apery,
    /// Origin in bits 7–13, where a drop is the piece with bit 14 set; promotion in bit 15. Used by
    /// `psv`, where it is known as A.
    YaneuraOu,
    /// As Apery's, but a drop is 81 + piece: `psv` files of older tools of rshogi, known as B.
    Rshogi,
}

/// Bits that are no move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{bits:#06x} is no move")]
pub struct MalformedMove {
    /// The bits as stored.
    pub bits: u16,
}

/// How all of them write "no move".
pub const NONE: u16 = 0;

/// Kinds in the numbering of all of them, from 1.
const KINDS: [HandKind; HandKind::COUNT] = [
    HandKind::Pawn,
    HandKind::Lance,
    HandKind::Knight,
    HandKind::Silver,
    HandKind::Bishop,
    HandKind::Rook,
    HandKind::Gold,
];

const ORIGIN_SHIFT: u32 = 7;
const SQUARE_MASK: u16 = 0x7f;
const APERY_DROP_BASE: u16 = 80;
const RSHOGI_DROP_BASE: u16 = 81;
const APERY_PROMOTION: u16 = 1 << 14;
const YANEURAOU_DROP: u16 = 1 << 14;
const YANEURAOU_PROMOTION: u16 = 1 << 15;

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 3] = [Self::Apery, Self::YaneuraOu, Self::Rshogi];

    /// The word on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apery => "apery",
            Self::YaneuraOu => "yaneuraou",
            Self::Rshogi => "rshogi",
        }
    }

    /// The dialect with this [`Dialect::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Reads a stored move; [`NONE`] is `None`.
    ///
    /// Only the bits are judged here, not whether the move can be played.
    ///
    /// # Errors
    /// [`MalformedMove`] for a square off the board, a piece that cannot be held, bits that are always
    /// clear, a promotion of a dropped piece, or a move that stays where it is (engines mark null moves
    /// and resignations so).
    ///
    /// ```
    /// use kyokumen_format::move16::Dialect;
    /// let m = Dialect::Apery.decode(0x460b).unwrap().unwrap();
    /// assert_eq!(m.to_string(), "2d2c+");
    /// assert_eq!(Dialect::YaneuraOu.encode(m), 0x860b);
    /// ```
    pub fn decode(self, bits: u16) -> Result<Option<Move>, MalformedMove> {
        if bits == NONE {
            return Ok(None);
        }
        let decoded = match self {
            Self::Apery => decode_by_origin(bits, APERY_DROP_BASE),
            Self::Rshogi => decode_by_origin(bits, RSHOGI_DROP_BASE),
            Self::YaneuraOu => decode_yaneuraou(bits),
        };
        decoded.map(Some).ok_or(MalformedMove { bits })
    }

    /// Writes a move; "no move" is [`NONE`].
    pub fn encode(self, m: Move) -> u16 {
        let to = u16::from(m.to().number());
        let promotion = match self {
            Self::Apery | Self::Rshogi => APERY_PROMOTION,
            Self::YaneuraOu => YANEURAOU_PROMOTION,
        };
        if let Some(from) = m.from() {
            let flags = if m.is_promotion() { promotion } else { 0 };
            return to | u16::from(from.number()) << ORIGIN_SHIFT | flags;
        }
        let number = m.dropped().map_or(0, kind_number);
        match self {
            Self::Apery => to | (APERY_DROP_BASE + number) << ORIGIN_SHIFT,
            Self::Rshogi => to | (RSHOGI_DROP_BASE + number) << ORIGIN_SHIFT,
            Self::YaneuraOu => to | number << ORIGIN_SHIFT | YANEURAOU_DROP,
        }
    }
}

/// Drops are origins behind the board.
fn decode_by_origin(bits: u16, drop_base: u16) -> Option<Move> {
    let (to, origin) = (target(bits)?, origin(bits));
    if bits & !(SQUARE_MASK | SQUARE_MASK << ORIGIN_SHIFT | APERY_PROMOTION) != 0 {
        return None;
    }
    let promotion = bits & APERY_PROMOTION != 0;
    if origin <= drop_base {
        return board_move(origin, to, promotion);
    }
    drop(origin - drop_base, to, promotion)
}

fn decode_yaneuraou(bits: u16) -> Option<Move> {
    let (to, origin) = (target(bits)?, origin(bits));
    let promotion = bits & YANEURAOU_PROMOTION != 0;
    if bits & YANEURAOU_DROP == 0 {
        return board_move(origin, to, promotion);
    }
    drop(origin, to, promotion)
}

fn target(bits: u16) -> Option<Square> {
    Square::new((bits & SQUARE_MASK) as u8)
}

const fn origin(bits: u16) -> u16 {
    bits >> ORIGIN_SHIFT & SQUARE_MASK
}

fn board_move(origin: u16, to: Square, promotion: bool) -> Option<Move> {
    let from = Square::new(origin as u8)?;
    (from != to).then(|| Move::new(from, to, promotion))
}

fn drop(number: u16, to: Square, promotion: bool) -> Option<Move> {
    let kind = *KINDS.get(usize::from(number).checked_sub(1)?)?;
    (!promotion).then(|| Move::drop(kind, to))
}

const fn kind_number(kind: HandKind) -> u16 {
    match kind {
        HandKind::Pawn => 1,
        HandKind::Lance => 2,
        HandKind::Knight => 3,
        HandKind::Silver => 4,
        HandKind::Bishop => 5,
        HandKind::Rook => 6,
        HandKind::Gold => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values as the engines' own sources compute them.
    #[test]
    fn literal_moves() {
        for (usi, apery, yaneuraou, rshogi) in [
            ("P*5e", 0x28a8, 0x40a8, 0x2928),
            ("2d2c+", 0x460b, 0x860b, 0x460b),
            ("7g7f", 0x1e3b, 0x1e3b, 0x1e3b),
            ("2g2f", 0x078e, 0x078e, 0x078e),
            ("G*1a", 0x2b80, 0x4380, 0x2c00),
            ("B*9i", 0x2ad0, 0x42d0, 0x2b50),
        ] {
            let m = Move::from_usi(usi).unwrap();
            for (dialect, bits) in Dialect::ALL.into_iter().zip([apery, yaneuraou, rshogi]) {
                assert_eq!(dialect.encode(m), bits, "{usi}");
                assert_eq!(dialect.decode(bits), Ok(Some(m)));
            }
        }
    }

    /// All 65,536 values: what is accepted is written back as it was, and every move is accepted.
    #[test]
    fn every_move_has_one_value() {
        for dialect in Dialect::ALL {
            let moves = (0..=u16::MAX)
                .filter(|&bits| match dialect.decode(bits) {
                    Ok(Some(m)) => {
                        assert_eq!(dialect.encode(m), bits, "{m}");
                        true
                    }
                    Ok(None) => false,
                    Err(error) => {
                        assert_eq!(error.bits, bits);
                        false
                    }
                })
                .count();
            assert_eq!(moves, 81 * 80 * 2 + 81 * 7);
        }
    }

    #[test]
    fn marks_that_are_no_moves_are_told_apart_from_none() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.decode(0), Ok(None));
            assert_eq!(dialect.decode(0xffff), Err(MalformedMove { bits: 0xffff }));
            // A move from 1b to 1b: the engines' null move.
            assert_eq!(dialect.decode(0x81), Err(MalformedMove { bits: 0x81 }));
        }
    }
}
