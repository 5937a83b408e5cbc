//! Functions of many records at once, on all threads.

use kyokumen::format::packed::{self, Family};
use kyokumen::format::{ContentKey, Format};
use kyokumen::shogi::{Color, HandKind, Piece, PieceKind, Position, Setup, Square};
use kyokumen_network::{LABELS, move_label};
use numpy::{
    Element, PyArray, PyArray1, PyArrayMethods, PyReadwriteArray1, PyReadwriteArrayDyn,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arrays::{self, RecordBytes, Records};
use crate::failure::Failure;
use crate::interrupt::{CHUNK, in_parallel};
use crate::position;

/// Piece numbers of cshogi: P L N S B R G K +P +L +N +S +B +R from 1; White's are 16 higher.
const fn piece_number(piece: Piece) -> u8 {
    let kind = match piece.kind {
        PieceKind::Pawn => 1,
        PieceKind::Lance => 2,
        PieceKind::Knight => 3,
        PieceKind::Silver => 4,
        PieceKind::Bishop => 5,
        PieceKind::Rook => 6,
        PieceKind::Gold => 7,
        PieceKind::King => 8,
        PieceKind::ProPawn => 9,
        PieceKind::ProLance => 10,
        PieceKind::ProKnight => 11,
        PieceKind::ProSilver => 12,
        PieceKind::Horse => 13,
        PieceKind::Dragon => 14,
    };
    kind + 16 * piece.color as u8
}

/// Calls `write` with the `width` numbers of each record.
pub(crate) fn fill<T: Element + Send>(
    py: Python<'_>,
    records: &RecordBytes<'_>,
    threads: usize,
    width: usize,
    out: &mut [T],
    write: impl Fn(usize, &mut [T]) -> Result<(), Failure> + Send + Sync,
) -> PyResult<()> {
    debug_assert_eq!(out.len(), records.len() * width, "numbers of all records");
    let jobs: Vec<_> = out.chunks_mut(CHUNK * width).enumerate().collect();
    in_parallel(py, threads, jobs, |(chunk, out)| {
        out.chunks_mut(width).enumerate().try_for_each(|(i, out)| write(chunk * CHUNK + i, out))
    })
}

/// A new array whose first dimension is the records, followed by `shape`.
fn filled<'py, T: Element + Send>(
    py: Python<'py>,
    records: &RecordBytes<'_>,
    threads: usize,
    shape: &[usize],
    write: impl Fn(usize, &mut [T]) -> Result<(), Failure> + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let width = shape.iter().product();
    let flat = PyArray1::<T>::zeros(py, records.len() * width, false);
    {
        let mut writing: PyReadwriteArray1<'_, T> = flat.readwrite();
        let out = writing.as_slice_mut().map_err(|error| Failure::other(&error))?;
        fill(py, records, threads, width, out, write)?;
    }
    let whole: Vec<usize> = [records.len()].into_iter().chain(shape.iter().copied()).collect();
    let shaped: Bound<'py, PyArray<T, numpy::IxDyn>> = flat.reshape(whole)?;
    Ok(shaped.into_any())
}

/// Boards, hands, sides to move and plies of records, as arrays.
#[pyfunction]
#[pyo3(signature = (records, *, threads = 0))]
pub(crate) fn decode<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    const HANDS: usize = 2 * HandKind::COUNT;
    let records = Records::of(records)?;
    let records = records.bytes()?;
    let boards = filled(py, &records, threads, &[Square::COUNT], |i, out: &mut [u8]| {
        for (number, piece) in out.iter_mut().zip(records.setup(i)?.board().iter()) {
            *number = piece.map_or(0, piece_number);
        }
        Ok(())
    })?;
    let hands = filled(py, &records, threads, &[2, HandKind::COUNT], |i, out: &mut [u8]| {
        let [black, white] = records.setup(i)?.hands().map(position::counts);
        out[..HandKind::COUNT].copy_from_slice(&black);
        out[HandKind::COUNT..HANDS].copy_from_slice(&white);
        Ok(())
    })?;
    let turns = filled(py, &records, threads, &[], |i, out: &mut [u8]| {
        out[0] = records.setup(i)?.side_to_move().index() as u8;
        Ok(())
    })?;
    let plies = filled(py, &records, threads, &[], |i, out: &mut [u16]| {
        out[0] = records.setup(i)?.ply();
        Ok(())
    })?;
    py.import("kyokumen._results")?.getattr("Boards")?.call1((boards, hands, turns, plies))
}

/// Positions as SFENs.
#[pyfunction]
#[pyo3(signature = (records, *, threads = 0))]
pub(crate) fn to_sfens<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    let mut sfens = vec![String::new(); records.len()];
    let jobs: Vec<_> = sfens.chunks_mut(CHUNK).enumerate().collect();
    in_parallel(py, threads, jobs, |(chunk, out)| {
        for (i, sfen) in out.iter_mut().enumerate() {
            *sfen = records.setup(chunk * CHUNK + i)?.to_string();
        }
        Ok(())
    })?;
    PyList::new(py, sfens)
}

/// Packed positions, made of SFENs or of records: as `hcp`, or as the `psfen` of YaneuraOu.
#[pyfunction]
#[pyo3(signature = (positions, *, format = "hcp", threads = 0))]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    positions: &Bound<'py, PyAny>,
    format: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let family = match format {
        "hcp" => Family::Apery,
        "psfen" => Family::YaneuraOu,
        _ => {
            return Err(
                Failure::usage(format!("format is \"hcp\" or \"psfen\", not {format:?}")).into()
            );
        }
    };
    if positions.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected a list of SFENs, not one: put it into a list"));
    }
    if let Ok(sfens) = positions.extract::<Vec<String>>() {
        return packed_array(py, family, format, sfens.len(), threads, |i| setup_of(&sfens[i], i));
    }
    let records = Records::of(positions)?;
    let records = records.bytes()?;
    packed_array(py, family, format, records.len(), threads, |i| records.setup(i))
}

fn packed_array<'py>(
    py: Python<'py>,
    family: Family,
    dtype: &str,
    len: usize,
    threads: usize,
    setup: impl Fn(usize) -> Result<Setup, Failure> + Send + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let flat = PyArray1::<u8>::zeros(py, len * packed::LEN, false);
    {
        let mut writing = flat.readwrite();
        let out = writing.as_slice_mut().map_err(|error| Failure::other(&error))?;
        let jobs: Vec<_> = out.chunks_mut(CHUNK * packed::LEN).enumerate().collect();
        in_parallel(py, threads, jobs, |(chunk, out)| {
            for (i, out) in out.chunks_mut(packed::LEN).enumerate() {
                let place = chunk * CHUNK + i;
                let bytes = packed::encode(family, &setup(place)?);
                let bytes = bytes.map_err(|error| bad_position(place, &error))?;
                out.copy_from_slice(&bytes);
            }
            Ok(())
        })?;
    }
    let dtype = py.import("kyokumen.dtypes")?.getattr(dtype)?;
    if len == 0 {
        return py.import("numpy")?.call_method1("zeros", (0, dtype));
    }
    flat.call_method1("view", (dtype,))
}

fn setup_of(sfen: &str, index: usize) -> Result<Setup, Failure> {
    let parsed = kyokumen::shogi::sfen::parse(sfen.as_bytes());
    parsed.map(|parsed| parsed.setup).map_err(|error| bad_position(index, &error))
}

fn bad_position(index: usize, reason: &dyn ToString) -> Failure {
    Failure::bad_element(index as u64, reason)
}

/// Keys of positions: the same for equal board, hands and side to move, whatever the format. An array [N, 16] of bytes.
#[pyfunction]
#[pyo3(signature = (records, *, threads = 0))]
pub(crate) fn keys<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    filled(py, &records, threads, &[16], |i, out: &mut [u8]| {
        let key = match records.format() {
            Format::Sfen => Ok(ContentKey::of(&records.setup(i)?)),
            _ => records.read(i, |record| match record.packed() {
                Some((family, bytes)) => ContentKey::of_packed(family, bytes),
                None => record.setup().map(|setup| ContentKey::of(&setup)),
            }),
        };
        out.copy_from_slice(&key?.0);
        Ok(())
    })
}

/// Whether the side to move is in check. An array [N] of bool.
#[pyfunction]
#[pyo3(signature = (records, *, threads = 0))]
pub(crate) fn in_check<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    filled(py, &records, threads, &[], |i, out: &mut [bool]| {
        out[0] = records.position(i)?.in_check();
        Ok(())
    })
}

/// Which of dlshogi's 2,187 labels are legal moves. An array [N, 2187] of bool.
#[pyfunction]
#[pyo3(signature = (records, *, threads = 0))]
pub(crate) fn legal_move_mask<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    filled(py, &records, threads, &[LABELS], |i, out: &mut [bool]| {
        let position: Position = records.position(i)?;
        let mover: Color = position.side_to_move();
        for m in position.legal_moves() {
            out[usize::from(move_label(m, mover))] = true;
        }
        Ok(())
    })
}

/// Whether the stored move can be played; false where none is stored. An array [N] of bool.
#[pyfunction]
#[pyo3(signature = (records, *, threads = 0))]
pub(crate) fn has_legal_move<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let records = Records::of(records)?;
    let records = records.bytes()?;
    filled(py, &records, threads, &[], |i, out: &mut [bool]| {
        let stored = records.read(i, |record| record.best_move())?;
        let position = records.position(i)?;
        out[0] = stored.is_some_and(|m| position.is_legal(m));
        Ok(())
    })
}

/// Fails unless the array has this shape and is contiguous.
pub(crate) fn writable<'a, T: Element>(
    array: &'a mut PyReadwriteArrayDyn<'_, T>,
    name: &str,
    shape: &[usize],
) -> PyResult<&'a mut [T]> {
    arrays::check_shape(name, array.shape(), shape)?;
    let contiguous = array.as_slice_mut();
    Ok(contiguous.map_err(|_| Failure::usage(format!("{name} is not contiguous in memory")))?)
}
