//! Words after the moves of a USI line that say how the game ended.
//!
//! `resign` and `win` are from the USI command `bestmove`, the words for repetition from YaneuraOu, the others from
//! other shogi programs. All are relative to the side to move.

use kyokumen_shogi::Color;

use crate::GameResult;
use crate::ending::{End, Ending, Outcome};

/// Words with winner and ending. The writer uses the first one that fits.
const WORDS: [(&str, Outcome, Option<Ending>); 38] = [
    ("resign", Outcome::Loss, None),
    ("win", Outcome::Win, Some(Ending::Declaration)),
    ("rep_draw", Outcome::Draw, Some(Ending::Repetition)),
    ("rep_win", Outcome::Win, Some(Ending::Repetition)),
    ("rep_lose", Outcome::Loss, Some(Ending::Repetition)),
    // Superior or inferior positions neither end nor decide a game.
    ("rep_sup", Outcome::Unknown, None),
    ("rep_inf", Outcome::Unknown, None),
    ("draw", Outcome::Draw, None),
    ("timeout", Outcome::Loss, Some(Ending::TimeUp)),
    ("break", Outcome::Unknown, Some(Ending::Interruption)),
    ("illegal", Outcome::Loss, Some(Ending::IllegalMove)),
    ("max_moves", Outcome::Draw, Some(Ending::MoveLimit)),
    ("impasse", Outcome::Draw, Some(Ending::Impasse)),
    // Read, not written.
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

/// Whether an unknown word may say how the game ended. A word with digits is taken for a damaged move.
pub(super) fn may_be_word(word: &str) -> bool {
    word.chars().all(|sign| sign.is_alphabetic() || matches!(sign, '_' | '-' | ':'))
}

/// The word for an end. Where there is none, the names of winner and ending: `black:time_up`. `None` if nothing is
/// known.
pub(super) fn word((result, ending): End, to_move: Color) -> Option<String> {
    let outcome = Outcome::of(result, to_move);
    if (result, ending) == (None, None) {
        return None;
    }
    let said = |&(_, said, why): &(&str, Outcome, Option<Ending>)| (said, why) == (outcome, ending);
    if let Some((word, ..)) = WORDS.into_iter().find(said) {
        return Some(word.to_owned());
    }
    let ending = ending.map(|ending| format!(":{}", ending.name()));
    Some(format!("{}{}", result?.name(), ending.unwrap_or_default()))
}

/// What no word can say: the reason why a game without a result ended, unless it was interrupted.
pub(super) const fn says((result, ending): End) -> bool {
    result.is_some() || matches!(ending, None | Some(Ending::Interruption))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_comes_back() {
        let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin].map(Some);
        for result in results.into_iter().chain([None]) {
            for ending in Ending::ALL.into_iter().map(Some).chain([None]) {
                for to_move in Color::ALL {
                    let end = (result, ending);
                    let Some(word) = word(end, to_move).filter(|_| says(end)) else { continue };
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
