//! Solutions as text and JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::moves::{AllMovesJson, in_short, write_moves};
use crate::cli::message::say;
use crate::cli::report::{Moves, exact_milliseconds, json_line, records};
use crate::format::notation;
use crate::mate::judge::MateResult;
use crate::mate::solve::Solution;
use crate::records::position_verdict::PositionVerdict;
use crate::solver::SearchProgress;
use crate::storage::quantity::{noun, quantity};

/// One line of `--json`.
#[derive(Serialize)]
#[expect(clippy::struct_field_names, reason = "`line` is the mating line")]
struct Line {
    index: u64,
    sfen: String,
    verdict: Option<&'static str>,
    stop: Option<&'static str>,
    plies: Option<usize>,
    /// Plies without futile interpositions.
    tsume_plies: Option<u16>,
    /// Why `tsume_plies` is null.
    tsume_plies_null: Option<&'static str>,
    /// Whether `tsume_plies` is proven minimal.
    tsume_shortest: Option<bool>,
    /// Whether `plies` is proven minimal. Null without a mate or without `--shortest`.
    shortest: Option<bool>,
    line: Vec<String>,
    nodes: u64,
    /// Time of the search that gave the verdict, which may be the search of an equal position.
    elapsed_ms: f64,
    /// Only with `--all`.
    #[serde(flatten)]
    all: Option<AllMovesJson>,
}

impl Line {
    /// `measures`: whether `tsume_plies` is requested.
    fn new(solution: &Solution, measures: bool) -> Self {
        let mate_result = solution.mate_result.as_ref();
        let stop = match mate_result.map(|mate_result| mate_result.verdict) {
            Some(PositionVerdict::Unknown(stop)) => Some(stop.word()),
            _ => None,
        };
        Self {
            index: solution.input.location.index,
            sfen: solution.input.position.to_string(),
            verdict: mate_result.map(|mate_result| mate_result.verdict.word()),
            stop,
            plies: mate_result.filter(|it| it.verdict.is_mate()).map(|it| it.line.len()),
            tsume_plies: solution.tsume_plies.map(|counted| counted.plies),
            tsume_plies_null: why_not_measured(solution, measures),
            tsume_shortest: solution.tsume_plies.map(|counted| counted.is_least),
            shortest: solution.is_shortest,
            line: mate_result.map(moves).unwrap_or_default(),
            nodes: mate_result.map_or(0, |mate_result| mate_result.nodes),
            elapsed_ms: exact_milliseconds(solution.elapsed),
            all: solution.moves.as_ref().map(AllMovesJson::new),
        }
    }
}

/// Why `tsume_plies` is null; `None` if it is not.
fn why_not_measured(solution: &Solution, measures: bool) -> Option<&'static str> {
    if solution.tsume_plies.is_some() {
        return None;
    }
    Some(match solution.mate_result.as_ref().map(|mate_result| mate_result.verdict) {
        None => "not_searched",
        Some(PositionVerdict::NoMate) => "no_mate",
        Some(PositionVerdict::Unknown(_)) => "undecided",
        Some(PositionVerdict::Win | PositionVerdict::Loss) if !measures => "not_asked",
        Some(PositionVerdict::Win | PositionVerdict::Loss) => "too_many_positions",
    })
}

pub(super) fn write_json(solution: &Solution, measures: bool) -> io::Result<()> {
    json_line(&Line::new(solution, measures))
}

/// Writes the verdict of one of several positions as a line of text.
pub(super) fn write_line(solution: &Solution) -> io::Result<()> {
    let line = Line::new(solution, false);
    let (index, nodes, moves) = (line.index, line.nodes, line.line.join(" "));
    let unique = solution.moves.as_ref().map(|report| in_short(report).unwrap_or_default());
    let unique = unique.map(|words| format!("  {words:<32}")).unwrap_or_default();
    let (verdict, unit) = (verdict(solution), noun(nodes == 1, "node"));
    let text = format!("{index:>6}  {verdict:<17} {nodes:>9} {unit:<5}{unique}  {moves}");
    writeln!(io::stdout(), "{}", text.trim_end())
}

/// Writes the verdict of a single position as several lines, with the progress of an undecided search.
pub(super) fn write_report(solution: &Solution, progress: &SearchProgress) -> io::Result<()> {
    let line = Line::new(solution, true);
    let mut out = io::stdout();
    writeln!(out, "{}", verdict(solution))?;
    if !line.line.is_empty() {
        writeln!(out, "line       {}", line.line.join(" "))?;
        writeln!(out, "in words   {}", in_words(solution))?;
    }
    if let Some(plies) = line.tsume_plies.filter(|&plies| Some(usize::from(plies)) != line.plies) {
        let known = if line.tsume_shortest == Some(true) { "" } else { ", or fewer" };
        let plies = quantity(plies, "ply");
        writeln!(out, "tsume      {plies}{known}, without futile interpositions")?;
    }
    if let Some(is_shortest) = line.shortest {
        let known = if is_shortest { "yes" } else { "unknown: a limit was reached" };
        writeln!(out, "shortest   {known}")?;
    }
    if line.stop.is_some() && !progress.line.is_empty() {
        writeln!(out, "deepest    {}", quantity(progress.depth_plies, "ply"))?;
        writeln!(out, "last tried {}", Moves(&progress.line))?;
    }
    writeln!(out, "nodes      {}", line.nodes)?;
    writeln!(out, "elapsed    {:.3} ms", line.elapsed_ms)?;
    let seconds = solution.elapsed.as_secs_f64();
    writeln!(out, "nodes/s    {:.0}", line.nodes as f64 / seconds)?;
    solution.moves.as_ref().map_or(Ok(()), |report| write_moves(solution, report))
}

/// The mating line in Japanese notation.
pub(in crate::cli) fn in_words(solution: &Solution) -> String {
    let (mut position, mut last) = (solution.input.position.clone(), None);
    let moves = solution.mate_result.iter().flat_map(|mate_result| &mate_result.line);
    let words = moves.map(|&m| {
        let words = notation(&position, m, last);
        position.make(m);
        last = Some(m.to());
        words
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The verdict in a few words: `win in 3`, `unknown (nodes)`, ….
pub(in crate::cli) fn verdict(solution: &Solution) -> String {
    match &solution.mate_result {
        None => "in check, skipped".to_owned(),
        Some(MateResult { verdict, line, .. }) => match verdict {
            PositionVerdict::Win | PositionVerdict::Loss => {
                format!("{} in {}", verdict.word(), line.len())
            }
            PositionVerdict::NoMate => "no mate".to_owned(),
            PositionVerdict::Unknown(stop) => format!("unknown ({stop})"),
        },
    }
}

fn moves(mate_result: &MateResult) -> Vec<String> {
    mate_result.line.iter().map(ToString::to_string).collect()
}

#[derive(Default)]
pub(super) struct Tally {
    pub(super) positions: u64,
    win: u64,
    loss: u64,
    no_mate: u64,
    unknown: u64,
    skipped: u64,
    pub(super) bad: u64,
    /// Positions whose verdict was known from an equal position.
    known: u64,
    /// Nodes searched, excluding `known` positions.
    nodes: u64,
}

impl Tally {
    pub(super) fn count(&mut self, solution: &Solution) {
        self.positions += 1;
        let Some(mate_result) = &solution.mate_result else {
            self.skipped += 1;
            return;
        };
        self.known += u64::from(solution.is_from_memo);
        self.nodes += if solution.is_from_memo { 0 } else { mate_result.nodes };
        *match mate_result.verdict {
            PositionVerdict::Win => &mut self.win,
            PositionVerdict::Loss => &mut self.loss,
            PositionVerdict::NoMate => &mut self.no_mate,
            PositionVerdict::Unknown(_) => &mut self.unknown,
        } += 1;
    }

    pub(super) fn report(&self, elapsed: Duration) {
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
            known => format!(", {known} known from equal positions"),
        };
        say!("{seconds:.1} s, {positions_s:.0} positions/s, {nodes_s:.0} nodes/s{known}");
    }
}
