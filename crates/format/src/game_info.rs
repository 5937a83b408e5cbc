//! What game files say besides moves, evaluations and results: names, dates, times, comments, variations.
//!
//! Header keys are those of Kakinoki's KIF format and of the CSA standard, which correspond to each other.

use std::{fmt, ops};

use crate::played::Variation;

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
    /// Whether it has a word for this entry of this head.
    pub(crate) header: fn(&HeaderKey, &[Header]) -> bool,
    pub(crate) comments: bool,
    pub(crate) times: bool,
    pub(crate) variations: bool,
    pub(crate) bookmarks: bool,
}

impl HoldsInfo {
    /// Moves and results only.
    pub(crate) const NOTHING: Self = Self {
        header: |_, _| false,
        comments: false,
        times: false,
        variations: false,
        bookmarks: false,
    };
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
