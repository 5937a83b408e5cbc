//! `info` lines of a search for the best move.

use std::fmt;
use std::time::Duration;

use kyokumen_mcts::Tree;

use crate::format::{EVAL_SCALE, eval_of_value};
use crate::shogi::Move;

/// An `info` line.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Info {
    elapsed: Duration,
    visits: u32,
    /// Rank of the line, if several are reported.
    rank: Option<usize>,
    score: Score,
    line: Vec<Move>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Score {
    /// Probability that the side to move wins.
    Value(f32),
    /// The side to move mates or is mated. `plies` is 0 if the length is unknown.
    Mate { wins: bool, plies: usize },
}

impl Info {
    /// The best lines of play, at most `lines`.
    pub(super) fn best_lines(tree: &Tree, lines: usize, elapsed: Duration) -> Vec<Self> {
        let root = tree.root();
        let info = |(number, root_move): (usize, &kyokumen_mcts::RootMove)| Self {
            elapsed,
            visits: root.visits,
            rank: (lines > 1).then_some(number + 1),
            score: match root_move.proven {
                Some(wins) => Score::Mate { wins, plies: 0 },
                None => Score::Value(root_move.value.unwrap_or(root.value)),
            },
            line: tree.line_through(&[root_move.m]),
        };
        let visited = root.moves.iter().filter(|root_move| root_move.visits > 0).take(lines);
        visited.enumerate().map(info).collect()
    }

    pub(super) const fn visits(&self) -> u32 {
        self.visits
    }

    /// A proven mate by the side to move.
    pub(super) fn mate(tree: &Tree, line: &[Move], elapsed: Duration) -> Self {
        let score = Score::Mate { wins: true, plies: line.len() };
        Self { elapsed, visits: tree.visits(), rank: None, score, line: line.to_vec() }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elapsed, visits, rank, score, line } = self;
        let per_second = f64::from(*visits) / elapsed.as_secs_f64().max(1e-3);
        write!(f, "info depth {} time {}", line.len(), elapsed.as_millis())?;
        write!(f, " nodes {visits} nps {per_second:.0}")?;
        if let Some(rank) = rank {
            write!(f, " multipv {rank}")?;
        }
        match *score {
            Score::Value(value) => write!(f, " score cp {}", eval_of_value(value, EVAL_SCALE))?,
            Score::Mate { wins, plies } => {
                write!(f, " score mate {}", if wins { "+" } else { "-" })?;
                if plies > 0 {
                    write!(f, "{plies}")?;
                }
            }
        }
        f.write_str(" pv")?;
        line.iter().try_for_each(|m| write!(f, " {m}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_lines_have_scores() {
        let info = Info {
            elapsed: Duration::from_millis(500),
            visits: 100,
            rank: None,
            score: Score::Value(0.75),
            line: ["7g7f", "3c3d"].map(|m| Move::from_usi(m).unwrap()).to_vec(),
        };
        let text = info.to_string();
        assert_eq!(text, "info depth 2 time 500 nodes 100 nps 200 score cp 831 pv 7g7f 3c3d");
        let second = Info { rank: Some(2), score: Score::Mate { wins: false, plies: 0 }, ..info };
        let text = second.to_string();
        assert!(text.contains("nps 200 multipv 2 score mate - pv 7g7f"), "{text}");
        let mate = Info { score: Score::Mate { wins: true, plies: 5 }, ..second };
        assert!(mate.to_string().contains("score mate +5 pv"));
    }
}
