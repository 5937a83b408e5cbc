//! The decoded content of a record, common to all formats.
//!
//! The modules of the formats convert bytes to it.

use kyokumen_shogi::{Move, Setup};

use super::error::EncodeError;
use super::field::{Field, Fields};
use super::warning::Warnings;
use crate::ending::Ending;
use crate::game_result::GameResult;
use crate::played::VisitedMove;

/// A decoded record. A field is `None` if the format or the record lacks it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The position. Its move number is [`Record::ply`], if known.
    pub setup: Setup,
    /// The move stored with the position. It may be illegal.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, from the side to move.
    pub eval_cp: Option<i16>,
    /// Move number of the next move, from 1.
    pub ply: Option<u16>,
    /// Result of the game.
    pub result: Option<GameResult>,
    /// Why the game ended, other than by mate or resignation.
    pub ending: Option<Ending>,
    /// Number of the last move of the game.
    pub end_ply: Option<u16>,
    /// Moves that a search tried, in the order of the writer.
    pub candidates: Vec<VisitedMove>,
    /// Whether the game marks the position as not to be used for training.
    pub is_not_for_training: bool,
}

impl Record {
    /// A record with a position only.
    pub const fn new(setup: Setup) -> Self {
        Self {
            setup,
            best_move: None,
            eval_cp: None,
            ply: None,
            result: None,
            ending: None,
            end_ply: None,
            candidates: Vec::new(),
            is_not_for_training: false,
        }
    }

    /// The mirror image of the record, including its moves: left and right of the board are exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self {
            setup: self.setup.mirrored(),
            best_move: self.best_move.map(Move::mirrored),
            candidates: self.candidates.into_iter().map(VisitedMove::mirrored).collect(),
            ..self
        }
    }

    /// Fields that have a value.
    pub fn fields(&self) -> Fields {
        let present = [
            (Field::BestMove, self.best_move.is_some()),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
            (Field::Ending, self.ending.is_some()),
            (Field::EndPly, self.end_ply.is_some()),
            // Positions that are not for training have 0 candidates, so the flag counts as this field.
            (Field::Candidates, !self.candidates.is_empty() || self.is_not_for_training),
        ];
        present.into_iter().filter_map(|(field, is_set)| is_set.then_some(field)).collect()
    }
}

/// A record of a format without fields at fixed offsets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parsed {
    pub(super) record: Record,
    /// Whether the record states its move, even if it is "no move".
    pub(super) states_move: bool,
    /// What is unusual about the bytes.
    pub(super) warnings: Warnings,
    /// The bytes of the record alone, if its chunk contains other records as well.
    pub(super) own_bytes: Option<Vec<u8>>,
    /// Whether it is the first readable record of a game.
    pub(super) starts_game: bool,
}

impl Parsed {
    /// The fields that the record states. An explicit "no move" counts as a field.
    pub(super) fn fields(&self) -> Fields {
        let fields = self.record.fields();
        if self.states_move { fields.union(Fields::of(Field::BestMove)) } else { fields }
    }

    /// Checks that the record states all fields of `needs`.
    pub(super) fn check(&self, needs: Fields) -> Result<(), EncodeError> {
        let fields = needs.without(self.fields());
        if fields.is_empty() { Ok(()) } else { Err(EncodeError::Missing { fields }) }
    }
}

impl From<Record> for Parsed {
    fn from(record: Record) -> Self {
        Self {
            states_move: record.best_move.is_some(),
            record,
            warnings: Warnings::NONE,
            own_bytes: None,
            starts_game: false,
        }
    }
}
