//! Inputs whose names state another format than their content has.

use std::fs;
use std::io::Write;
use std::path::Path;

use kyokumen::format::{Format, chunks};

use crate::harness::{Dir, Ran};

fn sample(format: Format) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    fs::read(folder.join(format!("sample.{format}"))).unwrap()
}

/// Whether records of one format are read under the name of the other. Either the formats cannot be distinguished, or
/// they share a reader.
fn are_alike(one: Format, other: Format) -> bool {
    let both = |is: fn(&Format) -> bool| [one, other].iter().all(is);
    one == other || both(|it| matches!(it, Format::Hcpe | Format::Hcpe2)) || both(|it| it.is_kif())
}

#[test]
fn a_wrong_name_is_refused_with_the_format_of_the_content() {
    let dir = Dir::new();
    let mut wrong = Vec::new();
    for content in Format::ALL {
        for named in Format::ALL.into_iter().filter(|&named| !are_alike(named, content)) {
            // hcpe42 is read under the name hcpe, and USI games under the name sfen.
            let exceptions = [(Format::Hcpe42, Format::Hcpe), (Format::Usi, Format::Sfen)];
            if exceptions.contains(&(content, named)) {
                continue;
            }
            let name = format!("a.{named}");
            dir.write(&name, sample(content));
            let ran = dir.kyokumen(["convert", &name, "-o", "out.sfen"]).run();
            let expected = format!("error: {name}: the content is {content} (");
            if (ran.code, &*ran.text()) != (Some(2), "")
                || !ran.stderr.contains(&expected)
                || dir.join("out.sfen").exists()
            {
                wrong.push(format!("{content} named {named}: {}", ran.transcript));
            }
            drop(fs::remove_file(dir.join("out.sfen")));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The first records of a sample.
fn first(format: Format, records: usize) -> Vec<u8> {
    let bytes = sample(format);
    let chunks = chunks(format, &bytes).take(records);
    let end = if format.is_lines() { &b"\n"[..] } else { b"" };
    chunks.flat_map(|chunk| [chunk, end].concat()).collect()
}

const FIXED: [Format; 5] = [Format::Hcp, Format::Hcpe, Format::Hcpe2, Format::Hcpe42, Format::Psv];

#[test]
fn one_to_three_records_under_a_wrong_name_never_reach_an_output() {
    let dir = Dir::new();
    for records in 1..=3 {
        for content in [Format::Hcp, Format::Hcpe, Format::Hcpe42, Format::Psv].into_iter().chain([
            Format::Sfen,
            Format::Usi,
            Format::Jsonl,
        ]) {
            let bytes = first(content, records);
            for named in FIXED.into_iter().filter(|&named| !are_alike(named, content)) {
                if (content, named) == (Format::Hcpe42, Format::Hcpe) {
                    continue;
                }
                let name = format!("a.{named}");
                dir.write(&name, &bytes);
                for command in ["convert", "filter"] {
                    let words = [command, &name, "-o", "out", "--to", "sfen"];
                    let Ran { code, stderr: err, .. } = dir.kyokumen(&words).run();
                    let case = format!("{command}: {records} of {content} as {named}: {err}");
                    assert_eq!(code, Some(2), "{case}");
                    assert!(err.contains(&format!("the content is {content} (")), "{case}");
                    assert!(!dir.join("out").exists(), "{case}");
                }
            }
        }
    }
}

#[test]
fn every_command_that_reads_archives_refuses_a_wrong_name() {
    let dir = Dir::new();
    dir.write("a.hcpe", sample(Format::Psv));
    dir.write("b.hcpe", sample(Format::Hcpe));
    let expected = "a.hcpe: the content is psv (";
    for words in [
        "filter a.hcpe -o out",
        "filter a.hcpe -o out --on-error quarantine",
        "filter a.hcpe -o out --shard 1/3",
        "filter a.hcpe -o out --shard 3/3",
        "filter b.hcpe a.hcpe -o out",
        "convert a.hcpe -o out.psv",
        "convert a.hcpe -o out.psv --on-error quarantine",
        "dataset a.hcpe -o out --to jsonl",
        "shuffle a.hcpe -o out.hcpe",
        "dedup a.hcpe -o out.hcpe",
        "sample a.hcpe -o out.hcpe --count 3",
        "split a.hcpe -o out --parts 2",
        "interleave b.hcpe a.hcpe -o out.hcpe",
        "stats a.hcpe",
        "inspect a.hcpe",
        "solve a.hcpe",
    ] {
        let ran = dir.line(words).run();
        let err = &ran.stderr;
        assert_eq!((ran.code, &*ran.text()), (Some(2), ""), "{words}: {err}");
        assert!(err.contains(expected), "{words}: {err}");
        assert!(err.contains("use --from psv, or --from hcpe to read it anyway"), "{words}: {err}");
        assert_eq!(dir.names("").len(), 2, "{words}");
    }
    let err = dir.kyokumen(["dedup", "b.hcpe", "--reference", "a.hcpe", "-o", "out.hcpe"]).fails(2);
    assert!(err.contains("rename it to end in .psv"), "{err}");
}

#[test]
fn from_overrides_the_name() {
    let dir = Dir::new();
    dir.write("a.hcpe", sample(Format::Psv));
    dir.kyokumen(["convert", "a.hcpe", "-o", "b.psv", "--from", "psv"]).succeeds();
    assert!(dir.read("b.psv") == sample(Format::Psv));
    let words = ["convert", "a.hcpe", "-o", "c.hcp", "--from", "hcpe", "--on-error", "skip"];
    dir.kyokumen(&words).exits(&[3]);
}

#[test]
fn verify_reports_a_wrong_name_and_continues() {
    let dir = Dir::new();
    dir.write("a.hcpe", sample(Format::Psv));
    dir.write("b.hcpe", sample(Format::Hcpe));
    let ran = dir.kyokumen(["verify", "a.hcpe", "b.hcpe", "--quarantine", "q"]).run();
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let out = ran.text();
    let mut lines = out.lines();
    let found = lines.next().unwrap();
    assert!(found.starts_with("a.hcpe: the content is psv ("), "{out}");
    let advice = "; use --from psv, or --from hcpe to read it anyway";
    assert!(found.ends_with(advice), "{out}");
    assert!(lines.next().unwrap().starts_with("b.hcpe: hcpe, "), "{out}");
    assert!(!dir.join("q/a.good.hcpe").exists());
    let ran = dir.kyokumen(["verify", "a.hcpe", "--json"]).run();
    let report = ran.json();
    assert_eq!((ran.code, &report["records"]), (Some(3), &0.into()));
    assert_eq!(report["findings"][0]["name"], "wrong-name");
    let what = report["findings"][0]["examples"][0]["what"].as_str();
    assert!(what.unwrap().ends_with(advice), "{report}");
}

#[test]
fn a_few_damaged_records_do_not_contradict_a_name() {
    let dir = Dir::new();
    for format in FIXED {
        let name = format!("a.{format}");
        let mut bytes = first(format, 3);
        let len = format.record_len().unwrap();
        bytes[len..len + 2].fill(0);
        dir.write(&name, &bytes);
        let words = ["convert", &name, "-o", "b.sfen", "--on-error", "skip", "--force"];
        dir.kyokumen(&words).exits(&[3]);
        let lines = dir.text("b.sfen");
        assert_eq!(lines.lines().count(), 2, "{format}");
    }
}

#[test]
fn content_that_fits_no_format_needs_quarantine_or_from() {
    let dir = Dir::new();
    dir.write("a.hcpe", [7; 38 * 20]);
    let err = dir.kyokumen(["filter", "a.hcpe", "-o", "out"]).fails(2);
    let expected = "a.hcpe does not look like hcpe or any other format: 0 of 20 records in a sample can be read as hcpe";
    assert!(err.contains(expected), "{err}");
    assert!(!dir.join("out").exists());
    for more in [&["--on-error", "quarantine"][..], &["--from", "hcpe", "--force"]] {
        dir.kyokumen([&["filter", "a.hcpe", "-o", "out"], more].concat()).exits(&[3]);
        assert!(dir.read("out/a.hcpe").is_empty());
    }
}

/// The error is about the encoding or the line ends of the whole file, not about a byte.
#[test]
fn unsupported_encodings_and_line_ends_are_named_in_the_error() {
    let dir = Dir::new();
    let text = "V2.2\nN+一\nPI\n+\n+7776FU\n%TORYO\n";
    let utf_16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let encodings =
        "text in UTF-8, Shift_JIS or EUC-JP (convert the file to UTF-8 first), found UTF-16LE";
    let line_ends = "lines that end with LF or CRLF (convert the line ends first), found CR alone";
    for (bytes, expected) in
        [(utf_16, encodings), (text.replace('\n', "\r").into_bytes(), line_ends)]
    {
        dir.write("a.csa", &bytes);
        let Ran { code, stderr: err, .. } =
            dir.kyokumen(["convert", "a.csa", "-o", "b.kifu"]).run();
        let expected = format!(
            "error: a.csa does not look like csa or any other format: no record can be read as csa; first error: \
             record 0 (file offset 0): expected {expected}\n"
        );
        assert_eq!((code, err), (Some(2), expected));
    }
    dir.write(
        "jis.kif",
        b"\x1b$B@h<j!'\x1b(BA\n\x1b$B8e<j!'\x1b(BB\n   1 \x1b$B#7O;Jb\x1b(B(77)\n",
    );
    let err = dir.kyokumen(["convert", "jis.kif", "-o", "b.csa"]).fails(2);
    let expected = "convert the file to UTF-8 first), found ISO-2022-JP\n";
    assert!(err.ends_with(expected), "{err}");
}

/// Otherwise the command would fail again at the first record.
#[test]
fn only_a_partly_readable_file_is_advised_to_be_read_anyway() {
    let dir = Dir::new();
    for (readable, advice) in [(0, ""), (4, "; use --from hcpe to read it anyway")] {
        let mut bytes = vec![7; 38 * 16];
        bytes.extend_from_slice(&first(Format::Hcpe, readable));
        dir.write("a.hcpe", bytes);
        let err = dir.kyokumen(["convert", "a.hcpe", "-o", "b.sfen"]).fails(2);
        assert!(err.contains(" can be read as hcpe; first error: record 0 "), "{err}");
        assert_eq!(err.contains("use --from"), !advice.is_empty(), "{err}");
        assert!(err.trim_end().ends_with(advice), "{err}");
    }
}

#[test]
fn compressed_content_is_compared_with_its_name_too() {
    let dir = Dir::new();
    let zstd = |format| zstd::encode_all(&*sample(format), 1).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&sample(Format::Psv)).unwrap();
    for (name, bytes, expected) in [
        ("a.hcpe.zst", zstd(Format::Psv), "the content is psv.zst ("),
        ("a.hcpe3.zst", zstd(Format::Psv), "the content is psv.zst ("),
        ("a.hcpe.gz", gzip.finish().unwrap(), "the content is psv.gz ("),
        ("a.hcpe", zstd(Format::Hcpe), "the content is hcpe.zst ("),
        ("a.psv", zstd(Format::Hcpe), "use --from hcpe.zst, or --from psv to read it anyway"),
        ("a.psv.zst", sample(Format::Psv), "rename it to end in .psv"),
    ] {
        dir.write(name, &bytes);
        let err = dir.kyokumen(["stats", name]).fails(2);
        assert!(err.contains(expected), "{name}: {err}");
    }
}

#[test]
#[cfg(unix)]
fn the_first_block_of_a_pipe_is_compared_with_its_name() {
    let dir = Dir::new();
    for (content, named) in
        [(Format::Psv, Format::Hcpe), (Format::Hcpe3, Format::Psv), (Format::Hcpe, Format::Jsonl)]
    {
        let pipe = dir.join(format!("a.{named}"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let bytes = sample(content);
        let (to, name) = (pipe.clone(), format!("a.{named}"));
        // The reader closes the pipe before the end.
        let writer = std::thread::spawn(move || drop(fs::write(to, bytes)));
        let err = dir.kyokumen(["convert", &name, "-o", "out.sfen"]).fails(2);
        writer.join().unwrap();
        assert!(err.contains(&format!("{name}: the content is {content} (")), "{err}");
        assert!(!dir.join("out.sfen").exists());
    }
}

#[test]
fn usi_games_named_sfen_are_read_with_a_notice() {
    let dir = Dir::new();
    dir.write("a.sfen", b"startpos moves 7g7f 3c3d 2g2f\nstartpos moves 2g2f 8c8d\n");
    let ran = dir.kyokumen(["verify", "a.sfen"]).run();
    assert_eq!((ran.code, &*ran.text()), (Some(0), "a.sfen: usi, 5 records: 5 good, 0 bad\n"));
    assert!(ran.stderr.contains("a.sfen: contains USI games and is read as usi"), "{}", ran.stderr);
    dir.kyokumen(["convert", "a.sfen", "-o", "b.psv", "--fill", "eval=0,result=draw"]).succeeds();
    dir.kyokumen(["verify", "a.sfen", "--from", "sfen"]).exits(&[3]);
}

#[test]
fn other_file_types_are_named_in_the_error() {
    let dir = Dir::new();
    let mut tar = vec![b'a'; 600];
    tar[257..262].copy_from_slice(b"ustar");
    for (bytes, expected) in [
        (&b"PK\x03\x04\x14\0\0\0\x08\0"[..], "a ZIP archive"),
        (b"7z\xBC\xAF\x27\x1C\0\x04", "a 7z archive"),
        (b"Rar!\x1A\x07\x01\0", "a RAR archive"),
        (&tar, "a tar archive"),
        (b"\x20\x30-lh5-\0\0\0", "an LZH archive"),
        (b"BZh91AY&SY", "a bzip2 file"),
        (b"SQLite format 3\0\x10\0", "an SQLite database"),
        (b"\x89PNG\r\n\x1A\n\0\0", "a PNG image"),
        (b"\n<!DOCTYPE html>\n<html><body>404", "an HTML page"),
    ] {
        let bytes = [bytes, &[0xEE; 500]].concat();
        for name in ["a.psv", "a.sfen", "a.kif", "a.hcpe3", "a.bin", "a"] {
            dir.write(name, &bytes);
            let ran = dir.kyokumen(["stats", name]).run();
            let err = ran.stderr;
            assert_eq!(ran.code, Some(2), "{expected} as {name}: {err}");
            assert!(err.contains(&format!("{name}: the content is {expected}")), "{name}: {err}");
        }
    }
    for (name, expected) in [
        ("a.ybb", "a binary book of YaneuraOu"),
        ("book.bin", "a book of Apery"),
        ("a.sbk", "a book of ShogiGUI"),
    ] {
        dir.write(name, [0x5A; 1600]);
        let err = dir.kyokumen(["stats", name]).fails(2);
        assert!(
            err.contains(&format!(
                "{name}: the content is {expected}; this format is not supported"
            )),
            "{err}"
        );
    }
}
