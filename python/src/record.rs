//! `Record`: the fields of one record.

use kyokumen::format::{self, DecodeError, Ending, GameResult, RecordRef};
use kyokumen::shogi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::failure::Failure;
use crate::moves::Move;
use crate::position::{Position, svg};

/// One record of an archive. Fields that the format or the record does not have are None.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Record {
    decoded: format::Record,
    bytes: Vec<u8>,
    index: u64,
}

impl Record {
    pub(crate) fn new(index: u64, record: &RecordRef<'_>) -> Result<Self, DecodeError> {
        let bytes = record.own_bytes().unwrap_or(record.bytes()).to_vec();
        Ok(Self { decoded: record.record()?, bytes, index })
    }
}

#[pymethods]
impl Record {
    /// Number of the record in its file, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.index
    }

    /// The position. Raises PositionError if the side to move could capture the king.
    #[getter]
    fn position(&self) -> Result<Position, Failure> {
        Ok(shogi::Position::try_from(&self.decoded.setup)?.into())
    }

    /// The position as an SFEN.
    #[getter]
    fn sfen(&self) -> String {
        self.decoded.setup.to_string()
    }

    /// The stored move. It is not necessarily legal.
    #[getter]
    fn r#move(&self) -> Option<Move> {
        self.decoded.best_move.map(Move)
    }

    /// The evaluation in centipawns, seen from the side to move.
    #[getter]
    fn eval_cp(&self) -> Option<i16> {
        self.decoded.eval_cp
    }

    /// Number of the next move of the game, from 1.
    #[getter]
    fn ply(&self) -> Option<u16> {
        self.decoded.ply
    }

    /// The result of the game: "black" or "white" for the winner, or "draw".
    #[getter]
    fn result(&self) -> Option<&'static str> {
        self.decoded.result.map(GameResult::name)
    }

    /// The reason for the end of the game, if it is not mate or resignation.
    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.decoded.ending.map(Ending::name)
    }

    /// Number of moves of the whole game.
    #[getter]
    fn end_ply(&self) -> Option<u16> {
        self.decoded.end_ply
    }

    /// The moves that a search visited, each with its number of visits.
    #[getter]
    fn candidates(&self) -> Vec<(Move, u16)> {
        let candidates = self.decoded.candidates.iter();
        candidates.map(|candidate| (Move(candidate.best_move), candidate.visits)).collect()
    }

    /// False if the writer of the game marked the position as not for training.
    #[getter]
    fn for_training(&self) -> bool {
        !self.decoded.is_not_for_training
    }

    /// The bytes of the record in the file.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// The diagram for notebooks, with an arrow for the stored move.
    fn _repr_svg_(&self) -> String {
        svg(&self.decoded.setup, None, self.decoded.best_move, shogi::Color::Black)
    }

    fn __repr__(&self) -> String {
        let format::Record { best_move, eval_cp, ply, .. } = &self.decoded;
        let fields = [
            best_move.map(|m| format!(", move={m}")),
            eval_cp.map(|eval_cp| format!(", eval_cp={eval_cp}")),
            ply.map(|ply| format!(", ply={ply}")),
            self.result().map(|result| format!(", result={result}")),
        ];
        let fields: String = fields.into_iter().flatten().collect();
        format!("Record({}, {:?}{fields})", self.index, self.sfen())
    }
}
