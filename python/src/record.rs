//! `Record`: the fields of one record.

use kyokumen::format::{self, DecodeError, Ending, GameResult, RecordRef, VisitedMove};
use kyokumen::shogi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arguments::{Given, optional};
use crate::arrays::Object;
use crate::failure::Failure;
use crate::moves::Move;
use crate::position::{MoveLike, Position, PositionLike, figure, svg};

type Pickled<'py> = (String, Stored, u64, Bound<'py, PyBytes>);

/// The value of a field with one of several names.
fn named<T: Copy>(
    field: &str,
    given: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, Failure> {
    all.iter().copied().find(|&value| name(value) == given).ok_or_else(|| {
        let names = all.iter().map(|&value| name(value)).collect::<Vec<_>>().join(", ");
        Failure::usage(format!("{field}: there is no {field} {given:?}; expected one of {names}"))
    })
}

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

    pub(crate) const fn decoded(&self) -> &format::Record {
        &self.decoded
    }
}

/// The fields of a record besides its position, for pickling.
type Stored = (
    (Option<Move>, Option<i16>, Option<u16>, Option<&'static str>, Option<&'static str>),
    (Option<u16>, Vec<(Move, u16)>, bool),
);

#[pymethods]
impl Record {
    /// A record that is not from a file.
    ///
    /// `position` may be an SFEN, a position of the USI protocol or another record. `result` is "black", "white" or
    /// "draw". By default, `ply` is that of a position with pushed moves or of a record, and unknown for an SFEN.
    #[new]
    #[pyo3(signature = (position, *, r#move = None, eval_cp = None, ply = None, result = None, ending = None, end_ply = None, candidates = Vec::new(), for_training = true))]
    #[expect(clippy::too_many_arguments, reason = "each is a separate field")]
    fn new_record(
        position: Given<PositionLike<'_>>,
        r#move: Option<Given<MoveLike>>,
        #[pyo3(from_py_with = optional::eval_cp)] eval_cp: Option<i16>,
        #[pyo3(from_py_with = optional::ply)] ply: Option<u16>,
        result: Option<&str>,
        ending: Option<&str>,
        #[pyo3(from_py_with = optional::end_ply)] end_ply: Option<u16>,
        candidates: Vec<(Given<MoveLike>, u16)>,
        for_training: bool,
    ) -> Result<Self, Failure> {
        let setup = position.0.setup()?;
        let ply = ply.or_else(|| position.0.ply());
        let candidate =
            |(m, visits): (Given<MoveLike>, u16)| Ok(VisitedMove { best_move: m.0.get()?, visits });
        let result = result.map(|it| named("result", it, &GameResult::ALL, GameResult::name));
        let ending = ending.map(|it| named("ending", it, &Ending::ALL, Ending::name));
        let decoded = format::Record {
            setup: ply.map_or_else(|| setup.clone(), |ply| setup.clone().with_ply(ply)),
            best_move: r#move.map(|m| m.0.get()).transpose()?,
            eval_cp,
            ply,
            result: result.transpose()?,
            ending: ending.transpose()?,
            end_ply,
            candidates: candidates.into_iter().map(candidate).collect::<Result<_, Failure>>()?,
            is_not_for_training: !for_training,
        };
        Ok(Self { decoded, bytes: Vec::new(), index: 0 })
    }

    /// The record with the number and the bytes of a pickled record.
    fn _located(&self, index: u64, bytes: Vec<u8>) -> Self {
        Self { decoded: self.decoded.clone(), bytes, index }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, Pickled<'py>)> {
        let fields = (
            (self.r#move(), self.eval_cp(), self.ply(), self.result(), self.ending()),
            (self.end_ply(), self.candidates(), self.for_training()),
        );
        let restore = py.import("kyokumen._archive")?.getattr("restore")?;
        Ok((restore, (self.sfen(), fields, self.index, PyBytes::new(py, &self.bytes))))
    }

    fn __eq__(&self, other: &Self) -> bool {
        (&self.decoded, &self.bytes) == (&other.decoded, &other.bytes)
    }

    /// Number of the record in its file, from 0.
    #[getter]
    pub(crate) fn index(&self) -> u64 {
        self.index
    }

    /// The position. Raises PositionError if the side to move could capture the king.
    #[getter]
    fn position(&self) -> Result<Position, Failure> {
        Ok(shogi::Position::try_from(&self.decoded.setup)?.into())
    }

    /// The position as an SFEN.
    #[getter]
    pub(crate) fn sfen(&self) -> String {
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
        self.svg()
    }

    /// The diagram and the fields for notebooks.
    fn _repr_html_(&self) -> String {
        figure(&self.svg(), &self.fields())
    }

    fn __repr__(&self) -> String {
        let fields = self.fields();
        let separator = if fields.is_empty() { "" } else { ", " };
        format!("Record({}, {:?}{separator}{fields})", self.index, self.sfen())
    }
}

impl Record {
    fn svg(&self) -> String {
        svg(&self.decoded.setup, None, self.decoded.best_move, shogi::Color::Black)
    }

    /// The fields besides the position, as text.
    pub(crate) fn fields(&self) -> String {
        let format::Record { best_move, eval_cp, ply, .. } = &self.decoded;
        let fields = [
            best_move.map(|m| format!("move={m}")),
            eval_cp.map(|eval_cp| format!("eval_cp={eval_cp}")),
            ply.map(|ply| format!("ply={ply}")),
            self.result().map(|result| format!("result={result}")),
        ];
        fields.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
