//! Mates as games, which shogi programs show move by move.

use std::io::{self, Write};

use crate::format::{Format, Game, GameResult, Played, write_game};
use crate::mate::solve::Solution;
use crate::records::position_verdict::PositionVerdict;

/// Text formats that hold games.
pub(super) const MATE_FORMATS: [Format; 7] =
    [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u, Format::Csa, Format::Jkf, Format::Usi];

/// Writes mates as games to standard output.
pub(super) struct MateGames {
    format: Format,
    mates: u64,
}

impl MateGames {
    /// `format` is one of [`MATE_FORMATS`].
    pub(super) const fn new(format: Format) -> Self {
        Self { format, mates: 0 }
    }

    /// Writes the mate of a solution, if it has one.
    pub(super) fn take(&mut self, solution: &Solution) -> anyhow::Result<()> {
        // A line of USI is a game by its moves: what is mated already has none.
        let game = game(solution);
        let game = game.filter(|game| !game.is_position || self.format.holds_positions());
        let Some(mut game) = game else { return Ok(()) };
        if self.format == Format::Usi {
            // USI lines are for engines, which do not accept a word for the end of the game.
            game.result = None;
        }
        let (header, separator) = (self.format.header(), self.format.separator());
        let mut bytes = if self.mates == 0 { header.to_vec() } else { separator.to_vec() };
        write_game(self.format, &game, &mut bytes)?;
        self.mates += 1;
        Ok(io::stdout().write_all(&bytes)?)
    }
}

/// The mating line as a game. A position that is already mated becomes a diagram. `None` if there is no mate.
fn game(solution: &Solution) -> Option<Game> {
    let mate_result = solution.mate_result.as_ref()?;
    let position = &solution.found.position;
    let winner = match mate_result.verdict {
        PositionVerdict::Win => position.side_to_move(),
        PositionVerdict::Loss => !position.side_to_move(),
        PositionVerdict::NoMate | PositionVerdict::Unknown(_) => return None,
    };
    let moves = mate_result.line.iter().map(|&m| Played::new(m, 0)).collect();
    let (result, is_position) = (Some(GameResult::win_of(winner)), mate_result.line.is_empty());
    Some(Game { moves, result, is_position, ..Game::new(position.setup()) })
}
