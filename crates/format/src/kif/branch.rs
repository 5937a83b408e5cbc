//! A game or variation while it is read.

use kyokumen_shogi::{Move, Position, Square};

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::game::Game;
use super::super::replay::Replay;
use super::line::{Line, SIGNS};
use super::{ending, moves, notation, time};
use crate::ending::End;
use crate::game_info::Header;
use crate::played::Variation;

/// The game or a variation.
pub(super) struct Branch {
    pub(super) replay: Replay,
    /// Index of the branch where this variation begins, and the depth of nesting.
    pub(super) parent: usize,
    pub(super) depth: u16,
    /// Number of moves before its first move.
    pub(super) first: usize,
    /// Target square of the move before its first move.
    pub(super) before: Option<Square>,
    /// Number of the last line that was read.
    pub(super) last_number: usize,
    /// Whether the last line repeats an earlier one.
    pub(super) is_repeating: bool,
    /// The positions after every [`MOVES_PER_KEPT_POSITION`] moves. They make variations in long games fast to begin.
    positions: Vec<Position>,
    /// Variations that begin at the end of this one, in reverse order.
    continuations: Vec<Variation>,
}

/// Number of moves between two kept positions.
const MOVES_PER_KEPT_POSITION: usize = 16;

impl Branch {
    pub(super) fn new(replay: Replay) -> Self {
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

    pub(super) const fn is_empty(&self) -> bool {
        self.replay.game.moves.is_empty()
    }

    fn play(&mut self, best_move: Move, at: usize) -> Result<(), DecodeError> {
        self.replay.play(best_move, at)?;
        if self.replay.game.moves.len() == MOVES_PER_KEPT_POSITION * (self.positions.len() + 1) {
            self.positions.push(self.replay.position.clone());
        }
        Ok(())
    }

    /// The position after `moves` moves of the branch.
    pub(super) fn position_after(&self, moves: usize) -> Option<Position> {
        let game = &self.replay.game;
        let played = game.moves.get(..moves)?;
        let kept = moves / MOVES_PER_KEPT_POSITION;
        let mut position = match kept.checked_sub(1) {
            Some(kept) => self.positions.get(kept)?.clone(),
            None => Position::try_from(&game.start).ok()?,
        };
        for played in &played[kept * MOVES_PER_KEPT_POSITION..] {
            position.make(played.best_move);
        }
        Some(position)
    }

    /// Target square of the last of `moves` moves, counted from the start of the game.
    pub(super) fn square_before(&self, moves: usize) -> Option<Square> {
        let last =
            moves.checked_sub(self.first + 1).and_then(|last| self.replay.game.moves.get(last));
        last.map(|played| played.best_move.to()).or(self.before)
    }

    /// Whether the text is the move that was already read as move `number`, with its origin square, and the game has
    /// not ended.
    pub(super) fn repeats(&self, number: usize, move_text: &str) -> bool {
        let Some(index) = number.checked_sub(self.first + 1) else { return false };
        let Some(played) = self.replay.game.moves.get(index) else { return false };
        let position = self.position_after(index).filter(|_| !self.replay.has_ended);
        let last = self.square_before(self.first + index);
        position.and_then(|position| moves::parse(move_text, &position, last))
            == Some(played.best_move)
    }

    /// Whether a move with a used number can be the next move of the branch.
    pub(super) fn continues_with(&self, number: usize, move_text: &str) -> bool {
        let is_open = !self.replay.has_ended && !self.is_repeating;
        is_open && number >= self.last_number && self.reads(move_text)
    }

    fn last_square(&self) -> Option<Square> {
        self.replay.game.moves.last().map(|played| played.best_move.to()).or(self.before)
    }

    /// The number of the next move.
    pub(super) fn next_number(&self) -> usize {
        self.first + self.replay.game.moves.len() + 1
    }

    /// Reads a KIF move, a line of KI2 moves, or the word that replaces a move. `skipped` is an unknown line directly
    /// before it, which may have been a move.
    pub(super) fn take_moves(
        &mut self,
        line: Line<'_>,
        skipped: Option<DecodeError>,
        headers: &[Header],
        (text, at): (&str, usize),
    ) -> Result<(), DecodeError> {
        if self.replay.has_ended {
            return Err(syntax("no move after the end of the game", text, at));
        }
        let Line::Numbered { number, text: move_text } = line else {
            let Line::Words(words) = line else { return Ok(()) };
            let mut words = notation::moves_of(words);
            return words.try_for_each(|word| self.take_word(word, headers, (text, at)));
        };
        if let Some(skipped) = skipped.filter(|_| number != self.next_number()) {
            return Err(skipped);
        }
        if let Some(best_move) = self.parse(move_text) {
            self.play(best_move, at)?;
        } else if let Some(end) = self.end_of(move_text) {
            self.replay.end(end);
        } else {
            let expected = if moves::has_origin(move_text) {
                "in brackets the square from which this piece of the side to move comes, as in ７六歩(77)"
            } else {
                "a move of the side to move, such as ７六歩(77)"
            };
            return Err(syntax(expected, text, at));
        }
        if let Some(elapsed_ms) = time::elapsed_ms(move_text) {
            self.replay.take_time(elapsed_ms);
        }
        Ok(())
    }

    /// Reads one KI2 move, or the last move with the word for the end of the game.
    fn take_word(
        &mut self,
        word: &str,
        headers: &[Header],
        (text, at): (&str, usize),
    ) -> Result<(), DecodeError> {
        if self.replay.has_ended {
            return Err(syntax("no move after the end of the game", text, at));
        }
        let (mut best_move, mut end) = (self.parse_word(word), None);
        if let Some((move_text, last)) = word.rsplit_once(' ').filter(|_| best_move.is_none()) {
            (best_move, end) = (self.parse_word(move_text), Some(last));
        }
        let expected = "KI2 moves such as ▲７六歩, each fitting exactly one legal move";
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

    /// Whether a text is a legal KIF move with its origin square.
    pub(super) fn reads(&self, move_text: &str) -> bool {
        let position = &self.replay.position;
        moves::parse(move_text, position, self.last_square()).is_some_and(|m| position.is_legal(m))
    }

    /// Parses a KIF move. Without an origin square it is read as a KI2 move.
    fn parse(&self, move_text: &str) -> Option<Move> {
        let (position, last) = (&self.replay.position, self.last_square());
        let in_words = || {
            let (words, rest) = move_text.split_at(move_text.find('(').unwrap_or(move_text.len()));
            // A time may follow. Other text in brackets is a wrong or damaged origin square.
            let first = rest.split(')').next().unwrap_or_default();
            if !first.is_empty() && !first.contains(':') {
                return None;
            }
            let words = words.trim_end();
            notation::parse_unsigned(words.strip_prefix(SIGNS).unwrap_or(words), position, last)
        };
        moves::parse(move_text, position, last).or_else(in_words)
    }

    fn parse_word(&self, word: &str) -> Option<Move> {
        notation::parse(word, &self.replay.position, self.last_square())
    }

    /// The end of the game, from the word in place of a numbered move. An unknown word also ends the game and is
    /// counted as a skipped line, unless it may be a damaged move.
    fn end_of(&mut self, move_text: &str) -> Option<End> {
        let word = first_word(move_text.strip_prefix(SIGNS).unwrap_or(move_text));
        if let Some(end) = ending::of_word(word, &self.replay) {
            return Some(end);
        }
        if moves::may_be_move(word) || moves::has_move(move_text) {
            return None;
        }
        self.replay.game.info.skipped_lines += u32::from(!ending::is_word(word));
        Some(ending::UNKNOWN)
    }

    /// The game that was read, with variations in file order.
    pub(super) fn into_game(mut self) -> Replay {
        let annotations =
            self.replay.game.moves.iter_mut().filter_map(|played| played.annotation.as_mut());
        annotations.for_each(|annotation| annotation.variations.reverse());
        self.replay.game.info.end_variations.reverse();
        if let Some(mut next) = self.continuations.pop() {
            self.continuations.reverse();
            if let Some(first) = next.moves.first_mut().filter(|_| !self.continuations.is_empty()) {
                first.annotate().variations.append(&mut self.continuations);
            }
            // The variation continues this one, so their moves are joined.
            let game = &mut self.replay.game;
            game.moves.append(&mut next.moves);
            (game.result, game.ending) = (next.result, next.ending);
            game.info.end_comments.append(&mut next.end_comments);
        }
        self.replay
    }

    /// Attaches this variation to its parent branch. Returns `false` if it has no move.
    pub(super) fn attach_to(self, parent: &mut Self) -> bool {
        let at = self.first - parent.first;
        let Game { moves, result, ending, info, .. } = self.into_game().game;
        let mut variation = Variation { moves, result, ending, end_comments: info.end_comments };
        let Some(first) = variation.moves.first_mut() else { return false };
        if !info.comments.is_empty() {
            let annotation = first.annotate();
            annotation.comments.splice(0..0, info.comments);
        }
        let game = &mut parent.replay.game;
        // A variation cannot store the time before its end.
        game.info.skipped_lines += u32::from(info.end_elapsed_ms.is_some_and(|ms| ms > 0));
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
pub(super) fn first_word(text: &str) -> &str {
    text.trim_start().split([' ', '(']).next().unwrap_or("")
}

pub(super) fn syntax(expected: &'static str, text: &str, at: usize) -> DecodeError {
    DecodeErrorKind::syntax(expected, text.as_bytes()).at(at)
}
