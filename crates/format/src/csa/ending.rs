//! The end of a CSA game: the marks of the standard and the summary of shogi-server.
//!
//! A mark refers to the side to move. A summary states what a mark cannot: shogi-server writes a mark for some endings
//! only, and a summary for all of them (`game_result.rb`).

use kyokumen_shogi::{Color, Position};

use crate::GameResult;
use crate::csa::CsaVersion;
use crate::csa::codes::put_line;
use crate::ending::{End, Ending};
use crate::game_info::{Header, HeaderKey};
use crate::replay::Replay;

/// A mark for the end of a game.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Resignation,
    Interruption,
    Repetition,
    PerpetualCheck,
    TimeUp,
    IllegalMove,
    IllegalAction(Color),
    Impasse,
    DeclaredDraw,
    Declaration,
    MoveLimit,
    Mate,
    NoMate,
    TakeBack,
    Error,
}

const MARKS: [(Mark, &str); 16] = [
    (Mark::Resignation, "%TORYO"),
    (Mark::Interruption, "%CHUDAN"),
    (Mark::Repetition, "%SENNICHITE"),
    // In use, but not in the standard.
    (Mark::PerpetualCheck, "%OUTE_SENNICHITE"),
    (Mark::TimeUp, "%TIME_UP"),
    (Mark::IllegalMove, "%ILLEGAL_MOVE"),
    (Mark::IllegalAction(Color::Black), "%+ILLEGAL_ACTION"),
    (Mark::IllegalAction(Color::White), "%-ILLEGAL_ACTION"),
    (Mark::Impasse, "%JISHOGI"),
    (Mark::DeclaredDraw, "%HIKIWAKE"),
    (Mark::Declaration, "%KACHI"),
    (Mark::MoveLimit, "%MAX_MOVES"),
    (Mark::Mate, "%TSUMI"),
    (Mark::NoMate, "%FUZUMI"),
    (Mark::TakeBack, "%MATTA"),
    (Mark::Error, "%ERROR"),
];

impl Mark {
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        MARKS.into_iter().find_map(|(mark, name)| (name.as_bytes() == text).then_some(mark))
    }

    pub(crate) fn name(self) -> &'static str {
        MARKS.into_iter().find_map(|(mark, name)| (mark == self).then_some(name)).unwrap_or("")
    }

    /// The result and ending of this mark after the last move.
    pub(crate) fn end(self, position: &Position) -> End {
        let us = position.side_to_move();
        let win_of = |color| Some(GameResult::win_of(color));
        match self {
            Self::Resignation | Self::Mate => (win_of(!us), None),
            Self::Interruption | Self::Error => (None, Some(Ending::Interruption)),
            Self::Repetition => (Some(GameResult::Draw), Some(Ending::Repetition)),
            Self::PerpetualCheck => {
                // If the side to move is in check, the opponent was giving perpetual check. Otherwise the side to move
                // was.
                let winner = if position.in_check() { us } else { !us };
                (win_of(winner), Some(Ending::Repetition))
            }
            Self::TimeUp => (win_of(!us), Some(Ending::TimeUp)),
            Self::IllegalMove => (win_of(!us), Some(Ending::IllegalMove)),
            Self::IllegalAction(loser) => (win_of(!loser), Some(Ending::IllegalMove)),
            Self::Impasse | Self::DeclaredDraw => (Some(GameResult::Draw), Some(Ending::Impasse)),
            Self::Declaration => (win_of(us), Some(Ending::Declaration)),
            Self::MoveLimit => (Some(GameResult::Draw), Some(Ending::MoveLimit)),
            Self::NoMate | Self::TakeBack => (None, None),
        }
    }

    pub(super) const fn is_about_illegal_moves(self) -> bool {
        matches!(self, Self::IllegalMove | Self::IllegalAction(_))
    }

    /// The result and ending of this mark after an illegal move of `mover`.
    pub(super) const fn end_after_illegal_move(self, mover: Color) -> End {
        let loser = match self {
            Self::IllegalAction(loser) => loser,
            _ => mover,
        };
        (Some(GameResult::win_of(loser.opponent())), Some(Ending::IllegalMove))
    }

    /// This mark, or a substitute if the version lacks it: V2.2 has no mark for the move limit.
    pub(crate) const fn of_version(self, version: CsaVersion) -> Self {
        match (self, version) {
            (Self::MoveLimit, CsaVersion::V2_2) => Self::Impasse,
            _ => self,
        }
    }

    /// The mark that comes closest to an end. It never names the wrong winner to programs that do not read summaries.
    pub(crate) fn closest(end: End, position: &Position) -> Option<Self> {
        let us = position.side_to_move();
        let loser = end.0.map(|result| result.winner().map(|winner| !winner));
        Some(match (end.1, loser) {
            (Some(Ending::Interruption), _) => Self::Interruption,
            // Without a result there is no mark: any mark would state one.
            (_, None) => return None,
            (None, Some(Some(loser))) if loser == us => Self::Resignation,
            (Some(Ending::Repetition), Some(None)) => Self::Repetition,
            (Some(Ending::Declaration), Some(Some(loser))) if loser != us => Self::Declaration,
            (Some(Ending::MoveLimit), Some(None)) => Self::MoveLimit,
            (Some(Ending::Impasse), Some(None)) => Self::Impasse,
            (Some(Ending::TimeUp), Some(Some(loser))) if loser == us => Self::TimeUp,
            (Some(Ending::IllegalMove | Ending::Repetition), Some(Some(loser))) => {
                if loser == us {
                    Self::IllegalMove
                } else {
                    Self::IllegalAction(loser)
                }
            }
            // Other draws get the mark that only states a draw.
            (_, Some(None)) => Self::DeclaredDraw,
            _ => Self::Interruption,
        })
    }
}

/// Uses the first of several marks.
pub(crate) fn take_mark(replay: &mut Replay, mark: Mark) {
    if replay.follows_illegal_move() && mark.is_about_illegal_moves() {
        replay.end(mark.end_after_illegal_move(replay.position.side_to_move()));
    } else if !replay.has_ended {
        replay.end(mark.end(&replay.position));
    }
}

/// The line that shogi-server writes at the end: `'summary:CAUSE:BLACK win:WHITE lose`.
pub(crate) struct Summary<'a> {
    pub(crate) end: End,
    /// The names of Black and White. Our own summaries use `black` and `white`.
    names: [&'a [u8]; 2],
}

const SUMMARY: &str = "summary:";

/// Causes with their endings. The first cause of an ending is the one that is written.
const CAUSES: [(&str, Option<Ending>); 15] = [
    ("toryo", None),
    (DRAW, None),
    ("oute_sennichite", Some(Ending::Repetition)),
    ("sennichite", Some(Ending::Repetition)),
    ("kachi", Some(Ending::Declaration)),
    ("max_moves", Some(Ending::MoveLimit)),
    ("time up", Some(Ending::TimeUp)),
    ("illegal move", Some(Ending::IllegalMove)),
    ("illegal kachi", Some(Ending::IllegalMove)),
    ("uchifuzume", Some(Ending::IllegalMove)),
    ("oute_kaihimore", Some(Ending::IllegalMove)),
    ("outori", Some(Ending::IllegalMove)),
    ("abnormal", Some(Ending::Interruption)),
    // shogi-server has no impasse.
    ("jishogi", Some(Ending::Impasse)),
    ("chudan", Some(Ending::Interruption)),
];

/// Our own cause for a draw with an unknown ending.
const DRAW: &str = "draw";

impl<'a> Summary<'a> {
    pub(crate) fn parse(statement: &'a [u8]) -> Option<Self> {
        let text = statement.strip_prefix(b"'")?;
        Self::of_comment(text)
    }

    /// Parses a summary without a comment mark, as in JKF.
    pub(crate) fn of_comment(comment: &'a [u8]) -> Option<Self> {
        let text = comment.strip_prefix(SUMMARY.as_bytes())?;
        let mut parts = text.rsplitn(3, |&byte| byte == b':');
        let (white, black, cause) = (parts.next()?, parts.next()?, parts.next()?);
        let result = match (black, white) {
            _ if black.ends_with(b" win") && white.ends_with(b" lose") => GameResult::BlackWin,
            _ if black.ends_with(b" lose") && white.ends_with(b" win") => GameResult::WhiteWin,
            _ if black.ends_with(b" draw") && white.ends_with(b" draw") => GameResult::Draw,
            _ => return None,
        };
        let known = |(name, _): &(&str, _)| name.as_bytes() == cause;
        let (_, ending) = CAUSES.into_iter().find(known)?;
        let name =
            |text: &'a [u8]| &text[..text.iter().rposition(|&byte| byte == b' ').unwrap_or(0)];
        Some(Self { end: (Some(result), ending), names: [name(black), name(white)] })
    }

    /// Whether the summary has the form that [`Summary::line`] writes.
    pub(crate) fn is_own(&self) -> bool {
        self.names == [b"black", b"white"]
    }

    /// Whether the summary has the player names of a header, like Floodgate's.
    pub(crate) fn names_players(&self, headers: &[Header]) -> bool {
        let is_name = |key, name: &[u8]| {
            let header = headers.iter().find(|header| header.key == key);
            !name.is_empty() && header.is_some_and(|header| header.value.as_bytes() == name)
        };
        is_name(HeaderKey::Black, self.names[0]) && is_name(HeaderKey::White, self.names[1])
    }

    /// The line. `None` if the game has no result.
    pub(crate) fn line((result, ending): End) -> Option<String> {
        let (black, white) = match result? {
            GameResult::Draw => ("draw", "draw"),
            GameResult::BlackWin => ("win", "lose"),
            GameResult::WhiteWin => ("lose", "win"),
        };
        let (cause, _) = CAUSES.into_iter().find(|(_, known)| *known == ending)?;
        let cause = if (result, ending) == (Some(GameResult::Draw), None) { DRAW } else { cause };
        Some(format!("'{SUMMARY}{cause}:black {black}:white {white}"))
    }
}

/// Writes the end of a game: a mark, and a summary if the mark does not give the exact result and ending. Returns
/// whether anything was written.
pub(super) fn write(end: End, version: CsaVersion, position: &Position, out: &mut Vec<u8>) -> bool {
    let Some(mark) = Mark::closest(end, position).map(|mark| mark.of_version(version)) else {
        return false;
    };
    put_line(out, mark.name().as_bytes());
    if mark.end(position) != end
        && let Some(line) = Summary::line(end)
    {
        put_line(out, line.as_bytes());
    }
    true
}
