//! Generated games in every game format: written, read back, and damaged.
//!
//! The fuzz targets check the same properties; see `fuzz/`.

use kyokumen_format::{Ending, Field, Format, Game, GameResult, Record, chunks, write_game};
use kyokumen_testing::game_properties::check_file;
use kyokumen_testing::games::{random_game, read_game};
use proptest::collection::vec;
use proptest::prelude::*;

fn formats() -> Vec<Format> {
    let is_written = |format: &Format| format.holds_games() && format.is_written();
    Format::ALL.into_iter().filter(is_written).collect()
}

/// The fields of a record that a format preserves.
fn held(format: Format, record: &Record) -> Record {
    let of_game = format.lost_of_game(&record.setup, record.result, record.ending);
    let lost = format.losses(record.fields(), record.ending).union(of_game);
    let mut held = record.clone();
    held.ending = held.ending.filter(|_| !lost.contains(Field::Ending));
    if record.ending == Some(Ending::MoveLimit) && matches!(format, Format::Ki2 | Format::Ki2u) {
        // The format writes this ending as another draw.
        held.ending =
            held.ending.or((record.result == Some(GameResult::Draw)).then_some(Ending::Impasse));
    }
    held.result = held.result.filter(|_| !lost.contains(Field::Result));
    held.eval_cp = held.eval_cp.filter(|_| !lost.contains(Field::EvalCp));
    if lost.contains(Field::Candidates) {
        held.candidates.clear();
        held.is_not_for_training = false;
    }
    held
}

fn records(game: &Game) -> Vec<Record> {
    game.records().into_iter().map(Result::unwrap).collect()
}

/// A file with the games of these seeds.
fn file(format: Format, seeds: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    for &seed in seeds {
        write_game(format, &random_game(seed), &mut out).unwrap();
    }
    out
}

#[test]
fn games_are_read_back_from_every_format() {
    for format in formats() {
        let seeds: Vec<u64> = (0..300).collect();
        let file = file(format, &seeds);
        let chunks: Vec<_> = chunks(format, &file).collect();
        assert_eq!(chunks.len(), seeds.len(), "{format}");
        for (chunk, seed) in chunks.into_iter().zip(seeds) {
            let read = read_game(format, chunk).unwrap();
            let mut written = random_game(seed);
            // A board without moves is a position, not a game.
            written.is_position = read.is_position && written.moves.is_empty();
            let expected: Vec<_> =
                records(&written).iter().map(|record| held(format, record)).collect();
            assert_eq!(records(&read), expected, "{format}, game {seed}");
            assert_eq!(read.start, written.start, "{format}, game {seed}");
        }
        check_file(format, &file[..file.len().min(20_000)]);
    }
}

/// A kind of damage and its place.
#[derive(Clone, Debug)]
enum Damage {
    Byte(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
    Remove(prop::sample::Index, usize),
}

impl Damage {
    fn any() -> impl Strategy<Value = Self> {
        let at = any::<prop::sample::Index>;
        prop_oneof![
            4 => (at(), any::<u8>()).prop_map(|(at, byte)| Self::Byte(at, byte)),
            1 => at().prop_map(Self::Cut),
            1 => (at(), vec(any::<u8>(), 1..50)).prop_map(|(at, bytes)| Self::Insert(at, bytes)),
            1 => (at(), 1usize..100).prop_map(|(at, len)| Self::Remove(at, len)),
        ]
    }

    fn apply(self, file: &mut Vec<u8>) {
        let place = |at: prop::sample::Index| at.index(file.len() + 1);
        match self {
            Self::Byte(at, byte) => {
                let at = place(at);
                file.get_mut(at).into_iter().for_each(|place| *place = byte);
            }
            Self::Cut(at) => file.truncate(place(at)),
            Self::Insert(at, bytes) => drop(file.splice(place(at)..place(at), bytes)),
            Self::Remove(at, len) => drop(file.drain(place(at)..(place(at) + len).min(file.len()))),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_games_never_panic(
        format in prop::sample::select(formats()),
        seeds in vec(any::<u64>(), 1..4),
        damages in vec(Damage::any(), 1..4),
    ) {
        let mut file = file(format, &seeds);
        for damage in damages {
            damage.apply(&mut file);
            check_file(format, &file);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(
        format in prop::sample::select(formats()),
        bytes in vec(any::<u8>(), 0..300),
    ) {
        check_file(format, &bytes);
    }
}
