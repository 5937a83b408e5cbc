//! The games of a block, for commands that write games as games.

use std::ops::Range;

use super::processing::{BlockState, ProcessedBlock};
use super::reading::RecordError;
use super::source::Block;
use crate::format::{DecodeError, Field, Fields, Format, Game, RawChunk, Record, read_games};

/// The readable part of a game, and its place in the input.
pub(crate) struct BlockGame<'a> {
    pub(crate) chunk: RawChunk<'a>,
    pub(crate) first_index: u64,
    pub(crate) game: Result<Game, DecodeError>,
    /// The moves before the first unreadable one, each as a record.
    pub(crate) records: Vec<Record>,
    /// The error of the first unreadable move, and the number of records lost.
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

    /// Index after the last record. An unreadable game counts as one record.
    pub(crate) fn end(&self) -> u64 {
        match (&self.game, &self.fault) {
            (Err(_), _) => self.first_index + 1,
            (Ok(_), fault) => self.read().end + fault.as_ref().map_or(0, |(_, lost)| *lost),
        }
    }

    /// Fields that every record loses if `part` is written, which has `records` records of this game.
    pub(crate) fn lost_fields(&self, to: Format, part: &Game, records: usize) -> Fields {
        let lost = to.lost_of_game(&part.start, part.result, part.ending);
        // A shortened game has another length.
        let is_shorter = self.fault.is_some() || records < self.records.len();
        lost.union(if is_shorter { Fields::of(Field::EndPly) } else { Fields::NONE })
    }
}

/// The chunks of a block, each with its games.
pub(crate) fn game_chunks(
    block: &Block,
) -> impl Iterator<Item = (RawChunk<'_>, Vec<BlockGame<'_>>)> {
    block.chunks().scan(block.first_index, |index, chunk| {
        let mut block_game = |game| {
            let game = BlockGame::new(game, chunk, *index);
            *index = game.end();
            game
        };
        let games = if chunk.is_piece {
            vec![block_game(Err(DecodeError::TOO_LONG))]
        } else {
            read_games(block.format, chunk.without_line_end(block.format)).map(block_game).collect()
        };
        Some((chunk, games))
    })
}

/// Calls `process_game` with each game, until a bad record ends the run. Rejects the records that
/// `process_game` returns with an error, and the unreadable records.
pub(crate) fn process_games(
    processing: &mut BlockState<'_>,
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
            processing.reject(&error, &read.chunk, records);
        }
        if let Some((error, _)) = read.fault.as_ref().filter(|_| !processing.is_stopped()) {
            let lost = read.read().end..read.end();
            processing.reject(&error.clone().into(), &read.chunk, lost);
        }
        if processing.is_stopped() {
            return;
        }
    }
}
