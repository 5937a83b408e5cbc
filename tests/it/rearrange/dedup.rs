//! `dedup`: records that repeat an earlier one.

use std::collections::{BTreeSet, HashSet};

use kyokumen::format::{Format, PositionKey, RecordRef};

use super::{assert_refused, file, good, in_chunks, write_input};
use crate::archive::{encoded, records};
use crate::harness::Dir;

/// The first of the records with equal keys, in order.
fn firsts(bytes: &[u8], format: Format, key: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut seen = HashSet::new();
    let chunks = in_chunks(format, bytes);
    chunks.into_iter().filter(|chunk| seen.insert(key(chunk))).flatten().collect()
}

/// Records that partly repeat earlier ones, with the same or with other bytes.
fn repeated(format: Format) -> Vec<u8> {
    let records = records(400, 42);
    let mut bytes = Vec::new();
    for (i, record) in records.iter().enumerate() {
        let mut other = records[i / 2].clone();
        match i % 4 {
            0 => other.best_move = record.best_move,
            1 => other.eval_cp = Some(i16::try_from(i % 7).unwrap()),
            _ => {}
        }
        let mut chunk = encoded(format, &other);
        if format == Format::Psv && i % 5 == 0 {
            chunk[39] = 77;
        }
        bytes.extend(encoded(format, record));
        bytes.extend(chunk);
    }
    bytes
}

fn position(format: Format, chunk: &[u8]) -> PositionKey {
    let line = chunk.strip_suffix(b"\n").unwrap_or(chunk);
    RecordRef::new(format, line).unwrap().position_key().unwrap()
}

#[test]
fn the_first_of_equal_records_is_kept() {
    for format in [Format::Hcp, Format::Hcpe, Format::Psv, Format::Sfen] {
        let dir = Dir::new();
        let (input, output) = (format!("a.{format}"), format!("b.{format}"));
        let bytes = repeated(format);
        dir.write(&input, &bytes);
        let record = |chunk: &[u8]| {
            let line = chunk.strip_suffix(b"\n").unwrap_or(chunk);
            RecordRef::new(format, line).unwrap().record().unwrap()
        };
        let positions = firsts(&bytes, format, |chunk| position(format, chunk).bytes().to_vec());
        let moves = firsts(&bytes, format, |chunk| {
            format!("{:?} {:?}", position(format, chunk), record(chunk).best_move).into_bytes()
        });
        let contents = firsts(&bytes, format, |chunk| format!("{:?}", record(chunk)).into_bytes());
        let whole = firsts(&bytes, format, <[u8]>::to_vec);
        let mut sizes = Vec::new();
        for (key, expected) in [
            ("position", positions),
            ("position+move", moves),
            ("content", contents),
            ("bytes", whole),
        ] {
            if format == Format::Hcp && key == "position+move" {
                let words = ["dedup", &input, "-o", "c.hcp", "--key", key];
                assert_refused(&dir, &words, "hcp records have no move");
                continue;
            }
            for (memory, threads) in [("1G", "1"), ("20K", "2"), ("100", "3")] {
                let words = ["dedup", &input, "-o", &output, "--key", key, "--force"];
                let more = ["--memory", memory, "--threads", threads, "--tmp-dir", "."];
                dir.kyokumen([&words[..], &more].concat()).succeeds();
                assert!(file(&dir, &output) == expected, "{format} {key} {memory}");
            }
            sizes.push(expected.len());
            let counts = &dir.json(format!("{output}.manifest.json"))["counts"];
            let left_out = counts["filtered"]["duplicate"].as_u64().unwrap();
            assert_eq!(counts["written"].as_u64().unwrap() + left_out, 800);
        }
        // Each key distinguishes more records than the previous one.
        assert!(sizes.is_sorted() && sizes[0] < bytes.len(), "{format}: {sizes:?}");
        assert!(format == Format::Hcp || sizes[0] < sizes[1] && sizes[1] < sizes[2]);
    }
}

#[test]
fn games_are_compared_by_their_bytes() {
    for extension in ["csa", "kif", "usi", "hcpe3", "pack", "sbinpack"] {
        let dir = Dir::new();
        let input = write_input(&dir, extension);
        let format = Format::from_extension(extension).unwrap();
        let chunks = in_chunks(format, &file(&dir, &input));
        let mut seen = BTreeSet::new();
        let expected: Vec<_> =
            chunks.into_iter().filter(|chunk| seen.insert(chunk.clone())).collect();
        let output = format!("b.{extension}");
        dir.kyokumen(["dedup", &input, "-o", &output, "--key", "bytes", "--memory", "1K"])
            .succeeds();
        assert!(in_chunks(format, &file(&dir, &output)) == expected, "{extension}");
        let counts = &dir.json(format!("{output}.manifest.json"))["counts"];
        assert!(counts["filtered"]["duplicate"].as_u64() > counts["written"].as_u64());
    }
}

#[test]
fn comments_and_truncated_ends_are_not_duplicates() {
    let dir = Dir::new();
    let text =
        [&b"# one\n"[..], &good(Format::Sfen, 20), b"# one\n", &good(Format::Sfen, 20)].concat();
    dir.write("a.sfen", &text);
    dir.write("a.hcp", [good(Format::Hcp, 10), vec![1; 7]].concat());
    for key in ["position", "position+move", "content", "bytes"] {
        dir.kyokumen(["dedup", "a.sfen", "-o", "b.sfen", "--key", key, "--force"]).succeeds();
        assert!(file(&dir, "b.sfen") == good(Format::Sfen, 20), "{key}");
        let counts = &dir.json("b.sfen.manifest.json")["counts"]["filtered"];
        assert_eq!((&counts["comment"], &counts["duplicate"]), (&2.into(), &20.into()), "{key}");
        if key != "position+move" {
            let words = ["dedup", "a.hcp", "a.hcp", "-o", "b.hcp", "--key", key, "--force"];
            dir.kyokumen([&words[..], &["--on-error", "skip"]].concat()).exits(&[3]);
            assert!(file(&dir, "b.hcp") == good(Format::Hcp, 10), "{key}");
        }
    }
}

/// A meaningless result does not make a record bad, and it distinguishes records.
#[test]
fn a_result_without_a_meaning_is_compared() {
    let dir = Dir::new();
    let mut bytes = good(Format::Psv, 3);
    bytes[38] = 0x77;
    dir.write("a.psv", bytes.repeat(2));
    dir.kyokumen(["dedup", "a.psv", "-o", "b.psv", "--key", "content"]).succeeds();
    assert!(file(&dir, "b.psv") == bytes);
}

#[test]
fn equal_records_are_found_across_files_and_compressions() {
    let dir = Dir::new();
    let bytes = good(Format::Psv, 300);
    dir.write("a.psv", &bytes[..40 * 200]);
    dir.write("b.psv.zst", zstd::encode_all(&bytes[40 * 100..], 1).unwrap());
    dir.kyokumen(["dedup", "a.psv", "b.psv.zst", "-o", "c.psv", "--key", "bytes"]).succeeds();
    assert!(file(&dir, "c.psv") == bytes);
}

#[test]
fn records_of_references_are_dropped() {
    for key in ["position", "position+move", "content", "bytes"] {
        let dir = Dir::new();
        let bytes = repeated(Format::Psv);
        let (old, new) = bytes.split_at(300 * 40);
        dir.write("old.psv", old);
        dir.write("new.psv", new);
        dir.write("all.psv", &bytes);
        let words = |input, output| ["dedup", input, "-o", output, "--key", key, "--force"];
        dir.kyokumen(&words("all.psv", "all-once.psv")).succeeds();
        dir.kyokumen(&words("old.psv", "old-once.psv")).succeeds();
        // The first of all equal records, without the old part, which comes first.
        let expected = file(&dir, "all-once.psv").split_off(file(&dir, "old-once.psv").len());
        for (memory, threads) in [("1G", "1"), ("20K", "2"), ("100", "3")] {
            let more = ["--reference", "old.psv", "--memory", memory, "--threads", threads];
            dir.kyokumen([&words("new.psv", "fresh.psv")[..], &more, &["--tmp-dir", "."]].concat())
                .succeeds();
            assert!(file(&dir, "fresh.psv") == expected, "{key} {memory}");
        }
        let manifest = dir.json("fresh.psv.manifest.json");
        let reference = &manifest["settings"]["reference"][0];
        assert_eq!((&reference["file"], &reference["to"]), (&"old.psv".into(), &300.into()));
        assert!(reference["sha256"].is_string());
        // The references contain all records, so nothing is left.
        dir.kyokumen(
            [&words("new.psv", "none.psv")[..], &["--reference", "all.psv", "old.psv"]].concat(),
        )
        .succeeds();
        assert_eq!(file(&dir, "none.psv"), b"");
        // References may have another format, except with --key bytes.
        let convert = ["convert", "old.psv", "-o", "old.sfen", "--force"];
        dir.kyokumen(&convert).succeeds();
        let other_format =
            [&words("new.psv", "other.psv")[..], &["--reference", "old.sfen"]].concat();
        if key == "bytes" {
            assert_refused(&dir, &other_format, "have different formats");
        } else {
            dir.kyokumen(&other_format).succeeds();
            assert!(key == "content" || file(&dir, "other.psv") == expected, "{key}");
        }
    }
}

#[test]
fn references_must_hold_records_and_are_not_written_over() {
    let dir = Dir::new();
    dir.write("a.psv", repeated(Format::Psv));
    dir.write("empty.psv", b"");
    dir.write("b.psv", &repeated(Format::Psv)[..400]);
    let words = |reference| ["dedup", "a.psv", "-o", "b.psv", "--force", "--reference", reference];
    assert_refused(&dir, &words("empty.psv"), "the reference files contain no records");
    assert_refused(&dir, &words("b.psv"), "would overwrite the input");
}
