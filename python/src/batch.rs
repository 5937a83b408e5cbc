//! Functions on many records at once, using all threads.

use kyokumen::format::ContentHash;
use kyokumen::format::packed::{self, Family};
use kyokumen::shogi::{HandKind, Piece, PieceKind, Square};
use kyokumen_network::{LABELS, move_label};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arguments::number;
use crate::arrays::{Object, RecordBytes, Records, as_rows};
use crate::failure::Failure;
use crate::interrupt::in_parallel;
use crate::position;
use crate::rows::{Layout, Rows, rows_for_records};

/// cshogi's numbers of Black's pieces, in the order of [`PieceKind`]. cshogi numbers P L N S B R G K +P +L +N +S +B +R
/// from 1.
const NUMBERS: [u8; PieceKind::COUNT] = [1, 2, 3, 4, 7, 5, 6, 8, 9, 10, 11, 12, 13, 14];

/// White's numbers are 16 higher.
const fn piece_number(piece: Piece) -> u8 {
    NUMBERS[piece.kind as usize] + 16 * piece.color as u8
}

/// A new array with one row for each record.
fn array_for_records<'py>(
    py: Python<'py>,
    records: &Records<'py>,
    threads: usize,
    (dtype, row): (&'static str, &[usize]),
    write: impl Fn(&RecordBytes<'_>, usize, &mut Rows<'_>) -> Result<(), Failure> + Send + Sync,
) -> PyResult<Object<'py>> {
    let layout = Layout::new("out", dtype, row);
    rows_for_records(py, records, threads, &[layout], None, write)?.get_item(0)
}

/// The boards, hands, sides to move and plies of records, as arrays; see `kyokumen.Boards`.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn decode<'py>(
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    let py = records.py();
    let layouts = [
        Layout::new("pieces", "u1", &[Square::COUNT]),
        Layout::new("hands", "u1", &[2, HandKind::COUNT]),
        Layout::new("turn", "u1", &[]),
        Layout::new("ply", "u2", &[]),
    ];
    let records = Records::of_positions(records)?;
    let boards = rows_for_records(py, &records, threads, &layouts, None, |records, i, rows| {
        let setup = records.setup(i)?;
        for (number, piece) in rows.numbers(0).iter_mut().zip(setup.board().iter()) {
            *number = piece.map_or(0, piece_number);
        }
        rows.numbers(1).copy_from_slice(setup.hands().map(position::counts).as_flattened());
        rows.set(2, setup.side_to_move().index() as u8);
        rows.set(3, setup.ply());
        Ok(())
    })?;
    py.import("kyokumen._results")?.getattr("Boards")?.call1(boards)
}

/// The positions of records as SFENs.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn to_sfens<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Bound<'py, PyList>> {
    const CHUNK: usize = 1024;
    let records = Records::of_positions(records)?;
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

/// Packs positions. `format` is "hcp" or "psfen", YaneuraOu's packed position.
#[pyfunction(signature = (positions, *, format = "hcp", threads = 0))]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    positions: &Object<'py>,
    format: &str,
    #[pyo3(from_py_with = number::threads)] threads: usize,
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
    let positions = Records::of_positions(positions)?;
    let row: &[usize] = &[packed::LEN];
    let packed = array_for_records(py, &positions, threads, ("u1", row), |records, i, rows| {
        let bytes = packed::encode(family, &records.setup(i)?);
        rows.numbers(0).copy_from_slice(&bytes.map_err(|error| records.bad(i, &error))?);
        Ok(())
    })?;
    as_rows(&packed, format)
}

/// Keys of positions, an array [N, 16] of bytes. Positions with equal boards, hands and sides to move have equal keys
/// in all formats.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn keys<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    let records = Records::of_positions(records)?;
    array_for_records(py, &records, threads, ("u1", &[16]), |records, i, rows| {
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
pub(crate) fn in_check<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    let records = Records::of_positions(records)?;
    array_for_records(py, &records, threads, ("b1", &[]), |records, i, rows| {
        rows.set(0, u8::from(records.position(i)?.in_check()));
        Ok(())
    })
}

/// Marks the legal moves among dlshogi's 2,187 move labels: an array [N, 2187] of bool.
#[pyfunction(signature = (records, *, threads = 0))]
pub(crate) fn legal_move_mask<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    let records = Records::of_positions(records)?;
    array_for_records(py, &records, threads, ("b1", &[LABELS]), |records, i, rows| {
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
pub(crate) fn has_legal_move<'py>(
    py: Python<'py>,
    records: &Object<'py>,
    #[pyo3(from_py_with = number::threads)] threads: usize,
) -> PyResult<Object<'py>> {
    let records = Records::from_object(records)?;
    array_for_records(py, &records, threads, ("b1", &[]), |records, i, rows| {
        let stored = records.read(i, |record| record.best_move())?;
        let position = records.position(i)?;
        rows.set(0, u8::from(stored.is_some_and(|m| position.is_legal(m))));
        Ok(())
    })
}
