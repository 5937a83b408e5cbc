//! Generated training records: positions of random games with the move played and the result.
//!
//! Nobody evaluates these positions: formats that hold an evaluation get 0, and the report says so.

use std::collections::BTreeMap;

use crate::format::{
    self, EncodeError, Ending, Fields, Fill, Format, GameResult, Played, Record, encode, write_game,
};
use crate::random::SplitMix64;
use crate::records::output_kind::EncodedRecords;
use crate::shogi::Position;
use crate::shogi::random_play::{End, Game, RandomPlay};

/// What decides which records are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GenerateSettings {
    /// Records to make.
    pub count: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// One of so many positions of a game becomes a record; at least 1.
    pub every: usize,
    /// Moves after which a game is a draw.
    pub most_moves: usize,
}

impl Default for GenerateSettings {
    fn default() -> Self {
        Self { count: 1000, seed: 1, every: 1, most_moves: 256 }
    }
}

/// The records of a recipe, in the order of the games; their [`Record::eval_cp`] is `None`.
///
/// ```
/// use kyokumen::ops::generate::{Generator, GenerateSettings};
/// let recipe = GenerateSettings { count: 10, ..GenerateSettings::default() };
/// let records: Vec<_> = Generator::new(recipe).collect();
/// assert_eq!(records.len(), 10);
/// assert_eq!(records, Generator::new(recipe).collect::<Vec<_>>());
/// ```
#[derive(Debug)]
pub struct Generator {
    settings: GenerateSettings,
    play: RandomPlay,
    /// Draws the offset of the first sampled position of each game. Separate from `play`, so that sampling does not
    /// change the games.
    offsets: SplitMix64,
    game: std::vec::IntoIter<Record>,
    made: u64,
    ends: BTreeMap<&'static str, u64>,
}

impl Generator {
    /// Begins at the first record.
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

    /// How many of the games so far ended how.
    pub const fn ends(&self) -> &BTreeMap<&'static str, u64> {
        &self.ends
    }

    /// Up to `count` records in a format, a few more where whole games are written; none at the end.
    ///
    /// # Errors
    /// [`EncodeError`]: never, as these records lack nothing but the evaluation.
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
                encoded.end_group(records.len());
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
    /// The next record and the rest of its game; None at the end.
    fn rest_of_game(&mut self) -> Option<Vec<Record>> {
        let mut records = vec![self.next()?];
        let left = usize::try_from(self.settings.count - self.made).unwrap_or(usize::MAX);
        records.extend(self.game.by_ref().take(left));
        self.made += records.len() as u64 - 1;
        Some(records)
    }
}

/// `records` are consecutive positions of a game, at least one.
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

/// What stands where nothing is known.
pub fn fill() -> Fill {
    Fill { eval_cp: Some(0), ..Fill::default() }
}

/// Fields of a format that hold no knowledge.
pub fn invented(format: Format) -> Fields {
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
            *self.ends.entry(word(game.end)).or_default() += 1;
            let every = self.settings.every.max(1);
            self.game = sampled(&game, self.offsets.below(every), every).into_iter();
        }
    }
}

/// Every `every`-th position of a game, from the `offset`-th on.
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

const fn word(end: End) -> &'static str {
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

    const RECIPE: GenerateSettings =
        GenerateSettings { count: 500, seed: 3, every: 7, most_moves: 150 };

    #[test]
    fn records_are_positions_with_a_legal_move() {
        let mut generator = Generator::new(RECIPE);
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
    fn the_games_do_not_depend_on_how_they_are_sampled() {
        let all = Generator::new(GenerateSettings { every: 1, count: 7 * 500, ..RECIPE });
        let all: Vec<Record> = all.collect();
        let mut sampled: Vec<Record> =
            Generator::new(GenerateSettings { count: 400, ..RECIPE }).collect();
        sampled.retain(|record| !all.contains(record));
        assert_eq!(sampled, []);
    }

    #[test]
    fn formats_of_games_hold_whole_games() {
        let settings = GenerateSettings { every: 1, count: 1000, ..RECIPE };
        let mut generator = Generator::new(settings);
        let mut read = Vec::new();
        loop {
            let encoded = generator.encode_next(Format::Usi, 100).expect("nothing is missing");
            if encoded.is_empty() {
                break;
            }
            for line in chunks(Format::Usi, encoded.bytes()) {
                for game in read_games(Format::Usi, line) {
                    let records = game.expect("our own line").records().into_iter();
                    read.extend(records.map(|record| record.expect("legal").setup));
                }
            }
        }
        let made: Vec<Setup> = Generator::new(settings).map(|record| record.setup).collect();
        assert!(read == made);
    }

    #[test]
    fn formats_hold_what_was_made_and_an_evaluation_of_0() {
        for format in Format::ALL {
            let encoded =
                Generator::new(RECIPE).encode_next(format, 1000).expect("nothing is missing");
            assert_eq!(encoded.len(), 500);
            let read = chunks(format, encoded.bytes())
                .flat_map(|chunk| records(format, format.dialect(), chunk));
            for (read, record) in read.zip(Generator::new(RECIPE)) {
                let read = read.expect("our own record");
                let expected = |field, value: Option<i32>| {
                    Ok(value.filter(|_| format.fields().contains(field)))
                };
                assert_eq!(read.setup().map(|s| s.with_ply(1)), Ok(record.setup.with_ply(1)));
                let best_move = read.best_move().expect("no column is wrong");
                let held = format.fields().contains(Field::BestMove);
                assert_eq!(best_move, record.best_move.filter(|_| held));
                assert_eq!(
                    read.eval_cp().map(|eval| eval.map(i32::from)),
                    expected(Field::EvalCp, Some(0))
                );
            }
        }
        assert_eq!(invented(Format::Hcp).to_string(), "none");
        assert_eq!(invented(Format::Psv).to_string(), "eval");
    }
}
