//! `Game`: a game with its headers, comments and times.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Mutex;

use kyokumen::format::{self, Ending, GameResult, HeaderKey, Played, Reader};
use kyokumen::shogi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::Failure;
use crate::interrupt::{abandonable, lock};
use crate::moves::Move;
use crate::position::{Position, escaped, figure, svg};

type Games = Reader<Box<dyn Read + Send>>;

/// Iterates over the games of a file, such as KIF, CSA or hcpe3. Use `open` for their positions.
#[pyfunction]
pub(crate) fn games(py: Python<'_>, path: PathBuf) -> PyResult<GameIterator> {
    let name = path.display().to_string();
    let reader = abandonable(py, move |_| kyokumen::open(path))?.map_err(Failure::from)?;
    if !reader.format().holds_games() {
        let message = format!("{name} holds single records, not games; read it with kyokumen.open");
        return Err(Failure::usage(message).into());
    }
    Ok(GameIterator { name, reader: Mutex::new(Some(reader)) })
}

/// The games of a file, in order. It ends after an error.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct GameIterator {
    name: String,
    reader: Mutex<Option<Games>>,
}

#[pymethods]
impl GameIterator {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Game>> {
        let Some(mut reader) = lock(&self.reader).take() else { return Ok(None) };
        let next = abandonable(py, move |_| (reader.read_game(), reader));
        let (game, reader) = next?;
        let game = game.map_err(|error| Failure::from(error).in_file(&self.name))?;
        *lock(&self.reader) = Some(reader);
        Ok(game.map(Game))
    }

    fn __repr__(&self) -> String {
        format!("<kyokumen.GameIterator {:?}>", self.name)
    }
}

/// A game. `moves` are the moves that were played, with their times and comments.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Game(format::Game);

impl Game {
    /// The diagram of the last position, with the last move marked.
    fn picture(&self) -> Result<String, Failure> {
        let mut position = shogi::Position::try_from(&self.0.start)?;
        for played in &self.0.moves {
            if !position.is_legal(played.best_move) {
                break;
            }
            position.make(played.best_move);
        }
        let last = self.0.moves.last().map(|played| played.best_move);
        Ok(svg(&position.setup(), last, None, shogi::Color::Black))
    }

    pub(crate) const fn inner(&self) -> &format::Game {
        &self.0
    }
}

#[pymethods]
impl Game {
    /// The start position.
    #[getter]
    fn start(&self) -> Result<Position, Failure> {
        Ok(shogi::Position::try_from(&self.0.start)?.into())
    }

    /// The moves in order.
    #[getter]
    fn moves(&self) -> Vec<GameMove> {
        self.0.moves.iter().cloned().map(GameMove).collect()
    }

    /// The header entries, by their keys: `black`, `white`, `event`, `site`, `start_time`, `end_time`, `time_limit`,
    /// `opening`, or the key in KIF files.
    #[getter]
    fn headers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let headers = PyDict::new(py);
        for header in &self.0.info.headers {
            headers.set_item(key(&header.key), &header.value)?;
        }
        Ok(headers)
    }

    /// The comments before the first move, one line each.
    #[getter]
    fn comments(&self) -> Vec<String> {
        self.0.info.comments.clone()
    }

    /// The comments after the end, one line each.
    #[getter]
    fn end_comments(&self) -> Vec<String> {
        self.0.info.end_comments.clone()
    }

    /// Milliseconds that the side to move used after the last move.
    #[getter]
    fn end_elapsed_ms(&self) -> Option<u64> {
        self.0.info.end_elapsed_ms
    }

    /// The result: "black" or "white" for the winner, or "draw".
    #[getter]
    fn result(&self) -> Option<&'static str> {
        self.0.result.map(GameResult::name)
    }

    /// The reason for the end, if it is not mate or resignation.
    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.0.ending.map(Ending::name)
    }

    /// Why the moves end before the end of the text, such as an illegal move. None if all moves were read.
    #[getter]
    fn error(&self) -> Option<String> {
        self.0.broken.as_ref().map(ToString::to_string)
    }

    fn __len__(&self) -> usize {
        self.0.moves.len()
    }

    fn __repr__(&self) -> String {
        let result = self.result().map_or(String::new(), |result| format!(", {result}"));
        format!("<kyokumen.Game {} moves{result}>", self.0.moves.len())
    }

    /// The diagram of the last position for notebooks.
    fn _repr_svg_(&self) -> Result<String, Failure> {
        self.picture()
    }

    /// The diagram of the last position, the players and the result for notebooks.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let player = |key| self.0.info.headers.iter().find(|header| header.key == key);
        let players = [player(HeaderKey::Black), player(HeaderKey::White)];
        let players = players.into_iter().flatten().map(|header| &*header.value);
        let players = escaped(py, &players.collect::<Vec<_>>().join(" – "))?;
        let separator = if players.is_empty() { "" } else { ", " };
        let result = self.result().map_or(String::new(), |result| format!(", {result}"));
        let caption = format!("{players}{separator}{} moves{result}", self.0.moves.len());
        Ok(figure(&self.picture()?, &caption))
    }
}

/// A move of a game, with what the file states about it.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct GameMove(Played);

#[pymethods]
impl GameMove {
    /// The move.
    #[getter]
    fn r#move(&self) -> Move {
        Move(self.0.best_move)
    }

    /// The evaluation in centipawns, seen from the side that plays the move.
    #[getter]
    fn eval_cp(&self) -> Option<i16> {
        self.0.eval_cp
    }

    /// The time used for the move, in milliseconds.
    #[getter]
    fn elapsed_ms(&self) -> Option<u64> {
        self.0.annotation.as_ref()?.elapsed_ms
    }

    /// The comments on the move, one line each.
    #[getter]
    fn comments(&self) -> Vec<String> {
        self.0.annotation.as_ref().map_or_else(Vec::new, |annotation| annotation.comments.clone())
    }

    /// The moves of each variation that replaces this move.
    #[getter]
    fn variations(&self) -> Vec<Vec<Self>> {
        let variations = self.0.annotation.iter().flat_map(|annotation| &annotation.variations);
        variations.map(|line| line.moves.iter().cloned().map(Self).collect()).collect()
    }

    fn __repr__(&self) -> String {
        format!("<kyokumen.GameMove {}>", self.0.best_move)
    }
}

fn key(key: &HeaderKey) -> &str {
    match key {
        HeaderKey::Black => "black",
        HeaderKey::White => "white",
        HeaderKey::Event => "event",
        HeaderKey::Site => "site",
        HeaderKey::StartTime => "start_time",
        HeaderKey::EndTime => "end_time",
        HeaderKey::TimeLimit => "time_limit",
        HeaderKey::Opening => "opening",
        HeaderKey::Other(key) => key,
    }
}
