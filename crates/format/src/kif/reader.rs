//! Reads a KIF or KI2 game line by line: the header, the game, and a tree of variations.

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::game::Game;
use super::super::lines::Lines;
use super::super::replay::Replay;
use super::super::text_encoding::{decode_as, encoding_of, iso_2022_jp};
use super::boundary::begins_game;
use super::branch::{Branch, first_word, syntax};
use super::line::{Line, normalised};
use super::start::{self, Start};
use super::{ending, headers, moves};
use crate::game_info::Header;

/// Maximum nesting depth of variations. It bounds the recursion of reader and writer; real games are far below it.
pub(super) const MAX_DEPTH: u16 = 100;

/// Reads the game of a chunk.
pub(super) fn read(chunk: &[u8]) -> Result<Game, DecodeError> {
    read_lines(chunk).map_err(|error| iso_2022_jp(chunk).map_or(error, |kind| kind.at(0)))
}

fn read_lines(chunk: &[u8]) -> Result<Game, DecodeError> {
    let encoding = encoding_of(chunk).map_err(|kind| kind.at(0))?;
    let mut reader = Reader::default();
    let mut at = 0;
    for line in Lines::new(chunk) {
        let text = decode_as(encoding, line.content());
        reader.take(Line::parse(&text, &normalised(&text)), &text, at)?;
        at += line.raw().len();
    }
    reader.finish(chunk.len())
}

/// A game while it is read.
#[derive(Default)]
struct Reader {
    start: Start,
    headers: Vec<Header>,
    /// Comments before the first move, and the bookmark there.
    comments: Vec<String>,
    bookmark: Option<String>,
    /// Whether the header has entries, and whether the list of moves has begun.
    has_entries: bool,
    has_list: bool,
    /// The game, followed by its variations in file order. Empty before the first move.
    branches: Vec<Branch>,
    /// Whether lines belong to a variation that does not begin at a known move.
    is_lost: bool,
    /// Number of the first move minus 1. With a diagram the game may begin at a later move.
    moves_before: usize,
    skipped_lines: u32,
    /// The error of the first line that is an error if no game follows.
    first_skipped: Option<DecodeError>,
    /// The error of the last skipped line, if no move was read after it.
    last_skipped: Option<DecodeError>,
}

/// The place of a numbered line in its game.
enum Place {
    /// Directly after the previous line, or at the start of a variation.
    Next,
    /// It repeats an earlier line.
    Repetition,
    /// Lines before it are missing.
    Gap,
}

impl Reader {
    /// Reads a header line. Passes lines after the header to `take_after_head`.
    fn take(&mut self, line: Line<'_>, text: &str, at: usize) -> Result<(), DecodeError> {
        if !self.branches.is_empty() {
            self.take_after_head(line, text, at);
            return Ok(());
        }
        match line {
            Line::Empty => self.take_empty(text, at),
            Line::Ply(_) => self.note_first(text, at),
            Line::List => self.has_list = true,
            Line::Comment(comment) => self.comments.push(comment.replace('\r', " ")),
            Line::Bookmark(name) => self.bookmark = Some(without_carriage_returns(name)),
            Line::Rank(rank) => self.start.take_rank(rank, at)?,
            Line::SideToMove(color) => {
                self.start.take_side_to_move(color);
                self.note_first(text, at);
            }
            Line::Entry { key, value } => {
                self.has_entries |= !start::is_other(key, value);
                if start::is_unknown_hand(key) {
                    return Err(syntax("the owner of the pieces in hand, such as 先手", text, at));
                }
                if start::is_about_start(key) {
                    self.start.take_entry(key, value, at)?;
                } else {
                    self.take_header(key, value);
                }
            }
            _ if begins_game(line, self.has_list, self.has_entries || self.start.shows_board()) => {
                self.begin()?;
                self.take_after_head(line, text, at);
            }
            _ if moves::has_move(&normalised(text)) => {
                return Err(syntax("a numbered move, such as 1 ７六歩(77)", text, at));
            }
            _ => self.skip(text, at),
        }
        Ok(())
    }

    /// Takes a blank line, a comment line for programs, or a line around a diagram.
    fn take_empty(&mut self, text: &str, at: usize) {
        let text = normalised(text);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        self.note_first(text, at);
        if text.starts_with('+') {
            self.start.take_border(at);
        }
    }

    fn take_header(&mut self, key: &str, value: &str) {
        let value = without_carriage_returns(value);
        if !value.is_empty() {
            self.headers.push(Header { key: headers::key(key), value });
        }
    }

    fn skip(&mut self, text: &str, at: usize) {
        self.skipped_lines = self.skipped_lines.saturating_add(1);
        self.note_first(text, at);
        self.last_skipped = Some(unknown_line(text, at));
    }

    /// Notes a line that is an error if no game follows.
    fn note_first(&mut self, text: &str, at: usize) {
        self.first_skipped.get_or_insert_with(|| unknown_line(text, at));
    }

    fn begin(&mut self) -> Result<(), DecodeError> {
        let (setup, at) = self.start.setup()?;
        let mut replay = Replay::new(setup, at)?;
        for comment in self.comments.drain(..) {
            replay.take_comment(&comment);
        }
        replay.game.info.bookmark = self.bookmark.take();
        self.branches.push(Branch::new(replay));
        Ok(())
    }

    /// Reads a line of the game or of a variation. After an unreadable move only the summary is used: it gives the
    /// result.
    fn take_after_head(&mut self, line: Line<'_>, text: &str, at: usize) {
        let line = self.counted_from_1(line);
        match line {
            Line::Variation(number) => {
                let number = number.saturating_sub(self.moves_before);
                return self.begin_variation(number, text, at);
            }
            Line::Empty | Line::List => return,
            Line::Entry { key, value } if !start::is_about_start(key) => {
                return self.take_header(key, value);
            }
            _ if self.is_lost => return self.skip(text, at),
            Line::Numbered { number, text: move_text } => match self.place(number, move_text, at) {
                Place::Next => {}
                Place::Repetition => return self.skip(text, at),
                Place::Gap => return self.break_off_at_gap(text, at),
            },
            _ => {}
        }
        let Some(branch) = self.branches.last_mut() else { return };
        let replay = &mut branch.replay;
        match line {
            Line::Summary(text) => ending::take_summary(text, &self.headers, replay),
            _ if replay.is_broken() => {}
            Line::Comment(comment) => replay.take_comment(&comment.replace('\r', " ")),
            Line::Bookmark(name) => match replay.game.moves.last_mut() {
                Some(played) => played.annotate().bookmark = Some(without_carriage_returns(name)),
                None => replay.game.info.bookmark = Some(without_carriage_returns(name)),
            },
            Line::Numbered { .. } | Line::Words(_) => {
                let skipped = self.last_skipped.take();
                if let Err(error) = branch.take_moves(line, skipped, &self.headers, (text, at)) {
                    self.break_off(error, text, at);
                }
            }
            _ if replay.has_ended => self.skip(text, at),
            Line::SideToMove(_) | Line::Entry { .. } => {
                self.break_off(syntax("the start position before the moves", text, at), text, at);
            }
            _ => self.take_word(text, at),
        }
    }

    /// Reads a word for the end without a number, as between KI2 moves.
    fn take_word(&mut self, text: &str, at: usize) {
        let Some(Branch { replay, .. }) = self.branches.last_mut() else { return };
        let normal = normalised(text);
        if let Some(end) = ending::of_word(first_word(&normal), replay) {
            replay.end(end);
        } else if normal.trim_start().starts_with(|c: char| c.is_ascii_digit())
            || moves::has_origin(&normal)
        {
            self.break_off(syntax("a numbered move", text, at), text, at);
        } else {
            self.skip(text, at);
        }
    }

    /// Ends the moves of the branch at a line that cannot be read. In a variation, later lines are skipped.
    fn break_off(&mut self, error: DecodeError, text: &str, at: usize) {
        let is_variation = self.branches.len() > 1;
        let Some(branch) = self.branches.last_mut() else { return };
        branch.replay.break_off(error);
        if is_variation {
            self.is_lost = true;
            self.skip(text, at);
        }
    }

    /// Handles a line whose number shows that moves are missing before it. The skipped line before it may have been
    /// one.
    fn break_off_at_gap(&mut self, text: &str, at: usize) {
        let is_first = matches!(&self.branches[..], [game] if game.is_empty());
        let gap = syntax(
            if is_first {
                "move 1 (a game that begins with a later move needs a diagram)"
            } else {
                "the next move number (moves are missing before this line)"
            },
            text,
            at,
        );
        let error = self.last_skipped.take().unwrap_or(gap);
        self.break_off(error, text, at);
    }

    /// Renumbers a line so that the first move after a diagram has number 1.
    fn counted_from_1<'a>(&mut self, line: Line<'a>) -> Line<'a> {
        let Line::Numbered { number, text } = line else { return line };
        if let [Branch { replay, .. }] = &self.branches[..]
            && replay.game.moves.is_empty()
            && !replay.follows_illegal_move()
            && self.start.shows_board()
        {
            self.moves_before = number.saturating_sub(1);
        }
        Line::Numbered { number: number.saturating_sub(self.moves_before), text }
    }

    /// Begins a variation that replaces move `number`.
    fn begin_variation(&mut self, number: usize, text: &str, at: usize) {
        self.is_lost = true;
        if self.branches[0].replay.is_broken() {
            return;
        }
        let has_variation = self.branches.len() > 1;
        if let Some(empty) = self.branches.pop_if(|last| has_variation && last.is_empty()) {
            self.skipped_lines += 1 + empty.replay.game.info.skipped_lines;
        }
        match self.branch_at(number, at) {
            Some(branch) => {
                self.branches.push(branch);
                self.is_lost = false;
            }
            None => self.skip(text, at),
        }
    }

    /// A branch for a variation that replaces move `number`. It begins in the branch read last or in one of its
    /// ancestors.
    fn branch_at(&self, number: usize, at: usize) -> Option<Branch> {
        let first = number.checked_sub(1)?;
        let mut parent = self.branches.len() - 1;
        while parent > 0 && self.branches[parent].first >= first {
            parent = self.branches[parent].parent;
        }
        let branch = &self.branches[parent];
        let position = branch.position_after(first.checked_sub(branch.first)?)?;
        if branch.depth == MAX_DEPTH {
            return None;
        }
        let before = branch.square_before(first);
        let replay = Replay::new(position.setup(), at).ok()?;
        let mut variation = Branch::new(replay);
        (variation.parent, variation.depth) = (parent, branch.depth + 1);
        (variation.first, variation.before, variation.last_number) = (first, before, first);
        Some(variation)
    }

    /// Finds the place of a line by its number. If the number goes back to a different move, a variation begins even
    /// without a line 変化. If it does not go back, or if the move is legal at the end of the moves and its number is not
    /// lower than the last one, the game continues: numbers may be wrong, or count a move of each side as one.
    fn place(&mut self, number: usize, move_text: &str, at: usize) -> Place {
        let Some(branch) = self.branches.last_mut() else { return Place::Next };
        if branch.replay.is_broken() {
            return Place::Next;
        }
        if number >= branch.next_number() {
            let expected = branch.next_number().max(branch.last_number.saturating_add(1));
            if number > expected && !branch.replay.has_ended {
                return Place::Gap;
            }
        } else if branch.repeats(number, move_text) {
            (branch.last_number, branch.is_repeating) = (number, true);
            return Place::Repetition;
        } else if !branch.continues_with(number, move_text) {
            let variation =
                self.branch_at(number, at).filter(|variation| variation.reads(move_text));
            self.branches.extend(variation);
        }
        if let Some(branch) = self.branches.last_mut() {
            (branch.last_number, branch.is_repeating) = (number, false);
        }
        Place::Next
    }

    fn finish(mut self, end: usize) -> Result<Game, DecodeError> {
        let has_start = self.has_list || self.start.shows_board() || !self.branches.is_empty();
        if self.branches.is_empty() {
            let has_content = self.has_entries || has_start;
            if let Some(error) = self.first_skipped.take().filter(|_| !has_content) {
                return Err(error);
            }
            if self.has_entries && !has_start {
                let expected = "the moves of the game after its header";
                let found = "the end of the file";
                return Err(DecodeErrorKind::Missing { expected, found }.at(end));
            }
            self.begin()?;
        }
        let mut branches = std::mem::take(&mut self.branches);
        // A branch comes after its parent, so the last branch is complete.
        while branches.len() > 1 {
            if let Some(branch) = branches.pop() {
                let parent = branch.parent;
                self.skipped_lines += branch.replay.game.info.skipped_lines;
                self.skipped_lines += u32::from(!branch.attach_to(&mut branches[parent]));
            }
        }
        let mut game = branches.remove(0).into_game().finish(has_start);
        game.info.headers = self.headers;
        game.info.skipped_lines += self.skipped_lines;
        Ok(game)
    }
}

fn unknown_line(text: &str, at: usize) -> DecodeError {
    DecodeErrorKind::syntax("a line of a KIF file", text.as_bytes()).at(at)
}

/// A text without carriage returns, which other programs would read as line ends.
fn without_carriage_returns(text: &str) -> String {
    text.replace('\r', " ").trim().to_owned()
}
