//! Answers and progress reports as lines of the protocol.
//!
//! `checkmate` followed by moves or `nomate` is sent only for a proven verdict.

use std::fmt;
use std::time::Duration;

use super::searcher::SearchOutcome;
use crate::cli::report::Moves;
use crate::ops::language::Language;
use crate::shogi::Move;
use crate::solver::{SearchProgress, SolverResult, Stop, Verdict};

/// The answer to `usi`.
pub(super) fn identity(offers: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines = vec![
        concat!("id name Kyokumen ", env!("CARGO_PKG_VERSION")).to_owned(),
        "id author The Kyokumen contributors".to_owned(),
    ];
    lines.extend(offers);
    lines.push("usiok".to_owned());
    lines
}

/// The answer to `go mate`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Checkmate {
    Mate(Vec<Move>),
    /// It is proven that there is no mate.
    NoMate,
    Timeout,
    /// Invalid command or position.
    NotImplemented,
}

impl From<SolverResult> for Checkmate {
    fn from(outcome: SolverResult) -> Self {
        match outcome.verdict {
            Verdict::Proven => Self::Mate(outcome.line),
            Verdict::Disproven => Self::NoMate,
            Verdict::Unknown(_) => Self::Timeout,
        }
    }
}

impl fmt::Display for Checkmate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mate(line) => write!(f, "checkmate {}", Moves(line)),
            Self::NoMate => f.write_str("checkmate nomate"),
            Self::Timeout => f.write_str("checkmate timeout"),
            Self::NotImplemented => f.write_str("checkmate notimplemented"),
        }
    }
}

/// The limit that ended an undecided search. `None` if it was stopped or is decided.
pub(super) fn undecided(verdict: Verdict, language: Language) -> Option<&'static str> {
    let (english, japanese) = match verdict {
        Verdict::Unknown(Stop::Nodes) => {
            ("undecided: the node limit was reached", "不明: ノード数の上限に達しました")
        }
        Verdict::Unknown(Stop::Depth) => {
            ("undecided: no mate within the depth limit", "不明: 手数の上限以内に詰みがありません")
        }
        Verdict::Unknown(Stop::Memory) => (
            "undecided: the table is too small for the proof",
            "不明: 置換表が小さく、証明が収まりません",
        ),
        Verdict::Unknown(Stop::Cancelled) | Verdict::Proven | Verdict::Disproven => return None,
    };
    Some(language.pick(english, japanese))
}

/// An `info` line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Info {
    elapsed: Duration,
    nodes: u64,
    /// Length of the longest line until now.
    depth_plies: usize,
    table_permille: u16,
    /// Rank among mating first moves, if several are reported.
    rank: Option<usize>,
    line: Vec<Move>,
    stage: Stage,
}

/// Meaning of the moves of an `info` line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The line being searched.
    InProgress,
    Mate,
    /// The last line of a search that found no mate.
    NoMate,
}

impl Info {
    pub(super) fn in_progress(figures: SearchProgress, elapsed: Duration) -> Self {
        let SearchProgress { nodes, depth_plies, table_permille, line, .. } = figures;
        let (rank, stage) = (None, Stage::InProgress);
        Self { elapsed, nodes, depth_plies, table_permille, rank, line, stage }
    }

    /// The last report of a search. An undecided search keeps its last line.
    pub(super) fn finished(
        outcome: &SolverResult,
        figures: SearchProgress,
        elapsed: Duration,
    ) -> Self {
        let mut info = Self::in_progress(figures, elapsed);
        info.nodes = outcome.stats.nodes;
        info.stage = if outcome.verdict == Verdict::Proven { Stage::Mate } else { Stage::NoMate };
        if !matches!(outcome.verdict, Verdict::Unknown(_)) {
            info.line.clone_from(&outcome.line);
        }
        info.depth_plies = info.depth_plies.max(info.line.len());
        info
    }

    /// One report for each mating first move, the best first. A single report without rank unless
    /// [`SearchOutcome::is_ranked`].
    pub(super) fn mates(
        outcome: &SearchOutcome,
        figures: SearchProgress,
        elapsed: Duration,
    ) -> Vec<Self> {
        let first = Self::finished(&outcome.result, figures, elapsed);
        if !outcome.is_ranked {
            return vec![first];
        }
        let info = |(index, line): (usize, &Vec<Move>)| Self {
            rank: Some(index + 2),
            depth_plies: first.depth_plies.max(line.len()),
            line: line.clone(),
            ..first.clone()
        };
        let others: Vec<Self> = outcome.other_mates.iter().enumerate().map(info).collect();
        [Self { rank: Some(1), ..first }].into_iter().chain(others).collect()
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elapsed, nodes, depth_plies, table_permille, rank, line, stage } = self;
        let nodes_per_second = *nodes as f64 / elapsed.as_secs_f64().max(1e-3);
        write!(f, "info depth {} seldepth {depth_plies} time {}", line.len(), elapsed.as_millis())?;
        write!(f, " nodes {nodes} nps {nodes_per_second:.0} hashfull {table_permille}")?;
        if let Some(m) = line.first().filter(|_| *stage == Stage::InProgress) {
            write!(f, " currmove {m}")?;
        }
        if let Some(rank) = rank {
            write!(f, " multipv {rank}")?;
        }
        if *stage == Stage::Mate {
            write!(f, " score mate {}", line.len())?;
        }
        if line.is_empty() { Ok(()) } else { write!(f, " pv {}", Moves(line)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Stats;

    fn outcome(verdict: Verdict, line: &[&str]) -> SolverResult {
        let line = line.iter().map(|text| Move::from_usi(text).unwrap()).collect();
        SolverResult { verdict, line, stats: Stats { nodes: 5_000, ..Stats::default() } }
    }

    fn figures() -> SearchProgress {
        let line = vec![Move::from_usi("7g7f").unwrap()];
        let is_measuring = false;
        SearchProgress { nodes: 4_096, depth_plies: 9, table_permille: 70, line, is_measuring }
    }

    #[test]
    fn only_proven_verdicts_are_mate_or_nomate() {
        for (verdict, line, text) in [
            (Verdict::Proven, &["G*5b"][..], "checkmate G*5b"),
            (Verdict::Proven, &["2c2b+", "3a2b", "G*2c"], "checkmate 2c2b+ 3a2b G*2c"),
            (Verdict::Disproven, &[], "checkmate nomate"),
            (Verdict::Unknown(Stop::Depth), &[], "checkmate timeout"),
            (Verdict::Unknown(Stop::Cancelled), &[], "checkmate timeout"),
        ] {
            assert_eq!(Checkmate::from(outcome(verdict, line)).to_string(), text);
        }
    }

    #[test]
    fn info_ends_with_the_line() {
        let second = Duration::from_secs(1);
        let text = Info::in_progress(figures(), second).to_string();
        let counts = "time 1000 nodes 4096 nps 4096 hashfull 70";
        let expected = format!("info depth 1 seldepth 9 {counts} currmove 7g7f pv 7g7f");
        assert_eq!(text, expected);
        for (verdict, line, depth, rest) in [
            (Verdict::Proven, &["G*5b"][..], 1, "score mate 1 pv G*5b"),
            (Verdict::Unknown(Stop::Nodes), &[], 1, "pv 7g7f"),
            (Verdict::Disproven, &[], 0, ""),
        ] {
            let info = Info::finished(&outcome(verdict, line), figures(), second * 2);
            let counts = "time 2000 nodes 5000 nps 2500 hashfull 70";
            let expected = format!("info depth {depth} seldepth 9 {counts} {rest}");
            assert_eq!(info.to_string(), expected.trim_end());
        }
    }

    #[test]
    fn mating_first_moves_are_ranked() {
        let other_mates = vec![outcome(Verdict::Proven, &["G*4b", "5a6b", "G*7b"]).line];
        let result = outcome(Verdict::Proven, &["G*5b"]);
        let mut found = SearchOutcome { result, other_mates, is_ranked: true };
        let lines = |found: &SearchOutcome| {
            let infos = Info::mates(found, figures(), Duration::from_secs(1));
            infos.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let [first, second] = &lines(&found)[..] else { panic!("two moves") };
        assert!(first.ends_with(" hashfull 70 multipv 1 score mate 1 pv G*5b"), "{first}");
        assert!(second.ends_with(" multipv 2 score mate 3 pv G*4b 5a6b G*7b"), "{second}");
        (found.other_mates, found.is_ranked) = (Vec::new(), false);
        let [only] = &lines(&found)[..] else { panic!("one move") };
        assert!(only.ends_with(" hashfull 70 score mate 1 pv G*5b"), "{only}");
    }

    #[test]
    fn the_speed_is_finite_without_elapsed_time() {
        let info = Info::in_progress(figures(), Duration::ZERO).to_string();
        assert!(info.contains(" time 0 nodes 4096 nps 4096000 "), "{info}");
    }
}
