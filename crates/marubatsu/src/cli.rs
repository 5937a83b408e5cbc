//! Subcommands for a program. They turn options into text for standard output.
//!
//! There is one module per command.

mod boards;
mod check;
mod games;
mod show;
mod solve;
mod tree;

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use clap::Subcommand;
use serde::Serialize;
use serde::de::value::Error as WordError;
use serde::de::{DeserializeOwned, IntoDeserializer};
use thiserror::Error;

/// A command and its options.
#[derive(Subcommand)]
pub enum Command {
    /// Build the complete tree, by make/unmake and by copying
    Tree(tree::TreeArgs),

    /// Compare board representations: match speed, copy, move, unmove, the complete tree
    ///
    /// Also prints the figures of the articles for Python and numpy: `NpBoard`, `NpIntBoard` and `NpBoolBoard` (article
    /// 204), and for copy, move and unmove the figures of one of its classes (article 186).
    Boards(boards::BoardsArgs),

    /// Search a position: its value, its best moves, and the number of nodes
    ///
    /// Each move of the position is searched with an open window, so that all best moves are found. A node is a
    /// position entered by a move, even if its value is in the table.
    Solve(solve::SolveArgs),

    /// Check whether a player is unbeatable, and in how many positions it may go wrong
    ///
    /// Weakly solved: the player never loses from the start, against any reply. Strongly solved: all candidates of the
    /// player are best moves in every position where moves differ in value. The report counts these positions.
    Check(check::CheckArgs),

    /// Play games between two players, and compare the results with the exact probabilities
    ///
    /// The first player has ○, the second ×. Every game is played move by move. A player takes each of its candidates
    /// with the same probability. Each share is within its bound in 99.99 % of all samples.
    Match(games::MatchArgs),

    /// Draw the tree under a position: its values, or the nodes that a search visited and cut
    Show(show::ShowArgs),
}

/// Writes files, all or none. With `force` it may replace those that exist.
pub type WriteFiles = fn(files: &[(&Path, String)], force: bool) -> anyhow::Result<()>;

/// An error in the options that clap does not detect.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Usage(String);

impl Command {
    /// Runs the command and returns the text for standard output.
    ///
    /// # Errors
    /// [`Usage`], or an error of `write_files`.
    pub fn run(&self, write_files: WriteFiles) -> anyhow::Result<String> {
        match self {
            Self::Tree(args) => tree::run(args),
            Self::Boards(args) => boards::run(args),
            Self::Solve(args) => solve::run(args),
            Self::Check(args) => check::run(args),
            Self::Match(args) => games::run(args),
            Self::Show(args) => show::run(args, write_files),
        }
    }
}

fn report_text(report: &(impl Serialize + Display), json: bool) -> anyhow::Result<String> {
    if json { json_line(report) } else { Ok(report.to_string()) }
}

fn json_line(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string(value)? + "\n")
}

/// Milliseconds with three decimals. More digits are noise.
fn milliseconds(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1e6).round() / 1e3
}

// These parsers have the same messages as the parsers of `kyokumen`, on which this crate cannot depend. The tests of
// the options of `kyokumen` compare the messages.

/// Parses a variant of an enum by its serde name.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    T::deserialize(text.into_deserializer()).map_err(|error: WordError| {
        // serde quotes the text and calls it an unknown variant. Only the list of variants is kept.
        let error = error.to_string();
        match error.rsplit_once(", expected ") {
            Some((_, values)) => format!("expected {}", values.replace('`', "")),
            None => error,
        }
    })
}

/// Parses a whole number. The error names the limits.
fn whole_number<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    text: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        // The largest 64-bit number matters only to users who exceeded it.
        let is_too_large = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit());
        if MOST == u64::MAX && !is_too_large {
            format!("expected a whole number, {LEAST} or more")
        } else {
            format!("expected a whole number from {LEAST} to {MOST}")
        }
    })
}
