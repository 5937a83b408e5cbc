//! Writes mates as game records for shogi programs.

use std::io::{self, Write};

use super::page::name;
use crate::format::{Format, Game, GameResult, Header, HeaderKey, Played, write_game};
use crate::mate::solve::Solution;
use crate::records::position_verdict::PositionVerdict;

/// Text formats that hold games.
pub(super) const MATE_FORMATS: [Format; 7] =
    [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u, Format::Csa, Format::Jkf, Format::Usi];

/// The header entry of KIF for the title of a problem.
const TITLE: &str = "作品名";

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
    pub(super) fn write(&mut self, solution: &Solution) -> anyhow::Result<()> {
        // A position that is already mated has no moves, so it is not a USI game.
        let game = game(solution);
        let game = game.filter(|game| !game.is_position || self.format.holds_positions());
        let Some(mut game) = game else { return Ok(()) };
        if self.format == Format::Usi {
            // Engines do not accept a result at the end of a USI line.
            game.result = None;
        }
        let (header, separator) = (self.format.header(), self.format.separator());
        let mut bytes = if self.mates == 0 { header.to_vec() } else { separator.to_vec() };
        let written = bytes.len();
        write_game(self.format, &game, &mut bytes)?;
        state_mate(self.format, &mut bytes[written..]);
        self.mates += 1;
        Ok(io::stdout().write_all(&bytes)?)
    }
}

/// Writers of games let the loser resign. Replaces this last word by the one for mate, which is equally long.
fn state_mate(format: Format, game: &mut [u8]) {
    let (resigned, mated): (&[u8], &[u8]) = match format {
        Format::Kifu => ("投了".as_bytes(), "詰み".as_bytes()),
        // The same in Shift JIS.
        Format::Kif => (b"\x93\x8a\x97\xb9", b"\x8b\x6c\x82\xdd"),
        Format::Csa | Format::Jkf => (b"TORYO", b"TSUMI"),
        // KI2 states the winner, USI nothing.
        _ => return,
    };
    if let Some(at) = game.windows(resigned.len()).rposition(|word| word == resigned) {
        game[at..at + mated.len()].copy_from_slice(mated);
    }
}

/// The mating line as a game. A position that is already mated becomes a diagram. `None` if there is no mate.
fn game(solution: &Solution) -> Option<Game> {
    let mate_result = solution.mate_result.as_ref()?;
    let position = &solution.input.position;
    let winner = match mate_result.verdict {
        PositionVerdict::Win => position.side_to_move(),
        PositionVerdict::Loss => !position.side_to_move(),
        PositionVerdict::NoMate | PositionVerdict::Unknown(_) => return None,
    };
    let moves = solution.line().iter().map(|&m| Played::new(m, 0)).collect();
    let (result, is_position) = (Some(GameResult::win_of(winner)), solution.line().is_empty());
    let mut game = Game { moves, result, is_position, ..Game::new(position.setup()) };
    let title =
        |name: &str| Header { key: HeaderKey::Other(TITLE.to_owned()), value: name.to_owned() };
    game.info.headers.extend(name(solution).map(title));
    Some(game)
}
