//! Reads a game of KIF or KI2 line by line: the header, the game, and a tree of variations.

use kyokumen_shogi::{Move, Position, Square};

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::game::Game;
use super::super::lines::Lines;
use super::super::replay::Replay;
use super::super::text_encoding::{decode_as, encoding_of};
use super::boundary::begins_game;
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
    /// The number of the first move minus 1: behind a diagram the game may have begun earlier.
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
    /// The number of the line read last.
    last_number: usize,
    /// Whether that line repeats an earlier one.
    is_repeating: bool,
    /// The positions after every [`KEPT`] moves, so that variations begin quickly in a long game.
    positions: Vec<Position>,
    /// Variations that begin where this one ends, in reverse order.
    continuations: Vec<Variation>,
}

/// Moves between two positions that are kept.
const KEPT: usize = 16;

/// The place of a numbered line in its game.
enum Place {
    /// Behind the line before it, or at the start of a variation.
    Next,
    /// It says again what an earlier line says.
    Repetition,
    /// Lines before it are missing.
    Gap,
}

impl Branch {
    fn new(replay: Replay) -> Self {
        Self {
            replay,
            parent: 0,
            depth: 0,
            first: 0,
            before: None,
            last_number: 0,
            is_repeating: false,
            positions: Vec::new(),
            continuations: Vec::new(),
        }
    }

    const fn is_empty(&self) -> bool {
        self.replay.game.moves.is_empty()
    }

    fn play(&mut self, best_move: Move, at: usize) -> Result<(), DecodeError> {
        self.replay.play(best_move, at)?;
        if self.replay.game.moves.len() == KEPT * (self.positions.len() + 1) {
            self.positions.push(self.replay.position.clone());
        }
        Ok(())
    }

    /// The position after so many moves of the branch.
    fn position_after(&self, moves: usize) -> Option<Position> {
        let game = &self.replay.game;
        let played = game.moves.get(..moves)?;
        let kept = moves / KEPT;
        let mut position = match kept.checked_sub(1) {
            Some(kept) => self.positions.get(kept)?.clone(),
            None => Position::try_from(&game.start).ok()?,
        };
        for played in &played[kept * KEPT..] {
            position.make(played.best_move);
        }
        Some(position)
    }

    /// The destination of the last one of so many moves, counted from the start of the game.
    fn square_before(&self, moves: usize) -> Option<Square> {
        let last =
            moves.checked_sub(self.first + 1).and_then(|last| self.replay.game.moves.get(last));
        last.map(|played| played.best_move.to()).or(self.before)
    }

    /// Whether a line is the one that was read as move `number`, before the game has ended.
    fn repeats(&self, number: usize, said: &str) -> bool {
        let Some(index) = number.checked_sub(self.first + 1) else { return false };
        let Some(played) = self.replay.game.moves.get(index) else { return false };
        let position = self.position_after(index).filter(|_| !self.replay.has_ended);
        let last = self.square_before(self.first + index);
        position.and_then(|position| moves::parse(said, &position, last)) == Some(played.best_move)
    }

    /// Whether a move with a number that was used before can be the next one of the branch.
    fn continues_with(&self, number: usize, said: &str) -> bool {
        let is_open = !self.replay.has_ended && !self.is_repeating;
        is_open && number >= self.last_number && self.reads(said)
    }

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
            Line::Comment(comment) => self.comments.push(comment.replace('\r', " ")),
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
            _ if begins_game(line, self.has_list, self.has_entries || self.start.shows_board()) => {
                self.begin()?;
                self.take_behind_head(line, text, at);
            }
            _ if moves::has_move(&normalised(text)) => {
                return Err(syntax("a numbered move, as in 1 ７六歩(77)", text, at));
            }
            _ => self.skip(text, at),
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
        self.branches.push(Branch::new(replay));
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
            Line::Numbered { number, text: said } => match self.place(number, said, at) {
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

    /// The moves of the branch end with a line that cannot be read. Lines of a variation behind it are skipped.
    fn break_off(&mut self, error: DecodeError, text: &str, at: usize) {
        let is_variation = self.branches.len() > 1;
        let Some(branch) = self.branches.last_mut() else { return };
        branch.replay.break_off(error);
        if is_variation {
            self.is_lost = true;
            self.skip(text, at);
        }
    }

    /// Moves are missing before a line, or the skipped line before it was one.
    fn break_off_at_gap(&mut self, text: &str, at: usize) {
        let is_first = matches!(&self.branches[..], [game] if game.is_empty());
        let gap = syntax(
            if is_first {
                "move 1 (a game that begins with a later move needs a diagram above it)"
            } else {
                "the next number (moves are missing above this line)"
            },
            text,
            at,
        );
        let error = self.last_skipped.take().unwrap_or(gap);
        self.break_off(error, text, at);
    }

    /// Renumbers a line so that the first move behind a diagram has number 1.
    fn counted_from_1<'a>(&mut self, line: Line<'a>) -> Line<'a> {
        let Line::Numbered { number, text } = line else { return line };
        if let [Branch { replay, .. }] = &self.branches[..]
            && replay.game.moves.is_empty()
            && !replay.is_behind_illegal_move()
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
        if self.branches.len() > 1 {
            self.skipped_lines += u32::from(self.branches.pop_if(|last| last.is_empty()).is_some());
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
        let position = branch.position_after(first.checked_sub(branch.first)?)?;
        if branch.depth == MAX_DEPTH {
            return None;
        }
        let before = branch.square_before(first);
        let replay = Replay::new(position.setup(), at).ok()?;
        let depth = branch.depth + 1;
        Some(Branch { parent, depth, first, before, last_number: first, ..Branch::new(replay) })
    }

    /// Finds the place of a line by its number. Begins a variation without a line 変化 if the number goes back to
    /// another move. If it does not, or if the move can be played where the moves end although its number is not
    /// higher than the one before, the game continues: numbers may be wrong, or count moves of both sides as one.
    fn place(&mut self, number: usize, said: &str, at: usize) -> Place {
        let Some(branch) = self.branches.last_mut() else { return Place::Next };
        if branch.replay.is_broken() {
            return Place::Next;
        }
        if number >= branch.next_number() {
            let expected = branch.next_number().max(branch.last_number.saturating_add(1));
            if number > expected && !branch.replay.has_ended {
                return Place::Gap;
            }
        } else if branch.repeats(number, said) {
            (branch.last_number, branch.is_repeating) = (number, true);
            return Place::Repetition;
        } else if !branch.continues_with(number, said) {
            let variation = self.branch_at(number, at).filter(|variation| variation.reads(said));
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

impl Branch {
    /// Reads a KIF move, a line of KI2 moves, or the word in place of a move. `skipped` is an unknown line just before
    /// it, which may have been a move.
    fn take_moves(
        &mut self,
        line: Line<'_>,
        skipped: Option<DecodeError>,
        headers: &[Header],
        (text, at): (&str, usize),
    ) -> Result<(), DecodeError> {
        if self.replay.has_ended {
            return Err(syntax("no move behind the end of the game", text, at));
        }
        let Line::Numbered { number, text: said } = line else {
            let Line::Words(words) = line else { return Ok(()) };
            let mut words = notation::moves_of(words);
            return words.try_for_each(|word| self.take_word(word, headers, (text, at)));
        };
        if let Some(skipped) = skipped.filter(|_| number != self.next_number()) {
            return Err(skipped);
        }
        if let Some(best_move) = self.parse(said) {
            self.play(best_move, at)?;
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
    fn take_word(
        &mut self,
        word: &str,
        headers: &[Header],
        (text, at): (&str, usize),
    ) -> Result<(), DecodeError> {
        if self.replay.has_ended {
            return Err(syntax("no move behind the end of the game", text, at));
        }
        let (mut best_move, mut end) = (self.parse_word(word), None);
        if let Some((said, last)) = word.rsplit_once(' ').filter(|_| best_move.is_none()) {
            (best_move, end) = (self.parse_word(said), Some(last));
        }
        let expected = "moves of KI2, as in ▲７六歩, of which each is one legal move";
        self.play(best_move.ok_or_else(|| syntax(expected, text, at))?, at)?;
        match end {
            Some(summary) if summary.starts_with("まで") => {
                let summary = summary.trim_start_matches("まで");
                ending::take_summary(summary, headers, &mut self.replay);
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

    /// The end of the game, from the word in place of a numbered move. An unknown word also ends the game and is
    /// counted as a skipped line, unless it may be a damaged move.
    fn end_of(&mut self, said: &str) -> Option<End> {
        let word = first_word(said.strip_prefix(SIGNS).unwrap_or(said));
        if let Some(end) = ending::of_word(word, &self.replay) {
            return Some(end);
        }
        if moves::may_be_move(word) || moves::has_move(said) {
            return None;
        }
        self.replay.game.info.skipped_lines += u32::from(!ending::is_word(word));
        Some(ending::UNKNOWN)
    }

    /// The game as read so far, with variations in file order.
    fn into_game(mut self) -> Replay {
        let annotations =
            self.replay.game.moves.iter_mut().filter_map(|played| played.annotation.as_mut());
        annotations.for_each(|annotation| annotation.variations.reverse());
        self.replay.game.info.end_variations.reverse();
        if let Some(mut next) = self.continuations.pop() {
            self.continuations.reverse();
            if let Some(first) = next.moves.first_mut().filter(|_| !self.continuations.is_empty()) {
                first.annotate().variations.append(&mut self.continuations);
            }
            // The variation continues where this one ended, so their moves are joined.
            let game = &mut self.replay.game;
            game.moves.append(&mut next.moves);
            (game.result, game.ending) = (next.result, next.ending);
            game.info.end_comments.append(&mut next.end_comments);
        }
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
            parent.continuations.push(variation);
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
