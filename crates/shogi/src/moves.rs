//! A move of shogi in 16 bits.
//!
//! `format::move16` converts the move encodings of engines.

use std::fmt;
use std::num::NonZeroU16;

use super::piece::HandKind;
use super::square::Square;

/// A move of a piece on the board, or a drop. Only the position knows the kind of a piece that moves.
///
/// Bits 0–6 are the target square, bits 7–13 the origin square or 81 + kind in hand, bit 14 is promotion. Bit 15 is
/// always set, so that `Option<Move>` is no larger than `Move`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move(NonZeroU16);

const PROMOTION: u16 = 1 << 14;
const ALWAYS: NonZeroU16 = NonZeroU16::new(1 << 15).expect("not zero");

impl Move {
    /// Creates a move of the piece on `from` to `to`.
    #[inline]
    pub const fn new(from: Square, to: Square, promotion: bool) -> Self {
        let bits = to.number() as u16 | (from.number() as u16) << 7 | (promotion as u16) << 14;
        Self(NonZeroU16::new(bits | ALWAYS.get()).expect("bit 15 is set"))
    }

    /// Creates a drop of a piece in hand on `to`.
    #[inline]
    pub const fn drop(kind: HandKind, to: Square) -> Self {
        let bits = to.number() as u16 | (81 + kind as u16) << 7;
        Self(NonZeroU16::new(bits | ALWAYS.get()).expect("bit 15 is set"))
    }

    /// The target square.
    #[inline]
    pub const fn to(self) -> Square {
        Square::from_bit((self.0.get() & 0x7f) as u32)
    }

    /// The origin square; `None` for a drop.
    #[inline]
    pub const fn from(self) -> Option<Square> {
        Square::new(((self.0.get() >> 7) & 0x7f) as u8)
    }

    /// The kind of the dropped piece; `None` for a move on the board.
    #[inline]
    pub const fn dropped(self) -> Option<HandKind> {
        let origin = (self.0.get() >> 7) & 0x7f;
        if origin < 81 { None } else { Some(HandKind::ALL[(origin - 81) as usize]) }
    }

    /// Whether the piece promotes.
    #[inline]
    pub const fn is_promotion(self) -> bool {
        self.0.get() & PROMOTION != 0
    }

    /// Whether the piece comes from the hand.
    #[inline]
    pub const fn is_drop(self) -> bool {
        (self.0.get() >> 7) & 0x7f >= 81
    }

    /// The same move on a board with left and right exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        let to = self.to().mirrored();
        match (self.from(), self.dropped()) {
            (Some(from), _) => Self::new(from.mirrored(), to, self.is_promotion()),
            (None, Some(kind)) => Self::drop(kind, to),
            (None, None) => self,
        }
    }

    /// The move as 16 bits.
    #[inline]
    pub const fn code(self) -> NonZeroU16 {
        self.0
    }

    /// The move with this [code](Self::code).
    pub(crate) fn from_code(code: u16) -> Option<Self> {
        let m = Self(NonZeroU16::new(code).filter(|code| code.get() & ALWAYS.get() != 0)?);
        let (to, origin) = (code & 0x7f, code >> 7 & 0x7f);
        let is_sound = match origin {
            0..81 => to != origin,
            _ => origin < 81 + HandKind::COUNT as u16 && !m.is_promotion(),
        };
        (to < 81 && is_sound).then_some(m)
    }

    /// Reads USI notation: `7g7f`, `2d2c+`, `P*5e`.
    ///
    /// ```
    /// use kyokumen_shogi::Move;
    /// assert_eq!(Move::from_usi("2d2c+").unwrap().to_string(), "2d2c+");
    /// assert!(Move::from_usi("P*5j").is_none());
    /// ```
    pub fn from_usi(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        match text {
            [letter, b'*', square @ ..] => {
                Some(Self::drop(HandKind::from_letter(*letter)?, Square::from_usi(square)?))
            }
            [a, b, to @ ..] => {
                let (to, promotion) = match to {
                    [to @ .., b'+'] => (to, true),
                    to => (to, false),
                };
                let (from, to) = (Square::from_usi(&[*a, *b])?, Square::from_usi(to)?);
                (from != to).then(|| Self::new(from, to, promotion))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Move {
    /// USI notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = self.dropped() {
            write!(f, "{}*{}", char::from(kind.piece_kind().letter()), self.to())
        } else if let Some(from) = self.from() {
            let promotion = if self.is_promotion() { "+" } else { "" };
            write!(f, "{from}{}{promotion}", self.to())
        } else {
            unreachable!("an origin is a square or a hand")
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usi_text_round_trips() {
        for text in ["7g7f", "2d2c+", "P*5e", "R*9i", "1a9i+"] {
            assert_eq!(Move::from_usi(text).map(|m| m.to_string()).as_deref(), Some(text));
        }
        for text in ["", "7g", "7g7", "7g7g", "K*5e", "p*5e", "7g7f*", "P*", "7g7f++", "P*5e+"] {
            assert_eq!(Move::from_usi(text), None, "{text}");
        }
    }

    #[test]
    fn mirroring_exchanges_left_and_right() {
        for (text, mirrored) in [("7g7f", "3g3f"), ("2d2c+", "8d8c+"), ("P*5e", "P*5e")] {
            let moved = Move::from_usi(text).unwrap().mirrored();
            assert_eq!(moved.to_string(), mirrored);
            assert_eq!(moved.mirrored().to_string(), text);
        }
    }

    #[test]
    fn an_option_of_a_move_has_two_bytes() {
        assert_eq!(size_of::<Option<Move>>(), 2);
    }
}
