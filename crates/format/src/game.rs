//! A game: its start position, moves and result. Converts between games and records.
//!
//! `Game` holds what the game formats (`hcpe3`, CSA, KIF, USI lines and others) have in common.

use std::ops::Range;

use kyokumen_shogi::{Color, Position, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::record::Record;
use crate::ending::Ending;
use crate::game_info::GameInfo;
use crate::game_result::GameResult;
use crate::played::{Played, Variation};

/// A game, up to the point where it could be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Game {
    /// The start position. Its move number is the number of the first move.
    pub start: Setup,
    /// The moves in order. They are legal unless [`Game::broken`] is set.
    pub moves: Vec<Played>,
    /// The result.
    pub result: Option<GameResult>,
    /// Why it ended, other than by mate or resignation.
    pub ending: Option<Ending>,
    /// Why the reader stopped after [`Game::moves`], before the end of the chunk.
    pub broken: Option<DecodeError>,
    /// Number of moves according to the chunk, in formats that store it.
    pub announced: Option<usize>,
    /// Whether this is a position without a game, for example a diagram or a problem. It is one record.
    pub is_position: bool,
    /// The side that another program has played against a network (hcpe3).
    pub opponent: Option<Color>,
    /// Names, dates, comments and other information about the game.
    pub info: GameInfo,
}

/// Number of moves of the longest game that is read.
const MAX_MOVES: usize = u16::MAX as usize;

impl Game {
    /// A game without moves.
    pub fn new(start: Setup) -> Self {
        Self {
            start,
            moves: Vec::new(),
            result: None,
            ending: None,
            broken: None,
            announced: None,
            is_position: false,
            opponent: None,
            info: GameInfo::default(),
        }
    }

    /// The record as a game of one move, or as a position if the record has no move.
    ///
    /// # Errors
    /// [`EncodeError`] if the record is not a valid position, or its move is illegal.
    pub fn of_record(record: &Record) -> Result<Self, EncodeError> {
        let position = Position::try_from(&record.setup).map_err(EncodeError::Position)?;
        let (result, ending) = (record.result, record.ending);
        let game = Self { result, ending, ..Self::new(record.setup.clone()) };
        let Some(best_move) = record.best_move else {
            return Ok(Self { is_position: true, ..game });
        };
        if !position.is_legal(best_move) {
            return Err(EncodeError::NoGame);
        }
        let played = Played {
            eval_cp: record.eval_cp,
            candidates: record.candidates.clone(),
            is_not_for_training: record.is_not_for_training,
            ..Played::new(best_move, 0)
        };
        Ok(Self { moves: vec![played], ..game })
    }

    /// The mirror image of the game: left and right of the board are exchanged.
    #[must_use]
    pub fn mirrored(self) -> Self {
        let moves = self.moves.into_iter().map(Played::mirrored).collect();
        let mut info = self.info;
        info.end_variations = info.end_variations.into_iter().map(Variation::mirrored).collect();
        Self { start: self.start.mirrored(), moves, info, ..self }
    }

    /// Part of the game as a separate game. It starts at the position of its first move and has the result of the whole
    /// game. `None` if `moves` is empty or out of range, or if an illegal move precedes it. For a position, `0..1` is
    /// the whole.
    pub fn part(&self, moves: Range<usize>) -> Option<Self> {
        if self.is_position {
            return (moves == (0..1)).then(|| self.clone());
        }
        let mut position = Position::try_from(&self.start).ok()?;
        let played = self.moves.get(moves.clone()).filter(|played| !played.is_empty())?;
        for before in &self.moves[..moves.start] {
            if !position.is_legal(before.best_move) {
                return None;
            }
            position.make(before.best_move);
        }
        let (result, ending) = (self.result, self.ending);
        let info = self.info.of_part(moves.start == 0, moves.end == self.moves.len());
        Some(Self { moves: played.to_vec(), result, ending, info, ..Self::new(position.setup()) })
    }

    /// Adds a move that was read. The limit of 65,535 moves bounds memory; no real game is longer.
    pub(super) fn push(&mut self, played: Played) -> Result<(), DecodeError> {
        if self.moves.len() == MAX_MOVES {
            let kind = DecodeErrorKind::syntax("at most 65,535 moves", b"another move");
            return Err(kind.at(played.offset));
        }
        self.moves.push(played);
        Ok(())
    }

    /// The positions of the game in order, each with the move played in it.
    ///
    /// The first illegal or unreadable move is an error, and nothing after it is read. If the chunk states its number
    /// of moves, each remaining move yields the same error.
    ///
    /// A position without a game yields one record without a move.
    pub fn records(&self) -> Vec<Result<Record, DecodeError>> {
        if self.is_position {
            let (result, ending) = (self.result, self.ending);
            let ply = Some(self.start.ply());
            return vec![Ok(Record { ply, result, ending, ..Record::new(self.start.clone()) })];
        }
        let mut records = Vec::with_capacity(self.moves.len() + 1);
        let end_ply = self.end_ply();
        let fault = self.replay(|setup, played| {
            let number = u16::try_from(records.len()).ok();
            let ply = number.and_then(|number| self.start.ply().checked_add(number));
            let setup = setup.with_ply(ply.unwrap_or(1));
            records.push(Ok(Record {
                best_move: Some(played.best_move),
                eval_cp: played.eval_cp,
                ply,
                result: self.result,
                ending: self.ending,
                end_ply,
                candidates: played.candidates.clone(),
                is_not_for_training: played.is_not_for_training,
                ..Record::new(setup)
            }));
        });
        if let Some(fault) = fault {
            let lost = self.lost(records.len());
            records.extend(std::iter::repeat_n(Err(fault), lost));
        }
        records
    }

    /// Number of the last move, counted from the number of the first. `None` if it exceeds 16 bits, and for a position
    /// without a game.
    pub fn end_ply(&self) -> Option<u16> {
        let moves = u16::try_from(self.moves.len()).ok().filter(|_| !self.is_position)?;
        self.start.ply().checked_add(moves)?.checked_sub(1)
    }

    /// The length of [`Game::records`].
    pub(super) fn count_records(&self) -> usize {
        if self.is_position {
            return 1;
        }
        let mut records = 0;
        let fault = self.replay(|_, _| records += 1);
        records + fault.map_or(0, |_| self.lost(records))
    }

    /// Number of records that cannot be read, after `read` records.
    fn lost(&self, read: usize) -> usize {
        self.announced.map_or(1, |moves| moves.saturating_sub(read))
    }

    /// Calls `visit` with each position and the move played in it, up to the first illegal move. Returns why the game
    /// ends early, or `None`.
    fn replay(&self, mut visit: impl FnMut(Setup, &Played)) -> Option<DecodeError> {
        let mut position = match Position::try_from(&self.start) {
            Ok(position) => position,
            Err(error) => return Some(DecodeErrorKind::Position(error).at(0)),
        };
        for played in &self.moves {
            if !position.is_legal(played.best_move) {
                let kind = DecodeErrorKind::IllegalMove { best_move: played.best_move };
                return Some(kind.at(played.offset));
            }
            visit(position.setup(), played);
            position.make(played.best_move);
        }
        self.broken.clone()
    }

    /// Whether all moves of the chunk were read and are legal.
    pub(super) fn is_whole(&self) -> bool {
        self.replay(|_, _| {}).is_none()
    }
}
