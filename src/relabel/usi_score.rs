//! What an engine says of a position in `info` lines and `bestmove`.
//!
//! The protocol is USI's: <http://shogidokoro.starfree.jp/usi.html>.

use super::evaluator::{Evaluated, Score};
use crate::format::SearchedMoves;
use crate::shogi::Move;

/// The last score of the first line of play, while the engine thinks.
#[derive(Default)]
pub(super) struct LastScore {
    exact: Option<Score>,
    /// Upper or lower bound: better than nothing.
    bound: Option<Score>,
}

/// Evaluations of engines stay so far from those of mates.
const MOST_CENTIPAWNS: i32 = 28_999;

impl LastScore {
    /// Takes a line that is not `bestmove`.
    pub(super) fn take(&mut self, line: &str) {
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
                // Text and moves may look like anything.
                "string" | "pv" => break,
                _ => {}
            }
        }
        if score.is_some() {
            *(if is_bound { &mut self.bound } else { &mut self.exact }) = score;
        }
    }

    /// What is known when `bestmove` has come; `None` if the engine said no score.
    pub(super) fn finish(self, best_move: &str) -> Option<Evaluated> {
        let score = self.exact.or(self.bound);
        let (score, best_move) = match best_move {
            // Declared.
            "win" => (score.or(Some(Score::Mate { wins: true, plies: 0 })), None),
            "resign" => (score.or(Some(Score::Mate { wins: false, plies: 0 })), None),
            best_move => (score, Move::from_usi(best_move)),
        };
        let searched = SearchedMoves { best_move, candidates: Vec::new() };
        Some(Evaluated { score: score?, searched })
    }
}

fn read_score(kind: Option<&str>, number: Option<&str>) -> Option<Score> {
    let number = number?;
    match kind? {
        "cp" => {
            let cp: i32 = number.parse().ok()?;
            let cp = cp.clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS);
            i16::try_from(cp).ok().map(Score::Centipawns)
        }
        // A sign without a number: the length is not known.
        "mate" => {
            let wins = !number.starts_with('-');
            let plies = number.trim_start_matches(['+', '-']);
            let plies = if plies.is_empty() { 0 } else { plies.parse().ok()? };
            Some(Score::Mate { wins, plies })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluated(lines: &[&str], best_move: &str) -> Option<Score> {
        let mut score = LastScore::default();
        for line in lines {
            score.take(line);
        }
        score.finish(best_move).map(|evaluated| evaluated.score)
    }

    #[test]
    fn the_last_score_of_the_first_line_counts() {
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
        assert_eq!(
            [evaluated(&[], "win"), evaluated(&[], "resign")],
            [score(true, 0), score(false, 0)]
        );
        assert_eq!(evaluated(&["info score cp 32000"], "7g7f"), Some(Score::Centipawns(28_999)));
    }
}
