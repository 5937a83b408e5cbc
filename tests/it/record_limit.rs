//! `--limit` reads the first records and no others, in every command that reads records.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::archive::{archive, write};

const RECORDS: usize = 90;

fn run(folder: &Path, words: &str) -> (String, String) {
    let words: Vec<&str> = words.split(' ').collect();
    let output =
        Command::new(cargo_bin("kyokumen")).args(&words).current_dir(folder).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    // 3: bad records, of which the archives of these tests have some.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{words:?}: {said}");
    (String::from_utf8(output.stdout).unwrap(), said)
}

/// Two archives, of which one cannot be counted without being read, and the first 100 of their records.
fn archives() -> TempDir {
    let folder = TempDir::new().unwrap();
    let bytes = archive(Format::Psv, RECORDS);
    write(folder.path(), "a.psv", &bytes);
    write(folder.path(), "c.psv", &[&bytes[..], &bytes[..10 * 40]].concat());
    fs::write(folder.path().join("b.psv.gz"), {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        gzip.finish().unwrap()
    })
    .unwrap();
    write(folder.path(), "b.psv", &bytes);
    folder
}

fn json_of(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_job_reads_so_many_records_and_its_shards_share_them() {
    let folder = archives();
    let folder = folder.path();
    let settings = "--nodes 20 --hash-mb 1 --name x --progress none";
    run(folder, &format!("filter c.psv -o expected {settings}"));
    let expected = fs::read(folder.join("expected/x.psv")).unwrap();
    for second in ["b.psv", "b.psv.gz"] {
        run(folder, &format!("filter a.psv {second} -o {second}.d --limit 100 {settings}"));
        let out = folder.join(format!("{second}.d"));
        assert!(fs::read(out.join("x.psv")).unwrap() == expected, "{second}");
        let manifest = json_of(&out.join("x.manifest.json"));
        assert_eq!(
            (&manifest["counts"]["input"], &manifest["settings"]["limit"]),
            (&json!(100), &json!(100))
        );
        for shard in 1..=3 {
            let words = format!(
                "filter a.psv {second} -o shards --limit 100 --shard {shard}/3 --force {settings}"
            );
            run(folder, &words);
        }
        run(folder, "merge shards -o merged.psv --force");
        assert!(fs::read(folder.join("merged.psv")).unwrap() == expected, "shards of {second}");
    }
    // A second pass reads as many.
    let again =
        "filter --retry-unknown b.psv.d/x.manifest.json -o again --nodes 20 --progress none";
    run(folder, again);
    assert!(fs::read(folder.join("again/x.psv")).unwrap() == expected);
}

#[test]
fn other_commands_read_so_many_records() {
    let folder = archives();
    let folder = folder.path();
    for (words, key, expected) in [
        ("stats a.psv b.psv --limit 100 --json", "records", 100),
        ("verify a.psv --limit 7 --json", "records", 7),
        ("verify b.psv.gz --limit 7 --json", "records", 7),
    ] {
        let (report, _) = run(folder, words);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report[key], expected, "{words}");
    }
    let (_, said) = run(folder, "solve b.psv.gz --limit 7 --nodes 10 --hash-mb 1");
    assert!(said.contains("\n7 records: "), "{said}");
    run(
        folder,
        "dataset a.psv -o rows --to jsonl --limit 5 --nodes 10 --hash-mb 1 --progress none",
    );
    let manifest = json_of(&folder.join("rows/a.manifest.json"));
    assert_eq!(manifest["counts"]["input"], 5);
}

#[test]
fn figures_are_those_of_the_records_that_were_asked_for() {
    let folder = archives();
    let folder = folder.path();
    let filters = "--max-abs-eval 20000 --min-ply 5 --drop-in-check --every 2";
    run(folder, &format!("convert a.psv -o quiet.psv --on-error skip {filters}"));
    let report = |words: &str| -> Value { serde_json::from_str(&run(folder, words).0).unwrap() };
    let expected = report("stats quiet.psv --json");
    let found = report(&format!("stats a.psv --json {filters}"));
    assert!(expected["good"].as_u64() > Some(5));
    for key in ["good", "distinct", "evals", "plies", "results", "moves", "pieces", "in_check"] {
        assert_eq!(found[key], expected[key], "{key}");
    }
    assert!(found["filtered"]["every"].as_u64() > Some(10), "{}", found["filtered"]);
}
