//! What the engine says: answers and progress as lines of the protocol.
//!
//! A verdict of the solver is `checkmate …` only if it is proven, either way.

use std::fmt;
use std::time::Duration;

use crate::cli::report::Moves;
use crate::shogi::Move;
use crate::solver::{SearchProgress, SolverResult, Stop, Verdict};

/// Who this is and what can be set, in answer to `usi`.
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
    /// The side to move mates by these moves.
    Mate(Vec<Move>),
    /// It is proven not to.
    NoMate,
    /// Not decided.
    Timeout,
    /// This cannot be asked.
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

/// Why a search that had time left did not decide; `None` if it was stopped, or decided.
pub(super) const fn undecided(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::Unknown(Stop::Nodes) => Some("undecided: the limit of nodes was reached"),
        Verdict::Unknown(Stop::Depth) => Some("undecided: no mate within the limit of depth"),
        Verdict::Unknown(Stop::Memory) => Some("undecided: the table is too small for the proof"),
        Verdict::Unknown(Stop::Cancelled) | Verdict::Proven | Verdict::Disproven => None,
    }
}

/// An `info` line about a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Info {
    elapsed: Duration,
    nodes: u64,
    depth_plies: usize,
    line: Vec<Move>,
    /// The line is a proven mate.
    is_mate: bool,
}

impl Info {
    /// While the search runs.
    pub(super) fn under_way(figures: SearchProgress, elapsed: Duration) -> Self {
        let SearchProgress { nodes, depth_plies, line } = figures;
        Self { elapsed, nodes, depth_plies, line, is_mate: false }
    }

    /// At its end; what was told last is the best line of a search that did not decide.
    pub(super) fn at_the_end(
        outcome: &SolverResult,
        figures: SearchProgress,
        elapsed: Duration,
    ) -> Self {
        let mut info = Self::under_way(figures, elapsed);
        info.nodes = outcome.stats.nodes;
        info.is_mate = outcome.verdict == Verdict::Proven;
        if !matches!(outcome.verdict, Verdict::Unknown(_)) {
            info.line.clone_from(&outcome.line);
        }
        info.depth_plies = info.depth_plies.max(info.line.len());
        info
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elapsed, nodes, depth_plies, line, is_mate } = self;
        let nodes_per_second = *nodes as f64 / elapsed.as_secs_f64().max(1e-3);
        write!(
            f,
            "info depth {depth_plies} time {} nodes {nodes} nps {nodes_per_second:.0}",
            elapsed.as_millis()
        )?;
        if *is_mate {
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
        SearchProgress { nodes: 4_096, depth_plies: 9, line }
    }

    #[test]
    fn only_what_is_proven_is_answered() {
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
        let text = Info::under_way(figures(), second).to_string();
        assert_eq!(text, "info depth 9 time 1000 nodes 4096 nps 4096 pv 7g7f");
        for (verdict, line, rest) in [
            (Verdict::Proven, &["G*5b"][..], "score mate 1 pv G*5b"),
            (Verdict::Unknown(Stop::Nodes), &[], "pv 7g7f"),
            (Verdict::Disproven, &[], ""),
        ] {
            let info = Info::at_the_end(&outcome(verdict, line), figures(), second * 2);
            let expected = format!("info depth 9 time 2000 nodes 5000 nps 2500 {rest}");
            assert_eq!(info.to_string(), expected.trim_end());
        }
    }

    #[test]
    fn no_time_is_a_millisecond() {
        let info = Info::under_way(figures(), Duration::ZERO).to_string();
        assert!(info.contains(" time 0 nodes 4096 nps 4096000 "), "{info}");
    }
}
