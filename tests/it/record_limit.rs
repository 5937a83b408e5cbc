//! `--limit` reads only the first records, in every command that reads records.

use kyokumen::format::Format;
use serde_json::json;

use crate::archive::archive;
use crate::harness::Dir;

const RECORDS: usize = 90;

/// Two archives and the first 100 of their records in `c.psv`. The records of `b.psv.gz` cannot be counted without
/// reading it.
fn archives() -> Dir {
    let dir = Dir::new();
    let bytes = archive(Format::Psv, RECORDS);
    dir.write("a.psv", &bytes);
    dir.write("c.psv", [&bytes[..], &bytes[..10 * 40]].concat());
    dir.write("b.psv.gz", {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes).unwrap();
        gzip.finish().unwrap()
    });
    dir.write("b.psv", &bytes);
    dir
}

#[test]
fn a_limited_filter_and_its_shards_read_the_first_records() {
    let dir = archives();
    let settings = "--nodes 20 --hash-mb 1 --name x --progress none";
    dir.line(&format!("filter c.psv -o expected {settings}")).exits(&[0, 3]);
    let expected = dir.read("expected/x.psv");
    for second in ["b.psv", "b.psv.gz"] {
        dir.line(&format!("filter a.psv {second} -o {second}.d --limit 100 {settings}"))
            .exits(&[0, 3]);
        assert!(dir.read(format!("{second}.d/x.psv")) == expected, "{second}");
        let manifest = dir.json(format!("{second}.d/x.manifest.json"));
        assert_eq!(
            (&manifest["counts"]["input"], &manifest["settings"]["limit"]),
            (&json!(100), &json!(100))
        );
        for shard in 1..=3 {
            let words = format!(
                "filter a.psv {second} -o shards --limit 100 --shard {shard}/3 --force {settings}"
            );
            dir.line(&words).exits(&[0, 3]);
        }
        dir.line("merge shards -o merged.psv --force").exits(&[0, 3]);
        assert!(dir.read("merged.psv") == expected, "shards of {second}");
    }
    // A second pass has the same limit.
    let again =
        "filter --retry-unknown b.psv.d/x.manifest.json -o again --nodes 20 --progress none";
    dir.line(again).exits(&[0, 3]);
    assert!(dir.read("again/x.psv") == expected);
}

#[test]
fn other_commands_read_only_the_first_records() {
    let dir = archives();
    for (words, key, expected) in [
        ("stats a.psv b.psv --limit 100 --json", "records", 100),
        ("verify a.psv --limit 7 --json", "records", 7),
        ("verify b.psv.gz --limit 7 --json", "records", 7),
    ] {
        let report = dir.line(words).exits(&[0, 3]).json();
        assert_eq!(report[key], expected, "{words}");
    }
    let message = dir.line("solve b.psv.gz --limit 7 --nodes 10 --hash-mb 1").exits(&[0, 3]).stderr;
    assert!(message.contains("\n7 records: "), "{message}");
    dir.line("dataset a.psv -o rows --to jsonl --limit 5 --nodes 10 --hash-mb 1 --progress none")
        .exits(&[0, 3]);
    let manifest = dir.json("rows/a.manifest.json");
    assert_eq!(manifest["counts"]["input"], 5);
}

#[test]
fn stats_with_filters_equal_stats_of_the_filtered_archive() {
    let dir = archives();
    let filters = "--max-abs-eval 20000 --min-ply 5 --drop-in-check --every 2";
    dir.line(&format!("convert a.psv -o quiet.psv --on-error skip {filters}")).exits(&[0, 3]);
    let report = |words: &str| dir.line(words).exits(&[0, 3]).json();
    let expected = report("stats quiet.psv --json");
    let found = report(&format!("stats a.psv --json {filters}"));
    assert!(expected["good"].as_u64() > Some(5));
    for key in ["good", "distinct", "evals", "plies", "results", "moves", "pieces", "in_check"] {
        assert_eq!(found[key], expected[key], "{key}");
    }
    assert!(found["filtered"]["every"].as_u64() > Some(10), "{}", found["filtered"]);
}
