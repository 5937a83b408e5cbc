//! Generates training records: positions of random games with the move played and the result.
//!
//! The positions are not evaluated. Formats with an evaluation field get 0, and the report names the filled-in field.

use std::collections::BTreeMap;

use crate::format::{
    self, EncodeError, Ending, Fields, Fill, Format, GameResult, Played, Record, encode, write_game,
};
use crate::random::SplitMix64;
use crate::records::output_kind::EncodedRecords;
use crate::shogi::Position;
use crate::shogi::random_play::{End, Game, RandomPlay};

/// Settings of the generator. Equal settings give equal records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GenerateSettings {
    /// Number of records.
    pub count: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Every N-th position of a game becomes a record. At least 1.
    pub every: usize,
    /// Number of moves after which a game is a draw.
    pub most_moves: usize,
}

impl Default for GenerateSettings {
    fn default() -> Self {
        Self { count: 1000, seed: 1, every: 1, most_moves: 256 }
    }
}

/// Iterator over the generated records, game by game. Their [`Record::eval_cp`] is `None`.
///
/// ```
/// use kyokumen::ops::generate::{Generator, GenerateSettings};
/// let settings = GenerateSettings { count: 10, ..GenerateSettings::default() };
/// let records: Vec<_> = Generator::new(settings).collect();
/// assert_eq!(records.len(), 10);
/// assert_eq!(records, Generator::new(settings).collect::<Vec<_>>());
/// ```
#[derive(Debug)]
pub struct Generator {
    settings: GenerateSettings,
    play: RandomPlay,
    /// Draws the offset of the first sampled position of each game. It is separate from `play`, so sampling does not
    /// change the games.
    offsets: SplitMix64,
    game: std::vec::IntoIter<Record>,
    made: u64,
    ends: BTreeMap<&'static str, u64>,
}

impl Generator {
    /// Creates a generator that starts at the first record.
    pub fn new(settings: GenerateSettings) -> Self {
        Self {
            settings,
            play: RandomPlay::new(settings.seed, settings.most_moves),
            offsets: SplitMix64::new(!settings.seed),
            game: Vec::new().into_iter(),
            made: 0,
            ends: BTreeMap::new(),
        }
    }

    /// Number of generated games by the way in which they ended.
    pub const fn ends(&self) -> &BTreeMap<&'static str, u64> {
        &self.ends
    }

    /// Encodes the next `count` records, or a few more if the format holds whole games. Returns no records at the end.
    ///
    /// # Errors
    /// Never fails in practice: these records lack only the evaluation, which is filled in.
    pub fn encode_next(
        &mut self,
        format: Format,
        count: usize,
    ) -> Result<EncodedRecords, EncodeError> {
        let mut encoded = EncodedRecords::default();
        if format.holds_games() && self.settings.every <= 1 {
            while encoded.len() < count as u64
                && let Some(records) = self.rest_of_game()
            {
                let game = as_game(&records);
                format.append_chunk(encoded.open_record(), |out| write_game(format, &game, out))?;
                encoded.end_records(records.len());
            }
            return Ok(encoded);
        }
        for record in self.take(count) {
            let out = encoded.open_record();
            format.append_chunk(out, |out| encode(format, &record, &fill(), out))?;
            encoded.end_record();
        }
        Ok(encoded)
    }
}

impl Generator {
    /// Returns the next record and the rest of its game. `None` at the end.
    fn rest_of_game(&mut self) -> Option<Vec<Record>> {
        let mut records = vec![self.next()?];
        let left = usize::try_from(self.settings.count - self.made).unwrap_or(usize::MAX);
        records.extend(self.game.by_ref().take(left));
        self.made += records.len() as u64 - 1;
        Some(records)
    }
}

/// Builds a game from consecutive positions. `records` must not be empty.
fn as_game(records: &[Record]) -> format::Game {
    let played = records.iter().filter_map(|record| {
        let best_move = record.best_move?;
        Some(Played { eval_cp: fill().eval_cp, ..Played::new(best_move, 0) })
    });
    let first = &records[0];
    format::Game {
        moves: played.collect(),
        result: first.result,
        ending: first.ending,
        ..format::Game::new(first.setup.clone())
    }
}

/// Values for the fields that the generated records lack.
pub fn fill() -> Fill {
    Fill { eval_cp: Some(0), ..Fill::default() }
}

/// Fields of a format that are filled in, because generated positions lack them.
pub fn filled_in(format: Format) -> Fields {
    format.fields().intersection(fill().fields())
}

impl Iterator for Generator {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.made == self.settings.count {
            return None;
        }
        loop {
            if let Some(record) = self.game.next() {
                self.made += 1;
                return Some(record);
            }
            let game = self.play.next()?;
            *self.ends.entry(end_name(game.end)).or_default() += 1;
            let every = self.settings.every.max(1);
            self.game = sampled(&game, self.offsets.below(every), every).into_iter();
        }
    }
}

/// Returns every `every`-th position of a game, starting with position number `offset`.
fn sampled(game: &Game, offset: usize, every: usize) -> Vec<Record> {
    let result = game.end.winner().map_or(GameResult::Draw, GameResult::win_of);
    let ending = match game.end {
        End::Mate(_) => None,
        End::PerpetualCheck(_) | End::Repetition => Some(Ending::Repetition),
        End::MoveLimit => Some(Ending::MoveLimit),
    };
    let end_ply = u16::try_from(game.moves.len()).ok();
    let mut position = Position::start();
    let mut records = Vec::new();
    for (ply, &m) in game.moves.iter().enumerate() {
        if ply % every == offset {
            records.push(Record {
                best_move: Some(m),
                ply: Some(position.ply()),
                result: Some(result),
                ending,
                end_ply,
                ..Record::new(position.setup())
            });
        }
        position.make(m);
    }
    records
}

const fn end_name(end: End) -> &'static str {
    match end {
        End::Mate(_) => "mate",
        End::PerpetualCheck(_) => "perpetual check",
        End::Repetition => "repetition",
        End::MoveLimit => "move limit",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Field, chunks, read_games, records};
    use crate::shogi::Setup;

    const SETTINGS: GenerateSettings =
        GenerateSettings { count: 500, seed: 3, every: 7, most_moves: 150 };

    #[test]
    fn records_are_positions_with_a_legal_move() {
        let mut generator = Generator::new(SETTINGS);
        let records: Vec<Record> = generator.by_ref().collect();
        assert_eq!(records.len(), 500);
        for record in &records {
            let position = Position::try_from(&record.setup).expect("a legal position");
            assert!(record.best_move.is_some_and(|m| position.is_legal(m)));
            assert_eq!((record.ply, record.eval_cp), (Some(position.ply()), None));
        }
        assert!(records.windows(2).all(|pair| pair[0].setup != pair[1].setup));
        let within_a_game =
            records.windows(2).filter(|pair| pair[0].ply.map(|ply| ply + 7) == pair[1].ply);
        assert!(within_a_game.count() > 400);
        assert!(generator.ends().values().sum::<u64>() > 20);
        assert!(generator.ends().contains_key("mate"));
    }

    #[test]
    fn games_do_not_depend_on_sampling() {
        let all = Generator::new(GenerateSettings { every: 1, count: 7 * 500, ..SETTINGS });
        let all: Vec<Record> = all.collect();
        let mut sampled: Vec<Record> =
            Generator::new(GenerateSettings { count: 400, ..SETTINGS }).collect();
        sampled.retain(|record| !all.contains(record));
        assert_eq!(sampled, []);
    }

    #[test]
    fn game_formats_contain_whole_games() {
        let settings = GenerateSettings { every: 1, count: 1000, ..SETTINGS };
        let mut generator = Generator::new(settings);
        let mut read = Vec::new();
        loop {
            let encoded = generator.encode_next(Format::Usi, 100).expect("nothing is missing");
            if encoded.is_empty() {
                break;
            }
            for line in chunks(Format::Usi, encoded.bytes()) {
                for game in read_games(Format::Usi, line) {
                    let records = game.expect("a generated line").records().into_iter();
                    read.extend(records.map(|record| record.expect("legal").setup));
                }
            }
        }
        let made: Vec<Setup> = Generator::new(settings).map(|record| record.setup).collect();
        assert!(read == made);
    }

    #[test]
    fn every_format_reads_back_with_evaluation_0() {
        for format in Format::ALL {
            let encoded =
                Generator::new(SETTINGS).encode_next(format, 1000).expect("nothing is missing");
            assert_eq!(encoded.len(), 500);
            let read = chunks(format, encoded.bytes())
                .flat_map(|chunk| records(format, format.dialect(), chunk));
            for (read, record) in read.zip(Generator::new(SETTINGS)) {
                let read = read.expect("a generated record");
                let expected = |field, value: Option<i32>| {
                    Ok(value.filter(|_| format.fields().contains(field)))
                };
                assert_eq!(read.setup().map(|s| s.with_ply(1)), Ok(record.setup.with_ply(1)));
                let best_move = read.best_move().expect("a valid column");
                let has_move = format.fields().contains(Field::BestMove);
                assert_eq!(best_move, record.best_move.filter(|_| has_move));
                assert_eq!(
                    read.eval_cp().map(|eval| eval.map(i32::from)),
                    expected(Field::EvalCp, Some(0))
                );
            }
        }
        assert_eq!(filled_in(Format::Hcp).to_string(), "none");
        assert_eq!(filled_in(Format::Psv).to_string(), "eval");
    }
}
