//! Finds the ends of games and diagrams in a file. Copies chunks so that they stay separate.

use encoding_rs::{EUC_JP, SHIFT_JIS};

use super::super::lines::{LONGEST_GROUP, Lines, decode};
use super::super::spec::with_line_end;
use super::super::text_encoding::{encoding_of, is_utf_8};
use super::line::{LIST_OF_MOVES, Line, SIGNS, normalised};
use super::{ending, moves, start};

/// Keys that can begin the header of a game.
const HEAD: [&str; 19] = [
    "開始日時",
    "対局日",
    "棋戦",
    "戦型",
    "表題",
    "題名",
    "大会名",
    "場所",
    "持ち時間",
    "先手",
    "後手",
    "下手",
    "上手",
    "作品番号",
    "作品名",
    "作者",
    "発表誌",
    "出典",
    "対局ID",
];

/// Keys of entries that may follow the moves of their game.
const FOOTERS: [&str; 5] = ["終了日時", "終了時刻", "消費時間", "結果", "勝者"];

/// The role of a line for the boundaries of games.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Blank,
    /// A comment line for programs, beginning with `#`.
    Remark,
    /// A line around a diagram.
    Edge,
    Rank,
    SideToMove,
    /// The number of moves before a diagram.
    Ply,
    /// An entry that begins the header of a game.
    Head,
    /// The entry `手合割：その他`, which begins a header but gives no start position.
    OtherStart,
    /// The pieces in hand of Black, or White.
    Hand(usize),
    /// Another entry of a header.
    Entry,
    /// A comment, a title, or a line of unknown meaning.
    Note,
    List,
    /// A move, or a word or a summary that ends a game if one has begun.
    Moves,
    /// An entry that belongs to the game above it.
    Footer,
    Variation,
}

/// The part of a chunk that was read.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct Seen {
    has_entries: bool,
    has_diagram: bool,
    has_list: bool,
    has_moves: bool,
    /// Whether there is a blank line above this one, with no line between them that belongs to the moves.
    has_blank: bool,
    /// The same for a comment line for programs.
    has_remark: bool,
    /// Start of the lines that belong to the next game if it begins directly after them.
    block: Option<usize>,
}

impl Seen {
    /// The role of a line at this place.
    fn part(&self, line: &[u8]) -> Part {
        // The meaning of these signs depends neither on the rest of the line nor on its encoding.
        match line.first() {
            Some(b'*' | b'&') => return Part::Note,
            Some(b'#') => return Part::Remark,
            _ => {}
        }
        let line = &line[..line.len().min(LONGEST_GROUP)];
        let decoded = decode(line);
        let part = self.part_of_text(&decoded);
        let is_plain = |part| !matches!(part, Part::Entry | Part::Note | Part::Footer);
        if is_plain(part) || str::from_utf8(line).is_ok() {
            return part;
        }
        let other = self.part_of_text(&EUC_JP.decode_without_bom_handling(line).0);
        if is_plain(other) {
            return other;
        }
        // A damaged line in UTF-8. Its copy may be valid UTF-8 and must be the same part.
        let damaged = is_utf_8(line).then(|| self.part_of_text(&String::from_utf8_lossy(line)));
        damaged.filter(|&damaged| is_plain(damaged)).unwrap_or(part)
    }

    fn part_of_text(&self, text: &str) -> Part {
        let normal = normalised(text);
        let line = Line::parse(text, &normal);
        match line {
            Line::Empty if normal.trim().is_empty() => Part::Blank,
            Line::Empty if normal.trim_start().starts_with('#') => Part::Remark,
            Line::Empty => Part::Edge,
            Line::List => Part::List,
            Line::Rank(rank) if start::is_rank(rank) => Part::Rank,
            Line::SideToMove(_) => Part::SideToMove,
            Line::Ply(_) => Part::Ply,
            Line::Entry { key, value } if start::is_other(key, value) => Part::OtherStart,
            Line::Entry { key, .. } => part_of_key(key),
            Line::Variation(_) => Part::Variation,
            Line::Numbered { .. } | Line::Words(_) | Line::Summary(_)
                if self.has_moves && !is_title(line) || self.begins_game(line) =>
            {
                Part::Moves
            }
            _ => Part::Note,
        }
    }

    fn begins_game(&self, line: Line<'_>) -> bool {
        begins_game(line, self.has_list, self.has_entries || self.has_diagram)
    }

    /// Whether a line at this place begins another game.
    const fn ends_before(&self, part: Part) -> bool {
        match part {
            Part::Head | Part::OtherStart | Part::Hand(_) | Part::Rank => {
                self.has_list || self.has_moves
            }
            Part::List => self.has_moves,
            _ => false,
        }
    }

    fn take(&mut self, part: Part, at: usize) {
        match part {
            Part::Blank => (self.has_blank, self.block) = (true, None),
            Part::Entry | Part::Edge | Part::SideToMove => _ = self.block.get_or_insert(at),
            Part::Note if self.has_blank => _ = self.block.get_or_insert(at),
            // Some programs write it first: after a blank line or a comment line it belongs to the next game.
            Part::Footer if self.has_blank || self.has_remark || self.block.is_some() => {
                self.block.get_or_insert(at);
            }
            Part::Remark => self.has_remark = true,
            Part::Note | Part::Footer => {}
            _ => (self.has_blank, self.has_remark, self.block) = (false, false, None),
        }
        self.has_entries |= matches!(part, Part::Head | Part::Hand(_) | Part::Entry | Part::Footer);
        self.has_diagram |= part == Part::Rank;
        self.has_list |= part == Part::List;
        self.has_moves |= part == Part::Moves;
    }
}

fn part_of_key(key: &str) -> Part {
    match start::hand_of(key) {
        Some(side) => Part::Hand(side),
        None if key == start::SIDE_TO_MOVE => Part::SideToMove,
        None if start::is_about_start(key) || HEAD.contains(&key) => Part::Head,
        None if FOOTERS.contains(&key) => Part::Footer,
        None => Part::Entry,
    }
}

/// Whether a line begins with a number but is neither a move nor a known word for the end of a game, such as
/// `2026 名人戦`.
pub(super) fn is_title(line: Line<'_>) -> bool {
    matches!(line, Line::Numbered { text, .. } if !moves::has_move(text) && !is_word(text))
}

fn is_word(text: &str) -> bool {
    let text = text.trim_start_matches(SIGNS);
    ending::is_word(text.split([' ', '(']).next().unwrap_or(""))
}

/// Whether the moves of a game begin with this line. A word or a summary begins them only after the list of moves, or,
/// if programs write it, after header entries. Other such lines are titles.
pub(super) fn begins_game(line: Line<'_>, has_list: bool, has_head: bool) -> bool {
    match line {
        Line::Words(_) => true,
        Line::Numbered { text, .. } => {
            has_list || moves::has_move(text) || (has_head && is_word(text))
        }
        Line::Summary(text) => {
            let behind_number = text.trim_start_matches([' ', '、', ',']);
            let behind_number = behind_number.trim_start_matches(|c: char| c.is_ascii_digit());
            has_list || (has_head && behind_number.starts_with('手'))
        }
        _ => false,
    }
}

/// A game ends before the header, the diagram or the list of moves of the next game.
pub(super) fn chunk_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut seen) = (0, Seen::default());
    for line in Lines::new(bytes) {
        // The rest of an incomplete last line is not known.
        if !at_end && !line.raw().ends_with(b"\n") {
            break;
        }
        let part = seen.part(line.content());
        if seen.ends_before(part) {
            return Some(seen.block.unwrap_or(at));
        }
        seen.take(part, at);
        at += line.raw().len();
    }
    None
}

/// Appends a chunk with the lines that separate it from its neighbours: a blank line or `手合割：` before a chunk that does
/// not begin like a game, `手数----` after a diagram without moves, a blank line after entries at the end.
pub(super) fn copy(mut chunk: &[u8], out: &mut Vec<u8>) {
    let (mut seen, mut at) = (Seen::default(), 0);
    let mut handicap = None;
    for line in Lines::new(chunk) {
        let part = seen.part(line.content());
        if matches!(part, Part::Head | Part::OtherStart) && is_handicap(line.content()) {
            handicap = Some(line.content());
        }
        seen.take(part, at);
        at += line.raw().len();
        if seen.has_moves {
            break;
        }
    }
    let encoding = encoding_of(chunk).unwrap_or(SHIFT_JIS);
    let put = |line: &str, out: &mut Vec<u8>| out.extend_from_slice(&encoding.encode(line).0);
    let head = &chunk[..at];
    if (seen.has_moves || seen.has_list || seen.has_diagram) && !begins_like_game(head) {
        if begins_like_game(&[b"\n", head].concat()) {
            out.push(b'\n');
        } else {
            let entry = |name| {
                let line = format!("{}：{name}\n", start::HANDICAP);
                encoding.encode(&line).0.into_owned()
            };
            let other = entry(start::OTHER);
            let first = match handicap {
                Some(handicap) => [handicap, b"\n"].concat(),
                None if seen.has_diagram => other.clone(),
                None => entry(start::EVEN),
            };
            let moves = moves_at(head);
            if moves_at(&[&first, head].concat()) == moves.map(|at| first.len() + at) {
                out.extend_from_slice(&first);
            } else {
                // Below that entry a title such as `まで7手詰` would end a game. The start position is given below it.
                out.extend_from_slice(&other);
                if handicap.is_none() {
                    let (title, rest) = chunk.split_at(moves.unwrap_or(at));
                    with_line_end(title, out);
                    out.extend_from_slice(&first);
                    chunk = rest;
                }
            }
        }
    }
    with_line_end(chunk, out);
    if seen.has_diagram && !seen.has_moves && !seen.has_list {
        put(LIST_OF_MOVES, out);
    } else if (seen.has_moves || seen.has_list) && ends_with_block(chunk, seen.has_list) {
        out.push(b'\n');
    }
}

/// Where the list of moves or the first move is.
fn moves_at(head: &[u8]) -> Option<usize> {
    let (mut seen, mut at) = (Seen::default(), 0);
    for line in Lines::new(head) {
        let part = seen.part(line.content());
        if matches!(part, Part::List | Part::Moves) {
            return Some(at);
        }
        seen.take(part, at);
        at += line.raw().len();
    }
    None
}

fn is_handicap(line: &[u8]) -> bool {
    let holds = |text: &str| matches!(Line::parse(text, &normalised(text)), Line::Entry { key, .. } if key == start::HANDICAP);
    holds(&decode(line)) || holds(&EUC_JP.decode_without_bom_handling(line).0)
}

/// Whether a game before this head would end before the whole head, apart from blank lines and comment lines.
fn begins_like_game(head: &[u8]) -> bool {
    let behind_list = [LIST_OF_MOVES.as_bytes(), head].concat();
    let end = chunk_end(&behind_list, true).and_then(|end| end.checked_sub(LIST_OF_MOVES.len()));
    end.is_some_and(|end| {
        let seen = Seen::default();
        Lines::new(&head[..end])
            .all(|line| matches!(seen.part(line.content()), Part::Blank | Part::Remark))
    })
}

/// Whether the last lines of a game would be read as the head of the next one.
fn ends_with_block(chunk: &[u8], has_list: bool) -> bool {
    let mut seen = Seen { has_moves: true, has_list, ..Seen::default() };
    let is_loose = |line: &[u8]| {
        let part = seen.part(line);
        matches!(
            part,
            Part::Blank | Part::Remark | Part::Edge | Part::SideToMove | Part::Entry | Part::Note
        )
    };
    let tail = chunk.rsplit(|byte| *byte == b'\n').take_while(|line| is_loose(line));
    let len: usize = tail.map(|line| line.len() + 1).sum();
    let tail = &chunk[chunk.len().saturating_sub(len.saturating_sub(1))..];
    for line in Lines::new(tail) {
        seen.take(seen.part(line.content()), 0);
    }
    seen.block.is_some()
}

/// A diagram ends before the next one: before the header of a game, White's second hand, a tenth rank, or the second
/// occurrence of a line that was above its first rank.
pub(super) fn diagram_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut diagram) = (0, Diagram::default());
    for line in Lines::new(bytes) {
        if !at_end && !line.raw().ends_with(b"\n") {
            break;
        }
        let part = part_of_diagram(line.content());
        if diagram.ends_before(part) {
            return Some(diagram.files.unwrap_or(at));
        }
        diagram.take(part, line.content(), at);
        at += line.raw().len();
    }
    None
}

/// The part of a diagram that was read.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct Diagram {
    ranks: usize,
    has_hand: [bool; 2],
    /// Whether Black's hand, the side to move and the number of moves are above the first rank. If not, a second one
    /// does not begin a diagram but is the remainder of a damaged one.
    begins_with_hand: bool,
    begins_with_side: bool,
    begins_with_ply: bool,
    /// Whether the side to move or the number of moves is below a rank.
    has_tail: bool,
    /// Whether a line above the first rank begins like a rank but cannot be read as one.
    has_broken_rank: bool,
    /// The first line that is not blank and not a remark.
    first: Option<Part>,
    /// Where the line of file numbers above the next diagram begins.
    files: Option<usize>,
}

impl Diagram {
    const fn ends_before(&self, part: Part) -> bool {
        let has_ranks = self.ranks > 0;
        match part {
            Part::Head | Part::OtherStart => has_ranks,
            Part::Hand(0) => has_ranks && self.begins_with_hand,
            // It may stand below a board, but neither within one nor below the lines that end a diagram: those are what
            // is left of a damaged one.
            Part::Hand(_) if has_ranks => self.has_hand[1] || self.ranks < 9 || self.has_tail,
            Part::Hand(_) => self.has_hand[1] || self.is_tail(),
            Part::SideToMove => has_ranks && self.begins_with_side,
            Part::Ply => has_ranks && self.begins_with_ply,
            Part::Rank => self.ranks == 9,
            _ => false,
        }
    }

    /// Whether these are the last lines of a diagram whose board is missing: Black's hand, then the side to move or
    /// the number of moves.
    const fn is_tail(&self) -> bool {
        matches!(self.first, Some(Part::Hand(0))) && (self.begins_with_side || self.begins_with_ply)
    }

    fn take(&mut self, part: Part, line: &[u8], at: usize) {
        if !matches!(part, Part::Blank | Part::Remark) {
            self.first.get_or_insert(part);
        }
        match part {
            Part::Edge if self.ranks == 9 && !line.starts_with(b"+") => self.files = Some(at),
            Part::Edge => {}
            _ => self.files = None,
        }
        self.has_tail |= self.ranks > 0 && matches!(part, Part::SideToMove | Part::Ply);
        // Lines below a damaged first rank end their diagram. They do not begin it.
        self.has_broken_rank |= part == Part::Note && line.starts_with(b"|");
        if self.ranks == 0 && !self.has_broken_rank {
            self.begins_with_hand |= part == Part::Hand(0);
            self.begins_with_side |= part == Part::SideToMove;
            self.begins_with_ply |= part == Part::Ply;
        }
        match part {
            Part::Rank => self.ranks += 1,
            Part::Hand(side) => self.has_hand[side] = true,
            _ => {}
        }
    }
}

/// The role of a line of a diagram.
pub(super) fn part_of_diagram(line: &[u8]) -> Part {
    Seen::default().part(line)
}

/// Whether a chunk has a rank of a diagram.
pub(super) fn shows_diagram(chunk: &[u8]) -> bool {
    Lines::new(chunk).any(|line| part_of_diagram(line.content()) == Part::Rank)
}

/// Appends a diagram so that it stays separate from its neighbours. Writes White's hand first if it is missing. Writes
/// a line `手合割：` first if the diagram begins neither with White's hand nor with the header of a game.
pub(super) fn copy_diagram(chunk: &[u8], out: &mut Vec<u8>) {
    let mut diagram = Diagram::default();
    for line in Lines::new(chunk) {
        diagram.take(part_of_diagram(line.content()), line.content(), 0);
    }
    let encoding = encoding_of(chunk).unwrap_or(SHIFT_JIS);
    let put = |line: &str, out: &mut Vec<u8>| out.extend_from_slice(&encoding.encode(line).0);
    let has_ranks = diagram.ranks > 0;
    if has_ranks && !diagram.has_hand[1] {
        put("後手の持駒：なし\n", out);
    } else if has_ranks
        && !matches!(diagram.first, Some(Part::Head | Part::OtherStart | Part::Hand(1)))
    {
        put(&format!("{}：{}\n", start::HANDICAP, start::OTHER), out);
    }
    with_line_end(chunk, out);
}
