//! Searches a single position to any depth and shows the progress.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

use super::args::SolveArgs;
use super::proofs::Proofs;
use crate::cli::exit::{ExitStatus, Interrupted, Usage};
use crate::cli::message::say;
use crate::cli::progress::{ProgressMode, ProgressSnapshot};
use crate::engine::progress::ProgressDisplay;
use crate::mate::judge::{MateSettings, Stop, WhenHopeless};
use crate::mate::positions::{BadPosition, InputPosition};
use crate::mate::solve::{Solution, SolveOptions, solve_one as solve};
use crate::ops::language::{Language, in_language};
use crate::records::claims::FileClaims;
use crate::records::position_verdict::PositionVerdict;
use crate::search::TableError;
use crate::shogi::Move;
use crate::solver::{MAX_PLIES, STACK_BYTES, SearchControl, SearchProgress};
use crate::storage::quantity::{duration, rounded, separated_quantity};
use crate::storage::signals::Interrupt;

/// Interval of the checks for signals, the deadline and progress.
const WATCH_EVERY: Duration = Duration::from_millis(50);

/// The only position of the input.
pub(super) struct OnePosition<'a> {
    pub(super) input: InputPosition,
    /// The file; `None` for an SFEN of the command line.
    pub(super) file: Option<&'a str>,
    /// The intended solution.
    pub(super) intended: Vec<Move>,
    pub(super) claims: FileClaims,
}

pub(super) fn solve_one(args: &SolveArgs, only: OnePosition<'_>) -> anyhow::Result<ExitStatus> {
    let OnePosition { input, file, intended, claims } = only;
    let settings = settings(args)?;
    let title = file.unwrap_or_else(|| args.language().pick("Position", "局面"));
    let output = args.output(true, title.to_owned());
    let mut proofs = Proofs::open(args, claims)?;
    let sfen = input.position.to_string();
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let options = SolveOptions { tsume_plies: true, ..args.options(interrupt.cancel(), intended) };
    let control = SearchControl::new();
    let (search_settings, options, threads, observer) =
        (&settings, &options, args.threads, &control);
    let mut is_answered = false;
    let solution = thread::scope(|scope| -> anyhow::Result<Solution> {
        let (sender, receiver) = mpsc::channel();
        let answers = sender.clone();
        // The receiver is closed only after an error that is already being reported.
        let answered = move |solution| drop(answers.send(Message::Answer(solution)));
        let search = move || {
            let solution = solve(input, search_settings, options, threads, observer, answered);
            drop(sender.send(Message::Solution(solution)));
        };
        let builder = thread::Builder::new().name("search".to_owned()).stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, search).context("cannot start a thread")?;
        let mut watch = Watch::new(args, &control);
        loop {
            match receiver.recv_timeout(WATCH_EVERY) {
                Ok(Message::Answer(solution)) => {
                    watch.suspend(|| output.write_answer(&solution, &control.figures()))?;
                    is_answered = true;
                }
                Ok(Message::Solution(Err(no_memory))) => return Err(no_memory.into()),
                Ok(Message::Solution(Ok(Ok(solution)))) => return Ok(solution),
                Ok(Message::Solution(Ok(Err(bad)))) => {
                    return Err(Usage(format!("SFEN: {}\n  {sfen}", bad.error)).into());
                }
                Err(RecvTimeoutError::Timeout) => watch.update(interrupt.signal().is_some()),
                Err(RecvTimeoutError::Disconnected) => {
                    anyhow::bail!("the search ended without a verdict")
                }
            }
        }
    })?;
    if !is_answered {
        output.write_answer(&solution, &control.figures())?;
    }
    output.write_only(&solution)?;
    for warning in solution.input.position.setup().warnings() {
        say!("warning: {warning}");
    }
    if let Some(signal) = interrupt.signal() {
        return Err(Interrupted { signal, what: "interrupted".to_owned() }.into());
    }
    if let Some(hint) = hint(&solution, &settings, args.language()) {
        say!("{hint}");
    }
    proofs.write(&solution)?;
    let unwritten = proofs.finish()?;
    Ok(ExitStatus::of_records(1, unwritten))
}

/// What the search thread sends.
enum Message {
    /// The solution before the length of its mate is measured.
    Answer(Solution),
    Solution(Result<Result<Solution, BadPosition>, TableError>),
}

/// Default node limit for a single position. A search of so many nodes takes some seconds.
pub(super) const NODES_OF_ONE: u64 = 1 << 22;

/// Other defaults than for a collection: the maximum depth, [`NODES_OF_ONE`] or with `--time` no node limit, and
/// [`WhenHopeless::GoOn`].
pub(super) fn settings(args: &SolveArgs) -> anyhow::Result<MateSettings> {
    let mut search = args.search;
    search.depth = search.depth.or(Some(MAX_PLIES));
    search.nodes = search.nodes.or(Some(args.time.map_or(NODES_OF_ONE, |_| u64::MAX)));
    search.when_hopeless = search.when_hopeless.or(Some(WhenHopeless::GoOn));
    search.settings()
}

/// Suggests an option if a limit ended the search.
fn hint(solution: &Solution, settings: &MateSettings, language: Language) -> Option<String> {
    let mate_result = solution.mate_result.as_ref()?;
    let PositionVerdict::Unknown(stop) = mate_result.verdict else { return None };
    let MateSettings { nodes, depth_plies, hash_mb, when_hopeless, .. } = settings;
    Some(match stop {
        Stop::Nodes if *when_hopeless == WhenHopeless::GiveUp && mate_result.nodes < *nodes => {
            let english = "the search stopped early because it was unlikely to finish within the node limit; use \
                           --when-hopeless go-on to search up to the limit";
            let japanese = "ノード数の上限までに判定できる見込みがないため、探索を打ち切りました。上限まで探索するには \
                            --when-hopeless go-on を指定してください";
            language.pick(english, japanese).to_owned()
        }
        Stop::Nodes => in_language!(
            language,
            "the search ended after {}; use --nodes to search more, or --time SECONDS to limit the time instead",
            "{}で探索を打ち切りました。さらに探索するには --nodes で上限を上げるか、--time 秒数 で時間を指定してください",
            language.quantity(*nodes, "node", " ノード")
        ),
        Stop::Depth => in_language!(
            language,
            "no mate within {}; search deeper with --depth",
            "{}以内には詰みがありません。さらに深く探索するには --depth を指定してください",
            language.quantity((*depth_plies).into(), "ply", "手")
        ),
        Stop::Memory => in_language!(
            language,
            "the table of {hash_mb} MiB is too small for the proof; increase --hash-mb",
            "{hash_mb} MiB の置換表には証明が収まりません。--hash-mb を大きくしてください"
        ),
        Stop::Cancelled => language
            .pick(
                "the time limit ended the search; increase --time",
                "制限時間で探索を打ち切りました。--time を長くしてください",
            )
            .to_owned(),
    })
}

/// Moves of the searched line that a progress line shows. A line can have a thousand moves, and a figure that does not
/// fit into the terminal is left out.
const SHOWN_MOVES: usize = 5;

/// Ends the search on time or on a signal, and shows its progress.
struct Watch<'a> {
    control: &'a SearchControl,
    started: Instant,
    deadline: Option<Instant>,
    display: Option<Box<dyn ProgressDisplay<SearchSnapshot>>>,
    shown: Instant,
}

impl<'a> Watch<'a> {
    fn new(args: &SolveArgs, control: &'a SearchControl) -> Self {
        let started = Instant::now();
        // A deadline beyond the range of the clock is no limit.
        let deadline = args.time.and_then(|time| started.checked_add(time));
        let mode: ProgressMode = args.progress.unwrap_or_default();
        Self { control, started, deadline, display: mode.display(None), shown: started }
    }

    fn update(&mut self, is_interrupted: bool) {
        if is_interrupted || self.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            self.control.stop();
        }
        let Some(display) = &mut self.display else { return };
        if self.shown.elapsed() >= display.pause() {
            display.show(&SearchSnapshot::new(self.control.figures(), self.started.elapsed()));
            self.shown = Instant::now();
        }
    }

    /// Writes to the terminal while no progress is shown.
    fn suspend(&mut self, write: impl Fn() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut written = Ok(());
        match &mut self.display {
            Some(display) => display.suspend(&mut || written = write()),
            None => written = write(),
        }
        written
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        // After an error the result of the search is not needed.
        self.control.stop();
        if let Some(display) = &mut self.display {
            display.clear();
        }
    }
}

#[derive(Serialize)]
struct SearchSnapshot {
    /// Current phase after the deciding search. `None` during that search.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'static str>,
    elapsed_s: f64,
    /// Nodes of the deciding search.
    nodes: u64,
    /// `None` after the deciding search.
    nodes_per_s: Option<f64>,
    /// Length of the longest line, in plies.
    depth: usize,
    /// The line being searched.
    line: Vec<String>,
}

impl SearchSnapshot {
    fn new(figures: SearchProgress, elapsed: Duration) -> Self {
        let SearchProgress { nodes, depth_plies: depth, line, is_measuring, .. } = figures;
        let elapsed_s = elapsed.as_secs_f64();
        let nodes_per_s = (!is_measuring).then(|| nodes as f64 / elapsed_s.max(1e-3));
        let line = line.iter().map(ToString::to_string).collect();
        let phase = is_measuring.then_some("measuring the length of the mate");
        Self { phase, elapsed_s, nodes, nodes_per_s, depth, line }
    }
}

impl ProgressSnapshot for SearchSnapshot {
    fn done(&self) -> u64 {
        self.nodes
    }

    fn counts(&self) -> String {
        format!("{} in {}", separated_quantity(self.nodes, "node"), duration(self.elapsed_s))
    }

    fn speed(&self) -> Vec<String> {
        Vec::from_iter(self.nodes_per_s.map(|speed| format!("{} nodes/s", rounded(speed))))
    }

    fn details(&self) -> Vec<String> {
        if let Some(phase) = self.phase {
            return vec![phase.to_owned()];
        }
        let first_moves = &self.line[..self.line.len().min(SHOWN_MOVES)];
        vec![format!("depth {}", self.depth), first_moves.join(" ")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_shows_nodes_speed_and_depth() {
        let line = |is_measuring| {
            let line = ["G*5b", "5a6a", "5b6b", "6a7a", "6b7b", "7a8a"];
            let line = line.iter().map(|m| Move::from_usi(m).unwrap()).collect();
            let (nodes, depth_plies, table_permille) = (1_234_567, 23, 5);
            let figures = SearchProgress { nodes, depth_plies, table_permille, line, is_measuring };
            SearchSnapshot::new(figures, Duration::from_secs(2)).line()
        };
        let expected =
            "1,234,567 nodes in 2 s, 617,284 nodes/s, depth 23, G*5b 5a6a 5b6b 6a7a 6b7b";
        assert_eq!(line(false), expected);
        let expected = "1,234,567 nodes in 2 s, measuring the length of the mate";
        assert_eq!(line(true), expected);
    }
}
