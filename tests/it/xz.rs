//! Inputs compressed with xz: every command reads them, by name, by content and from standard input. None writes xz.

use std::io::Write;

use flate2::write::GzEncoder;
use kyokumen::format::Format;
use lzma_rust2::{XzOptions, XzWriter};
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::Dir;

const RECORDS: usize = 3000;

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The same records uncompressed, as one xz stream, and as two xz streams with padding in a file named `a.bin`.
fn archives() -> Dir {
    let dir = Dir::new();
    let bytes = archive(Format::Psv, RECORDS);
    let middle = 40 * RECORDS / 3 + 7;
    dir.write("a.psv", &bytes);
    dir.write("a.psv.xz", xz(&bytes));
    let streams = [xz(&bytes[..middle]), vec![0; 12], xz(&bytes[middle..])].concat();
    dir.write("a.bin", &streams);
    dir
}

#[test]
fn every_command_reads_xz() {
    let dir = archives();
    for words in [
        "inspect X --json --range 2900..2903",
        "verify X",
        "stats X",
        "convert X -o O.sfen --on-error skip",
        "filter X -o O-filtered --name a --nodes 10 --hash-mb 1 --limit 200 --shard 2/3",
        "dataset X -o O-rows --name a --to jsonl --nodes 10 --hash-mb 1 --limit 200",
        "dedup X -o O-once.psv --on-error skip",
        "shuffle X -o O-shuffled.psv --on-error skip",
        "sample X -o O-sample.psv --count 5 --on-error skip",
        "split X -o O-parts --name a --parts 2 --on-error skip",
        "solve X --json --nodes 10 --hash-mb 1 --limit 20",
    ] {
        let run = |input: &str, output: &str| {
            let words = words.replace('X', input).replace('O', output);
            dir.line(&words).exits(&[0, 3]).text().replace(input, "a.psv")
        };
        let plain = run("a.psv", "plain");
        for output in [run("a.psv.xz", "named"), run("a.bin", "unnamed")] {
            // Lines of `solve` contain the elapsed time.
            if !words.starts_with("solve") {
                assert_eq!(output, plain, "{words}");
            }
        }
    }
    for name in [
        ".sfen",
        "-filtered/a-00002-of-00003.psv",
        "-once.psv",
        "-shuffled.psv",
        "-sample.psv",
        "-parts/a-00002-of-00002.psv",
    ] {
        let read = |start: &str| dir.read(format!("{start}{name}"));
        assert!(read("plain") == read("named") && read("plain") == read("unnamed"), "{name}");
    }
}

#[test]
fn standard_input_may_be_xz() {
    let dir = archives();
    let compressed = dir.read("a.psv.xz");
    let by_name = dir.line("stats a.psv").run();
    let from_input = dir.line("stats - --from psv.xz").stdin(compressed).run();
    assert_eq!(from_input.code, Some(3), "{}", from_input.stderr);
    assert_eq!(from_input.text(), by_name.text());
}

/// The byte depends neither on how much a command reads at a time nor on the compression.
#[test]
fn every_command_reports_damage_at_the_same_byte() {
    let dir = Dir::new();
    let records = archive(Format::Psv, 20_000);
    let mut gz = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&records).unwrap();
    let zst = zstd::encode_all(&*records, 1).unwrap();
    for (file, whole) in
        [("a.psv.zst", zst), ("a.psv.gz", gz.finish().unwrap()), ("a.psv.xz", xz(&records))]
    {
        dir.write(file, &whole[..whole.len() * 2 / 3]);
        let messages = [
            "convert F -o out.sfen --on-error skip",
            "verify F",
            "stats F",
            "shuffle F -o out.psv --on-error skip",
            "dedup F -o out.psv --on-error skip",
            "filter F -o out --nodes 1 --hash-mb 1",
        ]
        .map(|words| {
            let message = dir.line(&words.replace('F', file)).fails(1);
            message.lines().last().unwrap_or_default().to_owned()
        });
        let place = messages[0].strip_prefix(&format!("error: cannot read {file} after byte "));
        let (byte, rest) = place.unwrap_or_else(|| panic!("{messages:?}")).split_once(' ').unwrap();
        assert!(byte.parse::<u64>().unwrap() > 0, "{messages:?}");
        assert!(rest.starts_with("of the uncompressed data: "), "{rest}");
        assert!(messages.iter().all(|message| *message == messages[0]), "{messages:#?}");
    }
}

#[test]
fn damaged_xz_files_are_reported_with_the_byte() {
    let dir = archives();
    let whole = dir.read("a.psv.xz");
    let half = whole.len() / 2;
    let mut all = String::new();
    let mut damaged = whole.clone();
    damaged[half] ^= 1;
    dir.write("cut.psv.xz", &whole[..half]);
    dir.write("damaged.psv.xz", &damaged);
    dir.write("empty.psv.xz", b"");
    dir.write("plain.psv.xz", dir.read("a.psv"));
    for file in ["cut", "damaged", "empty", "plain"] {
        for words in ["convert F -o out.sfen --on-error skip", "verify F"] {
            let words = words.replace('F', &format!("{file}.psv.xz"));
            all += &dir.line(&words).run().transcript;
            assert!(!dir.join("out.sfen").exists(), "{words}");
        }
    }
    assert_data_eq!(
        all,
        str![[r#"
status 1
psv to sfen: no field is lost or filled in
error: cannot read cut.psv.xz: the compressed file is truncated: it ends at byte [..], before the end of its xz stream
status 1
error: cannot read cut.psv.xz: the compressed file is truncated: it ends at byte [..], before the end of its xz stream
status 1
psv to sfen: no field is lost or filled in
error: cannot read damaged.psv.xz: the compressed file is damaged before its byte [..]
status 1
error: cannot read damaged.psv.xz: the compressed file is damaged before its byte [..]
status 1
psv to sfen: no field is lost or filled in
error: cannot read empty.psv.xz: the file is empty
status 1
error: cannot read empty.psv.xz: the file is empty
status 1
psv to sfen: no field is lost or filled in
error: cannot read plain.psv.xz: it is not an xz file: invalid XZ magic bytes
status 1
error: cannot read plain.psv.xz: it is not an xz file: invalid XZ magic bytes

"#]]
    );
}

#[test]
fn xz_outputs_are_refused() {
    let dir = archives();
    let transcripts = [
        "convert a.psv -o b.hcpe.xz",
        "convert a.psv -o b --to hcpe.xz",
        "shuffle a.psv -o b.psv.xz",
    ]
    .map(|words| dir.line(words).run().transcript);
    assert_data_eq!(
        transcripts.concat(),
        str![[r#"
status 2
error: hcpe.xz can be read but not written; write hcpe or hcpe.zst
status 2
error: hcpe.xz can be read but not written; write hcpe or hcpe.zst
status 2
error: psv.xz can be read but not written; write psv or psv.zst

"#]]
    );
}
