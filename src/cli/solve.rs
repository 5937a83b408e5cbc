//! `kyokumen solve`.

mod args;
mod games;
mod moves;
mod one;
mod output;
mod page;
mod proofs;
pub(super) mod report;
mod tree;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(super) use self::args::SolveArgs;
use self::one::{OnePosition, solve_one};
use self::proofs::Proofs;
use self::report::Tally;
use super::message::say;
use super::option::{log_threads, position};
use crate::cli::exit::{ExitStatus, Usage};
use crate::engine::messages::Messages;
use crate::error::ErrorKind;
use crate::format::Format;
use crate::mate::positions::{
    InputPosition, LineOrByte, PositionResult, Positions, RecordLocation,
};
use crate::mate::solve::solve;
use crate::records::bad_record::{line_at, line_prefix};
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::source::Input;
use crate::records::{detection, opening};
use crate::storage::location::parse_location;
use crate::storage::path_text::{input_name, text_of};

pub(super) fn run(args: &SolveArgs) -> anyhow::Result<ExitStatus> {
    // The four parts of an SFEN may be separate arguments.
    let input = args.input.join(OsStr::new(" "));
    args.check()?;
    match input.to_str() {
        Some(text) if is_sfen(text) => {
            let location = RecordLocation { index: 0, spot: LineOrByte::Line(1) };
            let position = position("SFEN", text)?;
            let input = InputPosition { location, position, label: None };
            solve_one(args, OnePosition { input, file: None, claims: FileClaims::reading(&[])? })
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
        return Err(Usage(format!("solve reads one file, not several: {}", names.join(", "))));
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
    let format = positions.input().format;
    let mut positions = positions.take(args.limit.unwrap_or(usize::MAX));
    let mut first = Vec::new();
    if format == Format::Bod || (format.holds_games() && format.holds_positions()) {
        first.extend(positions.by_ref().take(2));
        if let Some(input) = only_position(args, &first) {
            return solve_one(args, OnePosition { input, file: Some(file), claims });
        }
    }
    solve_all(args, &name, first.into_iter().chain(positions), claims)
}

/// The position, if there is only one and it can be searched. Errors of other positions are reported with the file.
fn only_position(args: &SolveArgs, first: &[PositionResult]) -> Option<InputPosition> {
    let [Ok(Ok(input))] = first else { return None };
    args.search.in_check().searches(&input.position).is_ok().then(|| input.clone())
}

/// Solves the positions of the file with this name.
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
    let mut output = args.output(args.tsume_plies, file.to_owned());
    let (mut tally, mut messages) = (Tally::default(), Messages::default());
    let started = Instant::now();
    let options = args.options(proofs.cancel(), Vec::new());
    solve(positions, &settings, &options, threads, |solved| -> anyhow::Result<()> {
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
                    say!("{file}, {}{bad}", line_prefix(line));
                }
            }
        }
        Ok(())
    })?;
    output.finish()?;
    let unwritten = proofs.finish()?;
    if let Some(rest) = messages.rest() {
        say!("{file}: {rest}");
    }
    tally.report(args.language(), started.elapsed());
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
