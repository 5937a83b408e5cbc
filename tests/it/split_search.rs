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
    // The leaves are attacks after two plies, defences after one and three.
    for (plies, verdict) in [(1, "loss"), (2, "win"), (3, "loss")] {
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
    for (sfen, plies, verdict) in [
        (NO_MATE, 1, "no_mate"),
        (NO_MATE, 2, "no_mate"),
        (NO_MATE, 3, "no_mate"),
        (REFUTED, 2, "loss"),
    ] {
        let dir = shards(sfen, plies, 2, &[]);
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
fn leaves_beyond_the_depth_limit_are_unknown() {
    let dir = shards(MATE, 2, 1, &["--depth", "3"]);
    assert!(rows(&dir, 1).iter().any(|row| row["stop"] == "depth"));
    let message = dir.line("merge out -o open.proofs").succeeds().stderr;
    assert!(message.starts_with("unknown: "), "{message}");
}

#[test]
fn shards_with_different_limits_are_refused() {
    let dir = Dir::new();
    split(&dir, MATE, 2, "1/2", &ENOUGH);
    split(&dir, MATE, 2, "2/2", &["--nodes", "4001"]);
    let message = dir.line("merge out -o mate.proofs").fails(1);
    let expected =
        "shard 2/2 belongs to a different run: settings.nodes is 4001, but 4000 in shard 1/2";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn only_a_proof_file_is_joined() {
    let dir = shards(NO_MATE, 2, 1, &[]);
    let fails = |words: &str| dir.line(&format!("merge out {words}")).fails(2);
    assert_data_eq!(
        fails("-o a.proofs --to hcp"),
        str![[r#"
error: the shards of a split position are joined into a proof file, but --to means hcp

"#]]
    );
    assert_data_eq!(
        fails("-o a.hcp"),
        str![[r#"
error: the shards of a split position are joined into a proof file, but the extension of a.hcp means hcp

"#]]
    );
    assert_data_eq!(
        fails("-o a.proofs --stream kept"),
        str![[r#"
error: the shards have no output kept; choose proofs or rows with --stream

"#]]
    );
    assert_eq!(dir.names(""), ["out"]);
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
fn hostile_proofs_are_refused() {
    // The first proof of a mate gets too many plies; a line follows the last proof.
    for (has_plies, expected) in [
        (true, "expected at most 4096 plies, found 65535"),
        (false, "expected the end of the file after "),
    ] {
        let dir = shards(MATE, 2, 1, &ENOUGH);
        let proofs = dir.text("out/leaves-00001-of-00001.proofs");
        let (from, to) = if has_plies {
            let head = proofs.lines().find(|line| line.contains("\twin\t")).unwrap();
            let mut fields: Vec<_> = head.split('\t').collect();
            fields[3] = "65535";
            (head, fields.join("\t"))
        } else {
            (&*proofs, format!("{proofs}\n"))
        };
        forge(&dir, from, &to);
        let message = dir.line("merge out -o mate.proofs").fails(1);
        assert!(message.contains("out/leaves-00001-of-00001.proofs: "), "{message}");
        assert!(message.contains(expected), "{message}");
    }
    let dir = shards(REFUTED, 2, 1, &[]);
    let proofs = dir.text("out/leaves-00001-of-00001.proofs");
    let leaf = proofs.lines().next().unwrap().rsplit('\t').next().unwrap();
    forge(&dir, leaf, "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    let message = dir.line("merge out -o none.proofs").fails(1);
    assert!(message.contains("it has a legal move and is not in check"), "{message}");
}

#[test]
fn hostile_manifests_are_refused_or_their_counts_are_bounded() {
    let dir = shards(NO_MATE, 2, 2, &[]);
    let honest: Vec<_> = manifests(2).into_iter().map(|name| (dir.json(&name), name)).collect();
    let forge = |change: fn(&mut Value)| {
        for (manifest, name) in &honest {
            let mut manifest = manifest.clone();
            change(&mut manifest);
            dir.write(name, manifest.to_string());
        }
    };
    forge(|manifest| manifest["counts"]["nodes"] = u64::MAX.into());
    let message = dir.line("merge out -o none.proofs").succeeds().stderr;
    assert!(message.contains("18,446,744,073,709,551,615 nodes"), "{message}");
    let fails = || dir.line("merge out -o other.proofs").fails(1);
    forge(|manifest| drop(manifest["settings"].as_object_mut().unwrap().remove("sfen")));
    assert_data_eq!(
        fails(),
        str![[r#"
error: out/leaves-00001-of-00002.manifest.json: settings.sfen is missing

"#]]
    );
    forge(|manifest| manifest["settings"]["sfen"] = "9/9 b - 1".into());
    assert_data_eq!(
        fails(),
        str![[r#"
error: out/leaves-00001-of-00002.manifest.json: settings.sfen: character 4: found ' ', expected / and the next rank

"#]]
    );
    forge(|manifest| manifest["settings"]["split"] = u16::MAX.into());
    assert_data_eq!(
        fails(),
        str![[r#"
error: out/leaves-00001-of-00002.manifest.json: settings.split: expected a number from 1 to 64

"#]]
    );
}

#[test]
fn the_leaves_of_a_running_shard_are_not_replaced() {
    let dir = Dir::new();
    split(&dir, NO_MATE, 2, "1/2", &[]);
    let leaves = dir.text("out/leaves.sfen");
    let owner = r#"{"host":"a-machine-far-away","pid":17,"shard":"2/2"}"#;
    let lock = dir.write("out/leaves-00002-of-00002.lock", owner);
    let words = ["solve", NO_MATE, "--split", "1", "-o", "out", "--shard", "1/4", "--force"];
    assert_data_eq!(
        dir.kyokumen(words).fails(1),
        str![[r#"
error: out/leaves-00002-of-00002 is being written by another process

"#]]
    );
    assert_eq!(dir.text("out/leaves.sfen"), leaves);
    fs::remove_file(lock).unwrap();
    split(&dir, NO_MATE, 1, "1/4", &["--force"]);
    assert_ne!(dir.text("out/leaves.sfen"), leaves);
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
error: invalid value '0' for '--split <K>': expected a whole number from 1 to 64

For more information, try '--help'.

"#]]
    );
    assert_data_eq!(
        fails(&[&[MATE, "--split", "9"], &out[..]].concat()),
        str![[r#"
error: there are more than 262144 positions in the first 8 plies; split after fewer plies

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
error: the first 2 plies already decide the position (win within 1 ply); solve it without a split

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
