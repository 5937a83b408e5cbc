//! Records that say what an earlier one said.

use std::collections::{BTreeSet, HashSet};

use kyokumen::format::{Format, PositionKey, RecordRef};
use tempfile::TempDir;

use super::{file, good, in_units, is_refused, made, manifest, run, succeeds};
use crate::archive::{encoded, records, write};

/// The first of equal records, as a list of keys says.
fn firsts(bytes: &[u8], format: Format, key: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut met = HashSet::new();
    let units = in_units(format, bytes);
    units.into_iter().filter(|unit| met.insert(key(unit))).flatten().collect()
}

/// Records of which some say the same in other bytes, and some in the same bytes.
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
        let mut unit = encoded(format, &other);
        if format == Format::Psv && i % 5 == 0 {
            unit[39] = 77;
        }
        bytes.extend(encoded(format, record));
        bytes.extend(unit);
    }
    bytes
}

fn position(format: Format, unit: &[u8]) -> PositionKey {
    let line = unit.strip_suffix(b"\n").unwrap_or(unit);
    RecordRef::new(format, line).unwrap().position_key().unwrap()
}

#[test]
fn of_equal_records_the_first_is_kept() {
    for format in [Format::Hcp, Format::Hcpe, Format::Psv, Format::Sfen] {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let (input, output) = (format!("a.{format}"), format!("b.{format}"));
        let bytes = repeated(format);
        write(folder, &input, &bytes);
        let record = |unit: &[u8]| {
            let line = unit.strip_suffix(b"\n").unwrap_or(unit);
            RecordRef::new(format, line).unwrap().record().unwrap()
        };
        let positions = firsts(&bytes, format, |unit| position(format, unit).bytes().to_vec());
        let moves = firsts(&bytes, format, |unit| {
            format!("{:?} {:?}", position(format, unit), record(unit).best_move).into_bytes()
        });
        let contents = firsts(&bytes, format, |unit| format!("{:?}", record(unit)).into_bytes());
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
                is_refused(folder, &words, "hcp records have no move");
                continue;
            }
            for (memory, threads) in [("1G", "1"), ("20K", "2"), ("100", "3")] {
                let words = ["dedup", &input, "-o", &output, "--key", key, "--force"];
                let more = ["--memory", memory, "--threads", threads, "--tmp-dir", "."];
                succeeds(folder, &[&words[..], &more].concat());
                assert!(file(folder, &output) == expected, "{format} {key} {memory}");
            }
            sizes.push(expected.len());
            let counts = &manifest(folder, &format!("{output}.manifest.json"))["counts"];
            let left_out = counts["filtered"]["duplicate"].as_u64().unwrap();
            assert_eq!(counts["written"].as_u64().unwrap() + left_out, 800);
        }
        // Each key tells more apart than the one before.
        assert!(sizes.is_sorted() && sizes[0] < bytes.len(), "{format}: {sizes:?}");
        assert!(format == Format::Hcp || sizes[0] < sizes[1] && sizes[1] < sizes[2]);
    }
}

#[test]
fn games_are_compared_by_their_bytes() {
    for extension in ["csa", "kif", "usi", "hcpe3", "pack", "sbinpack"] {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let input = made(folder, extension);
        let format = Format::from_extension(extension).unwrap();
        let units = in_units(format, &file(folder, &input));
        let mut met = BTreeSet::new();
        let expected: Vec<_> = units.into_iter().filter(|unit| met.insert(unit.clone())).collect();
        let output = format!("b.{extension}");
        succeeds(folder, &["dedup", &input, "-o", &output, "--key", "bytes", "--memory", "1K"]);
        assert!(in_units(format, &file(folder, &output)) == expected, "{extension}");
        let counts = &manifest(folder, &format!("{output}.manifest.json"))["counts"];
        assert!(counts["filtered"]["duplicate"].as_u64() > counts["written"].as_u64());
    }
}

#[test]
fn comments_and_tails_are_no_repeated_records() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let text =
        [&b"# one\n"[..], &good(Format::Sfen, 20), b"# one\n", &good(Format::Sfen, 20)].concat();
    write(folder, "a.sfen", &text);
    write(folder, "a.hcp", &[good(Format::Hcp, 10), vec![1; 7]].concat());
    for key in ["position", "position+move", "content", "bytes"] {
        succeeds(folder, &["dedup", "a.sfen", "-o", "b.sfen", "--key", key, "--force"]);
        assert!(file(folder, "b.sfen") == good(Format::Sfen, 20), "{key}");
        let counts = &manifest(folder, "b.sfen.manifest.json")["counts"]["filtered"];
        assert_eq!((&counts["comment"], &counts["duplicate"]), (&2.into(), &20.into()), "{key}");
        if key != "position+move" {
            let words = ["dedup", "a.hcp", "a.hcp", "-o", "b.hcp", "--key", key, "--force"];
            let (status, message) = run(folder, &[&words[..], &["--on-error", "skip"]].concat());
            assert_eq!(status, 3, "{message}");
            assert!(file(folder, "b.hcp") == good(Format::Hcp, 10), "{key}");
        }
    }
}

/// What means nothing is no reason to refuse a record, nor to take it for another.
#[test]
fn a_result_without_a_meaning_is_compared() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let mut bytes = good(Format::Psv, 3);
    bytes[38] = 0x77;
    write(folder, "a.psv", &bytes.repeat(2));
    succeeds(folder, &["dedup", "a.psv", "-o", "b.psv", "--key", "content"]);
    assert!(file(folder, "b.psv") == bytes);
}

#[test]
fn equal_records_are_found_across_files_and_compressions() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let bytes = good(Format::Psv, 300);
    write(folder, "a.psv", &bytes[..40 * 200]);
    write(folder, "b.psv.zst", &zstd::encode_all(&bytes[40 * 100..], 1).unwrap());
    succeeds(folder, &["dedup", "a.psv", "b.psv.zst", "-o", "c.psv", "--key", "bytes"]);
    assert!(file(folder, "c.psv") == bytes);
}

#[test]
fn what_references_hold_is_left_out() {
    for key in ["position", "position+move", "content", "bytes"] {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let bytes = repeated(Format::Psv);
        let (old, new) = bytes.split_at(300 * 40);
        write(folder, "old.psv", old);
        write(folder, "new.psv", new);
        write(folder, "all.psv", &bytes);
        let words = |input, output| ["dedup", input, "-o", output, "--key", key, "--force"];
        succeeds(folder, &words("all.psv", "all-once.psv"));
        succeeds(folder, &words("old.psv", "old-once.psv"));
        // The first of all, without those that stand in the old part: it comes first.
        let expected = file(folder, "all-once.psv").split_off(file(folder, "old-once.psv").len());
        for (memory, threads) in [("1G", "1"), ("20K", "2"), ("100", "3")] {
            let more = ["--reference", "old.psv", "--memory", memory, "--threads", threads];
            succeeds(
                folder,
                &[&words("new.psv", "fresh.psv")[..], &more, &["--tmp-dir", "."]].concat(),
            );
            assert!(file(folder, "fresh.psv") == expected, "{key} {memory}");
        }
        let account = manifest(folder, "fresh.psv.manifest.json");
        let reference = &account["settings"]["reference"][0];
        assert_eq!((&reference["file"], &reference["to"]), (&"old.psv".into(), &300.into()));
        assert!(reference["sha256"].is_string());
        // Nothing of a file is not in it.
        succeeds(
            folder,
            &[&words("new.psv", "none.psv")[..], &["--reference", "all.psv", "old.psv"]].concat(),
        );
        assert_eq!(file(folder, "none.psv"), b"");
        // References may be in another format, but for their bytes.
        let convert = ["convert", "old.psv", "-o", "old.sfen", "--force"];
        succeeds(folder, &convert);
        let of_other = [&words("new.psv", "other.psv")[..], &["--reference", "old.sfen"]].concat();
        if key == "bytes" {
            is_refused(folder, &of_other, "have different formats");
        } else {
            succeeds(folder, &of_other);
            assert!(key == "content" || file(folder, "other.psv") == expected, "{key}");
        }
    }
}

#[test]
fn a_reference_is_read_and_holds_something() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    write(folder, "a.psv", &repeated(Format::Psv));
    write(folder, "empty.psv", b"");
    write(folder, "b.psv", &repeated(Format::Psv)[..400]);
    let words = |reference| ["dedup", "a.psv", "-o", "b.psv", "--force", "--reference", reference];
    is_refused(folder, &words("empty.psv"), "there is no record in the references");
    is_refused(folder, &words("b.psv"), "would be written over the input");
}
