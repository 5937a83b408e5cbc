//! `kyokumen solve`.

mod args;
mod games;
mod moves;
mod one;
mod output;
mod page;
mod proofs;
pub(super) mod report;
mod split;
mod tree;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;

pub(super) use self::args::SolveArgs;
use self::one::{OnePosition, solve_one};
use self::proofs::Proofs;
use self::report::Tally;
use self::split::solve_split;
use super::message::say;
use super::option::{log_threads, position};
use crate::cli::exit::{ExitStatus, Interrupted, Usage};
use crate::engine::messages::Messages;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::mate::positions::{
    InputPosition, LineOrByte, PositionResult, Positions, RecordLocation, moves_of_game,
};
use crate::mate::solve::solve;
use crate::records::bad_record::{line_at, line_prefix};
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::source::Input;
use crate::records::{detection, opening};
use crate::shogi::{Color, Move};
use crate::storage::location::parse_location;
use crate::storage::path_text::{input_name, text_of};
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;

pub(super) fn run(args: &SolveArgs) -> anyhow::Result<ExitStatus> {
    // The four parts of an SFEN may be separate arguments.
    let input = args.input.join(OsStr::new(" "));
    args.check()?;
    match input.to_str() {
        Some(text) if is_sfen(text) => {
            let location = RecordLocation { index: 0, spot: LineOrByte::Line(1) };
            let position = position("SFEN", text)?;
            if let Some(plies) = args.split.split {
                return solve_split(args, &position, plies);
            }
            let input = InputPosition { location, position, label: None };
            let (intended, claims) = (args.intended(&input.position)?, FileClaims::reading(&[])?);
            solve_one(args, OnePosition { input, file: None, intended, claims })
        }
        _ if args.split.split.is_some() => {
            Err(Usage("--split needs one SFEN on the command line, not a file".to_owned()).into())
        }
        _ => solve_file(args, file(args, input)?),
    }
}

/// The input file. A name with spaces may be several arguments.
fn file(args: &SolveArgs, joined: OsString) -> Result<PathBuf, Usage> {
    let names = &args.input;
    let path = PathBuf::from(joined);
    if names.len() > 1 && !path.exists() {
        let names: Vec<_> = names.iter().map(|name| text_of(Path::new(name))).collect();
        let names = names.join(", ");
        return Err(Usage(format!(
            "solve reads one file, not several: {names}; join them first, for example with `kyokumen convert *.kif -o \
             all.kif`"
        )));
    }
    Ok(path)
}

fn solve_file(args: &SolveArgs, input: PathBuf) -> anyhow::Result<ExitStatus> {
    let name = text_of(&input);
    let file = input_name(&name);
    let path = parse_location(input).map_err(|why| Usage(format!("{name}: {why}")))?;
    let format = match args.from {
        Some(from) => Some(from),
        None => format_of(&path)?,
    };
    let positions = Positions::open(&path, format);
    tracing::info!("{file}: read as {}", positions.input().format_name());
    let claims = FileClaims::reading(std::slice::from_ref(positions.input()))?;
    let kind = positions.input().format;
    let mut positions = positions.take(args.limit.unwrap_or(usize::MAX));
    let mut first = Vec::new();
    if args.follows_game() {
        first.extend(positions.by_ref().take(1));
        let intended = moves_of_game(&path, format)?.unwrap_or_default();
        let Some(input) = only_position(args, &first).filter(|_| !intended.is_empty()) else {
            let why = "--solution file needs a file with one game, which begins with the problem";
            return Err(Usage(format!("{file}: {why}")).into());
        };
        return solve_one(args, OnePosition { input, file: Some(file), intended, claims });
    }
    if kind == Format::Bod || (kind.holds_games() && kind.holds_positions()) {
        first.extend(positions.by_ref().take(2));
        if let Some(input) = only_position(args, &first) {
            let intended = args.intended(&input.position)?;
            return solve_one(args, OnePosition { input, file: Some(file), intended, claims });
        }
        if begins_with_problem(&first) {
            say!(
                "{file}: moves follow the diagram, so the position before each move is solved; --limit 1 solves only \
                 the diagram, and --all=line --solution file also checks the moves"
            );
        }
    } else if kind == Format::Sfen && format.is_none() && !path.is_file() {
        let is_bad = |result: &PositionResult| matches!(result, Ok(Err(_)));
        while first.len() < MAX_BAD_LINES && first.iter().all(is_bad) {
            let Some(result) = positions.next() else { break };
            first.push(result);
        }
        check_lines(file, &first)?;
    }
    solve_all(args, &name, first.into_iter().chain(positions), claims)
}

/// Unreadable lines at the start of an input without a name that show that it is not text of SFEN.
const MAX_BAD_LINES: usize = 3;

/// Refuses an input without a name that begins with this many unreadable lines.
fn check_lines(file: &str, first: &[PositionResult]) -> Result<(), Usage> {
    let bad = first.iter().filter_map(|result| result.as_ref().ok()?.as_ref().err());
    let mut bad = bad.take(MAX_BAD_LINES);
    match (bad.next(), bad.count()) {
        (Some(bad), more) if more + 1 == MAX_BAD_LINES => Err(Usage(format!(
            "{file}, {bad}; an input without a name is read as one SFEN per line; choose another format with --from, \
             such as --from kif"
        ))),
        _ => Ok(()),
    }
}

/// Whether these are the first positions of a problem with its solution. A problem has pieces in hand, unlike the start
/// of a game.
fn begins_with_problem(first: &[PositionResult]) -> bool {
    let [Ok(Ok(start)), Ok(Ok(next))] = first else { return false };
    let (start, next) = (&start.position, next.position.to_string());
    let leads_to_next = |&m: &Move| {
        let mut position = start.clone();
        position.make(m);
        position.to_string() == next
    };
    Color::ALL.into_iter().any(|color| !start.hand(color).is_empty())
        && start.legal_moves().iter().any(leads_to_next)
}

/// The position, if there is only one and it can be searched. Errors of other positions are reported with the file.
fn only_position(args: &SolveArgs, first: &[PositionResult]) -> Option<InputPosition> {
    let [Ok(Ok(input))] = first else { return None };
    args.search.in_check().searches(&input.position).is_ok().then(|| input.clone())
}

/// Solves the positions of the file with this name. A signal ends the search; the results until then are written.
fn solve_all(
    args: &SolveArgs,
    name: &str,
    positions: impl Iterator<Item = PositionResult> + Send + 'static,
    claims: FileClaims,
) -> anyhow::Result<ExitStatus> {
    args.check_for_several()?;
    let file = input_name(name);
    let (settings, threads) = (args.search.settings()?, args.threads);
    log_threads(threads);
    let mut proofs = Proofs::open(args, claims)?;
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut output = args.output(args.tsume_plies, file.to_owned());
    let (mut tally, mut messages) = (Tally::default(), Messages::default());
    let started = Instant::now();
    let options = args.options(interrupt.cancel(), Vec::new());
    let ended = solve(positions, &settings, &options, threads, |solved| -> anyhow::Result<()> {
        match solved {
            Ok(solution) => {
                proofs.write(&solution)?;
                tally.count(&solution);
                output.write(&solution)?;
            }
            Err(bad) => {
                tally.bad += 1;
                if messages.is_shown() {
                    let line = bad.byte().and_then(|byte| line_at(name, byte));
                    let bad = format!("{}{bad}", line_prefix(line));
                    say!("{file}, {bad}");
                    output.note_bad(bad);
                }
            }
        }
        Ok(())
    });
    let is_interruption =
        |error: &anyhow::Error| error.downcast_ref().is_some_and(Error::is_interruption);
    let signal = match (ended, interrupt.signal()) {
        (Err(error), Some(signal)) if is_interruption(&error) => Some(signal),
        (ended, _) => ended.map(|()| None)?,
    };
    output.finish(tally.bad, signal.is_some())?;
    if let Some(rest) = messages.rest() {
        say!("{file}: {rest}");
    }
    let unwritten = if signal.is_none() { proofs.finish()? } else { 0 };
    tally.report(args.language(), started.elapsed());
    if let Some(signal) = signal {
        let what = format!("interrupted after {}", quantity(tally.positions, "position"));
        return Err(Interrupted { signal, what }.into());
    }
    let bad = tally.bad + unwritten;
    Ok(ExitStatus::of_records(tally.positions + tally.bad, bad))
}

/// Returns the format of a file by its content, if its name gives none or it is a `.sfen` file with USI games.
/// Otherwise `None`, as for pipes and for text with an SFEN in the first column.
fn format_of(path: &Path) -> anyhow::Result<Option<FormatName>> {
    opening::check_not_folder(path)?;
    if !path.is_file() {
        return Ok(None);
    }
    if let Some(named) = FormatName::from_file_name(&text_of(path)) {
        return match detection::check_name(&Input::named(path, named), path) {
            Ok(other) => Ok(other.map(|other| other.format_name())),
            // Any text may follow the SFEN, so the line need not be a valid record.
            Err(error)
                if named.format == Format::Sfen
                    && matches!(error.kind(), ErrorKind::Unreadable) =>
            {
                Ok(None)
            }
            Err(error) => Err(error.into()),
        };
    }
    match detection::format_of(path) {
        Err(error) if matches!(error.kind(), ErrorKind::UnknownFormat) => Ok(None),
        // Read as text, because anything may follow the SFEN.
        Ok(detected) if detected.format == FormatName::plain(Format::Sfen) => Ok(None),
        Ok(detected) => {
            detected.warn(path);
            Ok(Some(detected.format))
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the text is meant as a position, even if it is malformed. The name of an existing file is never one.
fn is_sfen(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let board = words.next().unwrap_or_default();
    let has_nine_ranks = board.matches('/').count() == 8;
    // A board with a wrong number of ranks, followed by the side to move.
    let has_side_to_move = board.contains('/') && matches!(words.next(), Some("b" | "w"));
    !Path::new(text).exists()
        && (has_nine_ranks || has_side_to_move || matches!(board, "sfen" | "position" | "startpos"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_distinguished_from_file_names() {
        for text in [
            "4k4/9/9/9/9/9/9/9/4K4 b - 1",
            "4k4/9/9/9/9/9/9/9/4K4",
            "sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1",
            "startpos",
            "4k4/9/9/9/9/9/9/9/4K4 x nonsense",
            "4k4/9/9/9 b - 1",
        ] {
            assert!(is_sfen(text), "{text}");
        }
        for text in ["-", "", "a.hcp", "../data/positions of games.tsv", "Cargo.toml"] {
            assert!(!is_sfen(text), "{text}");
        }
    }
}
