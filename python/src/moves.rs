//! `Move`: a move in USI notation, in 16 bits, or as a policy label.

use kyokumen::format::move16::Dialect;
use kyokumen::shogi::{self, Color, Square};
use kyokumen_network::move_label;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::arguments::number;
use crate::arrays::Object;
use crate::failure::Failure;

/// A shogi move: `Move("7g7f")`, `Move("P*5e")`, `Move("2d2c+")`.
///
/// Squares are numbers: file × 9 + rank, counted from 1a. A move is not necessarily legal in any position.
#[pyclass(frozen, eq, hash, module = "kyokumen", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Move(pub(crate) shogi::Move);

#[pymethods]
impl Move {
    #[new]
    fn new(usi: &str) -> Result<Self, Failure> {
        parse(usi)
    }

    /// Decodes a 16-bit move. `dialect` is the move encoding: "apery" (hcpe, hcpe3), "yaneuraou" (psv) or "rshogi".
    /// Returns None for 0, which means no move.
    #[staticmethod]
    #[pyo3(signature = (bits, dialect = "apery"))]
    fn from_bits(
        #[pyo3(from_py_with = number::bits)] bits: u16,
        dialect: &str,
    ) -> Result<Option<Self>, Failure> {
        let decoded = dialect_named(dialect)?.decode(bits).map_err(Failure::usage)?;
        Ok(decoded.map(Self))
    }

    /// The move in 16 bits. `dialect` is the move encoding.
    #[pyo3(signature = (dialect = "apery"))]
    fn bits(&self, dialect: &str) -> Result<u16, Failure> {
        Ok(dialect_named(dialect)?.encode(self.0))
    }

    /// The move in USI notation.
    #[getter]
    fn usi(&self) -> String {
        self.0.to_string()
    }

    /// The destination square, 0 … 80.
    #[getter]
    fn to_square(&self) -> u8 {
        self.0.to().number()
    }

    /// The origin square, 0 … 80; None for a drop.
    #[getter]
    fn from_square(&self) -> Option<u8> {
        self.0.from().map(Square::number)
    }

    /// The letter of the dropped piece, `P L N S G B R`; None for a move on the board.
    #[getter]
    fn dropped(&self) -> Option<char> {
        self.0.dropped().map(|kind| char::from(kind.piece_kind().letter()))
    }

    /// Whether the move is a promotion.
    #[getter]
    fn is_promotion(&self) -> bool {
        self.0.is_promotion()
    }

    /// The move with left and right of the board exchanged.
    fn mirrored(&self) -> Self {
        Self(self.0.mirrored())
    }

    /// The index of the move in the 2,187 outputs of dlshogi's policy. `turn` is the side to move: 0 Black, 1 White.
    fn label(&self, #[pyo3(from_py_with = number::turn)] turn: u8) -> Result<u16, Failure> {
        let mover = Color::ALL.get(usize::from(turn));
        let mover = mover.ok_or_else(|| Failure::usage("turn must be 0 (Black) or 1 (White)"))?;
        Ok(move_label(self.0, *mover))
    }

    fn __str__(&self) -> String {
        self.usi()
    }

    fn __repr__(&self) -> String {
        format!("Move({:?})", self.usi())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Object<'py>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.usi(),))
    }
}

pub(crate) fn parse(usi: &str) -> Result<Move, Failure> {
    shogi::Move::from_usi(usi).map(Move).ok_or_else(|| {
        Failure::usage(format!("{usi:?} is not a move in USI notation, such as 7g7f or P*5e"))
    })
}

pub(crate) fn dialect_named(name: &str) -> Result<Dialect, Failure> {
    Dialect::from_name(name).ok_or_else(|| {
        let names = Dialect::ALL.map(Dialect::name).join(", ");
        Failure::usage(format!("{name:?} is not a move encoding: expected one of {names}"))
    })
}

/// One object per move, so lists of legal moves reuse objects.
static OBJECTS: [PyOnceLock<Py<Move>>; 1 << 16] = [const { PyOnceLock::new() }; 1 << 16];

#[inline]
pub(crate) fn object(py: Python<'_>, m: shogi::Move) -> PyResult<Bound<'_, Move>> {
    let object = &OBJECTS[usize::from(m.code().get())];
    Ok(object.get_or_try_init(py, || Py::new(py, Move(m)))?.bind(py).clone())
}
