//! `kyokumen.features`: positions as networks see them, written into arrays.

use half::f16;
use kyokumen::format::{EVAL_SCALE, Field, GameResult, RecordRef, value_of_eval};
use kyokumen::shogi::{Color, Position};
use kyokumen_network::{
    BOARD, Element as Number, INPUT1_BYTES, INPUT1_PLANES, Input2, NnueFeatures, move_label,
    write_input1, write_input1_bits, write_input2, write_input2_bits,
};
use numpy::{
    Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::arrays::{RecordBytes, Records};
use crate::batch::{fill, writable};
use crate::failure::Failure;
use crate::interrupt::{CHUNK, in_parallel};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    F32,
    F16,
    Bits,
}

impl Numbers {
    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        match name {
            "float32" | "f32" => Ok(Self::F32),
            "float16" | "f16" => Ok(Self::F16),
            "bits" => Ok(Self::Bits),
            _ => Err(Failure::usage(format!(
                "dtype is \"float32\", \"float16\" or \"bits\", not {name:?}"
            ))),
        }
    }
}

pub(crate) fn input2_of(planes: usize) -> Result<Input2, Failure> {
    Input2::from_planes(planes)
        .ok_or_else(|| Failure::usage(format!("planes is 57 or 119, not {planes}")))
}

/// The position of a record, mirrored if requested.
pub(crate) fn position_of(
    records: &RecordBytes<'_>,
    index: usize,
    mirror: bool,
) -> Result<Position, Failure> {
    if !mirror {
        return records.position(index);
    }
    let mirrored = Position::try_from(records.setup(index)?.mirrored());
    mirrored.map_err(|error| records.bad(index, &error))
}

/// Two arrays filled together. `widths` are their elements per record.
struct Pair<'a, T> {
    first: &'a mut [T],
    second: &'a mut [T],
    widths: (usize, usize),
}

impl<T: Element + Send> Pair<'_, T> {
    fn fill(
        self,
        py: Python<'_>,
        threads: usize,
        write: impl Fn(usize, &mut [T], &mut [T]) -> Result<(), Failure> + Send + Sync,
    ) -> PyResult<()> {
        let (first, second) = self.widths;
        // Not too much at a time: what was written is to be in a cache still.
        let jobs: Vec<_> = self
            .first
            .chunks_mut(CHUNK / 8 * first)
            .zip(self.second.chunks_mut(CHUNK / 8 * second))
            .enumerate()
            .collect();
        in_parallel(py, threads, jobs, |(chunk, (one, other))| {
            let records = one.chunks_mut(first).zip(other.chunks_mut(second)).enumerate();
            for (i, (one, other)) in records {
                write(chunk * (CHUNK / 8) + i, one, other)?;
            }
            Ok(())
        })
    }
}

/// Input planes of dlshogi: (features1 [N, 62, 9, 9], features2 [N, planes, 9, 9]), 0 or 1, each plane by file × 9 +
/// rank from 1a as the mover sees the board.
///
/// `planes` is 57, or 119 with those of entering kings. `dtype` is "float32", "float16", or "bits": then the arrays are
/// [N, 628] and [N, 8 or 15] bytes, a bit each from the lowest of a byte on, of features2 one for each plane.
/// `out` takes two arrays to be written to, in place of new ones. `mirror` exchanges left and right of the board.
#[pyfunction]
#[pyo3(signature = (records, *, planes = 57, dtype = "float32", mirror = false, out = None, threads = 0))]
pub(crate) fn dlshogi<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    planes: usize,
    dtype: &str,
    mirror: bool,
    out: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let kind = input2_of(planes)?;
    let records = Records::of(records)?;
    let records = records.bytes()?;
    let (numbers, out) = if let Some(out) = out {
        (numbers_of(&out.0)?, out)
    } else {
        let numbers = Numbers::named(dtype)?;
        (numbers, new_planes(py, records.len(), kind, numbers)?)
    };
    let (first, second) = shapes(records.len(), kind, numbers);
    match numbers {
        Numbers::F32 => {
            write_planes::<f32>(py, &records, kind, mirror, &out, (&first, &second), threads)?;
        }
        Numbers::F16 => {
            write_planes::<f16>(py, &records, kind, mirror, &out, (&first, &second), threads)?;
        }
        Numbers::Bits => {
            let (mut one, mut other) = (array_of::<u8>(&out.0)?, array_of::<u8>(&out.1)?);
            let pair = Pair {
                first: writable(&mut one, "features1", &first)?,
                second: writable(&mut other, "features2", &second)?,
                widths: (INPUT1_BYTES, kind.bytes()),
            };
            pair.fill(py, threads, |i, one, other| {
                let position = position_of(&records, i, mirror)?;
                write_input1_bits(&position, one);
                write_input2_bits(&position, kind, other);
                Ok(())
            })?;
        }
    }
    Ok(out)
}

fn write_planes<T: Element + Number + Send>(
    py: Python<'_>,
    records: &RecordBytes<'_>,
    kind: Input2,
    mirror: bool,
    out: &(Bound<'_, PyAny>, Bound<'_, PyAny>),
    (first, second): (&[usize], &[usize]),
    threads: usize,
) -> PyResult<()> {
    let (mut one, mut other) = (array_of::<T>(&out.0)?, array_of::<T>(&out.1)?);
    let pair = Pair {
        first: writable(&mut one, "features1", first)?,
        second: writable(&mut other, "features2", second)?,
        widths: (INPUT1_PLANES * BOARD, kind.planes() * BOARD),
    };
    pair.fill(py, threads, |i, one, other| {
        let position = position_of(records, i, mirror)?;
        write_input1(&position, one);
        write_input2(&position, kind, other);
        Ok(())
    })
}

pub(crate) fn shapes(records: usize, kind: Input2, numbers: Numbers) -> (Vec<usize>, Vec<usize>) {
    match numbers {
        Numbers::Bits => (vec![records, INPUT1_BYTES], vec![records, kind.bytes()]),
        Numbers::F32 | Numbers::F16 => {
            (vec![records, INPUT1_PLANES, 9, 9], vec![records, kind.planes(), 9, 9])
        }
    }
}

/// Uninitialized arrays.
pub(crate) fn new_planes(
    py: Python<'_>,
    records: usize,
    kind: Input2,
    numbers: Numbers,
) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    let dtype = match numbers {
        Numbers::F32 => "float32",
        Numbers::F16 => "float16",
        Numbers::Bits => "uint8",
    };
    let (first, second) = shapes(records, kind, numbers);
    Ok((empty(py, &first, dtype)?, empty(py, &second, dtype)?))
}

/// An uninitialized array.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &[usize],
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    numpy.call_method1("empty", (shape.to_vec(), dtype))
}

fn numbers_of(array: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    let not = || PyTypeError::new_err("out takes two arrays of float32, float16 or uint8");
    let array = array.cast::<PyUntypedArray>().map_err(|_| not())?;
    let dtype = array.dtype();
    let py = array.py();
    if dtype.is_equiv_to(&numpy::dtype::<f32>(py)) {
        Ok(Numbers::F32)
    } else if dtype.is_equiv_to(&numpy::dtype::<f16>(py)) {
        Ok(Numbers::F16)
    } else if dtype.is_equiv_to(&numpy::dtype::<u8>(py)) {
        Ok(Numbers::Bits)
    } else {
        Err(not())
    }
}

/// Borrows a caller's array for writing.
fn array_of<'py, T: Element>(array: &Bound<'py, PyAny>) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let array = array.cast::<PyArrayDyn<T>>().map_err(|_| {
        let found =
            array.getattr("dtype").map_or_else(|_| "none".to_owned(), |dtype| dtype.to_string());
        PyTypeError::new_err(format!(
            "an array to be written to has the dtype {found}, not that of the others"
        ))
    })?;
    Ok(array
        .try_readwrite()
        .map_err(|error| Failure::usage(format!("an array cannot be written to: {error}")))?)
}

/// Training targets of a record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Labels {
    /// One of 2,187 move labels; −1 for none.
    pub(crate) move_label: i64,
    /// Seen from the side to move: 1 for a win, ½ for a draw or no result, 0 for a loss.
    pub(crate) result: f32,
    /// Probability of winning, from the evaluation.
    pub(crate) value: f32,
}

impl Labels {
    /// Fields that a format must have.
    pub(crate) const NEEDED: [Field; 3] = [Field::BestMove, Field::EvalCp, Field::Result];

    pub(crate) fn of(
        record: &RecordRef<'_>,
        mirror: bool,
        scale: f32,
    ) -> Result<Self, kyokumen::format::DecodeError> {
        let mover = record.setup()?.side_to_move();
        let best_move = record.best_move()?.map(|m| if mirror { m.mirrored() } else { m });
        let of_move = |m| i64::from(move_label(m, mover));
        Ok(Self {
            move_label: best_move.map_or(-1, of_move),
            result: points(record.result()?, mover),
            value: value_of_eval(record.eval_cp()?.unwrap_or(0), scale),
        })
    }
}

pub(crate) fn points(result: Option<GameResult>, mover: Color) -> f32 {
    match result {
        Some(GameResult::Draw) | None => 0.5,
        Some(result) if result == GameResult::win_of(mover) => 1.0,
        Some(_) => 0.0,
    }
}

/// Fails if the format lacks a field of [`Labels::NEEDED`].
pub(crate) fn check_labels(format: kyokumen::format::Format) -> Result<(), Failure> {
    let fields = format.fields();
    match Labels::NEEDED.into_iter().find(|&field| !fields.contains(field)) {
        Some(field) => Err(Failure::usage(format!(
            "{format} records have no {field}: there is nothing to learn"
        ))),
        None => Ok(()),
    }
}

/// What a network of dlshogi's learns of records: (move [N] int64, result [N] float32, value [N] float32).
///
/// `move` is the label of the stored move among 2,187, as the mover sees the board; −1 where none is stored. `result`
/// is 1 for a win of the mover, 0.5 for a draw, 0 for a loss. `value` is the evaluation as a probability of winning, 1
/// / (1 + exp(−eval / scale)).
#[pyfunction]
#[pyo3(signature = (records, *, scale = EVAL_SCALE, mirror = false, threads = 0))]
pub(crate) fn dlshogi_labels<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    scale: f32,
    mirror: bool,
    threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    check_labels(records.format())?;
    let len = records.len();
    let moves = empty(py, &[len], "int64")?;
    let (results, values) = (empty(py, &[len], "float32")?, empty(py, &[len], "float32")?);
    {
        let mut moves = array_of::<i64>(&moves)?;
        let (mut results, mut values) = (array_of::<f32>(&results)?, array_of::<f32>(&values)?);
        let moves = writable(&mut moves, "move", &[len])?;
        let results = writable(&mut results, "result", &[len])?;
        let values = writable(&mut values, "value", &[len])?;
        let jobs: Vec<_> = moves
            .chunks_mut(CHUNK)
            .zip(results.chunks_mut(CHUNK))
            .zip(values.chunks_mut(CHUNK))
            .enumerate()
            .collect();
        in_parallel(py, threads, jobs, |(chunk, ((moves, results), values))| {
            for (i, m) in moves.iter_mut().enumerate() {
                let labels =
                    records.read(chunk * CHUNK + i, |record| Labels::of(record, mirror, scale))?;
                *m = labels.move_label;
                results[i] = labels.result;
                values[i] = labels.value;
            }
            Ok(())
        })?;
    }
    Ok((moves, results, values))
}

pub(crate) fn nnue_named(name: &str) -> Result<NnueFeatures, Failure> {
    match name {
        "halfkp" => Ok(NnueFeatures::HalfKp),
        "halfka_hm" => Ok(NnueFeatures::HalfKaHm),
        _ => Err(Failure::usage(format!("features are \"halfkp\" or \"halfka_hm\", not {name:?}"))),
    }
}

fn nnue<'py>(
    py: Python<'py>,
    kind: NnueFeatures,
    records: &Bound<'py, PyAny>,
    mirror: bool,
    out: Option<Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    let shape = [records.len(), 2, kind.active()];
    let out = out.map_or_else(|| empty(py, &shape, "int32"), Ok)?;
    let mut writing = array_of::<i32>(&out)?;
    let numbers = writable(&mut writing, "out", &shape)?;
    fill(py, &records, threads, 2 * kind.active(), numbers, |i, numbers| {
        let position = position_of(&records, i, mirror)?;
        write_nnue(kind, &position, numbers).map_err(|error| records.bad(i, &error))
    })?;
    drop(writing);
    Ok(out)
}

/// Writes the features seen by the mover, then those seen by the opponent.
pub(crate) fn write_nnue(
    kind: NnueFeatures,
    position: &Position,
    out: &mut [i32],
) -> Result<(), kyokumen_network::NetworkError> {
    let mover = position.side_to_move();
    let (of_mover, of_opponent) = out.split_at_mut(kind.active());
    kind.write(position, mover, of_mover)?;
    kind.write(position, !mover, of_opponent)
}

/// Active features of YaneuraOu's HalfKP (125,388 for each side): [N, 2, 38] int32, what the mover sees and what the
/// opponent sees.
#[pyfunction]
#[pyo3(signature = (records, *, mirror = false, out = None, threads = 0))]
pub(crate) fn halfkp<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    mirror: bool,
    out: Option<Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    nnue(py, NnueFeatures::HalfKp, records, mirror, out, threads)
}

/// Active features of YaneuraOu's HalfKA_hm2 (73,305 for each side): [N, 2, 40] int32, what the mover sees and what the
/// opponent sees.
#[pyfunction]
#[pyo3(signature = (records, *, mirror = false, out = None, threads = 0))]
pub(crate) fn halfka_hm<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    mirror: bool,
    out: Option<Bound<'py, PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    nnue(py, NnueFeatures::HalfKaHm, records, mirror, out, threads)
}
