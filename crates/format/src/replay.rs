//! A game being read from text: its start is arranged, its moves are played as they come.
//!
//! What the formats that people read (CSA, KIF) have in common.

use kyokumen_shogi::{Board, Color, Hand, HandKind, Move, Position, Setup, SetupError, sfen};

use super::error::{DecodeError, DecodeErrorKind};
use super::game::{Game, Played};
use crate::ending::{End, Ending};

/// A game as far as it was read.
pub(super) struct Replay {
    pub(super) game: Game,
    /// The position behind the moves.
    pub(super) position: Position,
    /// The last move, if the rules do not allow it: the game ends with it or is broken.
    illegal: Option<DecodeError>,
    pub(super) has_ended: bool,
}

impl Replay {
    /// Begins with an arrangement that stands in this place.
    pub(super) fn new(start: Setup, at: usize) -> Result<Self, DecodeError> {
        match Position::try_from(&start) {
            Ok(position) => {
                Ok(Self { game: Game::new(start), position, illegal: None, has_ended: false })
            }
            Err(error) => Err(DecodeErrorKind::Position(error).at(at)),
        }
    }

    /// Plays a move that stands in this place.
    pub(super) fn play(&mut self, best_move: Move, at: usize) -> Result<(), DecodeError> {
        if let Some(error) = self.illegal.take() {
            return Err(error);
        }
        if self.position.is_legal(best_move) {
            self.game.push(Played::new(best_move, at))?;
            self.position.make(best_move);
        } else {
            self.illegal = Some(DecodeErrorKind::IllegalMove { best_move }.at(at));
        }
        Ok(())
    }

    /// Whether the last move was one that the rules do not allow, and was not played.
    pub(super) const fn is_behind_illegal_move(&self) -> bool {
        self.illegal.is_some()
    }

    /// Takes note of how the game ended; an illegal move that it ended with is no fault.
    pub(super) fn end(&mut self, end: End) {
        (self.game.result, self.game.ending) = end;
        self.illegal = self.illegal.take().filter(|_| end.1 != Some(Ending::IllegalMove));
        self.has_ended = true;
    }

    /// Takes note of what cannot be read.
    pub(super) fn break_off(&mut self, error: DecodeError) {
        self.game.broken = self.illegal.take().or(Some(error));
    }

    pub(super) const fn is_broken(&self) -> bool {
        self.game.broken.is_some()
    }

    /// The game; behind a diagram (`shows_board`) without a move, the position by itself.
    pub(super) fn finish(self, shows_board: bool) -> Game {
        let broken = self.game.broken.or(self.illegal);
        let is_position = shows_board && self.game.moves.is_empty() && broken.is_none();
        Game { broken, is_position, ..self.game }
    }
}

/// The start of an even game.
pub(super) fn even_start() -> Setup {
    sfen::START.parse().expect("the start of an even game is an arrangement")
}

/// An arrangement with the numbers of pieces in Black's hand and in White's.
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
