//! Encodings of moves in 16 bits. The only place that converts them.
//!
//! The layouts come from the public sources of Apery (`move.hpp`), YaneuraOu (`types.h`) and rshogi
//! (`migrate_psv_move16`). All have the target square in bits 0–6 and number the pieces in hand P L N S B R G from 1.

use kyokumen_shogi::{HandKind, Move, Square};
use thiserror::Error;

/// The encoding of a move in 16 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dialect {
    /// Origin in bits 7–13; a drop has the origin 80 + piece; promotion in bit 14. Used by `hcpe`, and by `psv` files
    /// that were converted without recoding the moves (known as encoding C).
    Apery,
    /// Origin in bits 7–13; a drop has the piece there and bit 14 set; promotion in bit 15. Used by `psv` (known as
    /// encoding A).
    YaneuraOu,
    /// Like Apery's, but a drop has the origin 81 + piece. Used by `psv` files of older rshogi tools (known as encoding
    /// B).
    Rshogi,
}

/// Bits that do not encode a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{bits:#06x} is not a move")]
pub struct MalformedMove {
    /// The bits as stored.
    pub bits: u16,
}

/// "No move" in all encodings.
pub const NONE: u16 = 0;

/// Kinds by their number in all encodings, from 1.
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
    /// All encodings.
    pub const ALL: [Self; 3] = [Self::Apery, Self::YaneuraOu, Self::Rshogi];

    /// The name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apery => "apery",
            Self::YaneuraOu => "yaneuraou",
            Self::Rshogi => "rshogi",
        }
    }

    /// The encoding with this [`Dialect::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Decodes a stored move. [`NONE`] becomes `None`.
    ///
    /// Checks only the bits, not whether the move is legal.
    ///
    /// # Errors
    /// [`MalformedMove`] for a square outside the board, an unknown piece, set bits that must be clear, a promotion of
    /// a dropped piece, or equal origin and target (used by engines for null moves and resignations).
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

    /// Encodes a move. Write [`NONE`] for "no move".
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

/// Decodes an encoding where drops have origins above the squares of the board.
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

    /// Values computed from the engines' sources.
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

    /// All 65,536 values: each accepted value is encoded back to itself, and every move is accepted.
    #[test]
    fn every_move_has_exactly_one_encoding() {
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
    fn values_that_are_not_moves_are_distinguished_from_none() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.decode(0), Ok(None));
            assert_eq!(dialect.decode(0xffff), Err(MalformedMove { bits: 0xffff }));
            // A move from 1b to 1b: the engines' null move.
            assert_eq!(dialect.decode(0x81), Err(MalformedMove { bits: 0x81 }));
        }
    }
}
