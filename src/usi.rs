//! USI engines as child processes: their start, their options and their searches.

pub(crate) mod process;
mod progress;
pub(crate) mod score;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::shogi::Position;
use process::UsiProcess;
use progress::SearchProgress;
use score::{Found, SearchLines, shortened};

/// An engine and how it searches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineSettings {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Names and values for `setoption`.
    pub options: Vec<(String, String)>,
    /// The limit of each search.
    pub limit: SearchLimit,
    /// Maximum time for the engine to get ready or to make progress in its search.
    pub patience: Duration,
}

/// The limit of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchLimit {
    /// Number of nodes.
    Nodes(u64),
    /// Milliseconds for a move.
    Byoyomi(u64),
}

impl SearchLimit {
    fn command(self) -> String {
        match self {
            Self::Nodes(nodes) => format!("go nodes {nodes}"),
            Self::Byoyomi(ms) => format!("go btime 0 wtime 0 byoyomi {ms}"),
        }
    }

    const fn nodes(self) -> u64 {
        match self {
            Self::Nodes(nodes) => nodes,
            Self::Byoyomi(_) => u64::MAX,
        }
    }
}

impl EngineSettings {
    /// Starts the engine and returns its manifest entry, including the name that it reports.
    ///
    /// # Errors
    /// [`Error`] if the engine cannot be started or does not answer.
    pub fn entry(&self, cancel: &AtomicBool) -> Result<Map<String, Value>, Error> {
        let mut process = UsiProcess::start(&self.command, self.patience)?;
        let name = initialise(&mut process, cancel)?;
        process.quit();
        let options: Map<String, Value> = self
            .options
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        let mut entry = json!({
            "engine": self.command.join(" "),
            "name": name.unwrap_or_default(),
            "options": options,
            // The evaluation may depend on the engine's memory of earlier positions.
            "reproducible": false,
        });
        match self.limit {
            SearchLimit::Nodes(nodes) => entry["nodes"] = nodes.into(),
            SearchLimit::Byoyomi(ms) => entry["byoyomi_ms"] = ms.into(),
        }
        let Value::Object(entry) = entry else { unreachable!("the value is an object") };
        Ok(entry)
    }

    /// Starts the engine and sets its options.
    pub(crate) fn start(&self, cancel: &AtomicBool) -> Result<UsiProcess, Error> {
        // An engine that obeys the clock may be silent until its time is up.
        let patience = match self.limit {
            SearchLimit::Nodes(_) => self.patience,
            SearchLimit::Byoyomi(ms) => self.patience + Duration::from_millis(ms),
        };
        let mut process = UsiProcess::start(&self.command, patience)?;
        initialise(&mut process, cancel)?;
        for (name, value) in &self.options {
            process.send(&format!("setoption name {name} value {value}"));
        }
        process.request("isready", "readyok", cancel, |_| {})?;
        Ok(process)
    }
}

/// Sends `usi`. Returns the name of the engine if it reports one.
fn initialise(process: &mut UsiProcess, cancel: &AtomicBool) -> Result<Option<String>, Error> {
    let mut name = None;
    process.request("usi", "usiok", cancel, |line| {
        if let Some(reported) = line.strip_prefix("id name ") {
            name = Some(reported.to_owned());
        }
    })?;
    Ok(name)
}

/// Searches `position`, which the command `text` (`position …`) describes.
pub(crate) fn search(
    process: &mut UsiProcess,
    (text, position): (&str, &Position),
    limit: SearchLimit,
    cancel: &AtomicBool,
) -> Result<Found, Error> {
    process.send(text);
    process.go(&limit.command())?;
    let (lines, best_move) = answer(process, limit, cancel)?;
    lines.finish(&best_move, position).ok_or_else(|| {
        let best_move = shortened(&best_move);
        Error::evaluation(format!("the engine sent no score before `bestmove {best_move}`"))
    })
}

/// Reads the lines of a search until the engine sends its best move. An engine may send a second `bestmove` by mistake.
/// If it comes before the next `go`, [`UsiProcess::go`] reports it. Otherwise it comes before the scores of the next
/// search and is refused, because it has no score.
fn answer(
    process: &mut UsiProcess,
    limit: SearchLimit,
    cancel: &AtomicBool,
) -> Result<(SearchLines, String), Error> {
    let (mut lines, mut progress) = (SearchLines::default(), SearchProgress::new(limit.nodes()));
    let (mut wait, mut is_stopped) = (process.wait(cancel), false);
    loop {
        let line = process.line(&wait)?;
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("bestmove"), word) => return Ok((lines, word.unwrap_or_default().to_owned())),
            (Some("info"), Some(word)) if word != "string" => {
                lines.update(&line);
                let advances = progress.update(&line);
                if is_stopped {
                    continue;
                }
                is_stopped = progress.is_excessive();
                if is_stopped {
                    process.send("stop");
                }
                // A stopped engine gets one more timeout period.
                if advances || is_stopped {
                    wait = process.wait(cancel);
                }
            }
            _ => {}
        }
    }
}
