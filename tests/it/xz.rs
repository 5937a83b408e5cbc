//! Inputs compressed with xz: read in every command, by name, by content and from standard input; never written.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use flate2::write::GzEncoder;
use kyokumen::format::Format;
use lzma_rust2::{XzOptions, XzWriter};
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::archive::{archive, write};
use crate::messages::told;

const RECORDS: usize = 3000;

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = XzWriter::new(Vec::new(), XzOptions::with_preset(1)).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Status, standard output and standard error.
fn run(folder: &Path, words: &str, input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(cargo_bin("kyokumen"))
        .args(words.split(' '))
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Nobody may read it.
    stdin.write_all(input).ok();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The same records plain, as one stream, and as two with zeros between them under a name that says nothing.
fn archives() -> TempDir {
    let folder = TempDir::new().unwrap();
    let bytes = archive(Format::Psv, RECORDS);
    let middle = 40 * RECORDS / 3 + 7;
    write(folder.path(), "a.psv", &bytes);
    write(folder.path(), "a.psv.xz", &xz(&bytes));
    let streams = [xz(&bytes[..middle]), vec![0; 12], xz(&bytes[middle..])].concat();
    write(folder.path(), "a.bin", &streams);
    folder
}

#[test]
fn every_command_reads_it() {
    let folder = archives();
    let folder = folder.path();
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
            let (code, said, told) = run(folder, &words, b"");
            assert!(matches!(code, Some(0 | 3)), "{words}: {told}");
            said.replace(input, "a.psv")
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
        let read = |start: &str| fs::read(folder.join(format!("{start}{name}"))).unwrap();
        assert!(read("plain") == read("named") && read("plain") == read("unnamed"), "{name}");
    }
}

#[test]
fn standard_input_may_be_compressed() {
    let folder = archives();
    let folder = folder.path();
    let compressed = fs::read(folder.join("a.psv.xz")).unwrap();
    let (_, by_name, _) = run(folder, "stats a.psv", b"");
    let (code, from_input, said) = run(folder, "stats - --from psv.xz", &compressed);
    assert_eq!(code, Some(3), "{said}");
    assert_eq!(from_input, by_name);
}

/// However much a command reads at a time, and whichever way the file is compressed.
#[test]
fn damage_is_told_of_at_the_same_byte_by_every_command() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let records = archive(Format::Psv, 20_000);
    let mut gz = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&records).unwrap();
    let zst = zstd::encode_all(&*records, 1).unwrap();
    for (file, whole) in
        [("a.psv.zst", zst), ("a.psv.gz", gz.finish().unwrap()), ("a.psv.xz", xz(&records))]
    {
        write(folder, file, &whole[..whole.len() * 2 / 3]);
        let told = [
            "convert F -o out.sfen --on-error skip",
            "verify F",
            "stats F",
            "shuffle F -o out.psv --on-error skip",
            "dedup F -o out.psv --on-error skip",
            "filter F -o out --nodes 1 --hash-mb 1",
        ]
        .map(|words| {
            let (code, _, said) = run(folder, &words.replace('F', file), b"");
            assert_eq!(code, Some(1), "{words}: {said}");
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
    let folder = archives();
    let folder = folder.path();
    let whole = fs::read(folder.join("a.psv.xz")).unwrap();
    let half = whole.len() / 2;
    let mut all = String::new();
    let mut damaged = whole.clone();
    damaged[half] ^= 1;
    write(folder, "cut.psv.xz", &whole[..half]);
    write(folder, "damaged.psv.xz", &damaged);
    write(folder, "empty.psv.xz", b"");
    write(folder, "plain.psv.xz", &fs::read(folder.join("a.psv")).unwrap());
    for file in ["cut", "damaged", "empty", "plain"] {
        for words in ["convert F -o out.sfen --on-error skip", "verify F"] {
            let words = words.replace('F', &format!("{file}.psv.xz"));
            let (code, _, said) = run(folder, &words, b"");
            all += &told(folder, code, &said);
            assert!(!folder.join("out.sfen").exists(), "{words}");
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
    let folder = archives();
    let folder = folder.path();
    let told = [
        "convert a.psv -o b.hcpe.xz",
        "convert a.psv -o b --to hcpe.xz",
        "shuffle a.psv -o b.psv.xz",
    ]
    .map(|words| {
        let (code, _, said) = run(folder, words, b"");
        told(folder, code, &said)
    });
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
