//! The leaves of a split position: their file, and the run that solves them.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::filter::filter_with;
use super::plan::JobPlan;
use super::record_run::Completed;
use super::run_name::LOCK_SUFFIX;
use super::solved_positions::stop;
use crate::engine::progress::Progress;
use crate::error::{Error, ErrorKind};
use crate::mate::judge::{Judge, MateResult};
use crate::mate::split::{SplitTree, SplitValue};
use crate::records::sink::Partial;
use crate::shogi::Position;
use crate::storage::lock::LockOwner;
use crate::storage::path_text::path_of;
use crate::storage::quantity::quantity;
use crate::storage::{files, platform};

/// Name of the file of the leaves. Its stem is the base name of the outputs.
const LEAVES_FILE: &str = "leaves.sfen";

/// Attempts to write this file while other shards write it, and the pause between them.
const WRITE_ATTEMPTS: u32 = 50;
const WRITE_PAUSE: Duration = Duration::from_millis(100);

/// The row of a leaf.
#[derive(Serialize, Deserialize)]
pub(crate) struct LeafRow<'a> {
    pub(crate) sfen: String,
    /// As in [`PositionVerdict::word`](crate::records::position_verdict::PositionVerdict::word).
    pub(crate) verdict: Cow<'a, str>,
    stop: Option<Cow<'a, str>>,
    nodes: u64,
    line: Vec<String>,
}

impl LeafRow<'_> {
    pub(crate) fn new(position: &Position, mate_result: &MateResult) -> Self {
        Self {
            sfen: position.to_string(),
            verdict: mate_result.verdict.word().into(),
            stop: stop(mate_result.verdict).map(Cow::from),
            nodes: mate_result.nodes,
            line: mate_result.line.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Writes the file of the leaves to the folder of the outputs, and returns its path. Another shard may have written it.
///
/// # Errors
/// [`Error`] if the first plies decide the position, if the file cannot be written, or if it exists with other leaves
/// and `force` is not set or a process writes outputs to the folder.
pub fn write_leaves(tree: &SplitTree, folder: &Path, force: bool) -> Result<PathBuf, Error> {
    let leaves = tree.leaves();
    if leaves.is_empty() {
        let verdict = match tree.value(|_| SplitValue::Unknown) {
            SplitValue::Mate(plies) => format!("win within {}", quantity(plies, "ply")),
            SplitValue::NoMate | SplitValue::Unknown => "no mate".to_owned(),
        };
        let plies = match tree.plies() {
            1 => "first ply already decides".to_owned(),
            plies => format!("first {plies} plies already decide"),
        };
        return Err(Error::usage(format!(
            "the {plies} the position ({verdict}); solve it without a split"
        )));
    }
    if files::is_object(folder) {
        return Err(Error::usage("a split position needs a local folder for its outputs"));
    }
    let text = leaves.iter().fold(String::new(), |text, leaf| text + &leaf.to_string() + "\n");
    files::create_folder(folder).map_err(|error| Error::io("create the folder", folder, error))?;
    let path = folder.join(LEAVES_FILE);
    for _ in 0..WRITE_ATTEMPTS {
        if is_written(&path, &text, force)? {
            return Ok(path);
        }
        let partial = match Partial::create(&path) {
            // Another shard is writing the file.
            Err(error) if matches!(error.kind(), ErrorKind::Busy) => {
                thread::sleep(WRITE_PAUSE);
                continue;
            }
            created => created?,
        };
        // Another shard may have written the file meanwhile. A later modification time would make it another input.
        if !is_written(&path, &text, force)? {
            let written = (&partial.file).write_all(text.as_bytes());
            written.map_err(|source| partial.error("write", source))?;
            partial.commit()?;
        }
        return Ok(path);
    }
    Err(Error::busy(path))
}

/// Whether the file of the leaves exists with this text. Other leaves are an error, unless `force` is set.
fn is_written(path: &Path, text: &str, force: bool) -> Result<bool, Error> {
    match files::read(path) {
        Ok(known) if known == text.as_bytes() => Ok(true),
        Ok(_) if force => check_unlocked(platform::folder_of(path)).map(|()| false),
        Ok(_) => Err(Error::exists(format!(
            "{} has the leaves of another position or of other plies; choose another folder",
            path.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("read", path, error)),
    }
}

/// Checks that no process writes outputs to a folder. It could be solving the leaves.
fn check_unlocked(folder: &Path) -> Result<(), Error> {
    let names =
        files::names_in(folder).map_err(|error| Error::io("read the folder", folder, error))?;
    let mut locks = names.iter().filter(|name| name.ends_with(LOCK_SUFFIX));
    match locks.find(|name| LockOwner::read(&folder.join(path_of(name))).is_some()) {
        Some(lock) => Err(Error::busy(folder.join(path_of(lock.trim_end_matches(LOCK_SUFFIX))))),
        None => Ok(()),
    }
}

/// Solves the leaves of a shard. The outputs get their final names only after the whole run has succeeded.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed unless a checkpoint can resume the run.
pub fn solve_leaves(
    plan: JobPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Completed, Error> {
    let search = plan.settings.search.clone();
    filter_with(plan, move || Judge::try_new(&search), progress, cancel)
}
