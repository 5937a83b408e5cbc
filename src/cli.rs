//! The command line: parses arguments, calls the library and prints a report.
//!
//! Each subcommand has its own module. This module alone sets exit statuses and prints errors.

mod advice;
pub mod call;
mod config;
mod convert;
mod dataset;
mod dedup;
mod exit;
mod filter;
mod formats;
mod generate;
mod inspect;
mod interleave;
mod job_args;
mod json_lines;
mod manual;
mod marubatsu;
mod merge;
mod message;
mod option;
mod perft;
mod progress;
mod rearrange_args;
mod record_args;
mod relabel;
mod report;
mod runtime_args;
mod sample;
mod search_args;
mod selfplay;
mod shuffle;
mod solve;
mod split;
mod stats;
mod status;
mod usi;
mod verify;

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use tracing::level_filters::LevelFilter;

use crate::cli::exit::{ExitStatus, failure_status, is_closed_pipe};
use crate::storage::quantity::quantity;
use crate::storage::{platform, signals};

/// Filter, convert, shuffle, relabel and solve shogi training data
#[derive(Parser)]
#[command(name = "kyokumen", version, arg_required_else_help = true)]
struct Kyokumen {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    messages: Messages,
}

#[derive(Subcommand)]
enum Command {
    Filter(Box<filter::FilterArgs>),
    Convert(Box<convert::ConvertArgs>),
    Solve(solve::SolveArgs),
    Dataset(Box<dataset::DatasetArgs>),
    #[command(name = "selfplay")]
    SelfPlay(Box<selfplay::SelfPlayArgs>),
    Relabel(Box<relabel::RelabelArgs>),
    Usi(usi::UsiArgs),
    Stats(stats::StatsArgs),
    Status(status::StatusArgs),
    Merge(merge::MergeArgs),
    Shuffle(shuffle::ShuffleArgs),
    Dedup(dedup::DedupArgs),
    Split(split::SplitArgs),
    Sample(sample::SampleArgs),
    Interleave(interleave::InterleaveArgs),
    Verify(Box<verify::VerifyArgs>),
    Inspect(inspect::InspectArgs),
    Formats(formats::FormatsArgs),
    Generate(generate::GenerateArgs),
    Perft(perft::PerftArgs),
    Marubatsu(marubatsu::MarubatsuArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

impl Command {
    fn run(self) -> anyhow::Result<ExitStatus> {
        match self {
            Self::Filter(args) => filter::run(*args),
            Self::Convert(args) => convert::run(*args),
            Self::Solve(args) => solve::run(&args),
            Self::Dataset(args) => dataset::run(*args),
            Self::SelfPlay(args) => selfplay::run(*args),
            Self::Relabel(args) => relabel::run(*args),
            Self::Usi(args) => usi::run(&args),
            Self::Stats(args) => stats::run(args),
            Self::Status(args) => status::run(&args),
            Self::Merge(args) => merge::run(args),
            Self::Shuffle(args) => shuffle::run(&args),
            Self::Dedup(args) => dedup::run(&args),
            Self::Split(args) => split::run(&args),
            Self::Sample(args) => sample::run(&args),
            Self::Interleave(args) => interleave::run(&args),
            Self::Verify(args) => verify::run(*args),
            Self::Inspect(args) => inspect::run(&args),
            Self::Formats(args) => formats::run(&args),
            Self::Generate(args) => generate::run(&args),
            Self::Perft(args) => perft::run(&args),
            Self::Marubatsu(args) => marubatsu::run(&args),
            Self::Completions(args) => manual::completions(&args, command_lines()),
            Self::Man(args) => manual::man(&args, command_lines()),
        }
    }
}

#[derive(Parser)]
#[command(name = "gen-filter", version)]
struct GenFilter {
    #[command(flatten)]
    args: filter::FilterArgs,
    #[command(flatten)]
    messages: Messages,
}

#[derive(Parser)]
#[command(name = "kyokumen-usi", version)]
struct KyokumenUsi {
    #[command(flatten)]
    args: usi::UsiArgs,
    #[command(flatten)]
    messages: Messages,
}

#[derive(Args)]
struct Messages {
    /// Log inputs, formats, threads, memory and shards to standard error; -vv also logs each block of records and each
    /// checkpoint, -vvv also each search
    #[arg(short, long, action = clap::ArgAction::Count, global = true, display_order = 1000)]
    verbose: u8,
}

/// Returns the command-line definitions of all programs, `kyokumen` first.
pub fn command_lines() -> [clap::Command; 3] {
    [Kyokumen::command(), GenFilter::command(), KyokumenUsi::command()]
}

/// Runs `kyokumen` with the arguments of the process.
pub fn kyokumen() -> ExitCode {
    ExitCode::from(kyokumen_with(process_words()))
}

/// Runs `kyokumen` with arguments, the first of which is ignored. Returns the exit status. Exits if the arguments are
/// not valid.
pub fn kyokumen_with(words: Vec<OsString>) -> u8 {
    match parse(words) {
        Ok(Kyokumen { command, messages }) => run(&messages, || command.run()),
        Err(error) => ended(failed(&error)),
    }
}

/// Runs `gen-filter` with the arguments of the process.
pub fn gen_filter() -> ExitCode {
    ExitCode::from(match parse(process_words()) {
        Ok(GenFilter { args, messages }) => run(&messages, || filter::run(args)),
        Err(error) => ended(failed(&error)),
    })
}

/// Runs `kyokumen-usi` with the arguments of the process.
pub fn kyokumen_usi() -> ExitCode {
    ExitCode::from(match parse(process_words()) {
        Ok(KyokumenUsi { args, messages }) => run(&messages, || usi::run(&args)),
        Err(error) => ended(failed(&error)),
    })
}

/// The arguments of the process. On Windows the program, not the shell, expands wildcards. The name of the program is
/// without `.exe`, so that help and messages are the same on all systems.
fn process_words() -> Vec<OsString> {
    let mut words: Vec<OsString> = wild::args_os().collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(program);
        if name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("exe")) {
            *program = name.with_extension("").into();
        }
    }
    words
}

/// Parses arguments and a configuration file. Exits with a message if they are invalid.
///
/// # Errors
/// If a configuration file cannot be read or has invalid options.
fn parse<P: Parser>(words: Vec<OsString>) -> anyhow::Result<P> {
    let mut command = with_negative_values(P::command());
    json_lines::enable_if_requested(&words);
    let words = config::with_files(&command, words)?;
    json_lines::enable_if_requested(&words);
    let parsed = command.try_get_matches_from_mut(words);
    let parsed = parsed.and_then(|mut matches| P::from_arg_matches_mut(&mut matches));
    Ok(parsed.unwrap_or_else(|error| message::exit(error.format(&mut command))))
}

/// Allows negative numbers as option values, so that `-1` is reported as an invalid value, not as an unknown option.
fn with_negative_values(command: clap::Command) -> clap::Command {
    let takes_value = |arg: &clap::Arg| !arg.is_positional() && arg.get_action().takes_values();
    command
        .mut_args(|arg| {
            let takes_value = takes_value(&arg);
            if takes_value { arg.allow_negative_numbers(true) } else { arg }
        })
        .mut_subcommands(with_negative_values)
}

fn run(messages: &Messages, command: impl FnOnce() -> anyhow::Result<ExitStatus>) -> u8 {
    let level = match messages.verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_writer(|| message::Log)
        .with_max_level(level)
        .with_target(false)
        .without_time()
        .init();
    tracing::info!(
        "kyokumen {}; {} available",
        env!("CARGO_PKG_VERSION"),
        quantity(platform::threads(0) as u64, "thread")
    );
    if let Err(error) = signals::fail_at_the_limit_of_file_size() {
        tracing::warn!("a file that exceeds the size limit will kill the program: {error}");
    }
    let result = command();
    // Threads that are still running do not drop their child processes when this process exits.
    kyokumen_process::kill_all();
    ended(match result {
        Ok(ExitStatus::Done) => 0,
        Ok(ExitStatus::BadRecords | ExitStatus::NothingRead) => 3,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => failed(&error),
    })
}

/// Writes the last message of the program.
fn ended(exit_status: u8) -> u8 {
    json_lines::finish(exit_status);
    exit_status
}

/// Prints an error. Returns the exit status.
fn failed(error: &anyhow::Error) -> u8 {
    // File errors have a context with the file name, so a bare I/O error comes from standard output. `downcast_ref` is
    // not used because it also looks inside a context.
    let is_bare = error.chain().next().is_some_and(<dyn Error>::is::<io::Error>);
    let to = if is_bare { "cannot write to standard output: " } else { "" };
    message::print_error(&format!("{to}{}", advice::explain(error)));
    failure_status(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shogi::sfen;

    /// Checks that each default follows the description of its option. clap's long help would start a new paragraph.
    fn check_defaults(program: &clap::Command, path: &[&str], command: &clap::Command) {
        let result =
            program.clone().term_width(0).try_get_matches_from([path, &["--help"]].concat());
        let help = result.expect_err("--help is reported as an error").to_string();
        assert!(help.lines().all(|line| !line.trim_start().starts_with("[default")), "{help}");
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            for default in arg.get_default_values() {
                let default = default.to_str().expect("the defaults are text");
                if default.is_empty() {
                    // An empty default is not shown.
                    continue;
                }
                let shown = if default == sfen::START { "the start position" } else { default };
                assert!(help.contains(&format!("[default: {shown}]")), "{}: {help}", arg.get_id());
            }
        }
        for subcommand in command.get_subcommands() {
            check_defaults(program, &[path, &[subcommand.get_name()]].concat(), subcommand);
        }
    }

    #[test]
    fn every_help_text_shows_defaults_in_the_same_form() {
        for program in command_lines() {
            check_defaults(&program, &[program.get_name()], &program);
        }
    }
}
