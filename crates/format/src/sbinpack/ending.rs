//! The numbers of `sbinpack` for results and endings.
//!
//! They are the numbers of rsshogi's `GameResult`.

use crate::ending::{End, Ending};
use crate::game_result::GameResult::{BlackWin, Draw, WhiteWin};

/// The number for an unknown result.
const UNKNOWN: u16 = 7;

/// Numbers and their meanings. The first number with a meaning is written.
const CODES: [(u16, End); 18] = [
    (0, (Some(BlackWin), None)),
    (1, (Some(WhiteWin), None)),
    (2, (Some(Draw), Some(Ending::Repetition))),
    (4, (Some(BlackWin), Some(Ending::Declaration))),
    (5, (Some(WhiteWin), Some(Ending::Declaration))),
    (6, (Some(Draw), Some(Ending::MoveLimit))),
    (UNKNOWN, (None, None)),
    // A win by forfeit.
    (8, (Some(BlackWin), None)),
    (9, (Some(WhiteWin), None)),
    (10, (Some(Draw), Some(Ending::Impasse))),
    (11, (None, Some(Ending::Interruption))),
    (12, (Some(BlackWin), Some(Ending::IllegalMove))),
    (13, (Some(WhiteWin), Some(Ending::IllegalMove))),
    // A draw agreed by the operators of the programs.
    (14, (Some(Draw), None)),
    (16, (Some(BlackWin), Some(Ending::TimeUp))),
    (17, (Some(WhiteWin), Some(Ending::TimeUp))),
    // A win by the try rule: the king reached the start square of the opponent's king.
    (20, (Some(BlackWin), Some(Ending::Declaration))),
    (21, (Some(WhiteWin), Some(Ending::Declaration))),
];

/// The meaning of a number. Unknown numbers have no result.
pub(super) fn end_of(code: u16) -> End {
    let found = CODES.into_iter().find(|&(known, _)| known == code);
    found.map_or((None, None), |(_, end)| end)
}

/// Whether there is a number for this result and ending.
pub(super) fn can_express(end: End) -> bool {
    CODES.iter().any(|&(_, known)| known == end)
}

/// The number for a result and ending. Without an exact number, the number for the result alone.
pub(super) fn code_of(end: End) -> u16 {
    let nearest = match end {
        _ if can_express(end) => end,
        (result, _) => (result, None),
    };
    CODES.into_iter().find(|&(_, known)| known == nearest).map_or(UNKNOWN, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_a_number_and_all_winners_are_preserved() {
        let results = [None, Some(Draw), Some(BlackWin), Some(WhiteWin)];
        let endings = Ending::ALL.into_iter().map(Some).chain([None]);
        for end in endings.flat_map(|ending| results.map(|result| (result, ending))) {
            let back = end_of(code_of(end));
            assert_eq!(back.0, end.0);
            assert_eq!(back == end, can_express(end), "{end:?}");
        }
        assert_eq!(end_of(63), (None, None));
    }
}
