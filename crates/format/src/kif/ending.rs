//! How a KIF game ended: the word in place of a last move, and the summary behind it.
//!
//! The words are those of the KIF format. A word speaks of the side to move; the summary names a winner.

use kyokumen_shogi::{Color, Position};

use super::super::replay::Replay;
use crate::GameResult;
use crate::ending::{End, Ending};
use crate::kif::signs::put_numbered;

/// Words with what they say: who won, seen from the side to move, and how.
const WORDS: [(&str, Winner, Option<Ending>); 16] = [
    ("投了", Winner::Opponent, None),
    ("詰み", Winner::Opponent, None),
    ("詰", Winner::Opponent, None),
    ("不詰", Winner::Unknown, None),
    ("中断", Winner::Unknown, Some(Ending::Interruption)),
    ("持将棋", Winner::Nobody, Some(Ending::Impasse)),
    ("千日手", Winner::Nobody, Some(Ending::Repetition)),
    ("最大手数", Winner::Nobody, Some(Ending::MoveLimit)),
    ("切れ負け", Winner::Opponent, Some(Ending::TimeUp)),
    ("時間切れ", Winner::Opponent, Some(Ending::TimeUp)),
    ("反則負け", Winner::Opponent, Some(Ending::IllegalMove)),
    ("反則勝ち", Winner::SideToMove, Some(Ending::IllegalMove)),
    ("入玉勝ち", Winner::SideToMove, Some(Ending::Declaration)),
    ("入玉宣言", Winner::SideToMove, Some(Ending::Declaration)),
    ("不戦勝", Winner::SideToMove, None),
    ("不戦敗", Winner::Opponent, None),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Winner {
    SideToMove,
    Opponent,
    Nobody,
    Unknown,
}

impl Winner {
    fn result(self, us: Color) -> Option<GameResult> {
        match self {
            Self::SideToMove => Some(GameResult::win_of(us)),
            Self::Opponent => Some(GameResult::win_of(!us)),
            Self::Nobody => Some(GameResult::Draw),
            Self::Unknown => None,
        }
    }

    fn of(result: Option<GameResult>, us: Color) -> Self {
        match result.map(GameResult::winner) {
            None => Self::Unknown,
            Some(None) => Self::Nobody,
            Some(Some(winner)) if winner == us => Self::SideToMove,
            Some(Some(_)) => Self::Opponent,
        }
    }
}

/// What stands in place of a move, if it is no move. Behind a move that the rules do not allow, which was
/// not made, the other side is to move.
pub(super) fn of_word(text: &str, replay: &Replay) -> Option<End> {
    let word = text.split([' ', '　', '(']).next()?;
    let (_, winner, ending) = WORDS.into_iter().find(|(known, ..)| *known == word)?;
    let us = replay.position.side_to_move();
    let us = if replay.is_behind_illegal_move() { !us } else { us };
    Some((winner.result(us), ending))
}

/// Whether the line says how the game ended, if only in words that are not known.
pub(super) fn is_summary(line: &str) -> bool {
    line.trim_start_matches([' ', '　']).starts_with("まで")
}

/// What `まで121手で先手の勝ち` says.
pub(super) struct Summary {
    pub(super) end: End,
}

/// Reasons in a summary; the first one of an ending is written.
const REASONS: [(&str, Ending); 9] = [
    ("千日手", Ending::Repetition),
    ("入玉宣言", Ending::Declaration),
    ("入玉", Ending::Declaration),
    ("最大手数", Ending::MoveLimit),
    ("時間切れ", Ending::TimeUp),
    ("切れ", Ending::TimeUp),
    ("反則", Ending::IllegalMove),
    ("中断", Ending::Interruption),
    ("持将棋", Ending::Impasse),
];
const BROKEN_OFF: &str = "中断";
const DRAW: &str = "引き分け";

impl Summary {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let text = line.trim_start_matches([' ', '　']).strip_prefix("まで")?;
        let text = text.trim_start_matches(|c: char| c == '、' || c.is_ascii_digit());
        let text = text.strip_prefix("手で")?;
        let ending =
            REASONS.into_iter().find_map(|(word, ending)| text.contains(word).then_some(ending));
        let black = text.contains("先手の") || text.contains("下手の");
        let white = text.contains("後手の") || text.contains("上手の");
        let result = if black && white {
            // One lost and therefore the other won: which is which, the words do not say.
            return None;
        } else if black || white {
            let is_lost = text.contains("負け");
            Some(if black == is_lost { GameResult::WhiteWin } else { GameResult::BlackWin })
        } else if text.starts_with(DRAW) {
            Some(GameResult::Draw)
        } else {
            match ending? {
                Ending::Repetition | Ending::Impasse | Ending::MoveLimit => Some(GameResult::Draw),
                Ending::Interruption => None,
                // Somebody won, but who?
                _ => return None,
            }
        };
        Some(Self { end: (result, ending) })
    }

    /// What is said of a game of so many moves.
    fn line((result, ending): End, moves: usize) -> Option<String> {
        let reason = ending.and_then(|ending| {
            REASONS.into_iter().find_map(|(word, said)| (said == ending).then_some(word))
        });
        let text = match (result, ending, reason) {
            (None, Some(Ending::Interruption), _) => BROKEN_OFF.to_owned(),
            (None, ..) => return None,
            (
                Some(GameResult::Draw),
                Some(Ending::Repetition | Ending::Impasse | Ending::MoveLimit),
                Some(reason),
            ) => reason.to_owned(),
            (Some(result), _, reason) => {
                let result = match result {
                    GameResult::Draw => DRAW,
                    GameResult::BlackWin => "先手の勝ち",
                    GameResult::WhiteWin => "後手の勝ち",
                };
                reason.map_or(result.to_owned(), |reason| format!("{result}（{reason}）"))
            }
        };
        Some(format!("まで{moves}手で{text}\n"))
    }
}

/// Writes how a game ended: a word in place of the next move, and the summary.
pub(super) fn write(end: End, position: &Position, moves: usize, out: &mut String) {
    let us = position.side_to_move();
    let winner = Winner::of(end.0, us);
    let exact = WORDS.into_iter().find(|(_, said, ending)| (*said, *ending) == (winner, end.1));
    let word = match (exact, end) {
        // Who won without a reason while on the move did not win by default.
        (_, (Some(_), None)) if winner != Winner::Opponent => Some(BROKEN_OFF),
        (Some((word, ..)), (_, Some(_)) | (Some(_), _)) => Some(word),
        // Every word would say too much.
        (None, (Some(_), _)) => Some(BROKEN_OFF),
        (_, (None, _)) => None,
    };
    if let Some(word) = word {
        put_numbered(moves + 1, word, out);
    }
    if let Some(line) = Summary::line(end, moves) {
        out.push_str(&line);
    }
}
