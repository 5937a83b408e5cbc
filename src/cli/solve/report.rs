//! Solutions as text and JSON.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use super::moves::{AllMovesJson, in_short, padded, write_moves};
use crate::cli::message::say;
use crate::cli::report::{Moves, exact_milliseconds, json_line, records};
use crate::format::notation;
use crate::mate::judge::MateResult;
use crate::mate::solve::Solution;
use crate::ops::language::{Language, in_language};
use crate::records::position_verdict::PositionVerdict;
use crate::shogi::{Move, Position, Square};
use crate::solver::{CountedPlies, SearchProgress, Stop};
use crate::storage::quantity::noun;

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
    /// The line without futile interpositions. Null if `tsume_plies` is null.
    tsume_line: Option<Vec<String>>,
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
        let counted = solution.tsume_plies.as_ref();
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
            tsume_plies: counted.map(|counted| counted.plies),
            tsume_plies_null: why_not_measured(solution, measures),
            tsume_shortest: counted.map(|counted| counted.is_least),
            shortest: solution.is_shortest,
            line: mate_result.map(|mate_result| moves(&mate_result.line)).unwrap_or_default(),
            tsume_line: counted.map(|counted| moves(&counted.line)),
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

/// `2 win, 1 unknown`: the counts of wins, losses, positions without mate, unknown, skipped and bad positions; counts
/// of 0 are left out.
pub(super) fn verdict_counts(language: Language, counts: [u64; 6]) -> String {
    let words = language.pick(
        ["win", "loss", "no mate", "unknown", "skipped", "bad"],
        ["詰み", "詰まされる", "不詰", "不明", "省略", "不正"],
    );
    let nonzero = counts.into_iter().zip(words).filter(|(count, _)| *count > 0);
    let texts =
        nonzero.map(|(count, word)| in_language!(language, "{count} {word}", "{word} {count}"));
    texts.collect::<Vec<_>>().join(language.pick(", ", "、"))
}

/// Writes the verdict of one of several positions as a line of text. Readers count positions from 1.
pub(super) fn write_line(solution: &Solution, language: Language) -> io::Result<()> {
    let line = Line::new(solution, false);
    let (number, nodes, moves) = (line.index + 1, line.nodes, line.line.join(" "));
    let unique = solution.moves.as_ref();
    let unique = unique.map(|report| in_short(report, language).unwrap_or_default());
    let unique = unique.map(|words| format!("  {}", padded(&words, 38))).unwrap_or_default();
    let verdict = padded(&verdict(solution, language), 22);
    let unit = language.pick(noun(nodes == 1, "node"), "ノード".to_owned());
    let text = format!("{number:>6}  {verdict} {nodes:>9} {unit:<5}{unique}  {moves}");
    writeln!(io::stdout(), "{}", text.trim_end())
}

/// Writes the verdict of a single position as several lines, with the progress of an undecided search. The rest
/// follows in [`write_rest`].
pub(super) fn write_answer(
    solution: &Solution,
    progress: &SearchProgress,
    language: Language,
) -> io::Result<()> {
    let line = Line::new(solution, true);
    let mut rows = vec![];
    if !line.line.is_empty() {
        rows.push((language.pick("line", "USI"), line.line.join(" ")));
        rows.push((language.pick("in words", "手順"), in_words(solution)));
    }
    if let Some(is_shortest) = line.shortest {
        let known = if is_shortest {
            language.pick("yes", "証明済み")
        } else {
            language.pick("unknown: a limit was reached", "不明（探索の上限に達した）")
        };
        rows.push((language.pick("shortest", "最短"), known.to_owned()));
    }
    if line.stop.is_some() && !progress.line.is_empty() {
        let deepest = language.quantity(progress.depth_plies as u64, "ply", "手");
        rows.push((language.pick("deepest", "最深"), deepest));
        let last = Moves(&progress.line).to_string();
        rows.push((language.pick("last tried", "最後の読み筋"), last));
    }
    rows.push((language.pick("nodes", "ノード数"), line.nodes.to_string()));
    let elapsed = line.elapsed_ms;
    let elapsed = in_language!(language, "{elapsed:.3} ms", "{elapsed:.3} ミリ秒");
    rows.push((language.pick("elapsed", "時間"), elapsed));
    let speed = line.nodes as f64 / solution.elapsed.as_secs_f64();
    rows.push((language.pick("nodes/s", "ノード/秒"), format!("{speed:.0}")));
    let mut out = io::stdout();
    writeln!(out, "{}", verdict(solution, language))?;
    rows.into_iter().try_for_each(|(name, text)| write_row(&mut out, language, name, &text))
}

/// Writes the length without futile interpositions and the findings about all moves.
pub(super) fn write_rest(solution: &Solution, language: Language) -> io::Result<()> {
    for (name, text) in tsume_rows(solution, language) {
        write_row(&mut io::stdout(), language, name, &text)?;
    }
    let moves = solution.moves.as_ref();
    moves.map_or(Ok(()), |report| write_moves(solution, report, language))
}

/// The length and the line without futile interpositions. Empty if the line already shown has this length.
fn tsume_rows(solution: &Solution, language: Language) -> Vec<(&'static str, String)> {
    let plies = solution.mate_result.as_ref().map(|mate_result| mate_result.line.len());
    let counted = solution.tsume_plies.as_ref();
    let Some(counted) = counted.filter(|it| Some(usize::from(it.plies)) != plies) else {
        return Vec::new();
    };
    let mut rows = vec![(language.pick("tsume", "詰手数"), tsume_plies(counted, language))];
    if !counted.line.is_empty() {
        let usi = Moves(&counted.line).to_string();
        let in_words = words(&solution.input.position, &counted.line, None);
        rows.push((language.pick("tsume line", "詰手順 USI"), usi));
        rows.push((language.pick("in words", "詰手順"), in_words));
    }
    rows
}

/// Writes a named value of the report.
pub(super) fn write_row(
    out: &mut impl Write,
    language: Language,
    name: &str,
    text: &str,
) -> io::Result<()> {
    writeln!(out, "{} {text}", padded(name, language.pick(10, 14)))
}

/// The length without futile interpositions.
pub(super) fn tsume_plies(counted: &CountedPlies, language: Language) -> String {
    let &CountedPlies { plies, is_least, .. } = counted;
    let (fewer, at_most) = if is_least { ("", "") } else { (", or fewer", "以下") };
    in_language!(
        language,
        "{}{fewer}, without futile interpositions",
        "{}{at_most}（無駄合を除く）",
        language.quantity(plies.into(), "ply", "手")
    )
}

/// The mating line in Japanese notation.
pub(in crate::cli) fn in_words(solution: &Solution) -> String {
    let line = solution.mate_result.as_ref().map_or(&[][..], |mate_result| &mate_result.line);
    words(&solution.input.position, line, None)
}

/// Moves in Japanese notation, separated by spaces. `last` is the target of the move before them.
pub(super) fn words(position: &Position, moves: &[Move], last: Option<Square>) -> String {
    let (mut position, mut last) = (position.clone(), last);
    let words = moves.iter().map(|&m| {
        let words = notation(&position, m, last);
        position.make(m);
        last = Some(m.to());
        words
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The verdict in a few words: `win in 3`, `unknown (node limit)`, ….
pub(in crate::cli) fn verdict(solution: &Solution, language: Language) -> String {
    match &solution.mate_result {
        None => language.pick("in check, skipped", "王手のため省略").to_owned(),
        Some(MateResult { verdict, line, .. }) => verdict_in(*verdict, line.len(), language),
    }
}

/// The verdict in a few words, with a mate of `plies` plies.
pub(super) fn verdict_in(verdict: PositionVerdict, plies: usize, language: Language) -> String {
    match verdict {
        PositionVerdict::Win => in_language!(language, "win in {plies}", "{plies}手で詰み"),
        PositionVerdict::Loss if plies == 0 => {
            language.pick("already mated", "詰んでいる").to_owned()
        }
        PositionVerdict::Loss => in_language!(language, "loss in {plies}", "{plies}手で詰まされる"),
        PositionVerdict::NoMate => language.pick("no mate", "不詰").to_owned(),
        PositionVerdict::Unknown(stop) => unknown(stop, language),
    }
}

/// `unknown (node limit)`
pub(super) fn unknown(stop: Stop, language: Language) -> String {
    in_language!(language, "unknown ({})", "不明（{}）", stop_words(stop, language))
}

/// Why a search is undecided.
pub(super) fn stop_words(stop: Stop, language: Language) -> &'static str {
    match stop {
        Stop::Nodes => language.pick("node limit", "ノード数の上限"),
        Stop::Depth => language.pick("depth limit", "手数の上限"),
        Stop::Memory => language.pick("memory limit", "メモリ不足"),
        Stop::Cancelled => language.pick("cancelled", "中断"),
    }
}

fn moves(line: &[Move]) -> Vec<String> {
    line.iter().map(ToString::to_string).collect()
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

    pub(super) fn report(&self, language: Language, elapsed: Duration) {
        let &Self { win, loss, no_mate, unknown, skipped, bad, .. } = self;
        let counts = verdict_counts(language, [win, loss, no_mate, unknown, skipped, bad]);
        let colon = if counts.is_empty() { "" } else { ": " };
        let records = match (language, self.positions + bad) {
            (Language::English, number) => records(number),
            (Language::Japanese, number) => format!("{number}局面"),
        };
        say!("{records}{colon}{counts}");
        let seconds = elapsed.as_secs_f64();
        let (positions_s, nodes_s) = (self.positions as f64 / seconds, self.nodes as f64 / seconds);
        let known = match self.known {
            0 => String::new(),
            known => in_language!(
                language,
                ", {known} known from equal positions",
                "、{known} 局面は同一局面の結果を利用"
            ),
        };
        say!(
            "{}{known}",
            in_language!(
                language,
                "{seconds:.1} s, {positions_s:.0} positions/s, {nodes_s:.0} nodes/s",
                "{seconds:.1} 秒、{positions_s:.0} 局面/秒、{nodes_s:.0} ノード/秒"
            )
        );
    }
}
