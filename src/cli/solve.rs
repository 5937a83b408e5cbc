//! `kyokumen solve`.

use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::failure::plan_error;
use super::message::say;
use super::option::{location, threads};
use super::position_arg;
use super::report::{json_line, milliseconds, records};
use super::search_args::SearchArgs;
use crate::cli::exit::{ExitStatus, Interrupted, Usage};
use crate::mate::judge::Judgement;
use crate::mate::positions::{InputPosition, LineOrByte, Positions, RecordLocation};
use crate::mate::proof::ProofOutput;
use crate::mate::solve::{Solution, SolveOptions, solve};
use crate::records::answer::Answer;
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::sink::{SinkError, is_standard_output};
use crate::storage::files;
use crate::storage::platform::Interrupt;

/// Say whether the side to move mates, is being mated, or neither
///
/// Reads an SFEN, or a file of positions: a format of `kyokumen formats` by its extension, anything else as text with
/// an SFEN in the first column; blank lines and # comments are passed over. The king of the attacker may be
/// missing, as in problems. Results come in the order of the input, from all threads; equal positions are
/// searched once.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen solve 4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1
  kyokumen solve --json positions.hcp > answers.jsonl
  kyokumen solve --shortest --proof proofs.zst problems.sfen

Exit status: 0 done, 1 failed, 2 usage, 3 done but no records, or bad ones, were met.")]
pub(super) struct SolveArgs {
    /// An SFEN, a file of positions, or `-` for standard input [default: -]
    #[arg(value_name = "SFEN | FILE | -", default_value = "-", hide_default_value = true, num_args = 1..)]
    input: Vec<String>,

    /// Format of the input, one of `kyokumen formats`, as in psv or psv.zst [default: by extension]
    #[arg(long, value_name = "FORMAT")]
    from: Option<FormatName>,

    #[command(flatten)]
    search: SearchArgs,

    /// Threads; 0 is all cores [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads())]
    threads: usize,

    /// Look for the shortest mates: after each mate search for a shorter one, with as many nodes again
    #[arg(long)]
    shortest: bool,

    /// Write the proofs of all mates to a file, to be checked by `kyokumen verify --proof`; zstd-compressed
    /// if its name ends in .zst
    #[arg(long, value_name = "FILE", value_parser = location())]
    proof: Option<PathBuf>,

    /// Replace the file of proofs if it exists
    #[arg(long, requires = "proof")]
    force: bool,

    /// One JSON object a line for each position
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SolveArgs) -> anyhow::Result<ExitStatus> {
    // The four parts of an SFEN need no quotes.
    let input = args.input.join(" ");
    if is_sfen(&input) {
        return solve_one(args, &input);
    }
    solve_file(args, &input)
}

fn solve_file(args: &SolveArgs, input: &str) -> anyhow::Result<ExitStatus> {
    let file = if input == "-" { "standard input" } else { input };
    let (settings, threads) = (args.search.settings()?, args.threads);
    let path = files::parse_location(PathBuf::from(input))
        .map_err(|why| Usage(format!("{input}: {why}")))?;
    let positions = Positions::open(&path, args.from);
    let claims =
        FileClaims::reading(std::slice::from_ref(positions.input())).map_err(plan_error)?;
    let mut proofs = Proofs::open(args, claims)?;
    let mut tally = Tally::default();
    let started = Instant::now();
    let options = args.options(proofs.cancel());
    solve(positions, &settings, &options, threads, |solved| -> anyhow::Result<()> {
        match solved {
            Ok(solution) => {
                proofs.take(&solution)?;
                tally.count(&solution);
                write_solution(&solution, args.json)?;
            }
            Err(bad) => {
                tally.bad += 1;
                say!("{file}, {bad}");
            }
        }
        Ok(())
    })?;
    let unwritten = proofs.finish()?;
    tally.report(started.elapsed());
    let bad = tally.bad + unwritten;
    Ok(ExitStatus::of_records(tally.positions + tally.bad, bad))
}

impl SolveArgs {
    fn options(&self, cancel: Arc<AtomicBool>) -> SolveOptions {
        SolveOptions {
            shortest: self.shortest,
            tsume_plies: self.json,
            proof: self.proof.is_some(),
            cancel,
        }
    }
}

/// Whether the text is meant as a position, right or wrong: a name of a file is not.
fn is_sfen(text: &str) -> bool {
    let board = text.split_ascii_whitespace().next().unwrap_or_default();
    let has_nine_ranks = board.matches('/').count() == 8;
    !Path::new(text).exists()
        && (has_nine_ranks || matches!(board, "sfen" | "position" | "startpos"))
}

fn solve_one(args: &SolveArgs, text: &str) -> anyhow::Result<ExitStatus> {
    let position = position_arg::parse("SFEN", text)?;
    let location = RecordLocation { index: 0, spot: LineOrByte::Line(1) };
    let found = InputPosition { location, position, second_column: None };
    let one = std::iter::once(Ok(Ok(found)));
    let settings = args.search.settings()?;
    let mut proofs = Proofs::open(args, FileClaims::reading(&[]).map_err(plan_error)?)?;
    let options = SolveOptions { tsume_plies: true, ..args.options(proofs.cancel()) };
    solve(one, &settings, &options, 1, |solved| -> anyhow::Result<()> {
        let solution = solved.map_err(|bad| Usage(format!("SFEN: {}\n  {text}", bad.error)))?;
        proofs.take(&solution)?;
        if args.json {
            write_solution(&solution, true)?;
        } else {
            write_report(&solution)?;
        }
        Ok(())
    })?;
    let unwritten = proofs.finish()?;
    Ok(ExitStatus::of_records(1, unwritten))
}

/// The file of proofs, if one is wanted.
struct Proofs {
    file: Option<(ProofOutput, Interrupt)>,
    /// Proofs too large for it.
    unwritten: u64,
}

impl Proofs {
    fn open(args: &SolveArgs, mut claims: FileClaims) -> anyhow::Result<Self> {
        let Some(path) = &args.proof else { return Ok(Self { file: None, unwritten: 0 }) };
        if is_standard_output(path) {
            let message = "standard output holds the answers: --proof needs a file";
            return Err(Usage(message.to_owned()).into());
        }
        let plan = ProofOutput::plan(path, &mut claims, args.force).map_err(plan_error)?;
        let interrupt = Interrupt::watch().context("cannot watch for signals")?;
        Ok(Self { file: Some((ProofOutput::create(plan)?, interrupt)), unwritten: 0 })
    }

    fn cancel(&self) -> Arc<AtomicBool> {
        self.file.as_ref().map(|(_, interrupt)| interrupt.cancel()).unwrap_or_default()
    }

    fn take(&mut self, solution: &Solution) -> anyhow::Result<()> {
        let Some((output, interrupt)) = &mut self.file else { return Ok(()) };
        if let Some(signal) = interrupt.signal() {
            return Err(Interrupted::removed(signal).into());
        }
        match &solution.proof {
            Some(Ok(proof)) => output.write(proof)?,
            Some(Err(error)) => {
                self.unwritten += 1;
                say!("{}: {error}", solution.found.location);
            }
            None => {}
        }
        Ok(())
    }

    /// How many proofs are not in the file.
    fn finish(self) -> Result<u64, SinkError> {
        self.file.map_or(Ok(()), |(output, _)| output.finish())?;
        Ok(self.unwritten)
    }
}

/// One line of `--json`.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "`line` is the mating line")]
struct Line {
    index: u64,
    sfen: String,
    verdict: Option<&'static str>,
    stop: Option<&'static str>,
    plies: Option<usize>,
    /// Plies without futile interpositions; null if too many positions would have to be measured.
    tsume_plies: Option<u16>,
    /// Whether `plies` are proven to be the fewest there can be; null if that was not asked.
    shortest: Option<bool>,
    line: Vec<String>,
    nodes: u64,
    /// Of the search that gave the answer, which may have been that of an equal position.
    elapsed_ms: f64,
}

impl Line {
    fn new(solution: &Solution) -> Self {
        let judgement = solution.judgement.as_ref();
        let stop = match judgement.map(|judgement| judgement.answer) {
            Some(Answer::Unknown(stop)) => Some(stop.word()),
            _ => None,
        };
        Self {
            index: solution.found.location.index,
            sfen: solution.found.position.to_string(),
            verdict: judgement.map(|judgement| judgement.answer.word()),
            stop,
            plies: judgement.filter(|j| j.answer.is_mate()).map(|j| j.line.len()),
            tsume_plies: solution.tsume_plies,
            shortest: solution.is_shortest,
            line: judgement.map(moves).unwrap_or_default(),
            nodes: judgement.map_or(0, |judgement| judgement.nodes),
            elapsed_ms: milliseconds(solution.elapsed),
        }
    }
}

fn write_solution(solution: &Solution, json: bool) -> io::Result<()> {
    let line = Line::new(solution);
    if json {
        return json_line(&line);
    }
    let (index, nodes, moves) = (line.index, line.nodes, line.line.join(" "));
    let text = format!("{index:>6}  {:<17} {nodes:>9} nodes  {moves}", verdict(solution));
    writeln!(io::stdout(), "{}", text.trim_end())
}

fn write_report(solution: &Solution) -> io::Result<()> {
    let line = Line::new(solution);
    let mut out = io::stdout();
    writeln!(out, "{}", verdict(solution))?;
    if !line.line.is_empty() {
        writeln!(out, "line       {}", line.line.join(" "))?;
    }
    if let Some(plies) = line.tsume_plies.filter(|&plies| Some(usize::from(plies)) != line.plies) {
        writeln!(out, "tsume      {plies} plies, without futile interpositions")?;
    }
    if let Some(is_shortest) = line.shortest {
        let known = if is_shortest { "yes" } else { "not known: a limit was reached" };
        writeln!(out, "shortest   {known}")?;
    }
    writeln!(out, "nodes      {}", line.nodes)?;
    writeln!(out, "elapsed    {:.3} ms", line.elapsed_ms)?;
    let seconds = solution.elapsed.as_secs_f64();
    writeln!(out, "nodes/s    {:.0}", line.nodes as f64 / seconds)
}

/// The answer in a few words: `win in 3`, `unknown (nodes)`, ….
fn verdict(solution: &Solution) -> String {
    match &solution.judgement {
        None => "in check, skipped".to_owned(),
        Some(Judgement { answer, line, .. }) => match answer {
            Answer::Loss if line.is_empty() => "mated".to_owned(),
            Answer::Win | Answer::Loss => format!("{} in {}", answer.word(), line.len()),
            Answer::NoMate => "no mate".to_owned(),
            Answer::Unknown(stop) => format!("unknown ({stop})"),
        },
    }
}

fn moves(judgement: &Judgement) -> Vec<String> {
    judgement.line.iter().map(ToString::to_string).collect()
}

/// How many positions got which answer.
#[derive(Default)]
struct Tally {
    positions: u64,
    win: u64,
    loss: u64,
    no_mate: u64,
    unknown: u64,
    skipped: u64,
    bad: u64,
    /// Answered because an equal position had been.
    known: u64,
    /// Searched, without those of the known.
    nodes: u64,
}

impl Tally {
    fn count(&mut self, solution: &Solution) {
        self.positions += 1;
        let Some(judgement) = &solution.judgement else {
            self.skipped += 1;
            return;
        };
        self.known += u64::from(solution.was_known);
        self.nodes += if solution.was_known { 0 } else { judgement.nodes };
        *match judgement.answer {
            Answer::Win => &mut self.win,
            Answer::Loss => &mut self.loss,
            Answer::NoMate => &mut self.no_mate,
            Answer::Unknown(_) => &mut self.unknown,
        } += 1;
    }

    fn report(&self, elapsed: Duration) {
        let mut words = Vec::new();
        for (count, word) in [
            (self.win, "win"),
            (self.loss, "loss"),
            (self.no_mate, "no mate"),
            (self.unknown, "unknown"),
            (self.skipped, "skipped"),
            (self.bad, "bad"),
        ] {
            if count > 0 {
                words.push(format!("{count} {word}"));
            }
        }
        let colon = if words.is_empty() { "" } else { ": " };
        say!("{}{colon}{}", records(self.positions + self.bad), words.join(", "));
        let seconds = elapsed.as_secs_f64();
        let (positions_s, nodes_s) = (self.positions as f64 / seconds, self.nodes as f64 / seconds);
        let known = match self.known {
            0 => String::new(),
            known => format!(", {known} known from equal ones"),
        };
        say!("{seconds:.1} s, {positions_s:.0} positions/s, {nodes_s:.0} nodes/s{known}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_told_from_a_file() {
        for text in [
            "4k4/9/9/9/9/9/9/9/4K4 b - 1",
            "4k4/9/9/9/9/9/9/9/4K4",
            "sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1",
            "startpos",
            "4k4/9/9/9/9/9/9/9/4K4 x nonsense",
        ] {
            assert!(is_sfen(text), "{text}");
        }
        for text in ["-", "", "a.hcp", "../data/positions of games.tsv", "Cargo.toml"] {
            assert!(!is_sfen(text), "{text}");
        }
    }
}
