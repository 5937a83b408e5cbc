//! Training records of our own making: positions of random games with the move played and the result.
//!
//! Nobody evaluates these positions: formats that hold an evaluation get 0, and the report says so.

use std::collections::BTreeMap;

use crate::format::{EncodeError, Fields, Fill, Format, GameResult, Record, encode};
use crate::shogi::Position;
use crate::shogi::random_play::{End, Game, RandomPlay, SplitMix64};

use super::stream::Batch;

/// What decides which records are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recipe {
    /// Records to make.
    pub count: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// One of so many positions of a game becomes a record; at least 1.
    pub every: usize,
    /// Moves after which a game is a draw.
    pub most_moves: usize,
}

impl Default for Recipe {
    fn default() -> Self {
        Self { count: 1000, seed: 1, every: 1, most_moves: 256 }
    }
}

/// The records of a recipe, in the order of the games; their [`Record::eval_cp`] is `None`.
///
/// ```
/// use kyokumen::pipeline::generate::{Generator, Recipe};
/// let recipe = Recipe { count: 10, ..Recipe::default() };
/// let records: Vec<_> = Generator::new(recipe).collect();
/// assert_eq!(records.len(), 10);
/// assert_eq!(records, Generator::new(recipe).collect::<Vec<_>>());
/// ```
#[derive(Debug)]
pub struct Generator {
    recipe: Recipe,
    play: RandomPlay,
    /// Draws where in a game the sampling begins; apart from the games, so that they stay the same.
    offsets: SplitMix64,
    game: std::vec::IntoIter<Record>,
    made: u64,
    ends: BTreeMap<&'static str, u64>,
}

impl Generator {
    /// Begins at the first record.
    pub fn new(recipe: Recipe) -> Self {
        Self {
            recipe,
            play: RandomPlay::new(recipe.seed, recipe.most_moves),
            offsets: SplitMix64::new(!recipe.seed),
            game: Vec::new().into_iter(),
            made: 0,
            ends: BTreeMap::new(),
        }
    }

    /// How many of the games so far ended how.
    pub const fn ends(&self) -> &BTreeMap<&'static str, u64> {
        &self.ends
    }

    /// Up to `count` records in a format.
    ///
    /// # Errors
    /// [`EncodeError`]: never, as these records lack nothing but the evaluation.
    pub fn batch(&mut self, format: Format, count: usize) -> Result<Batch, EncodeError> {
        let mut batch = Batch::default();
        for record in self.take(count) {
            encode(format, &record, &fill(), batch.open_record())?;
            batch.end_record();
        }
        Ok(batch)
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
        if self.made == self.recipe.count {
            return None;
        }
        loop {
            if let Some(record) = self.game.next() {
                self.made += 1;
                return Some(record);
            }
            let game = self.play.next()?;
            *self.ends.entry(word(game.end)).or_default() += 1;
            let every = self.recipe.every.max(1);
            self.game = sampled(&game, self.offsets.below(every), every).into_iter();
        }
    }
}

/// Every `every`-th position of a game, from the `offset`-th on.
fn sampled(game: &Game, offset: usize, every: usize) -> Vec<Record> {
    let result = game.end.winner().map_or(GameResult::Draw, GameResult::win_of);
    let mut position = Position::start();
    let mut records = Vec::new();
    for (ply, &m) in game.moves.iter().enumerate() {
        if ply % every == offset {
            records.push(Record {
                setup: position.setup(),
                best_move: Some(m),
                eval_cp: None,
                ply: Some(position.ply()),
                result: Some(result),
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
    use crate::format::RecordRef;

    const RECIPE: Recipe = Recipe { count: 500, seed: 3, every: 7, most_moves: 150 };

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
        let all = Generator::new(Recipe { every: 1, count: 7 * 500, ..RECIPE });
        let all: Vec<Record> = all.collect();
        let mut sampled: Vec<Record> = Generator::new(Recipe { count: 400, ..RECIPE }).collect();
        sampled.retain(|record| !all.contains(record));
        assert_eq!(sampled, []);
    }

    #[test]
    fn formats_hold_what_was_made_and_an_evaluation_of_0() {
        for format in Format::ALL {
            let batch = Generator::new(RECIPE).batch(format, 1000).expect("nothing is missing");
            assert_eq!(batch.len(), 500);
            for (i, record) in (0..).zip(Generator::new(RECIPE)) {
                let bytes = batch.bytes_of(i, i + 1);
                let line = bytes.strip_suffix(b"\n").filter(|_| format == Format::Sfen);
                let read = RecordRef::new(format, line.unwrap_or(bytes)).expect("a whole record");
                assert_eq!(read.setup().map(|s| s.with_ply(1)), Ok(record.setup.with_ply(1)));
                if format != Format::Hcp {
                    assert_eq!(read.best_move(), Ok(record.best_move));
                    assert_eq!(read.eval_cp(), Ok(Some(0)));
                    assert_eq!(read.result(), Ok(record.result));
                }
            }
        }
        assert_eq!(invented(Format::Hcp).to_string(), "none");
        assert_eq!(invented(Format::Psv).to_string(), "eval");
    }
}
