//! `Writer`: records and games written to a file one by one.

use std::path::PathBuf;
use std::sync::Mutex;

use kyokumen::format::{self, Field, FieldChanges, Fields};
use kyokumen::records::record_file::{OutputFile, create_new};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::Object;
use crate::failure::Failure;
use crate::game::Game;
use crate::interrupt::lock;
use crate::options::fill_of;
use crate::record::Record;

/// Creates a file of records or games: `with kyokumen.create("a.psv") as writer: writer.write(record)`.
///
/// The name shows the format and the compression. The file has a temporary name until the end of the block. If an
/// exception ends the block, the file is removed. `fill` has values for fields that records lack, as in {"ply": 0} or
/// "ply=0". `force` replaces an existing file.
#[pyfunction(signature = (path, *, fill = None, force = false))]
pub(crate) fn create(
    path: PathBuf,
    fill: Option<&Bound<'_, PyAny>>,
    force: bool,
) -> PyResult<Writer> {
    let writer = if force { kyokumen::create(&path) } else { create_new(&path) };
    let writer = writer.map_err(Failure::from)?.with_fill(fill_of(fill)?);
    Ok(Writer { path, state: Mutex::new(State { writer: Some(writer), lost: Fields::NONE }) })
}

/// A file that is being written. Without `close` or a `with` block, it never gets its name.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Writer {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    /// None after the end of the file.
    writer: Option<format::Writer<OutputFile>>,
    lost: Fields,
}

#[derive(FromPyObject)]
enum Content<'py> {
    Record(PyRef<'py, Record>),
    Game(PyRef<'py, Game>),
}

#[pymethods]
impl Writer {
    /// Writes a record or a game. In formats of games, a record becomes a game of one move. A game whose text was not
    /// read to its end (`Game.error`) raises ValueError.
    fn write(&self, content: Content<'_>) -> PyResult<()> {
        let mut state = lock(&self.state);
        let Some(writer) = &mut state.writer else {
            return Err(PyValueError::new_err("the file is closed"));
        };
        let changes = match content {
            Content::Record(record) => writer.write_record(record.decoded()),
            Content::Game(_) if !writer.format().holds_games() => {
                let message = format!(
                    "{} holds single records, not games; write the records of kyokumen.open",
                    writer.format()
                );
                return Err(Failure::usage(message).into());
            }
            Content::Game(game) => {
                if let Some(error) = &game.inner().broken {
                    let message = format!("the game was not read to its end: {error}");
                    return Err(PyValueError::new_err(message));
                }
                writer.write_game(game.inner()).map(|()| FieldChanges::default())
            }
        };
        let changes = changes.map_err(Failure::from)?;
        state.lost = state.lost.union(changes.lost);
        Ok(())
    }

    /// Names of the fields of written records that the format cannot hold.
    #[getter]
    fn lost(&self) -> Vec<&'static str> {
        let lost = lock(&self.state).lost;
        Field::ALL.into_iter().filter(|&field| lost.contains(field)).map(Field::name).collect()
    }

    /// Completes the file and gives it its name. Does nothing if it is closed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let writer = lock(&self.state).writer.take();
        let end = |writer: format::Writer<OutputFile>| -> Result<(), Failure> {
            let file = writer.into_inner();
            let file = file.map_err(|error| Failure::unreadable(&self.name(), 0, &error))?;
            Ok(file.commit()?)
        };
        Ok(py.detach(|| writer.map_or(Ok(()), end))?)
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (kind, _error, _traceback))]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<Object<'_>>,
        _error: Option<Object<'_>>,
        _traceback: Option<Object<'_>>,
    ) -> PyResult<()> {
        if kind.is_none() {
            return self.close(py);
        }
        drop(lock(&self.state).writer.take());
        Ok(())
    }

    fn __repr__(&self) -> String {
        let closed = if lock(&self.state).writer.is_none() { ", closed" } else { "" };
        format!("<kyokumen.Writer {:?}{closed}>", self.name())
    }
}

impl Writer {
    fn name(&self) -> String {
        self.path.display().to_string()
    }
}
