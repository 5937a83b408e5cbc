//! Inputs compressed with xz: read in every command, by name, by content and from standard input; never written.

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

/// The same records plain, as one stream, and as two with zeros between them under a name that says nothing.
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
fn every_command_reads_it() {
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
        let of = |input: &str, output: &str| {
            let words = words.replace('X', input).replace('O', output);
            dir.line(&words).exits(&[0, 3]).text().replace(input, "a.psv")
        };
        let plain = of("a.psv", "plain");
        for said in [of("a.psv.xz", "named"), of("a.bin", "unnamed")] {
            // Lines of `solve` say how long it took.
            if !words.starts_with("solve") {
                assert_eq!(said, plain, "{words}");
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
fn standard_input_may_be_compressed() {
    let dir = archives();
    let compressed = dir.read("a.psv.xz");
    let by_name = dir.line("stats a.psv").run();
    let from_input = dir.line("stats - --from psv.xz").stdin(compressed).run();
    assert_eq!(from_input.code, Some(3), "{}", from_input.stderr);
    assert_eq!(from_input.text(), by_name.text());
}

/// However much a command reads at a time, and whichever way the file is compressed.
#[test]
fn damage_is_told_of_at_the_same_byte_by_every_command() {
    let dir = Dir::new();
    let records = archive(Format::Psv, 20_000);
    let mut gz = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&records).unwrap();
    let zst = zstd::encode_all(&*records, 1).unwrap();
    for (file, whole) in
        [("a.psv.zst", zst), ("a.psv.gz", gz.finish().unwrap()), ("a.psv.xz", xz(&records))]
    {
        dir.write(file, &whole[..whole.len() * 2 / 3]);
        let told = [
            "convert F -o out.sfen --on-error skip",
            "verify F",
            "stats F",
            "shuffle F -o out.psv --on-error skip",
            "dedup F -o out.psv --on-error skip",
            "filter F -o out --nodes 1 --hash-mb 1",
        ]
        .map(|words| {
            let said = dir.line(&words.replace('F', file)).fails(1);
            said.lines().last().unwrap_or_default().to_owned()
        });
        let place = told[0].strip_prefix(&format!("error: cannot read {file} after byte "));
        let (byte, rest) = place.unwrap_or_else(|| panic!("{told:?}")).split_once(' ').unwrap();
        assert!(byte.parse::<u64>().unwrap() > 0, "{told:?}");
        assert!(rest.starts_with("of the uncompressed data: "), "{rest}");
        assert!(told.iter().all(|said| *said == told[0]), "{told:#?}");
    }
}

#[test]
fn what_is_damaged_is_said_with_its_place() {
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
            all += &dir.line(&words).run().told;
            assert!(!dir.join("out.sfen").exists(), "{words}");
        }
    }
    assert_data_eq!(
        all,
        str![[r#"
status 1
psv to sfen: they have the same fields
error: cannot read cut.psv.xz after byte 0 of the uncompressed data: the compressed file is cut off: it ends at byte [..], before its xz stream does
status 1
error: cannot read cut.psv.xz after byte 0 of the uncompressed data: the compressed file is cut off: it ends at byte [..], before its xz stream does
status 1
psv to sfen: they have the same fields
error: cannot read damaged.psv.xz after byte [..]: damaged xz stream before byte [..]
status 1
error: cannot read damaged.psv.xz after byte [..]: damaged xz stream before byte [..]
status 1
psv to sfen: they have the same fields
error: cannot read empty.psv.xz after byte 0 of the uncompressed data: the compressed file is cut off: it ends at byte 0, before its xz stream does
status 1
error: cannot read empty.psv.xz after byte 0 of the uncompressed data: the compressed file is cut off: it ends at byte 0, before its xz stream does
status 1
psv to sfen: they have the same fields
error: cannot read plain.psv.xz after byte 0 of the uncompressed data: damaged xz stream before byte 6 of the compressed file: invalid XZ magic bytes
status 1
error: cannot read plain.psv.xz after byte 0 of the uncompressed data: damaged xz stream before byte 6 of the compressed file: invalid XZ magic bytes

"#]]
    );
}

#[test]
fn it_is_not_written() {
    let dir = archives();
    let told = [
        "convert a.psv -o b.hcpe.xz",
        "convert a.psv -o b --to hcpe.xz",
        "shuffle a.psv -o b.psv.xz",
    ]
    .map(|words| dir.line(words).run().told);
    assert_data_eq!(
        told.concat(),
        str![[r#"
status 2
error: hcpe.xz can be read, not written; write hcpe or hcpe.zst
status 2
error: hcpe.xz can be read, not written; write hcpe or hcpe.zst
status 2
error: psv.xz can be read, not written; write psv or psv.zst

"#]]
    );
}
