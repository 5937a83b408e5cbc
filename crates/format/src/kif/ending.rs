//! The end of a KIF game: the word in place of a move, and the summary after it.
//!
//! The words follow the KIF format. A word refers to the side to move; the summary names a winner.

use kyokumen_shogi::Color;

use super::super::replay::Replay;
use super::line::{Syntax, normalised};
use crate::GameResult;
use crate::ending::{End, Ending, Outcome};
use crate::game_info::{Header, HeaderKey};

/// Words with their meanings: the outcome for the side to move, and the ending.
const WORDS: [(&str, Outcome, Option<Ending>); 25] = [
    ("投了", Outcome::Loss, None),
    ("詰み", Outcome::Loss, None),
    ("詰", Outcome::Loss, None),
    ("不詰", Outcome::Unknown, None),
    ("中断", Outcome::Unknown, Some(Ending::Interruption)),
    ("持将棋", Outcome::Draw, Some(Ending::Impasse)),
    ("千日手", Outcome::Draw, Some(Ending::Repetition)),
    ("最大手数", Outcome::Draw, Some(Ending::MoveLimit)),
    ("切れ負け", Outcome::Loss, Some(Ending::TimeUp)),
    ("時間切れ", Outcome::Loss, Some(Ending::TimeUp)),
    ("反則負け", Outcome::Loss, Some(Ending::IllegalMove)),
    ("反則勝ち", Outcome::Win, Some(Ending::IllegalMove)),
    ("入玉勝ち", Outcome::Win, Some(Ending::Declaration)),
    ("入玉宣言", Outcome::Win, Some(Ending::Declaration)),
    ("不戦勝", Outcome::Win, None),
    ("不戦敗", Outcome::Loss, None),
    ("不戦勝ち", Outcome::Win, None),
    ("不戦負け", Outcome::Loss, None),
    ("投了図", Outcome::Loss, None),
    ("時間切れ負け", Outcome::Loss, Some(Ending::TimeUp)),
    ("トライ", Outcome::Win, None),
    ("宣言勝ち", Outcome::Win, Some(Ending::Declaration)),
    ("引き分け", Outcome::Draw, None),
    ("引分け", Outcome::Draw, None),
    ("引分", Outcome::Draw, None),
];

/// The end that a word states. An illegal move is not made on the board, so after one the position has the wrong side
/// to move.
pub(super) fn of_word(word: &str, replay: &Replay) -> Option<End> {
    let (_, winner, ending) = WORDS.into_iter().find(|(known, ..)| *known == word)?;
    let us = replay.position.side_to_move();
    let us = if replay.follows_illegal_move() { !us } else { us };
    Some((winner.result(us), ending))
}

/// The end for an unknown word such as 封じ手: an interruption, because the game may have continued elsewhere.
pub(super) const UNKNOWN: End = (None, Some(Ending::Interruption));

/// Reads a summary, the normalised text after まで: `121手で先手の勝ち`. A winner in it overrides the word before it. If both
/// name the same winner, the ending of the word is kept. A summary without a known statement is counted as a skipped
/// line and does not change the end. `headers` has the names of the players.
pub(super) fn take_summary(text: &str, headers: &[Header], replay: &mut Replay) {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    let text = text.trim_start_matches(|c: char| c == '、' || c == ',' || c.is_ascii_digit());
    let text =
        ["手で", "手にて", "手"].iter().find_map(|word| text.strip_prefix(word)).unwrap_or(text);
    let stated = (replay.game.result, replay.game.ending);
    let summary = if text.len() > LONGEST_SUMMARY { None } else { summarised(text, headers) };
    let end = match summary {
        // The writer uses 持将棋 for all draws. A summary with only 引き分け removes that ending.
        Some(end) if end == (Some(GameResult::Draw), None) && stated == IMPASSE_DRAW => Some(end),
        Some(end) if end == (stated.0, None) => Some(stated),
        Some(end) => Some(end),
        None if text.is_empty() => Some(stated),
        // Without the name of a side, the text may be a word that replaces the next move.
        None => of_word(text, replay).map(|end| if replay.has_ended { stated } else { end }),
    };
    if end.is_none() {
        replay.game.info.skipped_lines += 1;
    }
    replay.end(end.unwrap_or(stated));
}

/// Length of the longest summary that is read, in bytes.
const LONGEST_SUMMARY: usize = 1000;

/// Reasons in a summary. The first reason of an ending is written.
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
/// Names and signs of the sides.
const SIDES: [(&str, Color); 6] = [
    ("先手", Color::Black),
    ("下手", Color::Black),
    ("後手", Color::White),
    ("上手", Color::White),
    ("▲", Color::Black),
    ("△", Color::White),
];
/// The starts of statements about a side, and whether the side won if no more is stated.
const CLAIMS: [(&str, Option<bool>); 18] = [
    ("時間切れ", Some(false)),
    ("切れ", Some(false)),
    ("反則手", Some(false)),
    ("反則", Some(false)),
    ("二歩", Some(false)),
    ("連続王手の千日手", Some(false)),
    ("連続王手千日手", Some(false)),
    ("王手千日手", Some(false)),
    ("千日手", None),
    ("入玉宣言", Some(true)),
    ("入玉", None),
    ("宣言", Some(true)),
    ("トライ", Some(true)),
    ("不戦", None),
    ("投了", Some(false)),
    ("詰み", Some(false)),
    ("詰", Some(false)),
    ("の", None),
];
/// Words for winning and losing.
const WIN_OR_LOSS: [(&str, bool); 8] = [
    ("勝ち", true),
    ("勝利", true),
    ("勝", true),
    ("負け", false),
    ("敗北", false),
    ("敗戦", false),
    ("敗", false),
    ("負", false),
];
/// Text that may follow a statement about a side.
const AFTER_CLAIM: [&str; 16] = [
    "(",
    "により",
    "によって",
    "による",
    "にて",
    "で",
    "、",
    ",",
    "。",
    "し",
    "となり",
    "となる",
    "になり",
    "!",
    "！",
    "のため",
];
/// Words for interrupted games, which may have continued elsewhere.
const BREAKS: [&str; 8] =
    [BROKEN_OFF, "封じ手", "指し掛け", "指しかけ", "指掛", "打ち掛け", "打掛", "打ちかけ"];
const BROKEN_OFF: &str = "中断";
/// Words for games without a winner. They override earlier statements.
const UNDECIDED: [&str; 8] =
    [DRAW, "引分", IMPASSE, "指し直し", "指直し", "無効", "取り消し", "取消"];
const IMPASSE: &str = "持将棋";
const DRAW: &str = "引き分け";
const IMPASSE_DRAW: End = (Some(GameResult::Draw), Some(Ending::Impasse));

/// The end that a summary states: the side that won or lost, or the reason for a game without a winner.
fn summarised(text: &str, headers: &[Header]) -> Option<End> {
    let ending =
        REASONS.into_iter().find_map(|(word, ending)| text.contains(word).then_some(ending));
    // In 先手の入玉宣言により引き分け, 引き分け decides.
    let may_imply = !BREAKS.iter().chain(&UNDECIDED).any(|word| text.contains(word));
    match winners(text, may_imply).or_else(|| winners_by_name(text, headers, may_imply)) {
        Some(Winners::One(winner)) => return Some((Some(GameResult::win_of(winner)), ending)),
        Some(Winners::Contradictory) => return None,
        None => {}
    }
    if let Some(winner) = winner_at_end(text).filter(|_| may_imply) {
        return Some((Some(GameResult::win_of(winner)), ending));
    }
    if BREAKS.iter().any(|word| text.contains(word)) && !text.starts_with(DRAW) {
        return Some((None, Some(Ending::Interruption)));
    }
    // One side won or lost, but the text does not state which.
    if ["勝", "負", "敗", "王手"].iter().any(|word| text.contains(word)) {
        return None;
    }
    let main = text.split('(').next().unwrap_or_default();
    let is_at_edge = |word: &str| main.starts_with(word) || main.ends_with(word);
    if [DRAW, "引分け", "引分"].into_iter().any(is_at_edge) {
        // 入玉 without a declaration: both kings entered, and the game is a draw.
        let is_impasse = ending == Some(Ending::Declaration) && !text.contains("宣言");
        return Some((
            Some(GameResult::Draw),
            if is_impasse { Some(Ending::Impasse) } else { ending },
        ));
    }
    let draw = REASONS.into_iter().find(|(word, ending)| {
        let is_draw = matches!(ending, Ending::Repetition | Ending::Impasse | Ending::MoveLimit);
        is_draw && text.contains(word)
    });
    draw.map(|(_, ending)| (Some(GameResult::Draw), Some(ending)))
}

/// The winner according to the statements in a summary.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Winners {
    One(Color),
    Contradictory,
}

/// The winner according to statements about sides. `先手の反則により後手の勝ち` has two, which agree. `None` if there are none.
fn winners(text: &str, may_imply: bool) -> Option<Winners> {
    let mut winners = None;
    let mut rest = text;
    while let Some((at, (side, color))) = first_side(rest) {
        rest = &rest[at + side.len()..];
        let statement = first_side(rest).map_or(rest, |(end, _)| &rest[..end]);
        let Some(has_won) = has_won(statement, may_imply) else { continue };
        let winner = Winners::One(if has_won { color } else { !color });
        winners = match winners {
            None => Some(winner),
            Some(other) if other == winner => Some(winner),
            Some(_) => Some(Winners::Contradictory),
        };
    }
    winners
}

/// Statements at the end of a summary, and whether they state that the side won.
const LAST_WORDS: [(&str, bool); 9] = [
    ("の勝ち", true),
    ("の勝利", true),
    ("の完勝", true),
    ("の圧勝", true),
    ("判定勝ち", true),
    ("反則負け", false),
    ("切れ負け", false),
    ("の負け", false),
    ("の敗北", false),
];

/// The winner in a summary that names one side and ends with a statement of win or loss, with any words between:
/// `先手の通信切れ負け`.
fn winner_at_end(text: &str) -> Option<Color> {
    let main = text.split('(').next().unwrap_or_default();
    let main = main.trim_end_matches(['。', '!', '！']).trim_end_matches("となりました");
    let main = main.trim_end_matches("になりました");
    let has_won =
        LAST_WORDS.into_iter().find_map(|(word, won)| main.ends_with(word).then_some(won))?;
    if ["ない", "ず", "筋", "越し"].iter().any(|word| main.contains(word)) {
        return None;
    }
    let mut named =
        SIDES.into_iter().filter_map(|(side, color)| main.contains(side).then_some(color));
    let side = named.next()?;
    let is_only_one = named.all(|color| color == side);
    is_only_one.then_some(if has_won { side } else { !side })
}

/// The first name of a side in a text, with its offset.
fn first_side(text: &str) -> Option<(usize, (&'static str, Color))> {
    let found =
        SIDES.into_iter().filter_map(|(side, color)| Some((text.find(side)?, (side, color))));
    found.min_by_key(|(at, _)| *at)
}

/// The winner according to a statement about a player. It begins with the player's name or the start of that name:
/// `羽生の勝ち`.
fn winners_by_name(text: &str, headers: &[Header], may_imply: bool) -> Option<Winners> {
    let claims = Color::ALL.map(|color| {
        let key = if color == Color::Black { HeaderKey::Black } else { HeaderKey::White };
        let name = &headers.iter().find(|header| header.key == key)?.value;
        let name: String = normalised(name).chars().filter(|c| *c != ' ').collect();
        let same = name.chars().zip(text.chars()).take_while(|(a, b)| a == b);
        let len = same.map(|(c, _)| c.len_utf8()).sum::<usize>();
        let rest = &text[len..];
        // A title may follow the name: 藤井七冠の勝ち.
        let after_title = rest.char_indices().take(5).find(|(_, c)| *c == 'の').map(|(at, _)| at);
        let has_won = has_won(rest, may_imply)
            .or_else(|| has_won(&rest[after_title?..], may_imply))
            .filter(|_| len > 0)?;
        Some((len, if has_won { color } else { !color }))
    });
    // The player whose name matches further.
    match claims {
        [Some((black, winner)), Some((white, _))] if black > white => Some(Winners::One(winner)),
        [Some((black, _)), Some((white, winner))] if white > black => Some(Winners::One(winner)),
        [Some((_, winner)), None] | [None, Some((_, winner))] => Some(Winners::One(winner)),
        _ => None,
    }
}

/// Whether this statement, such as `の勝ち` or `投了`, states that the side won. `None` if it states neither a win nor a
/// loss. With `may_imply`, a reason alone can state it.
fn has_won(statement: &str, may_imply: bool) -> Option<bool> {
    let mut rest = statement.trim_start_matches(['の', 'は', 'が', '、', ',', '番', '側']);
    let mut implied = None;
    while let Some((claim, implies)) = CLAIMS.into_iter().find(|(claim, _)| rest.starts_with(claim))
    {
        rest = &rest[claim.len()..];
        implied = implies.or(implied).filter(|_| may_imply);
    }
    let stated = WIN_OR_LOSS.into_iter().find(|(word, _)| rest.starts_with(word));
    let (word, has_won) = stated.or(implied.map(|has_won| ("", has_won)))?;
    let rest = &rest[word.len()..];
    let is_whole = rest.is_empty() || AFTER_CLAIM.iter().any(|word| rest.starts_with(word));
    (is_whole && !rest.starts_with("では")).then_some(has_won)
}

/// Whether a word in place of a move is known.
pub(super) fn is_word(word: &str) -> bool {
    WORDS.iter().any(|(known, ..)| *known == word) || BREAKS.contains(&word)
}

/// The summary of a game of `moves` moves. `us` is the side to move after them. Readers of KIF look for the name of the
/// winner, readers of KI2 for the reason.
pub(super) fn summary(
    (result, ending): End,
    us: Color,
    moves: usize,
    syntax: Syntax,
) -> Option<String> {
    let reason = ending.and_then(|ending| {
        REASONS.into_iter().find_map(|(word, stated)| (stated == ending).then_some(word))
    });
    let text = match (result, ending, reason) {
        (None, Some(Ending::Interruption), _) => BROKEN_OFF.to_owned(),
        (None, ..) => return None,
        // Other programs know this draw but not the move limit. In KI2 they know only the bare word.
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

/// The winner, in words that other programs know if there are any.
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

/// The word in place of the next move. `None` if every word would state more than is known.
pub(super) fn word(end: End, us: Color) -> Option<&'static str> {
    if end == (Some(GameResult::Draw), Some(Ending::MoveLimit)) {
        return Some(IMPASSE);
    }
    let winner = Outcome::of(end.0, us);
    let exact = WORDS.into_iter().find(|(_, stated, ending)| (*stated, *ending) == (winner, end.1));
    match (exact, end) {
        // No word means only "draw". Therefore 持将棋 is used for all draws, and the summary gives the reason.
        (None, (Some(GameResult::Draw), _)) | (_, (Some(GameResult::Draw), None)) => Some(IMPASSE),
        // A win of the side to move without a reason is not a win by default.
        (_, (Some(_), None)) if winner != Outcome::Loss => Some(BROKEN_OFF),
        (Some((word, ..)), (_, Some(_)) | (Some(_), _)) => Some(word),
        // Every word would state more than is known.
        (None, (Some(_), _)) => Some(BROKEN_OFF),
        (_, (None, _)) => None,
    }
}
