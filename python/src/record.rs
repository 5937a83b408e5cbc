//! `Record`: what one record says.

use kyokumen::format::{self, DecodeError, Ending, GameResult, RecordRef};
use kyokumen::shogi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::Failure;
use crate::moves::Move;
use crate::position::{Position, svg};

/// One record of an archive. Fields that its format does not hold, or this record does not say, are None.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Record {
    said: format::Record,
    bytes: Vec<u8>,
    index: u64,
}

impl Record {
    pub(crate) fn new(index: u64, record: &RecordRef<'_>) -> Result<Self, DecodeError> {
        let bytes = record.own_bytes().unwrap_or(record.bytes()).to_vec();
        Ok(Self { said: record.record()?, bytes, index })
    }
}

#[pymethods]
impl Record {
    /// Number of the record in its file, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.index
    }

    /// The position. Raises PositionError where the side to move could take the king.
    #[getter]
    fn position(&self) -> Result<Position, Failure> {
        Ok(shogi::Position::try_from(&self.said.setup)?.into())
    }

    /// The position as an SFEN.
    #[getter]
    fn sfen(&self) -> String {
        self.said.setup.to_string()
    }

    /// The stored move; not necessarily legal.
    #[getter]
    fn r#move(&self) -> Option<Move> {
        self.said.best_move.map(Move)
    }

    /// Evaluation in centipawns, seen from the side to move.
    #[getter]
    fn eval_cp(&self) -> Option<i16> {
        self.said.eval_cp
    }

    /// Number of the next move of the game, from 1.
    #[getter]
    fn ply(&self) -> Option<u16> {
        self.said.ply
    }

    /// Who won the game: "black", "white" or "draw".
    #[getter]
    fn result(&self) -> Option<&'static str> {
        self.said.result.map(GameResult::name)
    }

    /// Why the game ended, where that is not mate or resignation.
    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.said.ending.map(Ending::name)
    }

    /// Number of moves of the whole game.
    #[getter]
    fn end_ply(&self) -> Option<u16> {
        self.said.end_ply
    }

    /// Moves that a search tried, each with its visits.
    #[getter]
    fn candidates(&self) -> Vec<(Move, u16)> {
        self.said.candidates.iter().map(|tried| (Move(tried.best_move), tried.visits)).collect()
    }

    /// False where the writer of the game says that the position is not to be trained on.
    #[getter]
    fn for_training(&self) -> bool {
        !self.said.is_not_for_training
    }

    /// Its bytes as they stand in the file.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// What a notebook shows: the position, with an arrow for the stored move.
    fn _repr_svg_(&self) -> String {
        svg(&self.said.setup, None, self.said.best_move, shogi::Color::Black)
    }

    fn __repr__(&self) -> String {
        let format::Record { best_move, eval_cp, ply, .. } = &self.said;
        let said = [
            best_move.map(|m| format!(", move={m}")),
            eval_cp.map(|eval_cp| format!(", eval_cp={eval_cp}")),
            ply.map(|ply| format!(", ply={ply}")),
            self.result().map(|result| format!(", result={result}")),
        ];
        let said: String = said.into_iter().flatten().collect();
        format!("Record({}, {:?}{said})", self.index, self.sfen())
    }
}
