//! `kyokumen dataset`. `tests/interop/` reads its files with pyarrow and numpy, `resume.rs` and `killed.rs` test
//! interrupted runs.
//!
//! The literal rows were worked out by hand: squares, piece numbers and mates of a few small positions.

use std::collections::BTreeMap;

use kyokumen::format::Format;
use kyokumen::records::output_kind::OutputKind;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::{Dir, TestCommand};

/// The table formats of this build.
pub(crate) const FORMATS: &[&str] =
    if cfg!(feature = "parquet") { &["jsonl", "npz", "parquet"] } else { &["jsonl", "npz"] };

fn dataset(dir: &Dir, words: &[&str]) -> TestCommand {
    dir.kyokumen(["dataset"]).args(words).args(["--hash-mb", "1", "--progress", "none"])
}

#[track_caller]
fn run(dir: &Dir, words: &[&str], status: i32) {
    dataset(dir, words).exits(&[status]);
}

fn rows(dir: &Dir, name: &str) -> Vec<Value> {
    dir.text(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A mate in one by a drop, and a side that is already mated. The first position has no king of the attacker, so it has
/// no packed form.
const PROBLEMS: &str = "\
4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1
4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2
";

#[test]
fn rows_hold_position_and_solution() {
    let dir = Dir::new();
    dir.write("a.sfen", PROBLEMS);
    run(&dir, &["a.sfen", "-o", "out", "--to", "jsonl", "--tsume-plies"], 0);
    let rows = rows(&dir, "out/a.jsonl");
    // 5b is square 4 × 9 + 1; gold is the seventh kind in hand.
    let (square, gold) = (37, 7);
    let mate_in_one = json!({
        "sfen": "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1", "hcp": null,
        "verdict": "win", "stop": null, "value": 1, "plies": 1, "tsume_plies": 1,
        "move": "G*5b", "move_apery": square | (80 + gold) << 7,
        "move_yaneuraou": square | gold << 7 | 1 << 14,
        "line": ["G*5b"], "proof_nodes": 1, "nodes": 0, "in_check": false,
        "file": "a.sfen", "index": 0, "key": rows[0]["key"], "split": rows[0]["split"],
        "source_move": null, "source_eval_cp": null, "source_ply": 1, "source_result": null,
    });
    assert_eq!(rows[0], mate_in_one);
    let mated = json!({
        "sfen": "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2", "hcp": rows[1]["hcp"],
        "verdict": "loss", "stop": null, "value": -1, "plies": 0, "tsume_plies": 0,
        "move": null, "move_apery": 0, "move_yaneuraou": 0,
        "line": [], "proof_nodes": 0, "nodes": 0, "in_check": true,
        "file": "a.sfen", "index": 1, "key": rows[1]["key"], "split": rows[1]["split"],
        "source_move": null, "source_eval_cp": null, "source_ply": 2, "source_result": null,
    });
    assert_eq!(rows[1], mated);
    assert_eq!(rows[1]["hcp"].as_str().unwrap().len(), 64);
    assert_eq!(rows.len(), 2);
}

#[test]
fn rows_hold_the_fields_of_the_source() {
    let dir = Dir::new();
    let start = kyokumen::shogi::sfen::START;
    let line = format!(
        "{{\"sfen\":\"{start}\",\"move\":\"2g2f\",\"eval\":-37,\"ply\":5,\"result\":\"draw\"}}\n"
    );
    dir.write("a.jsonl", line.as_bytes());
    run(&dir, &["a.jsonl", "-o", "out", "--to", "jsonl", "--split", "0,0,1"], 0);
    let row = &rows(&dir, "out/a.jsonl")[0];
    let keys = ["source_move", "source_eval_cp", "source_ply", "source_result"];
    assert_eq!(
        keys.map(|key| row[key].clone()),
        [json!("2g2f"), json!(-37), json!(5), json!("draw")]
    );
    // The documentation of `ContentHash` states the key of the start position.
    assert_eq!(row["key"], "3b45a485c44f2fea723ce26c5376d45d");
    let rest = ["verdict", "value", "plies", "tsume_plies", "move", "split"];
    let expected =
        [json!("no_mate"), Value::Null, Value::Null, Value::Null, Value::Null, json!("test")];
    assert_eq!(rest.map(|key| row[key].clone()), expected);
}

/// The files in a folder, without manifests.
fn outputs(dir: &Dir, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let names = dir.names(folder).into_iter().filter(|name| !name.ends_with(".manifest.json"));
    names.map(|name| (name.clone(), dir.read(format!("{folder}/{name}")))).collect()
}

#[test]
fn outputs_do_not_depend_on_threads_and_no_other_file_remains() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 600));
    for to in FORMATS {
        let (one, three) = (format!("{to}-1"), format!("{to}-3"));
        for (out, threads) in [(&one, "1"), (&three, "3")] {
            let words = ["a.hcp", "-o", out, "--to", to, "--nodes", "50", "--threads", threads];
            run(&dir, &words, 3);
        }
        let (one, three) = (outputs(&dir, &one), outputs(&dir, &three));
        let names: Vec<&str> = one.keys().map(String::as_str).collect();
        let name = format!("a.{to}");
        let reasons = format!("a{}", OutputKind::QuarantineLines.suffix(to));
        let mut expected = [&*name, "a.quarantine.bin", &reasons];
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(one == three, "{to}");
    }
}

#[test]
fn shards_in_order_equal_the_whole() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 500));
    let words = ["a.psv", "--to", "jsonl", "--nodes", "50", "-o"];
    run(&dir, &[&words[..], &["whole"]].concat(), 3);
    for shard in ["1/3", "2/3", "3/3"] {
        run(&dir, &[&words[..], &["parts", "--shard", shard]].concat(), 3);
    }
    let part = |i| dir.read(format!("parts/a-0000{i}-of-00003.jsonl"));
    let whole = dir.read("whole/a.jsonl");
    assert!(whole == [1, 2, 3].map(part).concat());
    let manifests = (1..=3).map(|i| format!("parts/a-0000{i}-of-00003.manifest.json"));
    dir.kyokumen(["verify", "--manifest"]).args(manifests).succeeds();
}

#[test]
fn equal_positions_get_the_same_split() {
    let dir = Dir::new();
    let records = archive(Format::Psv, 900);
    dir.write("a.psv", &records);
    dir.write("b.psv", [&records[records.len() / 2..], &records].concat());
    let words =
        ["a.psv", "b.psv", "-o", "out", "--to", "jsonl", "--nodes", "1", "--split", "2,1,1"];
    run(&dir, &words, 3);
    let mut splits: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut shares: BTreeMap<String, u32> = BTreeMap::new();
    for row in rows(&dir, "out/a.jsonl") {
        splits.entry(row["key"].to_string()).or_default().push(row["split"].clone());
        *shares.entry(row["split"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    assert!(
        splits
            .values()
            .all(|splits| splits.len() >= 2 && splits.iter().all(|split| *split == splits[0]))
    );
    let [train, valid, test] = ["train", "valid", "test"].map(|split| shares[split]);
    assert!(train > valid && train > test && valid > 300 && test > 300, "{shares:?}");
}

#[test]
fn positions_that_are_not_searched_have_no_row() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 400));
    for (out, option) in [("skipped", ["--in-check", "skip"]), ("all", ["--in-check", "both"])] {
        let words = ["a.hcp", "-o", out, "--to", "jsonl", "--nodes", "1"];
        run(&dir, &[&words[..], &option].concat(), 3);
    }
    let count = |out: &str| dir.json(format!("{out}/a.manifest.json"))["counts"].clone();
    let (skipped, all) = (count("skipped"), count("all"));
    let in_check = rows(&dir, "all/a.jsonl");
    let in_check = in_check.iter().filter(|row| row["in_check"] == true).count();
    assert!(in_check > 0);
    assert_eq!(skipped["filtered"], json!({ "in_check": in_check }));
    assert_eq!(skipped["rows"].as_u64().unwrap() + in_check as u64, all["rows"].as_u64().unwrap());
    assert!(rows(&dir, "skipped/a.jsonl").iter().all(|row| row["in_check"] == false));
}

#[test]
fn invalid_requests_are_refused() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 20));
    dir.write("a.jsonl", b"");
    let mut refused = String::new();
    for words in [
        &["a.hcp", "-o", "out"][..],
        &["a.hcp", "--to", "npz"],
        &["a.hcp", "-o", "out", "--to", "csv"],
        &["a.hcp", "-o", "out", "--to", "npz", "--split", "90,10"],
        &["a.hcp", "-o", "out", "--to", "npz", "--max-abs-eval", "9"],
        &["a.hcp", "-o", "out", "--to", "npz", "--mated", "drop"],
        &["a.jsonl", "-o", ".", "--to", "jsonl"],
    ] {
        refused += &dataset(&dir, words).run().transcript;
    }
    assert!(!dir.join("out").exists());
    run(&dir, &["a.hcp", "-o", "out", "--to", "npz"], 3);
    refused += &dataset(&dir, &["a.hcp", "-o", "out", "--to", "npz"]).run().transcript;
    run(&dir, &["a.hcp", "-o", "out", "--to", "npz", "--force"], 3);
    refused += &dataset(&dir, &["a.hcp", "-o", "out", "--to", "npz", "--resume"]).run().transcript;
    assert_data_eq!(
        refused,
        str![[r#"
status 2
error: the following required arguments were not provided:
  --to <parquet|jsonl|npz>

Usage: kyokumen dataset --output <DIR> --to <parquet|jsonl|npz> --hash-mb <MIB> --progress <auto|bar|plain|json|none> <INPUT>...

For more information, try '--help'.
status 2
error: the following required arguments were not provided:
  --output <DIR>

Usage: kyokumen dataset --output <DIR> --to <parquet|jsonl|npz> --hash-mb <MIB> --progress <auto|bar|plain|json|none> <INPUT>...

For more information, try '--help'.
status 2
error: invalid value 'csv' for '--to <parquet|jsonl|npz>': expected one of parquet, jsonl, npz

For more information, try '--help'.
status 2
error: invalid value '90,10' for '--split <TRAIN,VALID,TEST>': "90,10" is not a list of shares: expected three numbers, not all of them 0, such as 90,5,5

For more information, try '--help'.
status 2
error: --max-abs-eval cannot be used with a.hcp: hcp records have no eval
status 2
error: unexpected argument '--mated' found

Usage: kyokumen dataset --output <DIR> --to <parquet|jsonl|npz> <INPUT>...

For more information, try '--help'.
status 2
error: ./a.jsonl would overwrite the input a.jsonl; choose another output
status 1
error: out/a.npz exists; replace it with --force
status 3
nothing to do: the run has already finished
20 records: 18 rows (18 no mate), 2 bad
  out/a.npz (18 records)
  out/a.quarantine.bin (2 records)
  out/a.quarantine.jsonl (2 records)

"#]]
    );
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_names_the_feature() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 5));
    let transcript = dataset(&dir, &["a.hcp", "-o", "out", "--to", "parquet"]).run().transcript;
    assert_data_eq!(
        transcript,
        str![[r#"
status 2
error: this build does not support Parquet; install it with `cargo install --path . --features parquet`

"#]]
    );
}

#[test]
fn merge_refuses_columnar_files() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 40));
    for shard in ["1/2", "2/2"] {
        for to in ["npz", "jsonl"] {
            let words = ["a.hcp", "-o", to, "--to", to, "--nodes", "5", "--shard", shard];
            run(&dir, &words, 3);
        }
    }
    let merge = |from: &str, to: &str| {
        let words = ["merge", from, "-o", to, "--stream", "rows", "--progress", "none"];
        dir.kyokumen(words).run()
    };
    assert_data_eq!(
        merge("npz", "all.npz").transcript,
        str![[r#"
status 2
error: npz files cannot be merged, because each ends with a list of its columns; join them when you read them

"#]]
    );
    let refusal = dir.line("merge jsonl -o all.jsonl").fails(2);
    let why = "the shards have no output kept; choose quarantine or quarantine_lines or rows with --stream";
    assert!(refusal.contains(why), "{refusal}");
    assert_eq!(merge("jsonl", "all.jsonl").code, Some(0));
    assert_eq!(rows(&dir, "all.jsonl").len(), 36);
}
