//! Filters on records: the records that they keep, the counts, and their independence of threads and shards.
//!
//! The inputs are start positions with chosen fields, positions of random games, and lines of text without some fields.

use kyokumen::format::{Format, PositionKey, Record, RecordRef};
use kyokumen::random::SplitMix64;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use super::{convert, converter, literal};
use crate::archive::{archive, encoded, records};
use crate::harness::Dir;

const BLACK: u8 = 1;
const LOST: u8 = 0xff;

/// Start positions, Black to move, with these moves and results in the encoding of psv.
fn start_positions(fields: &[(u16, u8)]) -> Vec<u8> {
    let record = |&(best_move, result): &(u16, u8)| {
        let mut record = literal(Format::Psv);
        record[34..36].copy_from_slice(&best_move.to_le_bytes());
        record[38] = result;
        record
    };
    fields.iter().flat_map(record).collect()
}

/// 2g2f is legal, 2g2e is not.
const LEGAL: u16 = 0x078e;
const ILLEGAL: u16 = 0x078d;

#[test]
fn filters_on_results_and_moves_keep_and_count_records() {
    let dir = Dir::new();
    let records =
        [(LEGAL, BLACK), (0, BLACK), (ILLEGAL, LOST), (LEGAL, 0), (LEGAL, 7), (0xffff, 0)];
    dir.write("a.psv", start_positions(&records));
    for (filters, kept, filtered) in [
        (&["--result", "black"][..], &[0, 1][..], json!({"result": 3, "no_result": 1})),
        (&["--result", "draw,white"], &[2, 3, 5], json!({"result": 2, "no_result": 1})),
        (&["--has-move"], &[0, 2, 3, 4], json!({"no_move": 2})),
        (&["--legal-move"], &[0, 3, 4], json!({"no_move": 2, "illegal_move": 1})),
        (
            &["--legal-move", "--result", "black,white,draw"],
            &[0, 3],
            json!({"no_move": 2, "illegal_move": 1, "no_result": 1}),
        ),
        (&["--every", "2"], &[0, 2, 4], json!({"every": 3})),
        (&["--every", "4", "--has-move"], &[0, 4], json!({"every": 4})),
    ] {
        let ran = convert(&dir, "a.psv", "b.psv", &[filters, &["--force", "--json"]].concat());
        assert_eq!(ran.code, Some(0), "{filters:?}: {}", ran.stderr);
        let kept: Vec<(u16, u8)> = kept.iter().map(|&i: &usize| records[i]).collect();
        assert_eq!(dir.read("b.psv"), start_positions(&kept), "{filters:?}");
        assert_eq!(ran.json()["counts"]["filtered"], filtered, "{filters:?}");
    }
}

#[test]
fn lines_without_a_field_and_comments_are_counted_separately() {
    let dir = Dir::new();
    let start = kyokumen::shogi::sfen::START;
    let text = format!("# {start}\n{start}\t2g2f\t10\t1\tb\n{start}\n");
    dir.write("a.sfen", text.as_bytes());
    let filtered = |option: &[&str]| {
        let ran = convert(&dir, "a.sfen", "b.sfen", &[option, &["--force", "--json"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.json()["counts"]["filtered"].clone()
    };
    assert_eq!(filtered(&["--max-abs-eval", "20"]), json!({"comment": 1, "no_eval": 1}));
    assert_eq!(filtered(&["--result", "black"]), json!({"comment": 1, "no_result": 1}));
    assert_eq!(filtered(&["--legal-move"]), json!({"comment": 1, "no_move": 1}));
    assert_eq!(filtered(&["--every", "3"]), json!({"comment": 1, "every": 2}));
}

/// A record that is dropped by its number is not decoded, so it is never bad.
#[test]
fn dropped_records_are_not_decoded() {
    let dir = Dir::new();
    let bytes = archive(Format::Psv, 440);
    dir.write("a.psv", &bytes);
    let ran = convert(&dir, "a.psv", "b.psv", &["--every", "11", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(ran.json()["counts"]["filtered"], json!({"every": 400}));
    let ran = convert(&dir, "a.psv", "c.psv", &["--on-error", "skip", "--json"]);
    assert_eq!(ran.json()["counts"]["bad"]["skipped"], json!(40));
}

/// Good records in psv.
fn good(count: usize) -> Vec<Vec<u8>> {
    records(count, 5).iter().map(|record| encoded(Format::Psv, record)).collect()
}

#[test]
fn a_sample_depends_only_on_seed_and_record_number() {
    let dir = Dir::new();
    let records = good(3000);
    let (head, tail) = records.split_at(1234);
    let inputs = [dir.write("a.psv", head.concat()), dir.write("b.psv", tail.concat())];
    let taken = |probability: f64, seed: u64| -> Vec<u8> {
        let mut random = SplitMix64::new(seed);
        let below = |bits: u64| (bits as f64) < probability * 2_f64.powi(64);
        let taken = records.iter().filter(|_| below(random.next_bits()));
        taken.flatten().copied().collect()
    };
    for (probability, seed, threads) in
        [(0.25, 1, "1"), (0.25, 1, "3"), (0.25, 9, "2"), (0.9, 1, "2")]
    {
        let words =
            ["convert", "-o", "c.psv", "--progress", "none", "--force", "--threads", threads];
        let sample = ["--sample", &probability.to_string(), "--seed", &seed.to_string()];
        dir.kyokumen(words).args(sample).args(&inputs).succeeds();
        assert!(dir.read("c.psv") == taken(probability, seed), "{probability} {seed}");
    }
    // The default seed is 1. Shards of a filter also number records over all inputs.
    for shard in ["1/3", "2/3", "3/3"] {
        let search = ["--progress=none", "--nodes=1", "--hash-mb=1", "--mated=relabel"];
        let taken = ["--to", "hcp", "--sample", "0.25", "--every", "2", "--shard", shard];
        let command = dir.program("gen-filter", &inputs).args(search).args(taken);
        command.args(["-o", "out"]).succeeds();
    }
    let shards = (1..=3).map(|i| dir.read(format!("out/a-0000{i}-of-00003.hcp")));
    let shards: Vec<u8> = shards.flatten().collect();
    let words = ["--sample", "0.25", "--every", "2", "--force", "-o", "c.hcp"];
    converter(&dir).args(words).args(&inputs).succeeds();
    assert!(!shards.is_empty() && shards == dir.read("c.hcp"));
}

#[test]
fn dedup_keeps_the_first_of_equal_positions() {
    let dir = Dir::new();
    let records = good(6000);
    let bytes = records.concat();
    dir.write("a.psv", &bytes);
    let mut seen = std::collections::HashSet::new();
    let first: Vec<u8> = records
        .iter()
        .filter(|record| {
            let setup = RecordRef::new(Format::Psv, record).unwrap().setup().unwrap();
            seen.insert(PositionKey::of(&setup))
        })
        .flatten()
        .copied()
        .collect();
    assert!(seen.len() < 5990, "some openings are repeated: {}", seen.len());
    for threads in ["1", "3"] {
        let options = ["--dedup", "--force", "--json"];
        let words = ["convert", "--progress", "none", "--threads", threads, "a.psv", "-o", "b.psv"];
        let ran = dir.kyokumen(words).args(options).run();
        assert!(dir.read("b.psv") == first);
        let counts = &ran.json()["counts"];
        assert_eq!(counts["written"], json!(seen.len()));
        assert_eq!(counts["filtered"], json!({"duplicate": 6000 - seen.len()}));
    }
    // Lost fields are counted only for written records.
    let ran = convert(&dir, "a.psv", "b.hcpe", &["--dedup", "--json"]);
    assert_eq!(ran.json()["counts"]["lost"], json!({"ply": seen.len()}));
}

#[test]
fn dedup_ends_the_run_when_positions_exceed_the_memory() {
    let dir = Dir::new();
    dir.write("a.psv", good(6000).concat());
    let ran = convert(&dir, "a.psv", "b.psv", &["--dedup", "--memory", "100K"]);
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
psv to psv: records are copied unchanged
error: --memory 100K is full with 2048 positions; increase it, or use `kyokumen dedup`, which does not keep positions in memory

"#]]
    );
    assert_eq!(dir.names(""), ["a.psv"]);
}

#[test]
fn mirror_swaps_left_and_right() {
    let dir = Dir::new();
    let lines = [
        (
            "4k4/9/9/9/9/9/P8/9/4K3L b P2r2b4g4s4n3l16p 1\t9g9f\t-5\t1\td",
            "4k4/9/9/9/9/9/8P/9/L3K4 b P2r2b4g4s4n3l16p 1\t1g1f\t-5\t1\td",
        ),
        (
            "4k4/9/9/9/9/9/9/9/4K4 b P2r2b4g4s4n4l17p 7\tP*2e",
            "4k4/9/9/9/9/9/9/9/4K4 b P2r2b4g4s4n4l17p 7\tP*8e\t-\t7\tu",
        ),
    ];
    let text = |column: fn(&(&str, &str)) -> String| lines.iter().map(column).collect::<String>();
    dir.write("a.sfen", text(|(from, _)| format!("{from}\n")).as_bytes());
    let ran = convert(&dir, "a.sfen", "b.sfen", &["--mirror"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mirrored = dir.text("b.sfen");
    assert_eq!(mirrored, text(|(_, to)| format!("{to}\n")));

    dir.write("a.psv", good(500).concat());
    for (from, to) in [("a.psv", "b.psv"), ("b.psv", "c.hcpe"), ("c.hcpe", "d.hcpe")] {
        assert_eq!(convert(&dir, from, to, &["--mirror"]).code, Some(0));
    }
    let plain = convert(&dir, "b.psv", "e.hcpe", &[]);
    assert_eq!(plain.code, Some(0));
    assert!(dir.read("d.hcpe") == dir.read("e.hcpe"), "mirroring twice gives the original");
    assert!(dir.read("c.hcpe") != dir.read("e.hcpe"));

    dir.write("a.usi", b"startpos moves 7g7f 3c3d 8h2b+\n");
    assert_eq!(convert(&dir, "a.usi", "b.usi", &["--mirror"]).code, Some(0));
    let game = dir.text("b.usi");
    let start = "sfen lnsgkgsnl/1b5r1/ppppppppp/9/9/9/PPPPPPPPP/1R5B1/LNSGKGSNL b - 1";
    assert_eq!(game, format!("{start} moves 3g3f 7c7d 2h8b+\n"));
}

/// A mirrored position has the same number of legal moves, and the stored move is one of them.
#[test]
fn mirrored_records_keep_legal_moves_and_checks() {
    for record in records(300, 3) {
        let mirrored = Record::mirrored(record.clone());
        let position =
            |record: &Record| kyokumen::shogi::Position::try_from(&record.setup).unwrap();
        let (before, after) = (position(&record), position(&mirrored));
        assert_eq!(before.legal_moves().len(), after.legal_moves().len());
        assert_eq!(before.in_check(), after.in_check());
        assert!(after.is_legal(mirrored.best_move.unwrap()));
    }
}

#[test]
fn rules_are_checked_only_with_check_rules() {
    let dir = Dir::new();
    let two_pawns = "4k4/9/9/9/4P4/9/4P4/9/4K4 b 2r2b4g4s4n4l16p 1\t5e5c\t0\t1\td\n";
    dir.write("a.sfen", two_pawns.as_bytes());
    let warnings = |options: &[&str]| -> Value {
        let ran = convert(&dir, "a.sfen", "b.psv", &[options, &["--force", "--json"]].concat());
        assert_eq!(
            ran.json()["check"],
            json!(if options.is_empty() { "structure" } else { "rules" })
        );
        ran.json()["counts"]["warnings"].clone()
    };
    assert_eq!(warnings(&[]), json!({}));
    assert_eq!(warnings(&["--check", "rules"]), json!({"move_illegal": 1, "two_pawns": 1}));
}

#[test]
fn a_configuration_file_sets_the_same_filters() {
    let dir = Dir::new();
    let input = dir.write("a.psv", good(300).concat());
    let config =
        "every = 3\nlegal-move = true\nresult = \"draw\"\nsample = 0.5\nseed = 4\nnodes = 1\n";
    let config = dir.write("c.toml", config.as_bytes());
    let words = ["--progress", "none", "--hash-mb", "1", "-o", "out", "--config"];
    dir.program("gen-filter", words).args([config, input]).succeeds();
    let manifest = dir.json("out/a.manifest.json");
    let settings = &manifest["settings"];
    assert_eq!((&settings["every"], &settings["seed"]), (&json!(3), &json!(4)));
    assert_eq!((&settings["sample"], &settings["result"]), (&json!(0.5), &json!("draw")));
    assert_eq!(manifest["counts"]["filtered"]["every"], json!(200));
}
