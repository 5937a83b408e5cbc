//! The fields that a record may have besides its position, and sets of them.
//!
//! `--fill` and the conversion reports use these names.

use std::fmt;

/// One kind of content besides the position.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Field {
    /// The move that was played or recommended.
    BestMove,
    /// The evaluation in centipawns, from the side to move.
    EvalCp,
    /// The move number of the next move, from 1.
    Ply,
    /// Who won the game.
    Result,
    /// Why the game ended, other than by mate or resignation.
    Ending,
    /// The number of the last move of the game.
    EndPly,
    /// Moves that a search tried, with their visits.
    Candidates,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 7] = [
        Self::BestMove,
        Self::EvalCp,
        Self::Ply,
        Self::Result,
        Self::Ending,
        Self::EndPly,
        Self::Candidates,
    ];

    /// The name in `--fill` and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BestMove => "move",
            Self::EvalCp => "eval",
            Self::Ply => "ply",
            Self::Result => "result",
            Self::Ending => "ending",
            Self::EndPly => "end_ply",
            Self::Candidates => "candidates",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A set of [`Field`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Fields(u8);

impl Fields {
    /// No field.
    pub const NONE: Self = Self(0);
    /// All fields.
    pub const ALL: Self = Self((1 << Field::ALL.len()) - 1);

    /// The set of these fields.
    pub const fn of_all(fields: &[Field]) -> Self {
        let mut set = Self::NONE;
        let mut i = 0;
        while i < fields.len() {
            set = set.union(Self::of(fields[i]));
            i += 1;
        }
        set
    }

    /// The set of one field.
    pub const fn of(field: Field) -> Self {
        Self(1 << field as u8)
    }

    /// Whether the field is in the set.
    pub const fn contains(self, field: Field) -> bool {
        self.0 & Self::of(field).0 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Fields of `self` that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Fields of either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Fields of both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Number of different sets.
    pub const COUNT: usize = 1 << Field::ALL.len();

    /// Number of the set, below [`Fields::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The set with this number. `None` if the number is too large.
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::COUNT { Some(Self(index as u8)) } else { None }
    }

    /// The fields in the order of [`Field::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |&field| self.contains(field))
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(fields: I) -> Self {
        fields.into_iter().fold(Self::NONE, |set, field| set.union(Self::of(field)))
    }
}

impl fmt::Display for Fields {
    /// Names separated by commas, or `none` for the empty set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (i, field) in self.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            f.write_str(field.name())?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fields({self})")
    }
}
