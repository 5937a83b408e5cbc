//! Parses the score of a USI engine from its `info` and `bestmove` lines.
//!
//! Protocol: <http://shogidokoro.starfree.jp/usi.html>.

use super::evaluator::{Evaluated, Score};
use crate::format::SearchedMoves;
use crate::shogi::{Move, Position};

/// The last score of the principal variation during a search.
#[derive(Default)]
pub(super) struct LastScore {
    exact: Option<Score>,
    /// An upper or lower bound, used only without an exact score.
    bound: Option<Score>,
}

/// Maximum absolute value of centipawns. Higher values are mates.
const MAX_CENTIPAWNS: i16 = 28_999;

/// Maximum number of characters of an engine's text in a message.
const SHOWN_CHARS: usize = 40;

impl LastScore {
    /// Updates the score from a line. Ignores lines other than `info`.
    pub(super) fn update(&mut self, line: &str) {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("info") {
            return;
        }
        let (mut score, mut is_bound) = (None, false);
        while let Some(word) = words.next() {
            match word {
                "multipv" if words.next() != Some("1") => return,
                "score" => score = read_score(words.next(), words.next()),
                "lowerbound" | "upperbound" => is_bound = true,
                // The rest is free text or moves.
                "string" | "pv" => break,
                _ => {}
            }
        }
        if score.is_some() {
            *(if is_bound { &mut self.bound } else { &mut self.exact }) = score;
        }
    }

    /// Returns the evaluation after `bestmove`. `None` if the engine sent no score.
    pub(super) fn finish(self, best_move: &str, position: &Position) -> Option<Evaluated> {
        let score = self.exact.or(self.bound);
        let mut rejected_move = None;
        let (score, best_move) = match best_move {
            // A declaration win.
            "win" => (score.or(Some(Score::Mate { wins: true, plies: 0 })), None),
            "resign" => (score.or(Some(Score::Mate { wins: false, plies: 0 })), None),
            text => {
                let legal = Move::from_usi(text).filter(|&m| position.is_legal(m));
                if legal.is_none() {
                    rejected_move = Some(shortened(text));
                }
                (score, legal)
            }
        };
        let searched = SearchedMoves { best_move, candidates: Vec::new() };
        Some(Evaluated { score: score?, searched, rejected_move })
    }
}

/// Shortens an engine's text for a message.
pub(super) fn shortened(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

fn read_score(kind: Option<&str>, number: Option<&str>) -> Option<Score> {
    let number = number?;
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let is_negative = number.starts_with('-');
    match kind? {
        "cp" => {
            let cp = i16::try_from(magnitude(unsigned)?).unwrap_or(MAX_CENTIPAWNS);
            let cp = cp.min(MAX_CENTIPAWNS);
            Some(Score::Centipawns(if is_negative { -cp } else { cp }))
        }
        // A sign without a number means an unknown length. `mate 0` means that the side to move is mated.
        "mate" => {
            let plies = if unsigned.is_empty() { 0 } else { magnitude(unsigned)? };
            let is_mated = plies == 0 && !number.starts_with('+');
            Some(Score::Mate { wins: !is_negative && !is_mated, plies })
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

    fn evaluated(lines: &[&str], best_move: &str) -> Option<Score> {
        let mut score = LastScore::default();
        for line in lines {
            score.update(line);
        }
        score.finish(best_move, &Position::start()).map(|evaluated| evaluated.score)
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
        assert_eq!(evaluated(&lines, "2g2f"), Some(Score::Centipawns(-20)));
        assert_eq!(evaluated(&lines[3..4], "2g2f"), Some(Score::Centipawns(40)));
        assert_eq!(evaluated(&lines[4..], "2g2f"), None);
    }

    #[test]
    fn mates_with_and_without_a_length() {
        let mate = |text: &str| evaluated(&[&format!("info score mate {text}")], "7g7f");
        let score = |wins, plies| Some(Score::Mate { wins, plies });
        assert_eq!(
            [mate("5"), mate("-4"), mate("+"), mate("-")],
            [score(true, 5), score(false, 4), score(true, 0), score(false, 0)]
        );
        assert_eq!([mate("0"), mate("-0")], [score(false, 0), score(false, 0)]);
        assert_eq!(
            [evaluated(&[], "win"), evaluated(&[], "resign")],
            [score(true, 0), score(false, 0)]
        );
        assert_eq!(evaluated(&["info score cp 32000"], "7g7f"), Some(Score::Centipawns(28_999)));
    }

    #[test]
    fn scores_of_any_size_are_accepted() {
        let score = |text: &str| evaluated(&[&format!("info score {text}")], "7g7f");
        let long = "9".repeat(30);
        for (plies, text) in [(30_001, "30001"), (usize::MAX, &long)] {
            for (wins, sign) in [(true, ""), (true, "+"), (false, "-")] {
                let mate = Some(Score::Mate { wins, plies });
                assert_eq!(score(&format!("mate {sign}{text}")), mate, "{sign}{text}");
            }
        }
        assert_eq!(score(&format!("cp {long}")), Some(Score::Centipawns(28_999)));
        assert_eq!(score(&format!("cp -{long}")), Some(Score::Centipawns(-28_999)));
        for text in ["mate x", "mate 5x", "mate --5", "cp", "cp +", "cp 1.5", "wdl 5"] {
            assert_eq!(score(text), None, "{text}");
        }
    }

    #[test]
    fn illegal_moves_are_rejected() {
        let finished = |best_move: &str| {
            let mut score = LastScore::default();
            score.update("info score cp 1");
            let evaluated = score.finish(best_move, &Position::start()).unwrap();
            (evaluated.searched.best_move.map(|m| m.to_string()), evaluated.rejected_move)
        };
        assert_eq!(finished("7g7f"), (Some("7g7f".to_owned()), None));
        assert_eq!([finished("resign"), finished("win")], [(None, None), (None, None)]);
        for text in ["7g7f+", "3c3d", "P*5e", "none", "0000", ""] {
            assert_eq!(finished(text), (None, Some(text.to_owned())));
        }
        assert_eq!(finished(&"x".repeat(99)).1.unwrap().len(), SHOWN_CHARS);
    }
}
