//! Words after the moves of a USI line that give the result and ending.
//!
//! `resign` and `win` come from the USI command `bestmove`, the words for repetition from YaneuraOu, the others from
//! other shogi programs. All of them refer to the side to move.

use kyokumen_shogi::Color;

use crate::GameResult;
use crate::ending::{End, Ending, Outcome};

/// Words with their meanings. The writer uses the first word that fits.
const WORDS: [(&str, Outcome, Option<Ending>); 38] = [
    ("resign", Outcome::Loss, None),
    ("win", Outcome::Win, Some(Ending::Declaration)),
    ("rep_draw", Outcome::Draw, Some(Ending::Repetition)),
    ("rep_win", Outcome::Win, Some(Ending::Repetition)),
    ("rep_lose", Outcome::Loss, Some(Ending::Repetition)),
    // A superior or inferior position neither ends nor decides a game.
    ("rep_sup", Outcome::Unknown, None),
    ("rep_inf", Outcome::Unknown, None),
    ("draw", Outcome::Draw, None),
    ("timeout", Outcome::Loss, Some(Ending::TimeUp)),
    ("break", Outcome::Unknown, Some(Ending::Interruption)),
    ("illegal", Outcome::Loss, Some(Ending::IllegalMove)),
    ("max_moves", Outcome::Draw, Some(Ending::MoveLimit)),
    ("impasse", Outcome::Draw, Some(Ending::Impasse)),
    // These words are read but not written.
    ("lose", Outcome::Loss, None),
    ("mate", Outcome::Loss, None),
    ("checkmate", Outcome::Loss, None),
    ("tsumi", Outcome::Loss, None),
    ("toryo", Outcome::Loss, None),
    ("kachi", Outcome::Win, Some(Ending::Declaration)),
    ("declare", Outcome::Win, Some(Ending::Declaration)),
    ("declaration", Outcome::Win, Some(Ending::Declaration)),
    ("nyugyoku", Outcome::Win, Some(Ending::Declaration)),
    ("repetition", Outcome::Draw, Some(Ending::Repetition)),
    ("sennichite", Outcome::Draw, Some(Ending::Repetition)),
    ("rep_loss", Outcome::Loss, Some(Ending::Repetition)),
    ("hikiwake", Outcome::Draw, None),
    ("time_up", Outcome::Loss, Some(Ending::TimeUp)),
    ("timeup", Outcome::Loss, Some(Ending::TimeUp)),
    ("abort", Outcome::Unknown, Some(Ending::Interruption)),
    ("interrupt", Outcome::Unknown, Some(Ending::Interruption)),
    ("interruption", Outcome::Unknown, Some(Ending::Interruption)),
    ("chudan", Outcome::Unknown, Some(Ending::Interruption)),
    ("illegal_move", Outcome::Loss, Some(Ending::IllegalMove)),
    ("maxmoves", Outcome::Draw, Some(Ending::MoveLimit)),
    ("move_limit", Outcome::Draw, Some(Ending::MoveLimit)),
    ("max_move", Outcome::Draw, Some(Ending::MoveLimit)),
    ("jishogi", Outcome::Draw, Some(Ending::Impasse)),
    ("impass", Outcome::Draw, Some(Ending::Impasse)),
];

/// The meaning of a word, if it is known.
pub(super) fn parse(word: &str, to_move: Color) -> Option<End> {
    let lower = word.to_ascii_lowercase().replace('-', "_");
    let known = WORDS.into_iter().find(|(name, ..)| *name == lower);
    if let Some((_, outcome, ending)) = known {
        return Some((outcome.result(to_move), ending));
    }
    let (result, ending) = lower.split_once(':').map_or((&*lower, None), |(a, b)| (a, Some(b)));
    let ending = ending.map(|name| Ending::from_name(name).ok_or(())).transpose().ok()?;
    Some((Some(GameResult::from_name(result)?), ending))
}

/// Whether an unknown word may give the end of a game. A word with digits is treated as a damaged move.
pub(super) fn may_be_word(word: &str) -> bool {
    word.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '_' | '-' | ':'))
}

/// The word for a result and ending. Without a word, the names of winner and ending: `black:time_up`. `None` if nothing
/// is known.
pub(super) fn word((result, ending): End, to_move: Color) -> Option<String> {
    let outcome = Outcome::of(result, to_move);
    if (result, ending) == (None, None) {
        return None;
    }
    let is_word = |&(_, known, reason): &(&str, Outcome, Option<Ending>)| {
        (known, reason) == (outcome, ending)
    };
    if let Some((word, ..)) = WORDS.into_iter().find(is_word) {
        return Some(word.to_owned());
    }
    let ending = ending.map(|ending| format!(":{}", ending.name()));
    Some(format!("{}{}", result?.name(), ending.unwrap_or_default()))
}

/// Whether a word can express this. It cannot for games without a result, unless the game was interrupted or the ending
/// is unknown.
pub(super) const fn can_express((result, ending): End) -> bool {
    result.is_some() || matches!(ending, None | Some(Ending::Interruption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_that_has_a_word_is_preserved() {
        let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin].map(Some);
        for result in results.into_iter().chain([None]) {
            for ending in Ending::ALL.into_iter().map(Some).chain([None]) {
                for to_move in Color::ALL {
                    let end = (result, ending);
                    let Some(word) = word(end, to_move).filter(|_| can_express(end)) else {
                        continue;
                    };
                    assert!(may_be_word(&word), "{word}");
                    assert_eq!(parse(&word, to_move), Some(end), "{word}");
                }
            }
        }
        assert_eq!(word((Some(GameResult::BlackWin), None), Color::White).unwrap(), "resign");
        assert_eq!(word((Some(GameResult::BlackWin), None), Color::Black).unwrap(), "black");
        assert_eq!(word((None, None), Color::Black), None);
    }
}
