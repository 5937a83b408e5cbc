//! Record filters of the commands that move records select the same records as `convert`.

use std::path::Path;

use kyokumen::format::Format;
use serde_json::Value;

use super::{assert_refused, good};
use crate::harness::Dir;

/// Filters that keep some of the records of [`good`].
const FILTERS: [&str; 7] = [
    "--max-abs-eval 700",
    "--quiet",
    "--drop-captures --drop-checks",
    "--drop-promotions --min-ply 10",
    "--result black,draw",
    "--every 3",
    "--sample 0.4 --seed 9",
];

fn counts(dir: &Dir, manifest: &str) -> Value {
    dir.json(manifest)["counts"].clone()
}

#[test]
fn every_command_selects_the_records_that_convert_selects() {
    for extension in ["psv", "plain"] {
        let dir = Dir::new();
        let format = Format::from_extension(extension).unwrap();
        dir.write(format!("a.{extension}"), good(format, 600));
        for filter in FILTERS {
            let run = |line: &str| {
                let line = line.replace(".E", &format!(".{extension}"));
                dir.line(&format!("{line} --force")).succeeds()
            };
            let read = |name: &str| dir.read(format!("{name}.{extension}"));
            let report = run(&format!("convert a.E -o few.E --json {filter}")).text();
            let report: Value = serde_json::from_str(&report).unwrap();
            let expected = read("few");
            assert!(!expected.is_empty() && expected != read("a"), "{extension} {filter}");
            for line in [
                "interleave a.E -o out.E",
                "sample a.E -o out.E --count 600",
                "dedup a.E -o out.E --key bytes",
            ] {
                // The filter is already a sample.
                if line.starts_with("sample") && filter.contains("--sample") {
                    continue;
                }
                run(&format!("{line} {filter}"));
                assert!(read("out") == expected, "{extension} {line} {filter}");
                let counted = counts(&dir, &format!("out.{extension}.manifest.json"));
                assert_eq!(counted["filtered"], report["counts"]["filtered"], "{line} {filter}");
            }
            let settings = &dir.json(format!("out.{extension}.manifest.json"))["settings"];
            let option = filter.trim_start_matches('-').split(' ').next().unwrap();
            assert!(!settings[option].is_null(), "{filter}: {settings}");
            for line in ["--parts 1", "--parts 1 --by ranges", "--size 1G", "--records 1000"] {
                run(&format!("split a.E -o p --name out {line} {filter}"));
                assert!(read("p/out-00001-of-00001") == expected, "{extension} {line} {filter}");
            }
            // The place of a record depends only on its number, so the order of both operations does not matter.
            if !filter.contains("--every") && !filter.contains("--sample") {
                run("shuffle a.E -o whole.E");
                run(&format!("convert whole.E -o few.E {filter}"));
                run(&format!("shuffle a.E -o out.E --memory 4K {filter}"));
                assert!(read("out") == read("few"), "{extension} {filter}");
                run(&format!("convert a.E -o few.E {filter}"));
                for (first, second) in [("few", ""), ("a", filter)] {
                    let average = if extension == "plain" { "" } else { "--average" };
                    run(&format!("dedup {first}.E -o {first}-mean.E {average} {second}"));
                }
                assert!(read("few-mean") == read("a-mean"), "{extension} {filter}");
            }
        }
    }
}

#[test]
fn numbers_count_over_all_inputs_of_interleave() {
    let dir = Dir::new();
    let bytes = good(Format::Psv, 500);
    dir.write("a.psv", &bytes[..301 * 40]);
    dir.write("b.psv", &bytes[301 * 40..]);
    for filter in ["--every 7", "--sample 0.3"] {
        dir.line(&format!("convert a.psv b.psv -o few.psv --force {filter}")).succeeds();
        for weights in ["", "--weights 1,2"] {
            let line = format!("interleave a.psv b.psv -o out.psv --force {weights} {filter}");
            dir.line(&line).succeeds();
            let sorted = |name: &str| {
                let bytes = dir.read(name);
                let mut records: Vec<_> = bytes.chunks(40).map(<[u8]>::to_vec).collect();
                records.sort();
                records
            };
            assert!(sorted("out.psv") == sorted("few.psv"), "{line}");
        }
    }
}

#[test]
fn filters_of_games_keep_whole_games() {
    let dir = Dir::new();
    for extension in ["csa", "sbinpack", "hcpe3"] {
        let sample = format!("data/sample.{extension}");
        let sample = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(sample)).unwrap();
        let name = format!("a.{extension}");
        dir.write(&name, sample);
        for result in ["black", "white", "draw"] {
            let filter = format!("--result {result} --force");
            dir.line(&format!("convert {name} -o few-{name} {filter}")).exits(&[0, 3]);
            dir.line(&format!("interleave {name} -o out-{name} {filter}")).exits(&[0, 3]);
            let (out, few) = (dir.read(format!("out-{name}")), dir.read(format!("few-{name}")));
            assert!(out == few, "{name} {result}");
        }
        let words = ["shuffle", &name, "-o", "b", "--to", extension, "--max-abs-eval", "5"];
        assert_refused(&dir, &words, "--max-abs-eval cannot be used, because");
    }
    dir.write("a.hcp", good(Format::Hcp, 3));
    let words = ["dedup", "a.hcp", "-o", "b.hcp", "--max-abs-eval", "5"];
    assert_refused(
        &dir,
        &words,
        "--max-abs-eval cannot be used with a.hcp: hcp records have no eval",
    );
    let words = ["sample", "a.hcp", "-o", "b.hcp", "--rate", "0.5", "--sample", "0.5"];
    assert_refused(&dir, &words, "cannot be used with");
}

#[test]
fn the_summary_counts_the_records_of_each_condition() {
    let dir = Dir::new();
    let plain = |position: &str, best_move: &str, score: i32| {
        format!("sfen {position}\nmove {best_move}\nscore {score}\nply 1\nresult 1\ne\n")
    };
    let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";
    let open = "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3";
    let few = "4k4/9/9/9/9/9/9/4K4/8R b G 1";
    let records = [
        plain(start, "2g2f", 1),
        // A capture and a promotion.
        plain(open, "8h2b+", 2),
        // A promotion.
        plain(few, "1i1c+", 3),
        // A check.
        plain(few, "G*5b", 4),
        // A capture.
        plain(open, "8h2b", 5),
        // An illegal move.
        plain(start, "2g2e", 6),
    ];
    dir.write("a.plain", records.concat());
    for (filter, kept, summary) in [
        ("--drop-captures", &[0, 2, 3][..], "2 capture, 1 illegal_move"),
        ("--drop-promotions", &[0, 3, 4], "2 promotion, 1 illegal_move"),
        ("--drop-checks", &[0, 1, 2, 4], "1 check, 1 illegal_move"),
        ("--quiet", &[0], "4 not_quiet, 1 illegal_move"),
        ("--drop-checks --drop-promotions --max-abs-eval 2", &[0], "4 max_abs_eval, 1 promotion"),
    ] {
        let expected: String = kept.iter().map(|&record| &*records[record]).collect();
        for command in ["convert", "dedup --key bytes", "interleave"] {
            let line = format!("{command} a.plain -o b.plain --force {filter}");
            let message = dir.line(&line).succeeds().stderr;
            assert_eq!(dir.text("b.plain"), expected, "{line}");
            let mut conditions: Vec<_> = summary.split(", ").collect();
            let found = message.lines().find_map(|line| line.strip_prefix("  filtered: ")).unwrap();
            let mut found: Vec<_> = found.split(", ").collect();
            found.sort_unstable();
            conditions.sort_unstable();
            assert_eq!(found, conditions, "{line}");
            let total = format!("{} filtered", 6 - kept.len());
            assert!(message.contains(&total), "{message}");
        }
    }
}

#[test]
fn a_sample_says_that_its_records_stay_in_the_inputs() {
    let dir = Dir::new();
    dir.write("a.psv", good(Format::Psv, 20));
    let message = dir.line("sample a.psv -o b.psv --count 5").succeeds().stderr;
    assert!(message.contains("note: the drawn records are still in the inputs"), "{message}");
    assert!(message.contains("split --by game"), "{message}");
    // Without moves, games cannot be recognised.
    dir.line("convert a.psv -o a.hcp").succeeds();
    let message = dir.line("sample a.hcp -o b.hcp --count 5").succeeds().stderr;
    assert!(message.contains("split --by position"), "{message}");
}

#[test]
fn an_output_without_extension_takes_its_format_from_to() {
    let dir = Dir::new();
    dir.write("a.psv", good(Format::Psv, 20));
    for command in ["shuffle", "dedup --key bytes", "sample --rate 1", "interleave", "convert"] {
        let (name, options) = command.split_once(' ').unwrap_or((command, ""));
        for (to, file) in [("psv", "x.bin"), ("psv.zst", "y.bin")] {
            let line = format!("{name} a.psv -o {file} --to {to} --force {options}");
            dir.line(&line).succeeds();
            let bytes = dir.read(file);
            let bytes = if to == "psv" { bytes } else { zstd::decode_all(&*bytes).unwrap() };
            assert_eq!(bytes.len(), 20 * 40, "{line}");
        }
    }
    dir.line("generate --count 20 -o g.bin --to psv").succeeds();
    assert_eq!(dir.read("g.bin").len(), 20 * 40);
    let words = ["shuffle", "a.psv", "-o", "z.bin", "--to", "hcpe"];
    assert_refused(&dir, &words, "does not change the format; use `kyokumen convert`");
}
