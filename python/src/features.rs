//! `kyokumen.features`: writes network inputs and labels into arrays.

use half::f16;
use kyokumen::format::{EVAL_SCALE, Field, Format, GameResult, Record, value_of_eval};
use kyokumen::shogi::Position;
use kyokumen_network::{
    INPUT1_BYTES, INPUT1_PLANES, Input2, NetworkError, NnueFeatures, move_label, write_input1,
    write_input1_bits, write_input2, write_input2_bits,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::arguments::number;
use crate::arrays::{Object, RecordBytes, Records};
use crate::failure::Failure;
use crate::rows::{Layout, Rows, rows_for_records};

/// The input of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Features {
    Dlshogi(Input2, Numbers),
    Nnue(NnueFeatures),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    F32,
    F16,
    Bits,
}

impl Numbers {
    fn named(name: &str) -> Result<Self, Failure> {
        match name {
            "float32" | "f32" => Ok(Self::F32),
            "float16" | "f16" => Ok(Self::F16),
            "bits" => Ok(Self::Bits),
            _ => Err(Failure::usage(format!(
                "dtype must be \"float32\", \"float16\" or \"bits\", not {name:?}"
            ))),
        }
    }
}

impl Features {
    pub(crate) fn dlshogi(planes: usize, dtype: &str) -> Result<Self, Failure> {
        let unknown = || Failure::usage(format!("planes must be 57 or 119, not {planes}"));
        Ok(Self::Dlshogi(Input2::from_planes(planes).ok_or_else(unknown)?, Numbers::named(dtype)?))
    }

    /// The arrays that [`Self::write`] writes to.
    pub(crate) fn layouts(self) -> Vec<Layout> {
        let (kind, dtype) = match self {
            Self::Nnue(kind) => return vec![Layout::new("active", "i4", &[2, kind.active()])],
            Self::Dlshogi(kind, Numbers::Bits) => {
                let second = Layout::new("features2", "u1", &[kind.bytes()]);
                return vec![Layout::new("features1", "u1", &[INPUT1_BYTES]), second];
            }
            Self::Dlshogi(kind, Numbers::F32) => (kind, "f4"),
            Self::Dlshogi(kind, Numbers::F16) => (kind, "f2"),
        };
        let planes = |name, planes| Layout::new(name, dtype, &[planes, 9, 9]);
        vec![planes("features1", INPUT1_PLANES), planes("features2", kind.planes())]
    }

    pub(crate) fn write(
        self,
        position: &Position,
        rows: &mut Rows<'_>,
    ) -> Result<(), NetworkError> {
        match self {
            Self::Dlshogi(kind, Numbers::F32) => write_planes::<f32>(position, kind, rows),
            Self::Dlshogi(kind, Numbers::F16) => write_planes::<f16>(position, kind, rows),
            Self::Dlshogi(kind, Numbers::Bits) => {
                write_input1_bits(position, rows.numbers(0));
                write_input2_bits(position, kind, rows.numbers(1));
            }
            Self::Nnue(kind) => {
                let mover = position.side_to_move();
                let (mover_row, opponent_row) = rows.numbers(0).split_at_mut(kind.active());
                kind.write(position, mover, mover_row)?;
                kind.write(position, !mover, opponent_row)?;
            }
        }
        Ok(())
    }

    /// Writes the features of all records into new arrays or `out`.
    fn write_records<'py>(
        self,
        records: &Object<'py>,
        mirror: bool,
        out: Option<Bound<'py, PyTuple>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (py, records) = (records.py(), Records::of_positions(records)?);
        rows_for_records(py, &records, threads, &self.layouts(), out, |records, i, rows| {
            let position = position_of(records, i, mirror)?;
            self.write(&position, rows).map_err(|error| records.bad(i, &error))
        })
    }
}

fn write_planes<T: kyokumen_network::Element + FromBytes + IntoBytes + Immutable>(
    position: &Position,
    kind: Input2,
    rows: &mut Rows<'_>,
) {
    write_input1::<T>(position, rows.numbers(0));
    write_input2::<T>(position, kind, rows.numbers(1));
}

/// The position of a record, mirrored if requested.
fn position_of(records: &RecordBytes<'_>, index: usize, mirror: bool) -> Result<Position, Failure> {
    if !mirror {
        return records.position(index);
    }
    let mirrored = Position::try_from(records.setup(index)?.mirrored());
    mirrored.map_err(|error| records.bad(index, &error))
}

/// Input planes of dlshogi: (features1 [N, 62, 9, 9], features2 [N, planes, 9, 9]).
///
/// Values are 0 or 1. The squares of a plane are in the order file × 9 + rank from 1a, seen from the side to move.
/// `planes` is 57, or 119 with the planes for entering kings. `dtype` is "float32", "float16" or "bits". With "bits",
/// the arrays are bytes [N, 628] and [N, 8 or 15]; bits start at the lowest bit of a byte, and features2 has one bit
/// for each plane. `out` is a pair of arrays to write to. `mirror` exchanges left and right of the board.
#[pyfunction(signature = (records, *, planes = 57, dtype = "float32", mirror = false, out = None, threads = 0))]
pub(crate) fn dlshogi<'py>(
    records: &Object<'py>,
    planes: usize,
    dtype: &str,
    mirror: bool,
    out: Option<(Object<'py>, Object<'py>)>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let Some((first, second)) = out else {
        return Features::dlshogi(planes, dtype)?.write_records(records, mirror, None, threads);
    };
    // The arrays determine the dtype.
    for dtype in ["float32", "float16", "bits"] {
        let features = Features::dlshogi(planes, dtype)?;
        if features.layouts()[0].matches(&first)? {
            let out = PyTuple::new(records.py(), [first, second])?;
            return features.write_records(records, mirror, Some(out), threads);
        }
    }
    Err(PyTypeError::new_err("out must be two arrays of float32, float16 or uint8"))
}

/// Fields that [`write_labels`] needs.
pub(crate) const LABELLED: [Field; 3] = [Field::BestMove, Field::EvalCp, Field::Result];

/// The arrays that [`write_labels`] writes to.
pub(crate) fn labels() -> Vec<Layout> {
    let one = |name, dtype| Layout::new(name, dtype, &[]);
    vec![one("move", "i8"), one("result", "f4"), one("value", "f4")]
}

/// Writes the labels of a record into the arrays that start at number `first`.
pub(crate) fn write_labels(record: &Record, scale: f32, rows: &mut Rows<'_>, first: usize) {
    let mover = record.setup.side_to_move();
    let label = record.best_move.map(|m| move_label(m, mover));
    rows.set(first, label.map_or(-1, i64::from));
    let result: f32 = match record.result {
        Some(GameResult::Draw) | None => 0.5,
        Some(result) if result == GameResult::win_of(mover) => 1.0,
        Some(_) => 0.0,
    };
    rows.set(first + 1, result);
    rows.set(first + 2, value_of_eval(record.eval_cp.unwrap_or(0), scale));
}

/// Checks that the format has all needed fields.
pub(crate) fn check_fields(format: Format, needed: &[Field]) -> Result<(), Failure> {
    match needed.iter().find(|&&field| !format.fields().contains(field)) {
        Some(field) => Err(Failure::usage(format!(
            "{format} records have no {field}, which is needed for training"
        ))),
        None => Ok(()),
    }
}

/// Labels for training a dlshogi network: (move [N] int64, result [N] float32, value [N] float32).
///
/// `move` is the label of the stored move, 0 … 2186, seen from the side to move; −1 if no move is stored. `result` is 1
/// for a win of the side to move, 0.5 for a draw, 0 for a loss. `value` is the evaluation as a probability of winning,
/// 1 / (1 + exp(−eval / scale)).
#[pyfunction(signature = (records, *, scale = EVAL_SCALE, mirror = false, threads = 0))]
pub(crate) fn dlshogi_labels<'py>(
    records: &Object<'py>,
    scale: f32,
    mirror: bool,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Bound<'py, PyTuple>> {
    let (py, records) = (records.py(), Records::from_object(records)?);
    check_fields(records.format(), &LABELLED)?;
    rows_for_records(py, &records, threads, &labels(), None, |records, i, rows| {
        let record = records.read(i, |record| record.record())?;
        let record = if mirror { record.mirrored() } else { record };
        write_labels(&record, scale, rows, 0);
        Ok(())
    })
}

pub(crate) fn nnue_named(name: &str) -> Option<Features> {
    match name {
        "halfkp" => Some(Features::Nnue(NnueFeatures::HalfKp)),
        "halfka_hm" => Some(Features::Nnue(NnueFeatures::HalfKaHm)),
        _ => None,
    }
}

fn nnue<'py>(
    kind: NnueFeatures,
    records: &Object<'py>,
    mirror: bool,
    out: Option<Object<'py>>,
    threads: usize,
) -> PyResult<Object<'py>> {
    let out = out.map(|out| PyTuple::new(records.py(), [out])).transpose()?;
    Features::Nnue(kind).write_records(records, mirror, out, threads)?.get_item(0)
}

/// Active features of YaneuraOu's HalfKP (125,388 features per side): [N, 2, 38] int32, first seen from the side to
/// move, then from the opponent.
#[pyfunction(signature = (records, *, mirror = false, out = None, threads = 0))]
pub(crate) fn halfkp<'py>(
    records: &Object<'py>,
    mirror: bool,
    out: Option<Object<'py>>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    nnue(NnueFeatures::HalfKp, records, mirror, out, threads)
}

/// Active features of YaneuraOu's HalfKA_hm2 (73,305 features per side): [N, 2, 40] int32, first seen from the side to
/// move, then from the opponent.
#[pyfunction(signature = (records, *, mirror = false, out = None, threads = 0))]
pub(crate) fn halfka_hm<'py>(
    records: &Object<'py>,
    mirror: bool,
    out: Option<Object<'py>>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    nnue(NnueFeatures::HalfKaHm, records, mirror, out, threads)
}
