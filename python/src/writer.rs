//! `Writer`: records and games written to a file one by one.

use std::path::PathBuf;
use std::sync::Mutex;

use kyokumen::format::{self, Field, Fields, Format, InfoCounts};
use kyokumen::records::record_file::{OutputFile, create_new};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments::{Accepts, Given};
use crate::arrays::Object;
use crate::failure::Failure;
use crate::game::Game;
use crate::interrupt::lock;
use crate::options::fill_of;
use crate::record::Record;

/// Creates a file of records or games: `with kyokumen.create("a.psv") as writer: writer.write(record)`.
///
/// The name shows the format and the compression. The file has a temporary name until the end of the block. If an
/// exception ends the block, the file is removed. `fill` has values for fields that records or games lack, as in
/// {"ply": 0} or "ply=0". `force` replaces an existing file.
#[pyfunction(signature = (path, *, fill = None, force = false))]
pub(crate) fn create(
    path: PathBuf,
    fill: Option<&Bound<'_, PyAny>>,
    force: bool,
) -> PyResult<Writer> {
    let writer = if force { kyokumen::create(&path) } else { create_new(&path) };
    let writer = writer.map_err(Failure::from)?.with_fill(fill_of(fill)?);
    Ok(Writer { path, state: Mutex::new(State::new(writer)) })
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
    /// What the games lost besides the fields of their records.
    lost_info: InfoCounts,
}

impl State {
    fn new(writer: format::Writer<OutputFile>) -> Self {
        Self { writer: Some(writer), lost: Fields::NONE, lost_info: InfoCounts::default() }
    }
}

#[derive(FromPyObject)]
enum Content<'py> {
    Record(PyRef<'py, Record>),
    Game(PyRef<'py, Game>),
}

impl Accepts for Content<'_> {
    const ACCEPTED: &'static str = "a Record or a Game";
}

/// The fields that a game loses in a format.
fn lost_fields(to: Format, game: &format::Game) -> Fields {
    let records = game.records().into_iter().flatten();
    let of_records = records.map(|record| to.losses(record.fields(), record.ending));
    of_records.fold(to.lost_of_game(&game.start, game.result, game.ending), Fields::union)
}

#[pymethods]
impl Writer {
    /// Writes a record or a game. In formats of games, a record becomes a game of one move. A game whose text was not
    /// read to its end (`Game.error`) raises ValueError.
    fn write(&self, content: Given<Content<'_>>) -> PyResult<()> {
        let State { writer, lost, lost_info } = &mut *lock(&self.state);
        let Some(writer) = writer else {
            return Err(PyValueError::new_err("the file is closed"));
        };
        let lost_fields = match content.0 {
            Content::Record(record) => {
                writer.write_record(record.decoded()).map_err(Failure::from)?.lost
            }
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
                writer.write_game(game.inner()).map_err(Failure::from)?;
                *lost_info += writer.format().lost_info(game.inner());
                lost_fields(writer.format(), game.inner())
            }
        };
        *lost = lost.union(lost_fields);
        Ok(())
    }

    /// What the format cannot hold of the written records and games: names of fields, and "headers", "comments",
    /// "times", "variations", "bookmarks" or "time_fractions".
    #[getter]
    fn lost(&self) -> Vec<&'static str> {
        let State { lost, lost_info, .. } = *lock(&self.state);
        let fields = Field::ALL.into_iter().filter(|&field| lost.contains(field)).map(Field::name);
        let info = lost_info.by_kind().into_iter().filter(|(_, number)| *number > 0);
        fields.chain(info.map(|(kind, _)| kind)).collect()
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
