//! How a game ended.

use kyokumen_shogi::Color;

use crate::game_result::GameResult;

/// Why a game ended, other than by mate or resignation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The fourth occurrence of a position. A win if one side gave perpetual check.
    Repetition,
    /// The winner's king entered the opponent's camp and the winner declared the win.
    Declaration,
    /// Too many moves: a draw.
    MoveLimit,
    /// The loser ran out of time.
    TimeUp,
    /// The loser made an illegal move.
    IllegalMove,
    /// The game was interrupted.
    Interruption,
    /// Both kings entered the opponent's camp: a draw.
    Impasse,
}

/// Result and ending of a game, as far as they are known.
pub(crate) type End = (Option<GameResult>, Option<Ending>);

/// The result from the point of view of the side to move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Win,
    Loss,
    Draw,
    Unknown,
}

impl Outcome {
    /// The result of the game, given the side to move.
    pub(crate) fn result(self, to_move: Color) -> Option<GameResult> {
        match self {
            Self::Win => Some(GameResult::win_of(to_move)),
            Self::Loss => Some(GameResult::win_of(!to_move)),
            Self::Draw => Some(GameResult::Draw),
            Self::Unknown => None,
        }
    }

    /// The outcome for the side to move, given the result of the game.
    pub(crate) fn of(result: Option<GameResult>, to_move: Color) -> Self {
        match result.map(GameResult::winner) {
            None => Self::Unknown,
            Some(None) => Self::Draw,
            Some(Some(winner)) if winner == to_move => Self::Win,
            Some(Some(_)) => Self::Loss,
        }
    }
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 7] = [
        Self::Repetition,
        Self::Declaration,
        Self::MoveLimit,
        Self::TimeUp,
        Self::IllegalMove,
        Self::Interruption,
        Self::Impasse,
    ];

    /// The name in reports and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Repetition => "repetition",
            Self::Declaration => "declaration",
            Self::MoveLimit => "move_limit",
            Self::TimeUp => "time_up",
            Self::IllegalMove => "illegal_move",
            Self::Interruption => "interruption",
            Self::Impasse => "impasse",
        }
    }

    /// The ending with this [`Ending::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ending| ending.name() == name)
    }
}
