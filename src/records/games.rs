//! The games of a block, for commands that write games as games.

use std::ops::Range;

use super::processing::{ProcessedBlock, Processing};
use super::reading::RecordError;
use super::source::Block;
use crate::format::{DecodeError, Field, Fields, Format, Game, RawChunk, Record, read_games};

/// A game as far as it can be read, and its place in the input.
pub(crate) struct BlockGame<'a> {
    pub(crate) chunk: RawChunk<'a>,
    pub(crate) first_index: u64,
    pub(crate) game: Result<Game, DecodeError>,
    /// Its moves up to the fault, each as a record.
    pub(crate) records: Vec<Record>,
    /// Why reading stopped, and the number of records that are lost.
    pub(crate) fault: Option<(DecodeError, u64)>,
}

impl<'a> BlockGame<'a> {
    fn new(game: Result<Game, DecodeError>, chunk: RawChunk<'a>, first_index: u64) -> Self {
        let (mut records, mut fault) = (Vec::new(), None);
        for record in game.iter().flat_map(Game::records) {
            match (record, &mut fault) {
                (Ok(record), _) => records.push(record),
                (Err(_), Some((_, lost))) => *lost += 1,
                (Err(error), none) => *none = Some((error, 1)),
            }
        }
        Self { chunk, first_index, game, records, fault }
    }

    /// Indices of the records that were read.
    pub(crate) fn read(&self) -> Range<u64> {
        self.first_index..self.first_index + self.records.len() as u64
    }

    /// OffsetTable after the last record. An unreadable game counts as one record.
    pub(crate) fn end(&self) -> u64 {
        match (&self.game, &self.fault) {
            (Err(_), _) => self.first_index + 1,
            (Ok(_), fault) => self.read().end + fault.as_ref().map_or(0, |(_, lost)| *lost),
        }
    }

    /// Fields that every record loses if `part` is written: this game, or `records` records of it.
    pub(crate) fn lost_of_part(&self, to: Format, part: &Game, records: usize) -> Fields {
        let lost = to.lost_of_game(&part.start, part.result, part.ending);
        // A game that is shorter has another length.
        let is_shorter = self.fault.is_some() || records < self.records.len();
        lost.union(if is_shorter { Fields::of(Field::EndPly) } else { Fields::NONE })
    }
}

/// The chunks of a block, each with its games.
pub(crate) fn chunks_of_games(
    block: &Block,
) -> impl Iterator<Item = (RawChunk<'_>, Vec<BlockGame<'_>>)> {
    block.chunks().scan(block.first_index, |index, chunk| {
        let mut place = |game| {
            let game = BlockGame::new(game, chunk, *index);
            *index = game.end();
            game
        };
        let games = if chunk.is_piece {
            vec![place(Err(DecodeError::TOO_LONG))]
        } else {
            read_games(block.format, chunk.without_line_end(block.format)).map(place).collect()
        };
        Some((chunk, games))
    })
}

/// Calls `process_game` with each game until one ends the run, and sets aside the records that it fails with and those
/// that cannot be read.
pub(crate) fn process_games(
    processing: &mut Processing<'_>,
    games: &[BlockGame<'_>],
    mut process_game: impl FnMut(
        &Game,
        &BlockGame<'_>,
        &mut ProcessedBlock,
    ) -> Result<(), (Range<u64>, RecordError)>,
) {
    for read in games {
        let done = match &read.game {
            Ok(game) => process_game(game, read, &mut processing.processed),
            Err(error) => Err((read.first_index..read.end(), error.clone().into())),
        };
        if let Err((records, error)) = done {
            processing.set_aside(&error, &read.chunk, records);
        }
        if let Some((error, _)) = read.fault.as_ref().filter(|_| !processing.is_stopped()) {
            let lost = read.read().end..read.end();
            processing.set_aside(&error.clone().into(), &read.chunk, lost);
        }
        if processing.is_stopped() {
            return;
        }
    }
}
