//! Who won a game.

use kyokumen_shogi::Color;

/// Who won a game, independent of the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names are clear")]
pub enum GameResult {
    Draw,
    BlackWin,
    WhiteWin,
}

impl GameResult {
    /// All results.
    pub const ALL: [Self; 3] = [Self::Draw, Self::BlackWin, Self::WhiteWin];

    /// The winner. `None` for a draw.
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::Draw => None,
            Self::BlackWin => Some(Color::Black),
            Self::WhiteWin => Some(Color::White),
        }
    }

    /// The result when this side wins.
    pub const fn win_of(color: Color) -> Self {
        match color {
            Color::Black => Self::BlackWin,
            Color::White => Self::WhiteWin,
        }
    }

    /// The name in reports, in JSON and in `--fill`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::BlackWin => "black",
            Self::WhiteWin => "white",
        }
    }

    /// The result with this [`GameResult::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.name() == name)
    }
}
