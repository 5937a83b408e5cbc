//! `solve --split`: one position in several shards, joined by `merge`.

use std::fs;

use kyokumen::storage::checksum::Sha256Sum;
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::harness::Dir;

/// A mate in 23 plies.
const MATE: &str = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161";

/// Enough for the leaves on the way to this mate.
const ENOUGH: [&str; 2] = ["--nodes", "4000"];

/// The only check is a knight drop, the only reply captures it and mates Black.
const REFUTED: &str = "7lk/7np/4r4/9/9/9/9/6P1P/6LKL b Nr2b4g4s2nl15p 1";

fn split(dir: &Dir, sfen: &str, plies: u16, shard: &str, more: &[&str]) -> String {
    let plies = plies.to_string();
    let words = ["solve", sfen, "--split", &plies, "-o", "out", "--shard", shard];
    let words = [&words[..], &["--hash-mb", "8", "--progress", "none"], more].concat();
    dir.kyokumen(words).succeeds().stderr
}

/// The shards of a position in `out`.
fn shards(sfen: &str, plies: u16, count: u32, more: &[&str]) -> Dir {
    let dir = Dir::new();
    for index in 1..=count {
        split(&dir, sfen, plies, &format!("{index}/{count}"), more);
    }
    dir
}

/// The claims of a proof file that `verify` accepts.
fn verified(dir: &Dir, file: &str) -> Value {
    dir.kyokumen(["verify", "--json", "--proof", file]).succeeds().json()
}

/// The leaves of all shards, in order.
fn rows(dir: &Dir, count: u32) -> Vec<Value> {
    let files = (1..=count).map(|i| format!("out/leaves-{i:05}-of-{count:05}.jsonl"));
    let texts: Vec<_> = files.map(|file| dir.text(file)).collect();
    let rows = texts.iter().flat_map(|text| text.lines());
    rows.map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn joined_shards_prove_the_mate() {
    // The leaves are attacks after two plies, defences after three.
    for (plies, verdict) in [(2, "win"), (3, "loss")] {
        let dir = shards(MATE, plies, 3, &ENOUGH);
        let rows = rows(&dir, 3);
        let leaves: Vec<_> = dir.text("out/leaves.sfen").lines().map(str::to_owned).collect();
        let solved: Vec<_> = rows.iter().map(|row| row["sfen"].as_str().unwrap()).collect();
        assert_eq!(solved, leaves);
        assert!(rows.iter().any(|row| row["verdict"] == verdict), "{rows:?}");
        let message = dir.line("merge out -o mate.proofs").succeeds().stderr;
        assert!(message.starts_with("win within "), "{message}");
        let report = verified(&dir, "mate.proofs");
        assert_eq!((&report["win"], &report["proofs"]), (&1.into(), &1.into()));
        assert!(dir.text("mate.proofs").contains(&format!("\t{MATE}\n")));
        dir.line("verify --manifest").args(manifests(3)).succeeds();
    }
}

fn manifests(count: u32) -> Vec<String> {
    (1..=count).map(|i| format!("out/leaves-{i:05}-of-{count:05}.manifest.json")).collect()
}

#[test]
fn the_proof_does_not_depend_on_the_number_of_shards() {
    let proofs = [1, 3].map(|count| {
        let dir = shards(MATE, 2, count, &ENOUGH);
        dir.line("merge out -o mate.proofs").succeeds();
        dir.text("mate.proofs")
    });
    assert!(proofs[0] == proofs[1]);
}

/// Every check of this position can be answered.
const NO_MATE: &str = "8k/9/4r4/9/9/9/9/7P1/7LK b R2b4g4s4n3l17p 1";

#[test]
fn no_mate_needs_a_disproof_of_every_check() {
    for (sfen, verdict) in [(NO_MATE, "no_mate"), (REFUTED, "loss")] {
        let dir = shards(sfen, 2, 2, &[]);
        assert!(rows(&dir, 2).iter().any(|row| row["verdict"] == verdict));
        let message = dir.line("merge out -o none.proofs").succeeds().stderr;
        assert!(message.starts_with("no mate\n"), "{message}");
        assert_eq!(verified(&dir, "none.proofs")["proofs"], 0);
    }
}

#[test]
fn undecided_leaves_leave_the_position_unknown() {
    let dir = shards(MATE, 2, 2, &["--nodes", "1"]);
    let message = dir.line("merge out -o open.proofs").succeeds().stderr;
    let unknown = rows(&dir, 2).iter().filter(|row| row["verdict"] == "unknown").count();
    assert!(unknown > 0);
    assert!(message.starts_with(&format!("unknown: {unknown} positions undecided")), "{message}");
    assert_eq!(verified(&dir, "open.proofs")["proofs"], 0);
}

#[test]
fn a_missing_shard_is_named() {
    let dir = shards(MATE, 2, 3, &ENOUGH);
    fs::remove_file(dir.join("out/leaves-00002-of-00003.manifest.json")).unwrap();
    let message = dir.line("merge out -o mate.proofs").fails(1);
    assert!(message.contains("leaves-00002-of-00003"), "{message}");
    assert!(!dir.join("mate.proofs").exists());
}

/// Replaces text in the proofs of the only shard, and the size and the checksum in its manifest.
fn forge(dir: &Dir, from: &str, to: &str) {
    let [proofs, manifest] =
        ["proofs", "manifest.json"].map(|end| format!("out/leaves-00001-of-00001.{end}"));
    let text = dir.text(&proofs);
    let forged = text.replace(from, to);
    assert_ne!(text, forged);
    let mut json = dir.json(&manifest);
    let outputs = json["outputs"].as_array_mut().unwrap();
    let output = outputs.iter_mut().find(|output| output["stream"] == "proofs").unwrap();
    output["bytes"] = forged.len().into();
    output["sha256"] = serde_json::to_value(Sha256Sum::of(forged.as_bytes())).unwrap();
    dir.write(&proofs, forged);
    dir.write(&manifest, json.to_string());
}

#[test]
fn a_forged_proof_gives_no_mate() {
    let dir = shards(MATE, 2, 1, &ENOUGH);
    dir.line("merge out -o honest.proofs").succeeds();
    let leaves = dir.text("out/leaves-00001-of-00001.proofs");
    let honest = dir.text("honest.proofs");
    let is_last = |line: &&str| line.ends_with("\t1") && leaves.contains(line);
    let last = honest.lines().rfind(is_last).unwrap();
    // The last move of a mate becomes a move to another square.
    let (sfen, _) = last.strip_prefix("step\t").unwrap().split_once('\t').unwrap();
    forge(&dir, last, &format!("step\t{sfen}\t1i1h\t1"));
    let message = dir.line("merge out -o mate.proofs").fails(1);
    assert!(message.contains("the joined proof does not prove the mate"), "{message}");
    assert!(!dir.join("mate.proofs").exists());
}

#[test]
fn a_split_search_can_be_repeated_and_resumed() {
    let dir = Dir::new();
    split(&dir, MATE, 2, "1/2", &ENOUGH);
    let first = dir.read("out/leaves-00001-of-00002.proofs");
    let repeated = split(&dir, MATE, 2, "1/2", &[&ENOUGH[..], &["--resume"]].concat());
    assert!(repeated.starts_with("nothing to do: shard 1/2 has already finished"), "{repeated}");
    split(&dir, MATE, 2, "1/2", &[&ENOUGH[..], &["--force"]].concat());
    assert!(first == dir.read("out/leaves-00001-of-00002.proofs"));
    // Another machine has its own copy of the leaves.
    fs::remove_file(dir.join("out/leaves.sfen")).unwrap();
    split(&dir, MATE, 2, "2/2", &ENOUGH);
    dir.line("merge out -o mate.proofs").succeeds();
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let dir = Dir::new();
    let fails = |words: &[&str]| {
        let words = [&["solve", "--progress", "none"], words].concat();
        dir.kyokumen(words).fails(2)
    };
    let out = ["-o", "out", "--shard", "1/2"];
    assert_data_eq!(
        fails(&[&[MATE, "--split", "0"], &out[..]].concat()),
        str![[r#"
error: invalid value '0' for '--split <K>': expected a whole number from 1 to 65535

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        fails(&[&[MATE, "--split", "9"], &out[..]].concat()),
        str![[r#"
error: there are more than 262144 positions after 8 plies; split after fewer plies

"#]]
    );
    assert_data_eq!(
        fails(&[&["problems.sfen", "--split", "2"], &out[..]].concat()),
        str![[r#"
error: --split needs one SFEN on the command line, not a file

"#]]
    );
    assert_data_eq!(
        fails(&[MATE, "--split", "2", "--shard", "1/2"]),
        str![[r#"
error: the following required arguments were not provided:
  --output <DIR>

Usage: kyokumen solve [OPTIONS] [SFEN | FILE | -]

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        fails(&[MATE, "--split", "2", "-o", "out"]),
        str![[r#"
error: the following required arguments were not provided:
  --shard <I/N|auto[/N]>

Usage: kyokumen solve [OPTIONS] [SFEN | FILE | -]

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        fails(&[MATE, "--shard", "1/2"]),
        str![[r#"
error: the following required arguments were not provided:
  --output <DIR>
  --split <K>

Usage: kyokumen solve [OPTIONS] [SFEN | FILE | -]

For more information, try '--help'.

"#]]
    );
    let mate_in_one = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    assert_data_eq!(
        fails(&[&[mate_in_one, "--split", "2"], &out[..]].concat()),
        str![[r#"
error: these first plies already decide the position, so there is nothing to split

"#]]
    );
    assert!(!dir.join("out").exists());
    split(&dir, MATE, 2, "1/2", &ENOUGH);
    let other = dir.kyokumen([&["solve", MATE, "--split", "3"], &out[..]].concat()).fails(1);
    assert_data_eq!(
        other,
        str![[r#"
error: out/leaves.sfen has the leaves of another position or of other plies; choose another folder

"#]]
    );
}
