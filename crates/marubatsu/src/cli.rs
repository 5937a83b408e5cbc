//! Subcommands for a program: options in, a text for standard output out.
//!
//! One module a command.

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

    /// Compare ways to keep the marks of a board: match speed, copy, move, unmove, the complete tree
    ///
    /// Beside each stand the figures of the articles for the like in Python and numpy: `NpBoard`, `NpIntBoard` and
    /// `NpBoolBoard` (article 204), and for copy, move and unmove those of one class of theirs (article 186).
    Boards(boards::BoardsArgs),

    /// Search a position: its value, its best moves, and how many nodes that took
    ///
    /// Each move of the position is searched with an open window, so that all best moves are found. A node is a
    /// position entered by a move; those that the table answers count.
    Solve(solve::SolveArgs),

    /// Say whether a player is unbeatable, and in how many positions it may go wrong
    ///
    /// Weakly solved: whatever the other side does from the start, the player never loses. Strongly: in how many of
    /// the positions in which moves differ in value all its candidates are best moves.
    Check(check::CheckArgs),

    /// Play games between two players, and say what must come out on average
    ///
    /// The first player has ○, the second ×. Every game is played move by move; a player takes each of its candidates
    /// with the same probability. Of all samples 99.99 % lie within the bound of each share.
    Match(games::MatchArgs),

    /// Draw the tree under a position: its values, or what a search visited and cut
    Show(show::ShowArgs),
}

/// Writes files, all or none. With `force` it may replace those that exist.
pub type WriteFiles = fn(files: &[(&Path, String)], force: bool) -> anyhow::Result<()>;

/// A mistake in the options that clap cannot see.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Usage(String);

impl Command {
    /// Runs the command and returns what belongs on standard output.
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

/// Milliseconds with three decimals: finer is noise.
fn milliseconds(elapsed: Duration) -> f64 {
    (elapsed.as_secs_f64() * 1e6).round() / 1e3
}

// These parsers have the messages of `kyokumen`, on which this crate cannot depend. The tests of its options compare
// the messages.

/// Parses a variant of an enum by its serde name.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, WordError> {
    // The error quotes the word, and terminals would obey what it holds.
    let escaped = |c: char| {
        if c.is_control() && c != '\t' { c.escape_debug().to_string() } else { c.to_string() }
    };
    T::deserialize(text.chars().map(escaped).collect::<String>().into_deserializer())
}

/// Parses a whole number. Its error names the limits.
fn whole_number<T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    text: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        // The largest 64-bit number is of interest only to someone who exceeded it.
        let is_too_large = text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_digit());
        if MOST == u64::MAX && !is_too_large {
            format!("expected a whole number, {LEAST} or more")
        } else {
            format!("expected a whole number from {LEAST} to {MOST}")
        }
    })
}
