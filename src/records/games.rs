//! The games of a block, for commands that write games as games.

use super::reading::RecordError;
use super::source::Block;
use crate::format::{DecodeError, Game, RawUnit, Record, read_games};

/// A game as far as it can be read, and its place in the input.
pub(crate) struct BlockGame<'a> {
    pub(crate) unit: RawUnit<'a>,
    pub(crate) first_index: u64,
    pub(crate) game: Result<Game, RecordError>,
    /// Its moves up to the fault, each as a record.
    pub(crate) records: Vec<Record>,
    /// Why reading stopped, and the number of records that are lost.
    pub(crate) fault: Option<(DecodeError, u64)>,
}

impl<'a> BlockGame<'a> {
    fn new(game: Result<Game, RecordError>, unit: RawUnit<'a>, first_index: u64) -> Self {
        let (mut records, mut fault) = (Vec::new(), None);
        for record in game.iter().flat_map(Game::records) {
            match (record, &mut fault) {
                (Ok(record), _) => records.push(record),
                (Err(_), Some((_, lost))) => *lost += 1,
                (Err(error), none) => *none = Some((error, 1)),
            }
        }
        Self { unit, first_index, game, records, fault }
    }

    /// Index after the last record that was read.
    pub(crate) fn end_of_read(&self) -> u64 {
        self.first_index + self.records.len() as u64
    }

    /// Index after the last record. An unreadable game counts as one record.
    pub(crate) fn end(&self) -> u64 {
        match (&self.game, &self.fault) {
            (Err(_), _) => self.first_index + 1,
            (Ok(_), fault) => self.end_of_read() + fault.as_ref().map_or(0, |(_, lost)| *lost),
        }
    }
}

/// The games of a unit whose first record has this index.
pub(crate) fn games_of<'a>(
    block: &Block,
    unit: &RawUnit<'a>,
    first_index: u64,
) -> Vec<BlockGame<'a>> {
    if unit.is_piece {
        return vec![BlockGame::new(Err(DecodeError::TOO_LONG.into()), *unit, first_index)];
    }
    let mut index = first_index;
    let games = read_games(block.format, unit.without_line_end(block.format));
    let place = |game: Result<Game, DecodeError>| {
        let game = BlockGame::new(game.map_err(RecordError::from), *unit, index);
        index = game.end();
        game
    };
    games.map(place).collect()
}
