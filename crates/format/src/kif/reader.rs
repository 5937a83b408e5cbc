//! Reads a game of KIF or KI2 line by line: the header, the game, and a tree of variations.

use kyokumen_shogi::{Move, Position, Square};

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::game::Game;
use super::super::lines::Lines;
use super::super::replay::Replay;
use super::super::text_encoding::{decode_as, encoding_of};
use super::line::{Line, SIGNS, normalised};
use super::start::{self, Start};
use super::{ending, headers, moves, notation, time};
use crate::ending::End;
use crate::game_info::Header;
use crate::played::Variation;

/// The deepest nesting of variations. Real games stay far below it; reading and writing are recursive.
pub(super) const MAX_DEPTH: usize = 100;

/// Reads the game of a unit.
pub(super) fn read(unit: &[u8]) -> Result<Game, DecodeError> {
    let encoding = encoding_of(unit).map_err(|kind| kind.at(0))?;
    let mut reader = Reader::default();
    let mut at = 0;
    for line in Lines::new(unit) {
        let text = decode_as(encoding, line.content());
        reader.take(Line::parse(&text, &normalised(&text)), &text, at)?;
        at += line.raw().len();
    }
    reader.finish(unit.len())
}

/// A game while it is read.
#[derive(Default)]
struct Reader {
    start: Start,
    headers: Vec<Header>,
    /// Comments and the bookmark before the first move.
    comments: Vec<String>,
    bookmark: Option<String>,
    /// Whether the header has entries, and whether the list of moves has begun.
    has_entries: bool,
    has_list: bool,
    /// The game, then its variations in file order. Empty before the first move.
    branches: Vec<Branch>,
    /// Whether lines belong to a variation that branches off no known move.
    is_lost: bool,
    /// The number of the first move minus 1: the file may begin in the middle of a game.
    moves_before: usize,
    skipped_lines: u32,
    /// The first skipped line; and the last one, if no move was read after it.
    first_skipped: Option<DecodeError>,
    last_skipped: Option<DecodeError>,
}

/// The game, or a variation.
struct Branch {
    replay: Replay,
    /// The branch that it leaves, and its depth.
    parent: usize,
    depth: usize,
    /// The number of moves before its first one.
    first: usize,
    /// The destination of the move before its first one.
    before: Option<Square>,
}

impl Branch {
    fn last_square(&self) -> Option<Square> {
        self.replay.game.moves.last().map(|played| played.best_move.to()).or(self.before)
    }

    /// The number of the next move.
    fn next_number(&self) -> usize {
        self.first + self.replay.game.moves.len() + 1
    }
}

impl Reader {
    /// Reads a header line. Lines after the header go to `take_behind_head`.
    fn take(&mut self, line: Line<'_>, text: &str, at: usize) -> Result<(), DecodeError> {
        if !self.branches.is_empty() {
            self.take_behind_head(line, text, at);
            return Ok(());
        }
        match line {
            Line::Empty | Line::Ply(_) => {}
            Line::List => self.has_list = true,
            Line::Comment(comment) => self.comments.push(comment.to_owned()),
            Line::Bookmark(name) => self.bookmark = Some(without_carriage_returns(name)),
            Line::Rank(rank) => self.start.take_rank(rank, at)?,
            Line::SideToMove(color) => self.start.take_side_to_move(color),
            Line::Entry { key, value } => {
                self.has_entries = true;
                if start::is_about_start(key) {
                    self.start.take_entry(key, value, at)?;
                } else {
                    self.take_header(key, value);
                }
            }
            Line::Numbered { .. } | Line::Words(_) | Line::Summary(_) => {
                self.begin()?;
                self.take_behind_head(line, text, at);
            }
            Line::Variation(_) | Line::Unknown => self.skip(text, at),
        }
        Ok(())
    }

    fn take_header(&mut self, key: &str, value: &str) {
        let value = without_carriage_returns(value);
        if !value.is_empty() {
            self.headers.push(Header { key: headers::key(key), value });
        }
    }

    fn skip(&mut self, text: &str, at: usize) {
        self.skipped_lines = self.skipped_lines.saturating_add(1);
        let error = DecodeErrorKind::syntax("a line of a KIF file", text.as_bytes()).at(at);
        self.first_skipped.get_or_insert_with(|| error.clone());
        self.last_skipped = Some(error);
    }

    fn begin(&mut self) -> Result<(), DecodeError> {
        let (setup, at) = self.start.setup()?;
        let mut replay = Replay::new(setup, at)?;
        for comment in self.comments.drain(..) {
            replay.take_comment(&comment);
        }
        replay.game.info.bookmark = self.bookmark.take();
        self.branches.push(Branch { replay, parent: 0, depth: 0, first: 0, before: None });
        self.last_skipped = None;
        Ok(())
    }

    /// Reads a line of the game or of a variation. After an unreadable move only the summary is looked for: it tells
    /// how the game ended.
    fn take_behind_head(&mut self, line: Line<'_>, text: &str, at: usize) {
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
            _ => self.begin_if_number_goes_back(line, at),
        }
        let is_variation = self.branches.len() > 1;
        let Some(branch) = self.branches.last_mut() else { return };
        let replay = &mut branch.replay;
        match line {
            Line::Summary(text) => ending::take_summary(text, replay),
            _ if replay.is_broken() => {}
            Line::Comment(comment) => replay.take_comment(comment),
            Line::Bookmark(name) => match replay.game.moves.last_mut() {
                Some(played) => played.annotate().bookmark = Some(without_carriage_returns(name)),
                None => replay.game.info.bookmark = Some(without_carriage_returns(name)),
            },
            Line::Numbered { .. } | Line::Words(_) => {
                let skipped = self.last_skipped.take();
                if let Err(error) = branch.take_moves(line, skipped, (text, at)) {
                    branch.replay.break_off(error);
                    if is_variation {
                        self.is_lost = true;
                        self.skip(text, at);
                    }
                }
            }
            // A word without a number, as between moves of KI2.
            _ => match ending::of_word(first_word(&normalised(text)), replay) {
                Some(end) if !replay.has_ended => replay.end(end),
                _ if text.trim_start().starts_with(|c: char| c.is_ascii_digit())
                    && !replay.has_ended =>
                {
                    replay.break_off(syntax("a numbered move", text, at));
                }
                _ => self.skip(text, at),
            },
        }
    }

    /// Renumbers a line so that the first move of the file has number 1.
    fn counted_from_1<'a>(&mut self, line: Line<'a>) -> Line<'a> {
        let Line::Numbered { number, text } = line else { return line };
        if let [Branch { replay, .. }] = &self.branches[..]
            && replay.game.moves.is_empty()
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
        match self.branch_at(number, at) {
            Some(branch) => {
                self.branches.push(branch);
                self.is_lost = false;
            }
            None => self.skip(text, at),
        }
    }

    /// A branch for a variation that replaces move `number`: in the branch read last, or else in one of those that it
    /// branches off.
    fn branch_at(&self, number: usize, at: usize) -> Option<Branch> {
        let first = number.checked_sub(1)?;
        let mut parent = self.branches.len() - 1;
        while parent > 0 && self.branches[parent].first >= first {
            parent = self.branches[parent].parent;
        }
        let branch = &self.branches[parent];
        let moves = branch.replay.game.moves.get(..first.checked_sub(branch.first)?)?;
        if branch.depth == MAX_DEPTH {
            return None;
        }
        let mut position = Position::try_from(&branch.replay.game.start).ok()?;
        for played in moves {
            position.make(played.best_move);
        }
        let before = moves.last().map(|played| played.best_move.to()).or(branch.before);
        let replay = Replay::new(position.setup(), at).ok()?;
        Some(Branch { replay, parent, depth: branch.depth + 1, first, before })
    }

    /// Begins a variation without a line 変化, if the number of a move goes back.
    fn begin_if_number_goes_back(&mut self, line: Line<'_>, at: usize) {
        let (Some(branch), Line::Numbered { number, text }) = (self.branches.last(), line) else {
            return;
        };
        if branch.replay.is_broken() || number >= branch.next_number() {
            return;
        }
        if let Some(variation) =
            self.branch_at(number, at).filter(|variation| variation.reads(text))
        {
            self.branches.push(variation);
        }
    }

    fn finish(mut self, end: usize) -> Result<Game, DecodeError> {
        let has_start = self.has_list || self.start.shows_board() || !self.branches.is_empty();
        if self.branches.is_empty() {
            let says_anything = self.has_entries || has_start;
            if let Some(error) = self.first_skipped.take().filter(|_| !says_anything) {
                return Err(error);
            }
            if self.has_entries && !has_start {
                let expected = "the moves of a game behind its head";
                return Err(DecodeErrorKind::syntax(expected, b"the end of the file").at(end));
            }
            self.begin()?;
        }
        let mut branches = std::mem::take(&mut self.branches);
        // A branch comes after the one that it branches off, so the last branch is complete.
        while branches.len() > 1 {
            if let Some(branch) = branches.pop() {
                let parent = branch.parent;
                self.skipped_lines += u32::from(!branch.attach_to(&mut branches[parent]));
            }
        }
        let mut game = branches.remove(0).into_game().finish(has_start);
        game.info.headers = self.headers;
        game.info.skipped_lines = self.skipped_lines;
        Ok(game)
    }
}

impl Branch {
    /// Reads a KIF move, a line of KI2 moves, or the word in place of a move. `skipped` is an unknown line just before
    /// it, which may have been a move.
    fn take_moves(
        &mut self,
        line: Line<'_>,
        skipped: Option<DecodeError>,
        (text, at): (&str, usize),
    ) -> Result<(), DecodeError> {
        if self.replay.has_ended {
            return Err(syntax("no move behind the end of the game", text, at));
        }
        let Line::Numbered { number, text: said } = line else {
            let Line::Words(words) = line else { return Ok(()) };
            return notation::moves_of(words).try_for_each(|word| self.take_word(word, (text, at)));
        };
        if let Some(skipped) = skipped.filter(|_| number != self.next_number()) {
            return Err(skipped);
        }
        if let Some(best_move) = self.parse(said) {
            self.replay.play(best_move, at)?;
        } else if let Some(end) = self.end_of(said) {
            self.replay.end(end);
        } else {
            return Err(syntax("a move, as in ７六歩(77), of the side to move", text, at));
        }
        if let Some(elapsed_ms) = time::elapsed_ms(said) {
            self.replay.take_time(elapsed_ms);
        }
        Ok(())
    }

    /// Reads one KI2 move, or the word for the end of the game after the last move.
    fn take_word(&mut self, word: &str, (text, at): (&str, usize)) -> Result<(), DecodeError> {
        if self.replay.has_ended {
            return Err(syntax("no move behind the end of the game", text, at));
        }
        let (mut best_move, mut end) = (self.parse_word(word), None);
        if let Some((said, last)) = word.rsplit_once(' ').filter(|_| best_move.is_none()) {
            (best_move, end) = (self.parse_word(said), Some(last));
        }
        let expected = "moves of KI2, as in ▲７六歩, of which each is one legal move";
        self.replay.play(best_move.ok_or_else(|| syntax(expected, text, at))?, at)?;
        match end {
            Some(summary) if summary.starts_with("まで") => {
                ending::take_summary(summary.trim_start_matches("まで"), &mut self.replay);
            }
            Some(end) => {
                let end =
                    ending::of_word(end, &self.replay).ok_or_else(|| syntax(expected, text, at))?;
                self.replay.end(end);
            }
            None => {}
        }
        Ok(())
    }

    /// Whether a text is a legal KIF move with its square of origin.
    fn reads(&self, said: &str) -> bool {
        let position = &self.replay.position;
        moves::parse(said, position, self.last_square()).is_some_and(|m| position.is_legal(m))
    }

    /// Parses a KIF move. Without a square of origin it is read as in KI2.
    fn parse(&self, said: &str) -> Option<Move> {
        let (position, last) = (&self.replay.position, self.last_square());
        let in_words = || {
            let (words, rest) = said.split_at(said.find('(').unwrap_or(said.len()));
            // A time may follow. Any other text in brackets is a wrong or damaged square of origin.
            let first = rest.split(')').next().unwrap_or_default();
            if !first.is_empty() && !first.contains(':') {
                return None;
            }
            let words = words.trim_end();
            notation::parse_unsigned(words.strip_prefix(SIGNS).unwrap_or(words), position, last)
        };
        moves::parse(said, position, last).or_else(in_words)
    }

    fn parse_word(&self, word: &str) -> Option<Move> {
        notation::parse(word, &self.replay.position, self.last_square())
    }

    /// The end of the game, from the word in place of a numbered move. An unknown word also ends the game, unless it
    /// may be a damaged move.
    fn end_of(&self, said: &str) -> Option<End> {
        let word = first_word(said.strip_prefix(SIGNS).unwrap_or(said));
        let may_be_move = word.is_empty()
            || word.starts_with(|c: char| c.is_ascii() || c == '同')
            || word.contains(char::REPLACEMENT_CHARACTER)
            || moves::origin(said.trim_start_matches(|c| c != '(')).is_some();
        ending::of_word(word, &self.replay).or((!may_be_move).then_some(ending::UNKNOWN))
    }

    /// The game as read so far, with variations in file order.
    fn into_game(mut self) -> Replay {
        let annotations =
            self.replay.game.moves.iter_mut().filter_map(|played| played.annotation.as_mut());
        annotations.for_each(|annotation| annotation.variations.reverse());
        self.replay.game.info.end_variations.reverse();
        self.replay
    }

    /// Attaches this variation to the branch that it branches off. Returns `false` if it has no move.
    fn attach_to(self, parent: &mut Self) -> bool {
        let at = self.first - parent.first;
        let Game { moves, result, ending, info, .. } = self.into_game().game;
        let mut variation = Variation { moves, result, ending, end_comments: info.end_comments };
        let Some(first) = variation.moves.first_mut() else { return false };
        if !info.comments.is_empty() {
            let annotation = first.annotate();
            annotation.comments.splice(0..0, info.comments);
        }
        let game = &mut parent.replay.game;
        if let Some(played) = game.moves.get_mut(at) {
            played.annotate().variations.push(variation);
        } else if parent.depth == 0 {
            game.info.end_variations.push(variation);
        } else {
            // The variation continues where its parent ended, so their moves are joined.
            game.moves.extend(variation.moves);
            (game.result, game.ending) = (variation.result, variation.ending);
            game.info.end_comments.extend(variation.end_comments);
        }
        true
    }
}

/// The first word of a normalised text.
fn first_word(text: &str) -> &str {
    text.trim_start().split([' ', '(']).next().unwrap_or("")
}

fn syntax(expected: &'static str, text: &str, at: usize) -> DecodeError {
    DecodeErrorKind::syntax(expected, text.as_bytes()).at(at)
}

/// A text without carriage returns, which other programs would take for line ends.
fn without_carriage_returns(text: &str) -> String {
    text.replace('\r', " ").trim().to_owned()
}
