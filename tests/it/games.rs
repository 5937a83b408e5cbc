//! Games of our own making in every format of games: written and read back, and damaged.
//!
//! The same properties run under the fuzzer; see `fuzz/`.

use kyokumen::format::{
    Candidate, DecodeError, Ending, Field, Format, Game, GameResult, Played, Record, read_games,
    units, write_game,
};
use kyokumen::random::SplitMix64;
use kyokumen::shogi::{Position, Setup};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::game_properties::check_file;

/// The only game of a unit.
pub(crate) fn read_game(format: Format, unit: &[u8]) -> Result<Game, DecodeError> {
    let mut games = read_games(format, unit);
    let game = games.next().expect("a game");
    assert!(games.next().is_none(), "another game");
    game
}

fn formats() -> Vec<Format> {
    Format::ALL.into_iter().filter(|format| format.holds_games()).collect()
}

/// An even start, three handicaps, a position in the middle of a game, one with a king only and box.
const STARTS: [&str; 6] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "4k4/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
    "4k4/9/9/9/9/9/9/9/4K4 b G2r2b3g4s4n4l18p 1",
];

/// A game of random moves with everything that any format can hold.
pub(crate) fn random_game(seed: u64) -> Game {
    let mut random = SplitMix64::new(seed);
    let start: Setup = random.pick(&STARTS).unwrap().parse().unwrap();
    let mut position = Position::try_from(&start).unwrap();
    let mut game = Game::new(start);
    for _ in 0..random.below(60) {
        let moves = position.legal_moves();
        let Some(best_move) = random.pick(&moves) else { break };
        let number = random.below(5);
        let mut candidate = || Candidate {
            best_move: random.pick(&moves).unwrap(),
            visits: 2 + random.below(1000) as u16,
        };
        game.moves.push(Played {
            candidates: (0..number).map(|_| candidate()).collect(),
            eval_cp: Some((random.next_bits() as u16).cast_signed()),
            is_not_for_training: number == 0 && random.below(2) == 0,
            ..Played::new(best_move, 0)
        });
        position.make(best_move);
    }
    let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin];
    game.result = random.pick(&results);
    let endings: Vec<_> = Ending::ALL.into_iter().map(Some).chain([None, None]).collect();
    game.ending = random.pick(&endings).unwrap();
    game
}

/// What is left of a record in a format.
fn held(format: Format, record: &Record) -> Record {
    let of_game = format.lost_of_game(&record.setup, record.result, record.ending);
    let lost = format.losses(record.fields(), record.ending).union(of_game);
    let mut held = record.clone();
    held.ending = held.ending.filter(|_| !lost.contains(Field::Ending));
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

/// Games of these seeds, one behind the other.
fn file(format: Format, seeds: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    for &seed in seeds {
        write_game(format, &random_game(seed), &mut out).unwrap();
    }
    out
}

#[test]
fn games_come_back_from_every_format() {
    for format in formats() {
        let seeds: Vec<u64> = (0..300).collect();
        let file = file(format, &seeds);
        let units: Vec<_> = units(format, &file).collect();
        assert_eq!(units.len(), seeds.len(), "{format}");
        for (unit, seed) in units.into_iter().zip(seeds) {
            let written = random_game(seed);
            let expected: Vec<_> =
                records(&written).iter().map(|record| held(format, record)).collect();
            let read = read_game(format, unit).unwrap();
            assert_eq!(records(&read), expected, "{format}, game {seed}");
            assert_eq!(read.start, written.start, "{format}, game {seed}");
        }
        check_file(format, &file[..file.len().min(20_000)]);
    }
}

/// Where games are damaged, and how.
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
    fn damaged_games_are_no_danger(
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
    fn any_bytes_are_no_danger(
        format in prop::sample::select(formats()),
        bytes in vec(any::<u8>(), 0..300),
    ) {
        check_file(format, &bytes);
    }
}
