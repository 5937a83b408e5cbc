//! Start positions of games.

use std::collections::HashSet;
use std::fs;

use kyokumen::format::{Format, Game, PositionKey, Record};
use kyokumen::shogi::Position;
use serde_json::Value;

use super::{Bench, GAMES, only_output, read};
use crate::archive::{encoded, records};

#[test]
fn a_share_of_the_games_starts_from_positions_of_earlier_games() {
    let bench = Bench::new();
    bench.games("earlier", &GAMES);
    let earlier = fs::read(bench.path("earlier/selfplay.hcpe3")).unwrap();
    let earlier: Vec<Game> = read(&earlier);
    let words = [
        "--model=hashed",
        "--games=200",
        "--max-moves=1",
        "--root-mate=0,0",
        "--forks=earlier/selfplay.hcpe3",
        "--fork-prob=0.25",
    ];
    let forked: Vec<_> =
        read(&bench.games("forked", &words)).into_iter().map(|game| game.start).collect();
    let start = Position::start().setup();
    let count = forked.iter().filter(|opening| **opening != start).count();
    assert!((30..75).contains(&count), "{count}");
    let records = earlier.iter().flat_map(Game::records);
    let mut known: HashSet<PositionKey> =
        records.map(|record| PositionKey::of(&record.unwrap().setup)).collect();
    known.insert(PositionKey::of(&start));
    assert!(forked.iter().all(|opening| known.contains(&PositionKey::of(opening))));
    for shard in ["--shard=2/2", "--shard=1/2"] {
        bench.run("shards", &[&words[..], &[shard]].concat()).succeeds();
    }
    let shards = read(&only_output(&bench.path("shards")));
    assert!(shards.iter().map(|game| &game.start).eq(&forked));
    let manifest = bench.manifest("forked/selfplay.manifest.json");
    assert_eq!(manifest["settings"]["fork-prob"], 0.25);
    assert_eq!(manifest["inputs"][0]["file"], "earlier/selfplay.hcpe3");
}

#[test]
fn every_opening_is_played_before_any_is_repeated() {
    let bench = Bench::new();
    let openings = records(10, 4);
    let bytes: Vec<u8> = openings.iter().flat_map(|record| encoded(Format::Hcp, record)).collect();
    bench.0.write("openings.hcp", &bytes);
    let words = ["--model=hashed", "--games=20", "--openings=openings.hcp", "--max-moves=4"];
    let games = bench.games("games", &words);
    let packed = |setup| encoded(Format::Hcp, &Record::new(setup));
    let began: Vec<Vec<u8>> = read(&games).into_iter().map(|game| packed(game.start)).collect();
    let sorted = |part: &[Vec<u8>]| {
        let mut part = part.to_vec();
        part.sort();
        part
    };
    let expected = sorted(&bytes.chunks(32).map(<[u8]>::to_vec).collect::<Vec<_>>());
    assert_eq!(sorted(&began[..10]), expected);
    assert_eq!(sorted(&began[10..]), expected);
    assert_ne!(began[..10], began[10..], "each time in another order");
}

#[test]
fn openings_filter_drops_mated_openings() {
    let bench = Bench::new();
    // A mate in one, and the start position.
    let text = "8k/9/8P/9/9/9/9/9/8K b G2r2b3g4s4n4l17p 1\n\
                lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n";
    bench.0.write("openings.sfen", text);
    let words = ["--model=hashed", "--games=10", "--openings=openings.sfen"];
    bench.run("all", &words).succeeds();
    bench.run("filtered", &[&words[..], &["--openings-filter"]].concat()).succeeds();
    let played =
        |out: &str| bench.manifest(&format!("{out}/selfplay.manifest.json"))["games"].clone();
    assert_eq!(played("all")["played"], 10);
    assert_eq!(played("all")["mated_openings"], 0);
    assert_eq!(played("filtered")["played"], 5);
    assert_eq!(played("filtered")["mated_openings"], 5);
}

#[test]
fn the_manifest_states_the_origin_of_the_openings() {
    let bench = Bench::new();
    let bytes: Vec<u8> =
        records(10, 4).iter().flat_map(|record| encoded(Format::Hcp, record)).collect();
    bench.0.write("positions.hcp", &bytes);
    let filter = ["filter", "positions.hcp", "-o", "clean", "--nodes=100", "--progress=none"];
    bench.kyokumen(&filter).succeeds();
    let words = ["--model=hashed", "--games=2", "--max-moves=4"];
    let with = |openings: &'static str| [&words[..], &[openings]].concat();
    bench.run("unknown", &with("--openings=positions.hcp")).succeeds();
    bench.run("known", &with("--openings=clean/positions.hcp")).succeeds();
    let origin = |folder: &str| {
        bench.manifest(&format!("{folder}/selfplay.manifest.json"))["openings_origin"].clone()
    };
    assert_eq!(origin("unknown"), Value::Null);
    assert_eq!(origin("known")["command"], "filter");
    assert_eq!(origin("known")["manifest"]["file"], "positions.manifest.json");
    let kept = &bench.manifest("clean/positions.manifest.json")["outputs"][0];
    assert_eq!(origin("known")["sha256"], kept["sha256"]);
}
