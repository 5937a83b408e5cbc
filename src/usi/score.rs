//! Parses the score of a USI engine from its `info` and `bestmove` lines.
//!
//! Protocol: <http://shogidokoro.starfree.jp/usi.html>.

#[cfg(any(test, feature = "network"))]
use crate::format::eval_of_mate;
use crate::shogi::{Move, Position};

/// The score of a position, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineScore {
    /// Evaluation in centipawns.
    Centipawns(i16),
    /// A mate. Otherwise than with `wins`, the side to move is mated. 0 plies: of unknown length.
    Mate { wins: bool, plies: usize },
}

impl EngineScore {
    /// The evaluation as records store it.
    #[cfg(any(test, feature = "network"))]
    pub(crate) fn eval_cp(self) -> i16 {
        match self {
            Self::Centipawns(eval_cp) => eval_cp,
            Self::Mate { wins, plies } => eval_of_mate(wins, plies),
        }
    }
}

/// The decision of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum BestMove {
    Move(Move),
    Resign,
    /// A declaration win.
    Win,
    /// Not a legal move.
    Illegal(String),
}

/// The result of a search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) score: EngineScore,
    pub(crate) best_move: BestMove,
    /// The first move of each line that the engine reported (`MultiPV`), with exact scores, the best first.
    pub(crate) candidates: Vec<(Move, EngineScore)>,
}

/// The last lines that an engine reported during a search, by their `multipv` numbers.
#[derive(Default)]
pub(crate) struct SearchLines(Vec<SearchLine>);

#[derive(Clone, Default)]
struct SearchLine {
    exact: Option<EngineScore>,
    /// An upper or lower bound, used only without an exact score.
    bound: Option<EngineScore>,
    /// The first move of the line with the exact score.
    first_move: Option<Move>,
}

/// Maximum absolute value of centipawns. Higher values are mates.
const MAX_CENTIPAWNS: i16 = 28_999;

/// Maximum number of characters of an engine's text in a message.
const SHOWN_CHARS: usize = 40;

/// Maximum number of lines: no position has more legal moves.
const MAX_LINES: usize = 593;

impl SearchLines {
    /// Updates a line. Ignores text other than `info`.
    pub(crate) fn update(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("info") {
            return;
        }
        let (mut number, mut score, mut is_bound, mut first_move) = (1, None, false, None);
        while let Some(word) = words.next() {
            match word {
                "multipv" => match words.next().and_then(|word| word.parse().ok()) {
                    Some(parsed @ 1..=MAX_LINES) => number = parsed,
                    _ => return,
                },
                "score" => score = read_score(words.next(), words.next()),
                "lowerbound" | "upperbound" => is_bound = true,
                "pv" => {
                    first_move = words.next().and_then(Move::from_usi);
                    break;
                }
                // The rest is free text.
                "string" => break,
                _ => {}
            }
        }
        if score.is_none() {
            return;
        }
        if self.0.len() < number {
            self.0.resize(number, SearchLine::default());
        }
        let line = &mut self.0[number - 1];
        if is_bound {
            line.bound = score;
        } else {
            (line.exact, line.first_move) = (score, first_move);
        }
    }

    /// Returns the result after `bestmove`. `None` if the engine sent no score.
    pub(crate) fn finish(self, best_move: &str, position: &Position) -> Option<Found> {
        let score = self.0.first().and_then(|line| line.exact.or(line.bound));
        let mate = |wins| score.or(Some(EngineScore::Mate { wins, plies: 0 }));
        let (score, best_move) = match best_move {
            "win" => (mate(true), BestMove::Win),
            "resign" => (mate(false), BestMove::Resign),
            text => {
                let legal = Move::from_usi(text).filter(|&m| position.is_legal(m));
                (score, legal.map_or_else(|| BestMove::Illegal(shortened(text)), BestMove::Move))
            }
        };
        let candidate = |line: &SearchLine| Some((line.first_move?, line.exact?));
        let mut candidates: Vec<_> = self.0.iter().filter_map(candidate).collect();
        candidates.retain(|&(m, _)| position.is_legal(m));
        Some(Found { score: score?, best_move, candidates })
    }
}

/// Shortens an engine's text for a message.
pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

fn read_score(kind: Option<&str>, number: Option<&str>) -> Option<EngineScore> {
    let number = number?;
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let is_negative = number.starts_with('-');
    match kind? {
        "cp" => {
            let cp = i16::try_from(magnitude(unsigned)?).unwrap_or(MAX_CENTIPAWNS);
            let cp = cp.min(MAX_CENTIPAWNS);
            Some(EngineScore::Centipawns(if is_negative { -cp } else { cp }))
        }
        // A sign without a number means an unknown length. `mate 0` means that the side to move is mated.
        "mate" => {
            let plies = if unsigned.is_empty() { 0 } else { magnitude(unsigned)? };
            let is_mated = plies == 0 && !number.starts_with('+');
            Some(EngineScore::Mate { wins: !is_negative && !is_mated, plies })
        }
        _ => None,
    }
}

/// Parses a number. A number that is too large becomes `usize::MAX`.
fn magnitude(text: &str) -> Option<usize> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluated(lines: &[&str], best_move: &str) -> Option<EngineScore> {
        let mut score = SearchLines::default();
        for line in lines {
            score.update(line);
        }
        score.finish(best_move, &Position::start()).map(|found| found.score)
    }

    #[test]
    fn last_exact_score_of_the_principal_variation_is_used() {
        let lines = [
            "info depth 1 score cp 10 pv 7g7f",
            "info depth 2 multipv 1 score cp -20 nodes 5 pv 2g2f score cp 9",
            "info depth 2 multipv 2 score cp 30",
            "info depth 3 score cp 40 lowerbound",
            "info string score cp 50",
            "string score cp 60",
        ];
        assert_eq!(evaluated(&lines, "2g2f"), Some(EngineScore::Centipawns(-20)));
        assert_eq!(evaluated(&lines[3..4], "2g2f"), Some(EngineScore::Centipawns(40)));
        assert_eq!(evaluated(&lines[4..], "2g2f"), None);
    }

    #[test]
    fn mates_with_and_without_a_length() {
        let mate = |text: &str| evaluated(&[&format!("info score mate {text}")], "7g7f");
        let score = |wins, plies| Some(EngineScore::Mate { wins, plies });
        assert_eq!(
            [mate("5"), mate("-4"), mate("+"), mate("-")],
            [score(true, 5), score(false, 4), score(true, 0), score(false, 0)]
        );
        assert_eq!([mate("0"), mate("-0")], [score(false, 0), score(false, 0)]);
        assert_eq!(
            [evaluated(&[], "win"), evaluated(&[], "resign")],
            [score(true, 0), score(false, 0)]
        );
        assert_eq!(
            evaluated(&["info score cp 32000"], "7g7f"),
            Some(EngineScore::Centipawns(28_999))
        );
    }

    #[test]
    fn scores_of_any_size_are_accepted() {
        let score = |text: &str| evaluated(&[&format!("info score {text}")], "7g7f");
        let long = "9".repeat(30);
        for (plies, text) in [(30_001, "30001"), (usize::MAX, &long)] {
            for (wins, sign) in [(true, ""), (true, "+"), (false, "-")] {
                let mate = Some(EngineScore::Mate { wins, plies });
                assert_eq!(score(&format!("mate {sign}{text}")), mate, "{sign}{text}");
            }
        }
        assert_eq!(score(&format!("cp {long}")), Some(EngineScore::Centipawns(28_999)));
        assert_eq!(score(&format!("cp -{long}")), Some(EngineScore::Centipawns(-28_999)));
        for text in ["mate x", "mate 5x", "mate --5", "cp", "cp +", "cp 1.5", "wdl 5"] {
            assert_eq!(score(text), None, "{text}");
        }
    }

    #[test]
    fn illegal_moves_are_rejected() {
        let finished = |best_move: &str| {
            let mut score = SearchLines::default();
            score.update("info score cp 1");
            score.finish(best_move, &Position::start()).unwrap().best_move
        };
        assert_eq!(finished("7g7f"), BestMove::Move(Move::from_usi("7g7f").unwrap()));
        assert_eq!([finished("resign"), finished("win")], [BestMove::Resign, BestMove::Win]);
        for text in ["7g7f+", "3c3d", "P*5e", "none", "0000", ""] {
            assert_eq!(finished(text), BestMove::Illegal(text.to_owned()));
        }
        let BestMove::Illegal(text) = finished(&"x".repeat(99)) else { panic!("a legal move") };
        assert_eq!(text.len(), SHOWN_CHARS);
    }

    #[test]
    fn candidates_are_the_first_moves_of_the_last_lines() {
        let mut lines = SearchLines::default();
        for line in [
            "info depth 1 multipv 1 score cp 10 pv 7g7f 3c3d",
            "info depth 1 multipv 2 score cp 5 pv 2g2f",
            "info depth 2 multipv 1 score cp 30 pv 2g2f 8c8d",
            "info depth 2 multipv 2 score cp 20 pv 7g7f",
            "info depth 2 multipv 3 score cp 15 upperbound pv 1g1f",
            "info depth 2 multipv 4 score cp 12 pv 5e5d",
            "info depth 2 multipv 0 score cp 99 pv 9g9f",
            "info depth 2 multipv 600 score cp 99 pv 9g9f",
        ] {
            lines.update(line);
        }
        let found = lines.finish("2g2f", &Position::start()).unwrap();
        let candidates: Vec<_> =
            found.candidates.iter().map(|(m, score)| (m.to_string(), score.eval_cp())).collect();
        assert_eq!(candidates, [("2g2f".to_owned(), 30), ("7g7f".to_owned(), 20)]);
    }
}
