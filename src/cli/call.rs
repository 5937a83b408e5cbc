//! Calls commands as functions, for the Python package.
//!
//! The options of a call are those of the command line. The report is JSON, and the caller shows the progress and
//! cancels.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::ffi::OsString;
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, ArgAction, CommandFactory, FromArgMatches};
use serde::Serialize;
use serde_json::json;

use super::{Command, Kyokumen, config, with_negative_values};
use super::{convert, dataset, dedup, filter, generate, inspect, interleave, merge, relabel};
use super::{sample, selfplay, shuffle, split, stats, status, verify};
use crate::cli::exit::Usage;
use crate::engine::progress::{Progress, ProgressDisplay};
use crate::error::{Error, Remedy};
use crate::jobs::plan::{JobPlan, Product};
use crate::jobs::record_run::Completed;
use crate::ops::rearrange::{OperationManifest, RearrangePlan};

/// Options that only a terminal needs.
const TERMINAL_ONLY: [&str; 7] = ["help", "input", "json", "kanji", "progress", "verbose", "watch"];

/// The value of an option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// Sets a flag, or leaves it unset.
    Flag(bool),
    /// One value, or the values of an option that takes several.
    Values(Vec<OsString>),
}

/// An option, as its help describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionHelp {
    /// Long name, without hyphens at the start.
    pub name: String,
    /// Names of its values, as in `N`. Empty for flags.
    pub value: String,
    /// Its description.
    pub help: String,
}

/// Connects a running call with its caller.
#[derive(Debug)]
pub struct Caller<'a> {
    /// Ends the call when it is set.
    pub cancel: &'a AtomicBool,
    /// Receives snapshots of the progress as JSON.
    pub snapshots: Sender<String>,
    /// The advice with the caller's name of a remedy.
    pub advice: fn(Remedy) -> Option<String>,
}

type Work = dyn FnOnce(&Caller<'_>) -> anyhow::Result<String> + Send;

/// A command with valid options. Its files have been inspected, but nothing has been written.
pub struct Call {
    work: Box<Work>,
    /// Whether the command writes files.
    pub writes: bool,
}

/// An error of a call.
#[derive(Debug)]
pub enum CallError {
    /// The command has no option of this name.
    NoOption(String),
    /// An option is not valid. The message names options as on the command line.
    Usage(String),
    /// The command failed.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for CallError {
    fn from(error: anyhow::Error) -> Self {
        if error.is::<Usage>() { Self::Usage(error.to_string()) } else { Self::Failed(error) }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

impl Call {
    /// Checks the options of a command and the files that it reads.
    ///
    /// # Errors
    /// [`CallError`] if an option or a file is not valid, or if the command cannot be called.
    pub fn new(
        command: &str,
        positional: Vec<OsString>,
        options: Vec<(String, Argument)>,
    ) -> Result<Self, CallError> {
        let mut program = with_negative_values(Kyokumen::command());
        let mut words = vec![program.get_name().into(), command.into()];
        let definition = program.find_subcommand(command).ok_or_else(|| no_command(command))?;
        for (name, argument) in options {
            words.extend(words_of(definition, name, argument)?);
        }
        words.push("--".into());
        words.extend(positional);
        let words = config::with_files(&program, words)?;
        let parsed = program.try_get_matches_from_mut(words);
        let parsed = parsed.and_then(|matches| Kyokumen::from_arg_matches(&matches));
        let parsed = parsed.map_err(|error| CallError::Usage(message_of(&error)))?;
        Ok(Self::of(parsed.command)?)
    }

    fn of(command: Command) -> anyhow::Result<Self> {
        match command {
            Command::Filter(args) => filter::call(*args),
            Command::Convert(args) => convert::call(*args),
            Command::Dataset(args) => dataset::call(*args),
            Command::SelfPlay(args) => selfplay::call(*args),
            Command::Relabel(args) => relabel::call(*args),
            Command::Stats(args) => stats::call(args),
            Command::Status(args) => Ok(status::call(args)),
            Command::Merge(args) => merge::call(args),
            Command::Shuffle(args) => shuffle::call(&args),
            Command::Dedup(args) => dedup::call(&args),
            Command::Split(args) => split::call(&args),
            Command::Sample(args) => sample::call(&args),
            Command::Interleave(args) => interleave::call(args),
            Command::Verify(args) => verify::call(*args),
            Command::Inspect(args) => inspect::call(args),
            Command::Generate(args) => generate::call(args),
            _ => Err(Usage("this command cannot be called".to_owned()).into()),
        }
    }

    pub(super) fn returning<T: Serialize>(
        work: impl FnOnce(&Caller<'_>) -> anyhow::Result<T> + Send + 'static,
    ) -> Self {
        let work = move |caller: &Caller<'_>| Ok(serde_json::to_string(&work(caller)?)?);
        Self { work: Box::new(work), writes: true }
    }

    /// A command that writes nothing.
    pub(super) fn reading<T: Serialize>(
        work: impl FnOnce(&Caller<'_>) -> anyhow::Result<T> + Send + 'static,
    ) -> Self {
        Self { writes: false, ..Self::returning(work) }
    }

    /// A run over records.
    pub(super) fn job(
        plan: JobPlan,
        work: impl FnOnce(JobPlan, &mut Progress, &AtomicBool) -> Result<Completed, Error>
        + Send
        + 'static,
    ) -> Self {
        Self::returning(move |caller| {
            let mut progress = for_job(caller.progress(plan.records), &plan)?;
            let Completed { manifest, was_done } = work(plan, &mut progress, caller.cancel)?;
            Ok(RunReport { manifest, was_done })
        })
    }

    /// Describes a run over records that writes nothing.
    pub(super) fn planned(
        plan: JobPlan,
        estimate: impl FnOnce(&JobPlan, &AtomicBool) -> anyhow::Result<serde_json::Value>
        + Send
        + 'static,
    ) -> Self {
        Self::reading(move |caller| {
            let inputs = plan.ranges.iter().map(|range| {
                let (file, format) = (&range.input.name, range.input.format.name());
                json!({"file": file, "format": format, "from": range.from, "to": range.end()})
            });
            Ok(json!({
                "inputs": inputs.collect::<Vec<_>>(),
                "outputs": plan.files.destinations(),
                "records": plan.records,
                "estimate": estimate(&plan, caller.cancel)?,
            }))
        })
    }

    /// An operation that moves records.
    pub(super) fn rearrangement(
        plan: RearrangePlan,
        work: impl FnOnce(
            &RearrangePlan,
            &mut Progress,
            &AtomicBool,
        ) -> Result<OperationManifest, Error>
        + Send
        + 'static,
    ) -> Self {
        Self::returning(move |caller| {
            Ok(work(&plan, &mut caller.progress(plan.records), caller.cancel)?)
        })
    }

    /// Runs the command. Returns its report as JSON.
    ///
    /// # Errors
    /// [`CallError`] if the command fails or is cancelled.
    pub fn run(self, caller: &Caller<'_>) -> Result<String, CallError> {
        Ok((self.work)(caller)?)
    }
}

impl Caller<'_> {
    pub(super) fn progress(&self, records: Option<u64>) -> Progress {
        Progress::new(Box::new(SnapshotSender(self.snapshots.clone())), records)
    }

    #[cfg(feature = "network")]
    pub(super) fn display<S: Serialize>(&self) -> Box<dyn ProgressDisplay<S>> {
        Box::new(SnapshotSender(self.snapshots.clone()))
    }
}

/// Adds the metrics and the verdicts of a run to its progress.
pub(super) fn for_job(progress: Progress, plan: &JobPlan) -> Result<Progress, Error> {
    let searches = !matches!(plan.product, Product::Evaluated(_));
    let progress = if searches { progress.with_verdicts() } else { progress };
    let files = &plan.files;
    progress.with_metrics(&files.metrics, &files.stem, files.shard_name().as_deref())
}

/// The manifest of a run, and whether the run had already been completed earlier.
#[derive(Serialize)]
pub(super) struct RunReport<M> {
    #[serde(flatten)]
    pub(super) manifest: M,
    pub(super) was_done: bool,
}

struct SnapshotSender(Sender<String>);

impl<S: Serialize> ProgressDisplay<S> for SnapshotSender {
    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn show(&mut self, snapshot: &S) {
        if let Ok(json) = serde_json::to_string(snapshot) {
            // Sending fails if the call has ended.
            let _ = self.0.send(json);
        }
    }

    fn finish(&mut self, last: &S) {
        self.show(last);
    }
}

/// The options of all commands that a call can set, by the name of the command.
pub fn options() -> BTreeMap<String, Vec<OptionHelp>> {
    let program = Kyokumen::command();
    let shown = |arg: &&Arg| is_callable(arg) && !arg.is_hide_set();
    let options = |command: &clap::Command| {
        let help = command.get_arguments().filter(shown).map(OptionHelp::of);
        (command.get_name().to_owned(), help.collect())
    };
    program.get_subcommands().map(options).collect()
}

impl OptionHelp {
    fn of(arg: &Arg) -> Self {
        let values = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        Self {
            name: arg.get_long().unwrap_or_default().to_owned(),
            value: values.map(|names| names.join(" ")).unwrap_or_default(),
            help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

fn is_callable(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|long| !TERMINAL_ONLY.contains(&long))
}

fn no_command(name: &str) -> CallError {
    CallError::Usage(format!("there is no command {name}"))
}

/// The message of a clap error, which begins with the option.
fn message_of(error: &clap::Error) -> String {
    let (option, value) =
        (error.get(ContextKind::InvalidArg), error.get(ContextKind::InvalidValue));
    match (option, value, error.source()) {
        (Some(option), Some(value), Some(source)) => {
            let reason = source.to_string();
            // Some reasons begin with the value.
            let is_named = reason.starts_with(&format!("{:?}", value.to_string()));
            let value = value.to_string();
            match option.to_string() {
                positional if positional.starts_with(['<', '[']) => format!("{value}: {reason}"),
                option if is_named => format!("{option}: {reason}"),
                option => format!("{option}: {reason}, not '{value}'"),
            }
        }
        (Some(option), ..) if error.kind() == ErrorKind::MissingRequiredArgument => {
            let missing = option.to_string();
            match missing.strip_prefix('<').and_then(|group| group.strip_suffix('>')) {
                _ if missing.ends_with(">...") => "there are no inputs".to_owned(),
                Some(group) => format!("set one of {}", group.replace('|', ", ")),
                None => format!("set {missing}"),
            }
        }
        _ => config::message_of(error),
    }
}

/// The words that set an option.
fn words_of(
    command: &clap::Command,
    name: String,
    argument: Argument,
) -> Result<Vec<OsString>, CallError> {
    // The report as JSON has checksums, which take time. A call requests only these.
    let has_checksums = name == "checksums" && command.get_name() == "convert";
    let name = if has_checksums { "json".to_owned() } else { name };
    let mut known = command.get_arguments().filter(|arg| is_callable(arg) || has_checksums);
    let Some(arg) = known.find(|arg| arg.get_long() == Some(&name)) else {
        return Err(CallError::NoOption(name));
    };
    let word = |value: OsString| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        word
    };
    match argument {
        Argument::Flag(is_set) if !arg.get_action().takes_values() => {
            Ok(is_set.then(|| format!("--{name}").into()).into_iter().collect())
        }
        Argument::Flag(_) => {
            Err(CallError::Usage(format!("--{name}: expected a value, not a truth value")))
        }
        Argument::Values(_) if !arg.get_action().takes_values() => {
            Err(CallError::Usage(format!("--{name}: expected true or false")))
        }
        Argument::Values(values) if matches!(arg.get_action(), ArgAction::Append) => {
            Ok(values.into_iter().map(word).collect())
        }
        Argument::Values(values) if values.is_empty() => Ok(Vec::new()),
        Argument::Values(values) => Ok(vec![word(values.join(",".as_ref()))]),
    }
}
