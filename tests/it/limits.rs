//! Full disks and little memory. A full disk gives exit status 1, a message with the path, and leaves no file. Files of
//! any size are converted in little memory.
//!
//! `ulimit` simulates both, because it needs no special rights.
#![cfg(unix)]

use std::fs;
use std::io::{self, Read, Write};

use flate2::write::GzEncoder;
use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use crate::archive::{encoded, records};
use crate::harness::{Dir, Ran};
use crate::messages;

/// At most 8 KiB per file, or 16 KiB: shells count blocks of 512 or of 1024 bytes.
const SMALL_FILES: &str = "ulimit -f 16";

#[test]
fn a_full_disk_leaves_no_partial_file() {
    let dir = Dir::new();
    let bytes: Vec<u8> =
        records(4000, 9).iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    dir.write("a.psv", bytes);
    let filter = ["a.psv", "-o", ".", "--nodes", "10", "--hash-mb", "1", "--name", "out"];
    let generate = ["generate", "--count", "4000", "-o", "out.hcpe"];
    let mut transcripts = String::new();
    for (program, words) in [
        ("kyokumen", &["convert", "a.psv", "-o", "out.hcp"][..]),
        ("kyokumen", &["convert", "a.psv", "-o", "out.sfen.zst"]),
        ("kyokumen", &generate),
        ("gen-filter", &filter),
    ] {
        let Ran { code, stderr: message, .. } =
            dir.program(program, words).in_shell(SMALL_FILES).run();
        transcripts +=
            &messages::transcript(dir.path(), code, message.lines().last().unwrap_or_default());
        transcripts += "\n";
        assert_eq!(dir.names(""), ["a.psv"], "{words:?}");
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
error: cannot write out.hcp: File too large (os error 27); the file system or a limit of the system does not allow a file of this size
status 1
error: cannot write out.sfen.zst: File too large (os error 27); the file system or a limit of the system does not allow a file of this size
status 1
error: cannot write out.hcpe: File too large (os error 27); the file system or a limit of the system does not allow a file of this size
status 1
error: cannot write ./out.psv: File too large (os error 27); the file system or a limit of the system does not allow a file of this size

"#]]
    );
}

/// The input is larger than the allowed memory, which includes the stacks of the threads.
#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_input() {
    let dir = Dir::new();
    let records: Vec<u8> =
        records(1000, 9).iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    dir.write("a.psv", records.repeat(3000));
    let (limit, mib) = ("ulimit -d 102400", fs::metadata(dir.join("a.psv")).unwrap().len() >> 20);
    assert!(mib > 100, "{mib} MiB");
    for words in [
        ["convert", "a.psv", "-o", "b.hcp.zst", "--threads", "2"],
        ["convert", "b.hcp.zst", "-o", "c.hcp", "--threads", "2"],
    ] {
        dir.kyokumen(&words).in_shell(limit).succeeds();
    }
    // The limit takes effect: with less memory the stack of a thread does not fit.
    let words = ["convert", "a.psv", "-o", "d.hcp"];
    assert_ne!(dir.kyokumen(&words).in_shell("ulimit -d 4096").run().code, Some(0));
}

/// A chunk without an end is cut into pieces. Few pieces are in memory at a time, and each is quarantined.
#[test]
#[cfg(target_os = "linux")]
fn a_chunk_without_an_end_needs_little_memory() {
    const BYTES: u64 = 200 << 20;
    let dir = Dir::new();
    let zeros = || io::repeat(0).take(BYTES);
    let file = |name: &str| fs::File::create(dir.join(name)).unwrap();
    let mut gzip = GzEncoder::new(file("a.csa.gz"), flate2::Compression::fast());
    // None of these lines ends a game.
    let line = b"+7776FU is not a game, nor is the rest\n";
    for _ in 0..BYTES / line.len() as u64 {
        gzip.write_all(line).unwrap();
    }
    gzip.finish().unwrap();
    zstd::stream::copy_encode(zeros(), file("a.sbinpack.zst"), 1).unwrap();
    file("a.kif").set_len(BYTES).unwrap();
    file("a.jsonl").set_len(BYTES).unwrap();
    for name in ["a.csa.gz", "a.sbinpack.zst", "a.kif", "a.jsonl"] {
        let output = format!("b{}", name[1..].trim_end_matches(".gz"));
        let convert =
            ["convert", name, "-o", &output, "--on-error", "quarantine", "--threads", "2"];
        let inspect = ["inspect", name, "--json"];
        for words in [&convert[..], &["stats", name, "--threads", "2"], &inspect] {
            let Ran { code, stderr: message, .. } =
                dir.kyokumen(words).in_shell("ulimit -d 163840").run();
            let expected = match words[0] {
                "inspect" => [Some(0), Some(3)],
                // Without a quarantine, a file that fits no format is refused.
                "stats" => [Some(2); 2],
                _ => [Some(3); 2],
            };
            assert!(expected.contains(&code), "{words:?}: {code:?} {message}");
        }
        let quarantined = fs::metadata(dir.join("b.quarantine.bin")).unwrap().len();
        assert!(quarantined > BYTES - (1 << 20), "{name}: {quarantined}");
        let reasons = if name == "a.jsonl" { "b.quarantine.reasons" } else { "b.quarantine.jsonl" };
        let lines = dir.read(reasons);
        assert!(lines.split(|&byte| byte == b'\n').all(|line| line.len() < 1000), "{name}");
        for name in ["b.quarantine.bin", reasons] {
            fs::remove_file(dir.join(name)).unwrap();
        }
    }
}

/// A frame whose window is larger than `zstd -d` accepts.
#[test]
fn giant_windows_are_refused() {
    let dir = Dir::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(&[0; 64]).unwrap();
    encoder.flush().unwrap();
    dir.write("a.hcp.zst", encoder.finish().unwrap());
    assert_data_eq!(
        dir.kyokumen(["verify", "a.hcp.zst"]).in_shell("ulimit -d 102400").run().transcript,
        str![[r#"
status 1
error: cannot read a.hcp.zst: a zstd frame has a window of more than 128 MiB; decompress it with `zstd -d --long=31`

"#]]
    );
}

/// Searches whose transposition tables do not fit into the memory limit of the process.
#[test]
#[cfg(target_os = "linux")]
fn a_table_larger_than_memory_is_an_error_in_every_command() {
    const SMALL_MEMORY: &str = "ulimit -v 2600000";
    let dir = Dir::new();
    let bytes: Vec<u8> =
        records(400, 9).iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    dir.write("a.psv", bytes);
    let commands: &[&[&str]] = &[
        &["filter", "a.psv", "-o", "out"],
        &["dataset", "a.psv", "-o", "out", "--to", "jsonl"],
        &["solve", "startpos"],
        #[cfg(feature = "network")]
        &["relabel", "a.psv", "-o", "out", "--model", "hashed", "--playouts", "3"],
        #[cfg(feature = "network")]
        &["selfplay", "--model", "uniform", "--games", "400", "--playouts", "2", "-o", "out"],
    ];
    for words in commands {
        let large = [words, &["--hash-mb", "1048576"][..]].concat();
        let Ran { code, stderr: message, .. } = dir.kyokumen(&large).in_shell(SMALL_MEMORY).run();
        let expected = "error: not enough memory for a table of 1048576 MiB; reduce --hash-mb, or --threads if \
                        each thread has its own table\n";
        assert_eq!((code, &*message), (Some(1), expected), "{words:?}");
    }
    // One table fits, but not one per thread.
    for words in commands.iter().filter(|words| words[0] != "solve") {
        let threads = ["--hash-mb", "1000", "--threads", "4", "--progress", "none"];
        let many = [words, &threads[..]].concat();
        let Ran { code, stderr: message, .. } = dir.kyokumen(&many).in_shell(SMALL_MEMORY).run();
        let search = if words[0] == "selfplay" { "a mate search" } else { "the search" };
        let expected =
            format!("cannot start {search}: not enough memory for a table of 1000 MiB; ");
        assert!(code == Some(1) && message.contains(&expected), "{words:?}: {code:?} {message}");
        assert!(message.contains("; reduce --hash-mb"), "{words:?}: {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}
