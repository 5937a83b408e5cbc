//! A game while it is read from text: the moves are played on a board.
//!
//! Used by the formats that people read (CSA, KIF).

use kyokumen_shogi::{Board, Color, Hand, HandKind, Move, Position, Setup, SetupError, sfen};

use super::comment::{self, CommentedEval};
use super::error::{DecodeError, DecodeErrorKind};
use super::game::Game;
use super::played::Played;
use crate::ending::{End, Ending};

/// The part of a game that was read.
pub(super) struct Replay {
    pub(super) game: Game,
    /// The position after the moves.
    pub(super) position: Position,
    /// The last move, if it is illegal. It ends the game or makes it broken.
    illegal: Option<DecodeError>,
    pub(super) has_ended: bool,
    /// The evaluation of the position after the moves by an analysis, from the side to move.
    analysis_cp: Option<i16>,
}

impl Replay {
    /// Begins with a start position at this offset.
    pub(super) fn new(start: Setup, at: usize) -> Result<Self, DecodeError> {
        match Position::try_from(&start) {
            Ok(position) => {
                let game = Game::new(start);
                Ok(Self { game, position, illegal: None, has_ended: false, analysis_cp: None })
            }
            Err(error) => Err(DecodeErrorKind::Position(error).at(at)),
        }
    }

    /// Plays a move at this offset.
    pub(super) fn play(&mut self, best_move: Move, at: usize) -> Result<(), DecodeError> {
        if let Some(error) = self.illegal.take() {
            return Err(error);
        }
        if self.position.is_legal(best_move) {
            let eval_cp = self.analysis_cp.take();
            self.game.push(Played { eval_cp, ..Played::new(best_move, at) })?;
            self.position.make(best_move);
        } else {
            self.illegal = Some(DecodeErrorKind::IllegalMove { best_move }.at(at));
        }
        Ok(())
    }

    /// Whether the last move was illegal and therefore not played.
    pub(super) const fn follows_illegal_move(&self) -> bool {
        self.illegal.is_some()
    }

    /// Sets the result and ending. An illegal move that ended the game is not an error.
    pub(super) fn end(&mut self, end: End) {
        (self.game.result, self.game.ending) = end;
        self.illegal = self.illegal.take().filter(|_| end.1 != Some(Ending::IllegalMove));
        self.has_ended = true;
    }

    /// Adds a comment on the last move, the start or the end, and takes an evaluation from it if there is none yet. A
    /// first comment that contains only the evaluation of the last move is not kept as text.
    pub(super) fn take_comment(&mut self, comment: &str) {
        if !self.has_ended && !self.follows_illegal_move() && self.take_evaluation(comment) {
            return;
        }
        let comments = match self.game.moves.last_mut() {
            _ if self.has_ended => &mut self.game.info.end_comments,
            Some(played) => &mut played.annotate().comments,
            None => &mut self.game.info.comments,
        };
        comments.push(comment.to_owned());
    }

    /// Takes an evaluation from a comment. Returns whether the comment contains only that.
    fn take_evaluation(&mut self, comment: &str) -> bool {
        let to_move = self.position.side_to_move();
        match comment::evaluation(comment) {
            Some(CommentedEval::OfPlayer(black_cp)) => {
                let last = self.game.moves.last_mut();
                let Some(played) = last.filter(|played| played.eval_cp.is_none()) else {
                    return false;
                };
                let eval_cp = seen_from(!to_move, black_cp);
                played.eval_cp = nearest(eval_cp);
                let is_first = played
                    .annotation
                    .as_ref()
                    .is_none_or(|annotation| annotation.comments.is_empty());
                let is_all =
                    played.eval_cp.map(i32::from) == Some(eval_cp) && comment::is_bare(comment);
                is_first && is_all
            }
            Some(CommentedEval::OfAnalysis(black_cp)) => {
                let own = nearest(seen_from(to_move, black_cp));
                self.analysis_cp = self.analysis_cp.or(own);
                false
            }
            None => false,
        }
    }

    /// Sets the time used for the last move, or after it if the game has ended.
    pub(super) fn take_time(&mut self, elapsed_ms: u64) {
        match self.game.moves.last_mut() {
            _ if self.has_ended => self.game.info.end_elapsed_ms = Some(elapsed_ms),
            // The time belongs to an illegal move, which is not part of the game.
            _ if self.illegal.is_some() => {}
            Some(played) => played.annotate().elapsed_ms = Some(elapsed_ms),
            // A time before the first move cannot be stored.
            None if elapsed_ms > 0 => {
                let skipped = &mut self.game.info.skipped_lines;
                *skipped = skipped.saturating_add(1);
            }
            None => {}
        }
    }

    /// Ends the game at an error.
    pub(super) fn break_off(&mut self, error: DecodeError) {
        self.game.broken = self.illegal.take().or(Some(error));
    }

    pub(super) const fn is_broken(&self) -> bool {
        self.game.broken.is_some()
    }

    /// The game. If it has no moves and the text has a start position (`has_start`), it becomes a position.
    pub(super) fn finish(self, has_start: bool) -> Game {
        let broken = self.game.broken.or(self.illegal);
        let is_position = has_start && self.game.moves.is_empty() && broken.is_none();
        Game { broken, is_position, ..self.game }
    }
}

/// Converts an evaluation from Black's point of view to the point of view of `color`, or back.
pub(super) const fn seen_from(color: Color, black_cp: i32) -> i32 {
    match color {
        Color::Black => black_cp,
        Color::White => black_cp.saturating_neg(),
    }
}

pub(super) fn nearest(eval_cp: i32) -> Option<i16> {
    i16::try_from(eval_cp.clamp(i16::MIN.into(), i16::MAX.into())).ok()
}

/// The start of an even game.
pub(super) fn even_start() -> Setup {
    sfen::START.parse().expect("the start of an even game is an arrangement")
}

/// A start position. The counts are the pieces in Black's hand and in White's hand.
pub(super) fn arrangement(
    board: Board,
    hands: [[u8; HandKind::COUNT]; 2],
    side_to_move: Color,
) -> Result<Setup, SetupError> {
    let [black, white] = hands.map(hand);
    Setup::new(board, [black?, white?], side_to_move, 1)
}

fn hand(counts: [u8; HandKind::COUNT]) -> Result<Hand, SetupError> {
    Hand::from_counts(counts).ok_or_else(|| {
        let too_many = |kind: &HandKind| counts[kind.index()] > HandKind::SET[kind.index()];
        let kind = HandKind::ALL.into_iter().find(too_many).unwrap_or(HandKind::Pawn);
        let (count, most) = (counts[kind.index()], HandKind::SET[kind.index()]);
        SetupError::TooMany { letter: char::from(kind.piece_kind().letter()), count, most }
    })
}
