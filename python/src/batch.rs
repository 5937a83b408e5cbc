//! Functions on many records at once, using all threads.

use kyokumen::format::ContentHash;
use kyokumen::format::packed::{self, Family};
use kyokumen::shogi::{HandKind, Piece, PieceKind, Setup, Square};
use kyokumen_network::{LABELS, move_label};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arrays::{Object, RecordBytes, Records, as_rows};
use crate::failure::Failure;
use crate::interrupt::in_parallel;
use crate::position;
use crate::rows::{Layout, Rows, rows_for_records, write_rows};

/// cshogi's numbers of Black's pieces, in the order of [`PieceKind`]. cshogi numbers P L N S B R G K +P +L +N +S +B +R
/// from 1.
const NUMBERS: [u8; PieceKind::COUNT] = [1, 2, 3, 4, 7, 5, 6, 8, 9, 10, 11, 12, 13, 14];

/// White's numbers are 16 higher.
const fn piece_number(piece: Piece) -> u8 {
    NUMBERS[piece.kind as usize] + 16 * piece.color as u8
}

/// A new array with one row for each record.
fn array_for_records<'py>(
    records: &Object<'py>,
    threads: usize,
    (dtype, row): (&'static str, &[usize]),
    write: impl Fn(&RecordBytes<'_>, usize, &mut Rows<'_>) -> Result<(), Failure> + Send + Sync,
) -> PyResult<Object<'py>> {
    rows_for_records(records, threads, &[Layout::new("out", dtype, row)], None, write)?.get_item(0)
}

/// The boards, hands, sides to move and plies of records, as arrays; see `kyokumen.Boards`.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn decode<'py>(records: &Object<'py>, threads: usize) -> PyResult<Object<'py>> {
    let layouts = [
        Layout::new("pieces", "u1", &[Square::COUNT]),
        Layout::new("hands", "u1", &[2, HandKind::COUNT]),
        Layout::new("turn", "u1", &[]),
        Layout::new("ply", "u2", &[]),
    ];
    let boards = rows_for_records(records, threads, &layouts, None, |records, i, rows| {
        let setup = records.setup(i)?;
        for (number, piece) in rows.numbers(0).iter_mut().zip(setup.board().iter()) {
            *number = piece.map_or(0, piece_number);
        }
        rows.numbers(1).copy_from_slice(setup.hands().map(position::counts).as_flattened());
        rows.set(2, setup.side_to_move().index() as u8);
        rows.set(3, setup.ply());
        Ok(())
    })?;
    records.py().import("kyokumen._results")?.getattr("Boards")?.call1(boards)
}

/// The positions of records as SFENs.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn to_sfens<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    const CHUNK: usize = 1024;
    let records = Records::from_object(records)?;
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

/// Packs positions, given as SFENs or records. `format` is "hcp" or "psfen", YaneuraOu's packed position.
#[pyfunction(signature = (positions, *, format = "hcp", threads = 0))]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    positions: &Object<'py>,
    format: &str,
    threads: usize,
) -> PyResult<Object<'py>> {
    let family = match format {
        "hcp" => Family::Apery,
        "psfen" => Family::YaneuraOu,
        _ => {
            return Err(Failure::usage(format!(
                "format must be \"hcp\" or \"psfen\", not {format:?}"
            ))
            .into());
        }
    };
    if positions.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected a list of SFENs, not a single str"));
    }
    let layout = [Layout::new("packed", "u1", &[packed::LEN])];
    let pack = |i: usize, setup: &Setup, rows: &mut Rows<'_>| {
        let bytes = packed::encode(family, setup).map_err(|error| bad_position(i, &error))?;
        rows.numbers(0).copy_from_slice(&bytes);
        Ok(())
    };
    let packed = if let Ok(sfens) = positions.extract::<Vec<String>>() {
        write_rows(py, sfens.len(), threads, &layout, None, |i, rows| {
            let parsed = kyokumen::shogi::sfen::parse(sfens[i].as_bytes());
            pack(i, &parsed.map_err(|error| bad_position(i, &error))?.setup, rows)
        })
    } else {
        rows_for_records(positions, threads, &layout, None, |records, i, rows| {
            pack(i, &records.setup(i)?, rows)
        })
    };
    as_rows(&packed?.get_item(0)?, format)
}

fn bad_position(index: usize, reason: &dyn ToString) -> Failure {
    Failure::bad_element(index as u64, reason)
}

/// Keys of positions, an array [N, 16] of bytes. Positions with equal boards, hands and sides to move have equal keys
/// in all formats.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn keys<'py>(records: &Object<'py>, threads: usize) -> PyResult<Object<'py>> {
    array_for_records(records, threads, ("u1", &[16]), |records, i, rows| {
        let key = records.read(i, |record| match record.packed() {
            Some((family, bytes)) => ContentHash::of_packed(family, bytes),
            None => record.setup().map(|setup| ContentHash::of(&setup)),
        })?;
        rows.numbers(0).copy_from_slice(&key.0);
        Ok(())
    })
}

/// Whether the side to move is in check: an array [N] of bool.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn in_check<'py>(records: &Object<'py>, threads: usize) -> PyResult<Object<'py>> {
    array_for_records(records, threads, ("b1", &[]), |records, i, rows| {
        rows.set(0, u8::from(records.position(i)?.in_check()));
        Ok(())
    })
}

/// Marks the legal moves among dlshogi's 2,187 move labels: an array [N, 2187] of bool.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn legal_move_mask<'py>(records: &Object<'py>, threads: usize) -> PyResult<Object<'py>> {
    array_for_records(records, threads, ("b1", &[LABELS]), |records, i, rows| {
        let position = records.position(i)?;
        let out: &mut [u8] = rows.numbers(0);
        out.fill(0);
        for m in position.legal_moves() {
            out[usize::from(move_label(m, position.side_to_move()))] = 1;
        }
        Ok(())
    })
}

/// Whether the stored move is legal; False if no move is stored. An array [N] of bool.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn has_legal_move<'py>(records: &Object<'py>, threads: usize) -> PyResult<Object<'py>> {
    array_for_records(records, threads, ("b1", &[]), |records, i, rows| {
        let stored = records.read(i, |record| record.best_move())?;
        let position = records.position(i)?;
        rows.set(0, u8::from(stored.is_some_and(|m| position.is_legal(m))));
        Ok(())
    })
}
