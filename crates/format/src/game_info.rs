//! Information about games besides moves, evaluations and results: names, dates, times, comments, variations.
//!
//! The header keys are the keys of Kakinoki's KIF format and of CSA. Each key of one format has a counterpart in the
//! other.

use std::collections::HashSet;
use std::{fmt, ops};

use crate::played::Variation;

/// Information about a game as a whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GameInfo {
    /// Names, dates and other header entries, in file order.
    pub headers: Vec<Header>,
    /// Comments before the first move, one line each, without the comment sign of the format.
    pub comments: Vec<String>,
    /// Milliseconds that the side to move used after the last move, before the game ended.
    pub end_elapsed_ms: Option<u64>,
    /// Comments after the end of the game.
    pub end_comments: Vec<String>,
    /// Variations that begin after the last move of the main line.
    pub end_variations: Vec<Variation>,
    /// The bookmark on the start position.
    pub bookmark: Option<String>,
    /// The number of lines that the reader did not understand and skipped.
    pub skipped_lines: u32,
}

/// A header entry of a game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The key.
    pub key: HeaderKey,
    /// The text, without white space around it.
    pub value: String,
}

/// The key of a header entry. Each format has its own keyword for it.
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

/// Counts of information besides moves, evaluations and results. Either the content of a game or what a format cannot
/// hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InfoCounts {
    /// Header entries.
    pub headers: u64,
    /// Lines of comments.
    pub comments: u64,
    /// Moves with a time.
    pub times: u64,
    /// Variations, including nested ones. If variations are lost, their comments, times and bookmarks are not counted
    /// again.
    pub variations: u64,
    /// Bookmarks.
    pub bookmarks: u64,
    /// Times with a fraction of a second that lose the fraction. Times that are lost entirely are not counted here.
    pub time_fractions: u64,
}

/// The kinds of information that a format can hold.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
pub(crate) struct HoldsInfo {
    /// Whether the format holds an entry with this key. Called in file order.
    pub(crate) header: for<'a> fn(&'a HeaderKey, &mut HeldHeaders<'a>) -> bool,
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

/// Header entries already written. Some formats allow each key once.
pub(crate) struct HeldHeaders<'a> {
    /// Whether the header has an entry for the event.
    pub(crate) has_event: bool,
    /// The keywords of these entries.
    keywords: HashSet<&'a str>,
}

impl<'a> HeldHeaders<'a> {
    pub(crate) fn new(headers: &[Header]) -> Self {
        let has_event = headers.iter().any(|header| header.key == HeaderKey::Event);
        Self { has_event, keywords: HashSet::new() }
    }

    /// Whether this keyword occurs for the first time. Remembers it.
    pub(crate) fn is_first(&mut self, keyword: &'a str) -> bool {
        self.keywords.insert(keyword)
    }
}

impl GameInfo {
    /// The title of the problem or game: the first of the entries 作品名, 表題, [`HeaderKey::Event`] and 作品番号.
    pub fn title(&self) -> Option<&str> {
        let other = |name: &str| HeaderKey::Other(name.to_owned());
        let keys = [other("作品名"), other("表題"), HeaderKey::Event, other("作品番号")];
        let entry = |key| self.headers.iter().find(|header| header.key == key);
        keys.into_iter().filter_map(entry).map(|entry| &*entry.value).find(|text| !text.is_empty())
    }

    /// The information for a part of the game: the header, and the comments at the start and end of the game if the
    /// part includes them.
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
    /// The counts with their names in reports. The names are stable.
    pub const fn by_kind(self) -> [(&'static str, u64); 6] {
        [
            ("headers", self.headers),
            ("comments", self.comments),
            ("times", self.times),
            ("variations", self.variations),
            ("bookmarks", self.bookmarks),
            ("time_fractions", self.time_fractions),
        ]
    }

    /// Whether all counts are zero.
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for InfoCounts {
    /// For example `1 variation, 3 comments`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = self.by_kind().into_iter().filter(|&(_, number)| number > 0);
        for (index, (kind, number)) in kinds.enumerate() {
            let kind = if number == 1 { &kind[..kind.len() - 1] } else { kind };
            let kind = kind.replace('_', " ");
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
        self.time_fractions += other.time_fractions;
    }
}
