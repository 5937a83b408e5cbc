//! How a game ended.

use kyokumen_shogi::Color;

use crate::game_result::GameResult;

/// Why a game ended, where that is not mate or resignation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ending {
    /// The same position for the fourth time; a win where one side gave perpetual check.
    Repetition,
    /// The winner's king entered the opponent's camp and the win was declared.
    Declaration,
    /// Too many moves: a draw.
    MoveLimit,
    /// The loser's time was up.
    TimeUp,
    /// The loser played what may not be played.
    IllegalMove,
    /// The game was broken off.
    Interruption,
    /// Both kings entered the opponent's camp: a draw.
    Impasse,
}

/// How a game ended, as far as it is known.
pub(crate) type End = (Option<GameResult>, Option<Ending>);

/// Who won, seen from the side to move.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Win,
    Loss,
    Draw,
    Unknown,
}

impl Outcome {
    /// The result if this is the outcome for the side to move.
    pub(crate) fn result(self, to_move: Color) -> Option<GameResult> {
        match self {
            Self::Win => Some(GameResult::win_of(to_move)),
            Self::Loss => Some(GameResult::win_of(!to_move)),
            Self::Draw => Some(GameResult::Draw),
            Self::Unknown => None,
        }
    }

    /// The outcome for the side to move.
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

    /// The word in reports and in JSON.
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
