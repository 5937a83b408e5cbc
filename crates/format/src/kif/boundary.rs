//! Finds the ends of games and diagrams in a file. Copies chunks so that readers keep them separate.

use encoding_rs::{EUC_JP, SHIFT_JIS};

use super::super::lines::{Lines, MAX_LINES_BYTES, decode};
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
pub(super) enum LineRole {
    Blank,
    /// A comment line for programs, beginning with `#`.
    ProgramComment,
    /// The border of a diagram, or the line of file numbers above it.
    DiagramEdge,
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
    /// A move. In a game that has begun, also the word or the summary that ends it.
    Moves,
    /// An entry that belongs to the game before it.
    Footer,
    Variation,
}

/// The content of the lines of a chunk that were read.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct Seen {
    has_entries: bool,
    has_diagram: bool,
    has_list: bool,
    has_moves: bool,
    /// Whether a blank line has followed the last line that certainly belongs to the current game.
    has_blank: bool,
    /// The same for a comment line for programs.
    has_program_comment: bool,
    /// Start of the last lines whose game is not yet certain. They belong to the next game if it begins directly after
    /// them.
    next_game_start: Option<usize>,
}

impl Seen {
    /// The role of the next line.
    fn role(&self, line: &[u8]) -> LineRole {
        // The meaning of these signs depends neither on the rest of the line nor on its encoding.
        match line.first() {
            Some(b'*' | b'&') => return LineRole::Note,
            Some(b'#') => return LineRole::ProgramComment,
            _ => {}
        }
        let line = &line[..line.len().min(MAX_LINES_BYTES)];
        let decoded = decode(line);
        let role = self.role_of_text(&decoded);
        let is_plain = |role| !matches!(role, LineRole::Entry | LineRole::Note | LineRole::Footer);
        if is_plain(role) || str::from_utf8(line).is_ok() {
            return role;
        }
        let other = self.role_of_text(&EUC_JP.decode_without_bom_handling(line).0);
        if is_plain(other) {
            return other;
        }
        // A damaged line in UTF-8. Its copy may be valid UTF-8 and must have the same role.
        let damaged = is_utf_8(line).then(|| self.role_of_text(&String::from_utf8_lossy(line)));
        damaged.filter(|&damaged| is_plain(damaged)).unwrap_or(role)
    }

    fn role_of_text(&self, text: &str) -> LineRole {
        let normal = normalised(text);
        let line = Line::parse(text, &normal);
        match line {
            Line::Empty if normal.trim().is_empty() => LineRole::Blank,
            Line::Empty if normal.trim_start().starts_with('#') => LineRole::ProgramComment,
            Line::Empty => LineRole::DiagramEdge,
            Line::List => LineRole::List,
            Line::Rank(rank) if start::is_rank(rank) => LineRole::Rank,
            Line::SideToMove(_) => LineRole::SideToMove,
            Line::Ply(_) => LineRole::Ply,
            Line::Entry { key, value } if start::is_other(key, value) => LineRole::OtherStart,
            Line::Entry { key, .. } => role_of_key(key),
            Line::Variation(_) => LineRole::Variation,
            Line::Numbered { .. } | Line::Words(_) | Line::Summary(_)
                if self.has_moves && !is_title(line) || self.begins_game(line) =>
            {
                LineRole::Moves
            }
            _ => LineRole::Note,
        }
    }

    fn begins_game(&self, line: Line<'_>) -> bool {
        begins_game(line, self.has_list, self.has_entries || self.has_diagram)
    }

    /// Whether a next line with this role begins another game.
    const fn ends_before(&self, role: LineRole) -> bool {
        match role {
            LineRole::Head | LineRole::OtherStart | LineRole::Hand(_) | LineRole::Rank => {
                self.has_list || self.has_moves
            }
            LineRole::List => self.has_moves,
            _ => false,
        }
    }

    fn take(&mut self, role: LineRole, at: usize) {
        match role {
            LineRole::Blank => (self.has_blank, self.next_game_start) = (true, None),
            LineRole::Entry | LineRole::DiagramEdge | LineRole::SideToMove => {
                _ = self.next_game_start.get_or_insert(at);
            }
            LineRole::Note if self.has_blank => _ = self.next_game_start.get_or_insert(at),
            // Some programs write such an entry before a game. After a blank line or a comment line for programs it
            // belongs to the next game.
            LineRole::Footer
                if self.has_blank || self.has_program_comment || self.next_game_start.is_some() =>
            {
                self.next_game_start.get_or_insert(at);
            }
            LineRole::ProgramComment => self.has_program_comment = true,
            LineRole::Note | LineRole::Footer => {}
            _ => {
                (self.has_blank, self.has_program_comment, self.next_game_start) =
                    (false, false, None);
            }
        }
        self.has_entries |=
            matches!(role, LineRole::Head | LineRole::Hand(_) | LineRole::Entry | LineRole::Footer);
        self.has_diagram |= role == LineRole::Rank;
        self.has_list |= role == LineRole::List;
        self.has_moves |= role == LineRole::Moves;
    }
}

fn role_of_key(key: &str) -> LineRole {
    match start::hand_of(key) {
        Some(side) => LineRole::Hand(side),
        None if key == start::SIDE_TO_MOVE => LineRole::SideToMove,
        None if start::is_about_start(key) || HEAD.contains(&key) => LineRole::Head,
        None if FOOTERS.contains(&key) => LineRole::Footer,
        None => LineRole::Entry,
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

/// Whether the moves of a game begin with this line. A numbered line without a move, or a summary, begins them only
/// after the line [`LIST_OF_MOVES`], or after header entries if programs write its text. Other such lines are titles.
pub(super) fn begins_game(line: Line<'_>, has_list: bool, has_header: bool) -> bool {
    match line {
        Line::Words(_) => true,
        Line::Numbered { text, .. } => {
            has_list || moves::has_move(text) || (has_header && is_word(text))
        }
        Line::Summary(text) => {
            let after_number = text.trim_start_matches([' ', '、', ',']);
            let after_number = after_number.trim_start_matches(|c: char| c.is_ascii_digit());
            has_list || (has_header && after_number.starts_with('手'))
        }
        _ => false,
    }
}

/// Finds the end of the first game. It is before the header, the diagram or the line [`LIST_OF_MOVES`] of the next
/// game.
pub(super) fn chunk_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut seen) = (0, Seen::default());
    for line in Lines::new(bytes) {
        // The rest of an incomplete last line is not known.
        if !at_end && !line.raw().ends_with(b"\n") {
            break;
        }
        let role = seen.role(line.content());
        if seen.ends_before(role) {
            return Some(seen.next_game_start.unwrap_or(at));
        }
        seen.take(role, at);
        at += line.raw().len();
    }
    None
}

/// Appends a chunk with the lines that separate it from its neighbours. Writes a blank line or `手合割：` before a chunk
/// that does not begin like a game, `手数----` after a diagram without moves, and a blank line after entries at the end.
pub(super) fn copy(mut chunk: &[u8], out: &mut Vec<u8>) {
    let (mut seen, mut at) = (Seen::default(), 0);
    let mut handicap = None;
    for line in Lines::new(chunk) {
        let role = seen.role(line.content());
        if matches!(role, LineRole::Head | LineRole::OtherStart) && is_handicap(line.content()) {
            handicap = Some(line.content());
        }
        seen.take(role, at);
        at += line.raw().len();
        if seen.has_moves {
            break;
        }
    }
    let encoding = encoding_of(chunk).unwrap_or(SHIFT_JIS);
    let head = &chunk[..at];
    if (seen.has_moves || seen.has_list || seen.has_diagram) && !begins_like_game(head) {
        if begins_like_game(&[b"\n", head].concat()) {
            out.push(b'\n');
        } else {
            let entry = |name| {
                let line = format!("{}：{name}\n", start::HANDICAP);
                encoding.encode(&line).0.into_owned()
            };
            let first = match handicap {
                Some(handicap) => [handicap, b"\n"].concat(),
                None => entry(if seen.has_diagram { start::OTHER } else { start::EVEN }),
            };
            let moves = moves_at(head);
            if moves_at(&[&first, head].concat()) == moves.map(|at| first.len() + at) {
                out.extend_from_slice(&first);
            } else {
                // After the entry in `first`, a title such as `まで7手詰` would end a game. So the entry `手合割：その他` comes
                // first, which does not give a start position, and `first` follows the title.
                out.extend_from_slice(&entry(start::OTHER));
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
        out.extend_from_slice(&encoding.encode(LIST_OF_MOVES).0);
    } else if (seen.has_moves || seen.has_list) && ends_like_header(chunk, seen.has_list) {
        out.push(b'\n');
    }
}

/// Offset of the line [`LIST_OF_MOVES`] or of the first move.
fn moves_at(head: &[u8]) -> Option<usize> {
    let (mut seen, mut at) = (Seen::default(), 0);
    for line in Lines::new(head) {
        let role = seen.role(line.content());
        if matches!(role, LineRole::List | LineRole::Moves) {
            return Some(at);
        }
        seen.take(role, at);
        at += line.raw().len();
    }
    None
}

fn is_handicap(line: &[u8]) -> bool {
    let holds = |text: &str| matches!(Line::parse(text, &normalised(text)), Line::Entry { key, .. } if key == start::HANDICAP);
    holds(&decode(line)) || holds(&EUC_JP.decode_without_bom_handling(line).0)
}

/// Whether a game that precedes this head would end directly before it. Blank lines and comment lines for programs at
/// the beginning of the head may belong to that game.
fn begins_like_game(head: &[u8]) -> bool {
    let after_list = [LIST_OF_MOVES.as_bytes(), head].concat();
    let end = chunk_end(&after_list, true).and_then(|end| end.checked_sub(LIST_OF_MOVES.len()));
    end.is_some_and(|end| {
        let seen = Seen::default();
        Lines::new(&head[..end]).all(|line| {
            matches!(seen.role(line.content()), LineRole::Blank | LineRole::ProgramComment)
        })
    })
}

/// Whether the last lines of a game would be read as the header of the next game.
fn ends_like_header(chunk: &[u8], has_list: bool) -> bool {
    let mut seen = Seen { has_moves: true, has_list, ..Seen::default() };
    let is_loose = |line: &[u8]| {
        let role = seen.role(line);
        matches!(
            role,
            LineRole::Blank
                | LineRole::ProgramComment
                | LineRole::DiagramEdge
                | LineRole::SideToMove
                | LineRole::Entry
                | LineRole::Note
        )
    };
    let tail = chunk.rsplit(|byte| *byte == b'\n').take_while(|line| is_loose(line));
    let len: usize = tail.map(|line| line.len() + 1).sum();
    let tail = &chunk[chunk.len().saturating_sub(len.saturating_sub(1))..];
    for line in Lines::new(tail) {
        seen.take(seen.role(line.content()), 0);
    }
    seen.next_game_start.is_some()
}

/// Finds the end of the first diagram. It is before the header of a game, a second hand of White, a tenth rank, or a
/// second occurrence of a line that was above the first rank.
pub(super) fn diagram_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut diagram) = (0, Diagram::default());
    for line in Lines::new(bytes) {
        if !at_end && !line.raw().ends_with(b"\n") {
            break;
        }
        let role = role_in_diagram(line.content());
        if diagram.ends_before(role) {
            return Some(diagram.file_numbers.unwrap_or(at));
        }
        diagram.take(role, line.content(), at);
        at += line.raw().len();
    }
    None
}

/// The content of the lines of a diagram that were read.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct Diagram {
    ranks: usize,
    has_hand: [bool; 2],
    /// Whether Black's hand is above the first rank. If not, a second hand of Black does not begin a diagram: it is the
    /// rest of a damaged one. The next two fields are the same for the side to move and the number of moves.
    begins_with_hand: bool,
    begins_with_side: bool,
    begins_with_ply: bool,
    /// Whether the side to move or the number of moves is below a rank.
    has_end: bool,
    /// Whether a line above the first rank begins like a rank but cannot be read as one.
    has_broken_rank: bool,
    /// The role of the first line that is not blank, a comment line for programs, or the entry `手合割：その他`.
    first: Option<LineRole>,
    has_other_start: bool,
    /// Offset of the line of file numbers above the next diagram.
    file_numbers: Option<usize>,
}

impl Diagram {
    const fn ends_before(&self, role: LineRole) -> bool {
        let has_ranks = self.ranks > 0;
        match role {
            LineRole::Head | LineRole::OtherStart => has_ranks,
            LineRole::Hand(0) => has_ranks && self.begins_with_hand,
            // White's hand may be below a board. Within a board, or below the lines that end a diagram, it is the rest
            // of a damaged diagram.
            LineRole::Hand(_) if has_ranks => self.has_hand[1] || self.ranks < 9 || self.has_end,
            LineRole::Hand(_) => self.has_hand[1] || self.is_end(),
            LineRole::SideToMove => has_ranks && self.begins_with_side,
            LineRole::Ply => has_ranks && self.begins_with_ply,
            LineRole::Rank => self.ranks == 9,
            _ => false,
        }
    }

    /// Whether these are the last lines of a diagram whose board is missing: Black's hand, then the side to move or
    /// the number of moves.
    const fn is_end(&self) -> bool {
        matches!(self.first, Some(LineRole::Hand(0)))
            && (self.begins_with_side || self.begins_with_ply)
    }

    fn take(&mut self, role: LineRole, line: &[u8], at: usize) {
        match role {
            LineRole::Blank | LineRole::ProgramComment => {}
            LineRole::OtherStart if self.first.is_none() => self.has_other_start = true,
            _ => _ = self.first.get_or_insert(role),
        }
        match role {
            LineRole::DiagramEdge if self.ranks == 9 && !line.starts_with(b"+") => {
                self.file_numbers = Some(at);
            }
            LineRole::DiagramEdge => {}
            _ => self.file_numbers = None,
        }
        self.has_end |= self.ranks > 0 && matches!(role, LineRole::SideToMove | LineRole::Ply);
        // Lines below a damaged first rank belong to the end of a diagram, not to its beginning.
        self.has_broken_rank |= role == LineRole::Note && line.starts_with(b"|");
        if self.ranks == 0 && !self.has_broken_rank {
            self.begins_with_hand |= role == LineRole::Hand(0);
            self.begins_with_side |= role == LineRole::SideToMove;
            self.begins_with_ply |= role == LineRole::Ply;
        }
        match role {
            LineRole::Rank => self.ranks += 1,
            LineRole::Hand(side) => self.has_hand[side] = true,
            _ => {}
        }
    }
}

/// The role of a line of a diagram.
pub(super) fn role_in_diagram(line: &[u8]) -> LineRole {
    Seen::default().role(line)
}

/// Whether a chunk contains a rank of a diagram.
pub(super) fn shows_diagram(chunk: &[u8]) -> bool {
    Lines::new(chunk).any(|line| role_in_diagram(line.content()) == LineRole::Rank)
}

/// Appends a diagram so that readers keep it separate from its neighbours. If White's hand is missing, writes it first.
/// If the diagram begins neither with White's hand nor with the header of a game, writes a line `手合割：` first. Does the
/// same for the last lines of a damaged diagram, because a healthy one may be written before them.
pub(super) fn copy_diagram(chunk: &[u8], out: &mut Vec<u8>) {
    let mut diagram = Diagram::default();
    for line in Lines::new(chunk) {
        diagram.take(role_in_diagram(line.content()), line.content(), 0);
    }
    let encoding = encoding_of(chunk).unwrap_or(SHIFT_JIS);
    let put = |line: &str, out: &mut Vec<u8>| out.extend_from_slice(&encoding.encode(line).0);
    let has_ranks = diagram.ranks > 0;
    let begins_like_diagram = diagram.has_other_start
        || matches!(diagram.first, Some(LineRole::Head | LineRole::Hand(1)));
    if has_ranks && !diagram.has_hand[1] {
        put("後手の持駒：なし\n", out);
    } else if !begins_like_diagram && (has_ranks || diagram.is_end()) {
        put(&format!("{}：{}\n", start::HANDICAP, start::OTHER), out);
    }
    with_line_end(chunk, out);
}
