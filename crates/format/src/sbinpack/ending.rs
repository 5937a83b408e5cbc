//! How games end, as `sbinpack` numbers it.
//!
//! The numbers are those of rsshogi's `GameResult`.

use crate::ending::{End, Ending};
use crate::game_result::GameResult::{BlackWin, Draw, WhiteWin};

/// The number that says that nothing is known.
const UNKNOWN: u16 = 7;

/// Numbers and what they mean here; the first with a meaning is the one that is written.
const CODES: [(u16, End); 18] = [
    (0, (Some(BlackWin), None)),
    (1, (Some(WhiteWin), None)),
    (2, (Some(Draw), Some(Ending::Repetition))),
    (4, (Some(BlackWin), Some(Ending::Declaration))),
    (5, (Some(WhiteWin), Some(Ending::Declaration))),
    (6, (Some(Draw), Some(Ending::MoveLimit))),
    (UNKNOWN, (None, None)),
    // By forfeit.
    (8, (Some(BlackWin), None)),
    (9, (Some(WhiteWin), None)),
    (10, (Some(Draw), Some(Ending::Impasse))),
    (11, (None, Some(Ending::Interruption))),
    (12, (Some(BlackWin), Some(Ending::IllegalMove))),
    (13, (Some(WhiteWin), Some(Ending::IllegalMove))),
    // Agreed on by whoever let the programs play.
    (14, (Some(Draw), None)),
    (16, (Some(BlackWin), Some(Ending::TimeUp))),
    (17, (Some(WhiteWin), Some(Ending::TimeUp))),
    // By the try rule: the king reached the square where the opponent's began.
    (20, (Some(BlackWin), Some(Ending::Declaration))),
    (21, (Some(WhiteWin), Some(Ending::Declaration))),
];

/// What a number means; all others say nothing.
pub(super) fn end_of(code: u16) -> End {
    let found = CODES.into_iter().find(|&(known, _)| known == code);
    found.map_or((None, None), |(_, end)| end)
}

/// Whether there is a number for this end.
pub(super) fn can_say(end: End) -> bool {
    CODES.iter().any(|&(_, known)| known == end)
}

/// The number for an end, or for as much of it as there is one.
pub(super) fn code_of(end: End) -> u16 {
    let nearest = match end {
        _ if can_say(end) => end,
        (result, _) => (result, None),
    };
    CODES.into_iter().find(|&(_, known)| known == nearest).map_or(UNKNOWN, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_number_comes_back_and_the_winner_always_does() {
        let results = [None, Some(Draw), Some(BlackWin), Some(WhiteWin)];
        let endings = Ending::ALL.into_iter().map(Some).chain([None]);
        for end in endings.flat_map(|ending| results.map(|result| (result, ending))) {
            let back = end_of(code_of(end));
            assert_eq!(back.0, end.0);
            assert_eq!(back == end, can_say(end), "{end:?}");
        }
        assert_eq!(end_of(63), (None, None));
    }
}
