//! What game files say besides moves, evaluations and results: names, dates, times, comments, variations.
//!
//! Header keys are those of Kakinoki's KIF format and of the CSA standard, which correspond to each other.

use std::{fmt, ops};

use crate::ending::Ending;
use crate::game::{Game, Played};
use crate::game_result::GameResult;

/// What a file says about a game as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameInfo {
    /// Names, dates and other entries of the head, in the order of the file.
    pub headers: Vec<Header>,
    /// Comments before the first move, one line each, without the comment sign of the format.
    pub comments: Vec<String>,
    /// Time that the side to move used before the game ended without a move of it, in milliseconds.
    pub end_elapsed_ms: Option<u64>,
    /// Comments after the end of the game.
    pub end_comments: Vec<String>,
    /// Variations that begin after the last move of the main line.
    pub end_variations: Vec<Variation>,
    /// The bookmark on the start position.
    pub bookmark: Option<String>,
    /// Lines of the file that the reader did not understand and skipped.
    pub skipped_lines: u32,
}

/// An entry of the head of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// What it is about.
    pub key: HeaderKey,
    /// The text, without white space around it.
    pub value: String,
}

/// What an entry of the head of a game is about. Each format has its own word for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HeaderKey {
    /// The name of Black (先手, 下手; `N+`).
    Black,
    /// The name of White (後手, 上手; `N-`).
    White,
    /// The tournament (棋戦; `$EVENT`).
    Event,
    /// The place (場所; `$SITE`).
    Site,
    /// When the game began (開始日時; `$START_TIME`), as in `2026/11/25 10:00:00`.
    StartTime,
    /// When the game ended (終了日時; `$END_TIME`).
    EndTime,
    /// The time limit (持ち時間; `$TIME_LIMIT`).
    TimeLimit,
    /// The opening (戦型; `$OPENING`).
    Opening,
    /// Any other entry, by its key in the KIF format.
    Other(String),
}

/// What a file says about one move besides its evaluation.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Annotation {
    /// Time used for the move, in milliseconds.
    pub elapsed_ms: Option<u64>,
    /// Comments on the move, one line each, without the comment sign of the format.
    pub comments: Vec<String>,
    /// The bookmark on the position after the move.
    pub bookmark: Option<String>,
    /// Other moves that could have been played instead, each with what follows it.
    pub variations: Vec<Variation>,
}

/// Moves that were not played but that the file shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variation {
    /// At least one move.
    pub moves: Vec<Played>,
    /// How the variation ends, if the file says so.
    pub result: Option<GameResult>,
    /// Why the variation ends, where that is not mate or resignation.
    pub ending: Option<Ending>,
    /// Comments after its end.
    pub end_comments: Vec<String>,
}

/// How much a game says besides moves, evaluations and results, or how much of it a format cannot hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InfoCounts {
    /// Entries of the head.
    pub headers: u64,
    /// Lines of comments.
    pub comments: u64,
    /// Moves with the time that they took.
    pub times: u64,
    /// Variations, nested ones included. What stands in a variation is not counted again.
    pub variations: u64,
    /// Bookmarks.
    pub bookmarks: u64,
}

/// Which of these things a format can hold.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is held or not, whatever the others")]
pub(crate) struct HoldsInfo {
    /// Whether it has a word for this entry of the head.
    pub(crate) header: fn(&HeaderKey) -> bool,
    pub(crate) comments: bool,
    pub(crate) times: bool,
    pub(crate) variations: bool,
    pub(crate) bookmarks: bool,
}

impl HoldsInfo {
    /// Moves and results only.
    pub(crate) const NOTHING: Self = Self {
        header: |_| false,
        comments: false,
        times: false,
        variations: false,
        bookmarks: false,
    };

    /// What is lost of a game in a format that holds this.
    pub(crate) fn losses(&self, game: &Game) -> InfoCounts {
        let GameInfo { headers, comments, end_comments, end_elapsed_ms, .. } = &game.info;
        let lost_headers = headers.iter().filter(|header| !(self.header)(&header.key)).count();
        let mut lost = InfoCounts { headers: lost_headers as u64, ..InfoCounts::default() };
        let annotations = || game.moves.iter().filter_map(|played| played.annotation.as_deref());
        if !self.comments {
            let of_moves = annotations().map(|annotation| annotation.comments.len());
            lost.comments = (comments.len() + end_comments.len() + of_moves.sum::<usize>()) as u64;
        }
        if !self.times {
            let of_moves = annotations().filter(|annotation| annotation.elapsed_ms.is_some());
            lost.times = of_moves.count() as u64 + u64::from(end_elapsed_ms.is_some());
        }
        if !self.variations {
            let of_moves = annotations().map(|annotation| count_variations(&annotation.variations));
            lost.variations = of_moves.sum::<u64>() + count_variations(&game.info.end_variations);
        }
        if !self.bookmarks {
            let of_moves = annotations().filter(|annotation| annotation.bookmark.is_some());
            lost.bookmarks = of_moves.count() as u64 + u64::from(game.info.bookmark.is_some());
        }
        lost
    }
}

fn count_variations(variations: &[Variation]) -> u64 {
    let nested = |variation: &Variation| {
        let annotations = variation.moves.iter().filter_map(|played| played.annotation.as_deref());
        annotations.map(|annotation| count_variations(&annotation.variations)).sum::<u64>()
    };
    variations.iter().map(|variation| 1 + nested(variation)).sum()
}

impl GameInfo {
    /// What remains for a part of the game: the head, and comments at the ends that the part has.
    pub(crate) fn of_part(&self, has_start: bool, has_end: bool) -> Self {
        let mut info = self.clone();
        if !has_start {
            (info.comments, info.bookmark) = (Vec::new(), None);
        }
        if !has_end {
            (info.end_comments, info.end_elapsed_ms) = (Vec::new(), None);
            info.end_variations = Vec::new();
        }
        info
    }
}

impl InfoCounts {
    /// What is counted, by its name in reports, which does not change, with its number.
    pub const fn by_kind(self) -> [(&'static str, u64); 5] {
        [
            ("headers", self.headers),
            ("comments", self.comments),
            ("times", self.times),
            ("variations", self.variations),
            ("bookmarks", self.bookmarks),
        ]
    }

    /// Whether there is nothing to count.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for InfoCounts {
    /// As in `1 variation, 3 comments`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = self.by_kind().into_iter().filter(|&(_, number)| number > 0);
        for (index, (kind, number)) in kinds.enumerate() {
            let kind = if number == 1 { &kind[..kind.len() - 1] } else { kind };
            write!(f, "{}{number} {kind}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl ops::AddAssign for InfoCounts {
    fn add_assign(&mut self, other: Self) {
        self.headers += other.headers;
        self.comments += other.comments;
        self.times += other.times;
        self.variations += other.variations;
        self.bookmarks += other.bookmarks;
    }
}

impl Variation {
    /// The same variation with left and right of the board exchanged. Comments stay as they are.
    pub(crate) fn mirrored(self) -> Self {
        Self { moves: self.moves.into_iter().map(Played::mirrored).collect(), ..self }
    }
}

impl Annotation {
    pub(crate) fn mirrored(self) -> Self {
        let variations = self.variations.into_iter().map(Variation::mirrored).collect();
        Self { variations, ..self }
    }
}
