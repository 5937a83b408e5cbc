//! A disk that is full: exit status 1, a message with the path, and no file left behind. Little memory: files
//! of any size are converted all the same.
//!
//! Limits of the shell stand in for disk and memory: they need no rights.
#![cfg(unix)]

use std::fs;
use std::io::{self, Read, Write};

use flate2::write::GzEncoder;
use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use crate::archive::{encoded, records};
use crate::harness::{Dir, Ran};
use crate::messages;

/// Files of 8 KiB at most; the shell counts in blocks of 512 bytes, some shells in blocks of 1024.
const SMALL_FILES: &str = "ulimit -f 16";

#[test]
fn nothing_is_half_written() {
    let dir = Dir::new();
    let bytes: Vec<u8> =
        records(4000, 9).iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    dir.write("a.psv", bytes);
    let filter = ["a.psv", "-o", ".", "--nodes", "10", "--hash-mb", "1", "--name", "out"];
    let generate = ["generate", "--count", "4000", "-o", "out.hcpe"];
    let mut told = String::new();
    for (program, words) in [
        ("kyokumen", &["convert", "a.psv", "-o", "out.hcp"][..]),
        ("kyokumen", &["convert", "a.psv", "-o", "out.sfen.zst"]),
        ("kyokumen", &generate),
        ("gen-filter", &filter),
    ] {
        let Ran { code, stderr: message, .. } =
            dir.program(program, words).in_shell(SMALL_FILES).run();
        told += &messages::told(dir.path(), code, message.lines().last().unwrap_or_default());
        told += "\n";
        assert_eq!(dir.names(""), ["a.psv"], "{words:?}");
    }
    assert_data_eq!(
        told,
        str![[r#"
status 1
error: cannot write out.hcp: File too large (os error 27)
status 1
error: cannot write out.sfen.zst: File too large (os error 27)
status 1
error: cannot write out.hcpe: File too large (os error 27)
status 1
error: cannot write ./out.psv: File too large (os error 27)

"#]]
    );
}

/// The files are larger than the memory that is allowed, the stacks of the threads included.
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
    // The limit is one: with less there is no room for the stack of a thread.
    let words = ["convert", "a.psv", "-o", "d.hcp"];
    assert_ne!(dir.kyokumen(&words).in_shell("ulimit -d 4096").run().code, Some(0));
}

/// What does not end is cut into pieces, of which few are in memory, and quarantined piece by piece.
#[test]
#[cfg(target_os = "linux")]
fn what_does_not_end_takes_no_memory() {
    const BYTES: u64 = 200 << 20;
    let dir = Dir::new();
    let zeros = || io::repeat(0).take(BYTES);
    let file = |name: &str| fs::File::create(dir.join(name)).unwrap();
    let mut gzip = GzEncoder::new(file("a.csa.gz"), flate2::Compression::fast());
    // No line of this ends a game.
    let line = b"+7776FU is no game, and neither is what follows\n";
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
                // Nobody has asked for a quarantine.
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
        for side in ["b.quarantine.bin", reasons] {
            fs::remove_file(dir.join(side)).unwrap();
        }
    }
}

/// A frame that is to be decompressed in more memory than `zstd -d` would take.
#[test]
fn giant_windows_are_refused() {
    let dir = Dir::new();
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(30).unwrap();
    encoder.write_all(&[0; 64]).unwrap();
    encoder.flush().unwrap();
    dir.write("a.hcp.zst", encoder.finish().unwrap());
    assert_data_eq!(
        dir.kyokumen(["verify", "a.hcp.zst"]).in_shell("ulimit -d 102400").run().told,
        str![[r#"
status 1
error: cannot read a.hcp.zst after byte 0 of the uncompressed data: a zstd frame has a window of more than 128 MiB; decompress it with `zstd -d --long=31`

"#]]
    );
}

/// Searches whose tables do not fit into the memory that a process may have.
#[test]
#[cfg(target_os = "linux")]
fn a_table_without_memory_is_an_error_in_every_command() {
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
        &["selfplay", "--model", "uniform", "--games", "1", "--playouts", "2", "-o", "out"],
    ];
    for words in commands {
        let large = [words, &["--hash-mb", "1048576"][..]].concat();
        let Ran { code, stderr: message, .. } = dir.kyokumen(&large).in_shell(SMALL_MEMORY).run();
        let expected = "error: there is no memory for a table of 1048576 MiB; --hash-mb says how large it is, \
                        and each thread has one\n";
        assert_eq!((code, &*message), (Some(1), expected), "{words:?}");
    }
    // One table fits, and not one for each thread.
    for words in commands.iter().filter(|words| words[0] != "solve") {
        let threads = ["--hash-mb", "1000", "--threads", "4", "--progress", "none"];
        let many = [words, &threads[..]].concat();
        let Ran { code, stderr: message, .. } = dir.kyokumen(&many).in_shell(SMALL_MEMORY).run();
        let expected =
            "cannot begin to search: there is no memory for a table of 1000 MiB; --hash-mb says";
        assert!(code == Some(1) && message.contains(expected), "{words:?}: {code:?} {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}
