//! How a KIF game ended: the word in place of a last move, and the summary behind it.
//!
//! The words are those of the KIF format. A word speaks of the side to move; the summary names a winner.

use kyokumen_shogi::Color;

use super::super::replay::Replay;
use super::line::Syntax;
use crate::GameResult;
use crate::ending::{End, Ending};

/// Words with what they say: who won, seen from the side to move, and how.
const WORDS: [(&str, Winner, Option<Ending>); 23] = [
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
    ("不戦勝ち", Winner::SideToMove, None),
    ("不戦負け", Winner::Opponent, None),
    ("投了図", Winner::Opponent, None),
    ("時間切れ負け", Winner::Opponent, Some(Ending::TimeUp)),
    ("トライ", Winner::SideToMove, None),
    ("宣言勝ち", Winner::SideToMove, Some(Ending::Declaration)),
    ("引き分け", Winner::Nobody, None),
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

/// The end that a word states. An illegal move is not made on the board, so after one the side to move is the other
/// one.
pub(super) fn of_word(word: &str, replay: &Replay) -> Option<End> {
    let (_, winner, ending) = WORDS.into_iter().find(|(known, ..)| *known == word)?;
    let us = replay.position.side_to_move();
    let us = if replay.is_behind_illegal_move() { !us } else { us };
    Some((winner.result(us), ending))
}

/// The end for an unknown word such as 封じ手: an interruption, because the game may have continued elsewhere.
pub(super) const UNKNOWN: End = (None, Some(Ending::Interruption));

/// Reads a summary, the normalised text after まで: `121手で先手の勝ち`. A winner in it overrides the word before it.
/// If both name the same winner, the reason from the word is kept.
pub(super) fn take_summary(text: &str, replay: &mut Replay) {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let text = text.trim_start_matches(|c: char| c == '、' || c == ',' || c.is_ascii_digit());
    let text =
        ["手で", "手にて", "手"].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let said = (replay.game.result, replay.game.ending);
    let end = match said_in_full(text) {
        // The writer uses 持将棋 for draws of all kinds; a summary that says only 引き分け takes that reason back.
        Some(end) if end == (Some(GameResult::Draw), None) && said == IMPASSE_DRAW => end,
        Some(end) if end == (said.0, None) => said,
        Some(end) => end,
        None if replay.has_ended => said,
        None => of_word(text, replay).unwrap_or(if text.is_empty() { said } else { UNKNOWN }),
    };
    replay.end(end);
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
/// Names of the sides.
const SIDES: [(&str, Color); 4] = [
    ("先手", Color::Black),
    ("下手", Color::Black),
    ("後手", Color::White),
    ("上手", Color::White),
];
const BROKEN_OFF: &str = "中断";
const IMPASSE: &str = "持将棋";
const DRAW: &str = "引き分け";
const IMPASSE_DRAW: End = (Some(GameResult::Draw), Some(Ending::Impasse));

/// The end in a summary that names the winner, or a reason for a game without a winner.
fn said_in_full(text: &str) -> Option<End> {
    let ending =
        REASONS.into_iter().find_map(|(word, ending)| text.contains(word).then_some(ending));
    if let Some(winner) = SIDES
        .iter()
        .find_map(|(side, color)| text.strip_suffix("の勝ち")?.ends_with(side).then_some(*color))
    {
        return Some((Some(GameResult::win_of(winner)), ending));
    }
    let names =
        |color| SIDES.iter().any(|(side, of)| *of == color && text.contains(&format!("{side}の")));
    let result = match (names(Color::Black), names(Color::White)) {
        // One lost and therefore the other won: which is which, the words do not say.
        (true, true) => return None,
        (false, false) if text.starts_with(DRAW) => Some(GameResult::Draw),
        (false, false) => match ending? {
            Ending::Repetition | Ending::Impasse | Ending::MoveLimit => Some(GameResult::Draw),
            Ending::Interruption => None,
            // A reason for a win, but no winner.
            _ => return None,
        },
        (black, _) => {
            let is_lost = text.contains("負け") || text.contains('敗');
            Some(if black == is_lost { GameResult::WhiteWin } else { GameResult::BlackWin })
        }
    };
    Some((result, ending))
}

/// The summary of a game of `moves` moves; `us` is the side to move after them. Readers of KIF look for the name of the
/// winner, readers of KI2 for the reason.
pub(super) fn summary(
    (result, ending): End,
    us: Color,
    moves: usize,
    syntax: Syntax,
) -> Option<String> {
    let reason = ending.and_then(|ending| {
        REASONS.into_iter().find_map(|(word, said)| (said == ending).then_some(word))
    });
    let text = match (result, ending, reason) {
        (None, Some(Ending::Interruption), _) => BROKEN_OFF.to_owned(),
        (None, ..) => return None,
        // Other programs do not know the move limit, but they know this draw. In KI2 they know only the bare word.
        (Some(GameResult::Draw), Some(Ending::MoveLimit), Some(_)) if syntax == Syntax::Words => {
            IMPASSE.to_owned()
        }
        (Some(GameResult::Draw), Some(Ending::MoveLimit), Some(reason)) => {
            format!("{IMPASSE}（{reason}）")
        }
        (Some(GameResult::Draw), Some(Ending::Repetition | Ending::Impasse), Some(reason)) => {
            reason.to_owned()
        }
        (Some(result), _, reason) => match result.winner() {
            Some(winner) => victory(winner, us, ending.zip(reason), syntax),
            None => reason.map_or(DRAW.to_owned(), |reason| format!("{DRAW}（{reason}）")),
        },
    };
    Some(format!("まで{moves}手で{text}\n"))
}

/// Who won, in words that other programs know where there are any.
fn victory(winner: Color, us: Color, reason: Option<(Ending, &str)>, syntax: Syntax) -> String {
    let name = |color| if color == Color::Black { "先手" } else { "後手" };
    let side = name(winner);
    match reason {
        Some((Ending::TimeUp, _)) if syntax == Syntax::Words => {
            format!("時間切れにより{side}の勝ち")
        }
        Some((Ending::IllegalMove, _)) if winner == us => format!("{side}の反則勝ち"),
        Some((Ending::IllegalMove, _)) => format!("{}の反則負け", name(us)),
        Some((Ending::Declaration, _)) if winner == us => format!("{side}の入玉勝ち"),
        None => format!("{side}の勝ち"),
        Some((_, reason)) => format!("{side}の勝ち（{reason}）"),
    }
}

/// The word in place of the next move. `None` if every word would claim more than is known.
pub(super) fn word(end: End, us: Color) -> Option<&'static str> {
    if end == (Some(GameResult::Draw), Some(Ending::MoveLimit)) {
        return Some(IMPASSE);
    }
    let winner = Winner::of(end.0, us);
    let exact = WORDS.into_iter().find(|(_, said, ending)| (*said, *ending) == (winner, end.1));
    match (exact, end) {
        // No word means only "draw", so 持将棋 stands for all draws and the summary gives the reason.
        (None, (Some(GameResult::Draw), _)) | (_, (Some(GameResult::Draw), None)) => Some(IMPASSE),
        // Who won without a reason while on the move did not win by default.
        (_, (Some(_), None)) if winner != Winner::Opponent => Some(BROKEN_OFF),
        (Some((word, ..)), (_, Some(_)) | (Some(_), _)) => Some(word),
        // Every word would say too much.
        (None, (Some(_), _)) => Some(BROKEN_OFF),
        (_, (None, _)) => None,
    }
}
