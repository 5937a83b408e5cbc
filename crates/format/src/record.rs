//! One record: borrowed bytes that are decoded on demand, and the content all formats share.
//!
//! Accessors of the formats' own files do the reading; this is the face they have in common.

use kyokumen_shogi::{Move, Setup};

use super::error::EncodeError;
use super::field::{Field, Fields};
use super::warning::Warnings;
use crate::ending::Ending;
use crate::game_result::GameResult;
use crate::played::VisitedMove;

/// What a record says. `None` where the format or this record does not say it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The arrangement. Its move number is [`Record::ply`] where there is one.
    pub setup: Setup,
    /// The move stored with the position; not necessarily legal.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, seen from the side to move.
    pub eval_cp: Option<i16>,
    /// Move number of the next move, from 1.
    pub ply: Option<u16>,
    /// Who won the game.
    pub result: Option<GameResult>,
    /// Why the game ended, where that is not mate or resignation.
    pub ending: Option<Ending>,
    /// Number of moves of the whole game.
    pub end_ply: Option<u16>,
    /// Moves that a search tried, in the order of the writer.
    pub candidates: Vec<VisitedMove>,
    /// Whether the writer of the game says that the position is not to be trained on.
    pub is_not_for_training: bool,
}

impl Record {
    /// A record that says nothing but the position.
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

    /// The same with left and right of the board exchanged, moves included.
    #[must_use]
    pub fn mirrored(self) -> Self {
        Self {
            setup: self.setup.mirrored(),
            best_move: self.best_move.map(Move::mirrored),
            candidates: self.candidates.into_iter().map(VisitedMove::mirrored).collect(),
            ..self
        }
    }

    /// Fields that the record has a value for.
    pub fn fields(&self) -> Fields {
        let said = [
            (Field::BestMove, self.best_move.is_some()),
            (Field::EvalCp, self.eval_cp.is_some()),
            (Field::Ply, self.ply.is_some()),
            (Field::Result, self.result.is_some()),
            (Field::Ending, self.ending.is_some()),
            (Field::EndPly, self.end_ply.is_some()),
            // Not to be trained on: said by the number of candidates, 0.
            (Field::Candidates, !self.candidates.is_empty() || self.is_not_for_training),
        ];
        said.into_iter().filter_map(|(field, said)| said.then_some(field)).collect()
    }
}

/// A record as formats read and write it that have no places for single fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Parsed {
    pub(super) record: Record,
    /// Whether it speaks of a move, if only to say that there is none.
    pub(super) says_move: bool,
    /// What is unusual about how it is written.
    pub(super) warnings: Warnings,
    /// Its bytes, where those of its chunk are also others'.
    pub(super) own_bytes: Option<Vec<u8>>,
}

impl Parsed {
    /// Fields that the record speaks of, if only to say that there is no move.
    pub(super) fn fields(&self) -> Fields {
        let said = self.record.fields();
        if self.says_move { said.union(Fields::of(Field::BestMove)) } else { said }
    }

    /// Whether it speaks of everything that a format needs.
    pub(super) fn check(&self, needs: Fields) -> Result<(), EncodeError> {
        let fields = needs.without(self.fields());
        if fields.is_empty() { Ok(()) } else { Err(EncodeError::Missing { fields }) }
    }
}

impl From<Record> for Parsed {
    fn from(record: Record) -> Self {
        Self {
            says_move: record.best_move.is_some(),
            record,
            warnings: Warnings::NONE,
            own_bytes: None,
        }
    }
}
