//! Evaluations that programs write into the comments of game records, from Black's point of view.
//!
//! After the comment mark (`*` in KIF, `'*` in CSA), Floodgate and shogi-server write `* 30 +2726FU`, and `ShogiHome`
//! writes `*評価値=30`. Both give the evaluation of the player's search before the move. `#評価値=30` is an analysis of the
//! position after the move.

/// An evaluation in centipawns, from Black's point of view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CommentedEval {
    /// Of the position before the last move, by the player of that move.
    OfPlayer(i32),
    /// Of the position after the last move.
    OfAnalysis(i32),
}

/// The evaluation in a comment, if it has one.
pub(super) fn evaluation(comment: &str) -> Option<CommentedEval> {
    if let Some(text) = comment.strip_prefix("#評価値=") {
        return number(text).map(CommentedEval::OfAnalysis);
    }
    let text = comment.strip_prefix('*')?;
    let text = text.strip_prefix("評価値=").unwrap_or_else(|| text.trim_start());
    number(text).map(CommentedEval::OfPlayer)
}

/// Whether a comment holds only an evaluation by the player, in whole centipawns.
pub(super) fn is_bare(comment: &str) -> bool {
    let Some(text) = comment.strip_prefix('*') else { return false };
    let text = text.strip_prefix("評価値=").unwrap_or_else(|| text.trim_start());
    text.parse::<i32>().is_ok()
}

/// The first word as a number, with the decimals cut off.
fn number(text: &str) -> Option<i32> {
    let word = text.split_ascii_whitespace().next()?;
    let whole = word.split_once('.').map_or(word, |(whole, _)| whole);
    whole.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::CommentedEval::{OfAnalysis, OfPlayer};
    use super::*;

    #[test]
    fn evaluations_of_players_and_analyses_are_distinguished() {
        for (comment, expected) in [
            ("* 30 +2726FU -8384FU #1234", Some(OfPlayer(30))),
            ("*-15", Some(OfPlayer(-15))),
            ("*評価値=210", Some(OfPlayer(210))),
            ("#評価値=-158.5", Some(OfAnalysis(-158))),
            ("#評価値=+20", Some(OfAnalysis(20))),
            ("#評価値=", None),
            ("#読み筋=▲２六歩", None),
            ("評価値=5", None),
            ("互角", None),
            ("* 良い手", None),
        ] {
            assert_eq!(evaluation(comment), expected, "{comment}");
        }
        for (comment, expected) in [
            ("*評価値=-30", true),
            ("* 30", true),
            ("* 30 +2726FU", false),
            ("*評価値=1.5", false),
            ("#評価値=30", false),
        ] {
            assert_eq!(is_bare(comment), expected, "{comment}");
        }
    }
}
