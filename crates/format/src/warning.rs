//! Warnings: unusual properties of a readable record. They are counted and never reject a record.
//!
//! The names are keys of reports and manifests and never change.

use std::fmt;

use kyokumen_shogi::sfen::SfenWarning;
use kyokumen_shogi::{Move, SetupWarning};

use super::move16::MalformedMove;

/// One unusual property of a record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
#[non_exhaustive]
pub enum Warning {
    /// Two unpromoted pawns of one side on one file.
    TwoPawns,
    /// A pawn, lance or knight that can never move again.
    DeadPiece,
    /// The side to move could capture the king. Search commands quarantine such records.
    OpponentInCheck,
    /// The stored move is 0, "no move".
    MoveNone,
    /// The bits of the stored move are not a move.
    MoveMalformed,
    /// The stored move is illegal in the position.
    MoveIllegal,
    /// The stored result is unknown. The record has no result.
    ResultOutOfRange,
    /// The result byte has flags besides the result.
    ResultFlags,
    /// The move number is 0.
    PlyZero,
    /// The move number is 65,535, probably an overflow of its counter.
    PlyMax,
    /// The ply column and the SFEN have different move numbers. The column is used.
    PlyMismatch,
    /// An SFEN without a move number.
    PlyMissing,
    /// An SFEN in a spelling that other programs may not read.
    SfenSpelling,
    /// An SFEN with only one king, as in mate problems. Packed formats cannot store it.
    KingMissing,
    /// An SFEN with fewer pieces than a set, other than the start of a handicap game.
    PiecesMissing,
    /// Padding bytes are not zero. Ignored: real archives have private bits there.
    PaddingNotZero,
    /// The evaluation needs more than 16 bits. The record has no evaluation.
    EvalOutOfRange,
    /// The reader skipped unknown lines of the game. Counted on the first record of the game.
    LinesSkipped,
    /// A rescaled evaluation is beyond the largest one that is not a mate, and is written as that.
    EvalLimited,
}

impl Warning {
    /// All warnings.
    pub const ALL: [Self; 19] = [
        Self::TwoPawns,
        Self::DeadPiece,
        Self::OpponentInCheck,
        Self::MoveNone,
        Self::MoveMalformed,
        Self::MoveIllegal,
        Self::ResultOutOfRange,
        Self::ResultFlags,
        Self::PlyZero,
        Self::PlyMax,
        Self::PlyMismatch,
        Self::PlyMissing,
        Self::SfenSpelling,
        Self::KingMissing,
        Self::PiecesMissing,
        Self::PaddingNotZero,
        Self::EvalOutOfRange,
        Self::LinesSkipped,
        Self::EvalLimited,
    ];

    /// The key in reports: `snake_case`, stable.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoPawns => "two_pawns",
            Self::DeadPiece => "dead_piece",
            Self::OpponentInCheck => "opponent_in_check",
            Self::MoveNone => "move_none",
            Self::MoveMalformed => "move_malformed",
            Self::MoveIllegal => "move_illegal",
            Self::ResultOutOfRange => "result_out_of_range",
            Self::ResultFlags => "result_flags",
            Self::PlyZero => "ply_zero",
            Self::PlyMax => "ply_max",
            Self::PlyMismatch => "ply_mismatch",
            Self::PlyMissing => "ply_missing",
            Self::SfenSpelling => "sfen_spelling",
            Self::KingMissing => "king_missing",
            Self::PiecesMissing => "pieces_missing",
            Self::PaddingNotZero => "padding_not_zero",
            Self::EvalOutOfRange => "eval_out_of_range",
            Self::LinesSkipped => "lines_skipped",
            Self::EvalLimited => "eval_limited",
        }
    }

    /// The warning with this [`Warning::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|warning| warning.name() == name)
    }

    /// Whether the warning is only counted: it casts no doubt on the record.
    pub const fn is_harmless(self) -> bool {
        matches!(self, Self::PaddingNotZero)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<SetupWarning> for Warning {
    fn from(warning: SetupWarning) -> Self {
        match warning {
            SetupWarning::TwoPawns { .. } => Self::TwoPawns,
            SetupWarning::DeadPiece { .. } => Self::DeadPiece,
        }
    }
}

impl From<SfenWarning> for Warning {
    fn from(warning: SfenWarning) -> Self {
        match warning {
            SfenWarning::Keyword
            | SfenWarning::ByteOrderMark
            | SfenWarning::Separator
            | SfenWarning::SplitDigits
            | SfenWarning::HandSpelling => Self::SfenSpelling,
            SfenWarning::NoPly => Self::PlyMissing,
            SfenWarning::PlyZero => Self::PlyZero,
            SfenWarning::MissingKing => Self::KingMissing,
            SfenWarning::Incomplete => Self::PiecesMissing,
        }
    }
}

/// A set of [`Warning`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Warnings(u32);

impl Warnings {
    /// No warning.
    pub const NONE: Self = Self(0);

    /// Adds a warning.
    #[inline]
    pub const fn insert(&mut self, warning: Warning) {
        self.0 |= 1 << warning as u32;
    }

    /// Whether the warning is in the set.
    pub const fn contains(self, warning: Warning) -> bool {
        self.0 & 1 << warning as u32 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The warnings in the order of [`Warning::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Warning> {
        Warning::ALL.into_iter().filter(move |&warning| self.contains(warning))
    }

    pub(super) const fn of_stored_move(decoded: Result<Option<Move>, MalformedMove>) -> Self {
        let mut warnings = Self::NONE;
        match decoded {
            Ok(Some(_)) => {}
            Ok(None) => warnings.insert(Warning::MoveNone),
            Err(_) => warnings.insert(Warning::MoveMalformed),
        }
        warnings
    }
}

impl Extend<Warning> for Warnings {
    fn extend<I: IntoIterator<Item = Warning>>(&mut self, warnings: I) {
        for warning in warnings {
            self.insert(warning);
        }
    }
}

impl fmt::Debug for Warnings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Warning::name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_each_once_in_numeric_order() {
        for (i, warning) in Warning::ALL.into_iter().enumerate() {
            assert_eq!(warning as usize, i);
        }
        let mut names: Vec<&str> = Warning::ALL.map(Warning::name).into();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Warning::ALL.len());
    }
}
