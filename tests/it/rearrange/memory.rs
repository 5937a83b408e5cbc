//! Archives four times as large as the allowed memory, and killed processes.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Duration;

use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};

use super::good;
use crate::harness::Dir;
use crate::signals::send;

/// The memory that a command may use for records.
const MEMORY_MIB: u64 = 24;

/// Size of the archive.
const ARCHIVE_BYTES: u64 = (4 * MEMORY_MIB) << 20;

/// Further memory for threads, blocks in flight and the program itself.
const OTHER_MIB: u64 = 32;

/// Writes an archive four times as large as the memory, with repeated positions.
fn large_archive(dir: &Dir) {
    let records = good(Format::Psv, 3000);
    let mut file = File::create(dir.join("a.psv")).unwrap();
    for number in 0..=ARCHIVE_BYTES / records.len() as u64 {
        let mut records = records.clone();
        // Changes the padding, so that positions are equal but bytes differ.
        records.chunks_mut(40).for_each(|record| record[39] = number as u8);
        file.write_all(&records).unwrap();
    }
    assert!(file.metadata().unwrap().len() >= ARCHIVE_BYTES);
}

/// Starts a command without its messages.
fn quiet(dir: &Dir, words: &[&str]) -> Child {
    dir.kyokumen(words).0.stderr(Stdio::null()).spawn().unwrap()
}

/// The peak of the anonymous memory of a command in KiB, measured every 2 ms.
fn peak_kib(dir: &Dir, words: &[&str]) -> u64 {
    let mut child = quiet(dir, words);
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let kib = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = kib.and_then(|kib| kib.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success(), "{words:?}");
    peak
}

#[test]
fn memory_is_bounded_for_archives_of_any_size() {
    let dir = Dir::new();
    large_archive(&dir);
    let memory = format!("{MEMORY_MIB}M");
    // Copies of a single position.
    dir.write("same.psv", good(Format::Psv, 1).repeat(1_200_000));
    for (number, words) in [
        &["shuffle"][..],
        &["shuffle", "--threads", "8"],
        &["dedup", "same.psv"],
        &["dedup", "--key", "bytes"],
        &["dedup", "--key", "position"],
        &["sample", "--count", "1000000"],
        &["interleave"],
    ]
    .iter()
    .enumerate()
    {
        let output = format!("{number}.psv");
        let common = ["a.psv", "-o", &output, "--memory", &memory, "--tmp-dir", "."];
        let threads: &[_] = if words.contains(&"--threads") { &[] } else { &["--threads", "2"] };
        let peak = peak_kib(&dir, &[*words, &common, threads].concat());
        assert!(peak > 0, "nothing was measured");
        assert!(peak >> 10 < MEMORY_MIB + OTHER_MIB, "{words:?}: {} MiB", peak >> 10);
        fs::remove_file(dir.join(output)).unwrap();
    }
}

#[test]
fn a_killed_process_leaves_no_files() {
    let dir = Dir::new();
    large_archive(&dir);
    fs::create_dir(dir.join("tmp")).unwrap();
    let words = ["shuffle", "a.psv", "-o", "b.psv", "--memory", "1M", "--tmp-dir", "tmp"];
    for wait_ms in [50, 200, 500] {
        let mut child = quiet(&dir, &words);
        std::thread::sleep(Duration::from_millis(wait_ms));
        send(9, &child);
        assert!(!child.wait().unwrap().success(), "the process ended before it was killed");
        assert_eq!(dir.names("tmp").len(), 0);
        assert!(!dir.join("b.psv").exists());
    }
    dir.kyokumen(&words).succeeds();
    assert_eq!(dir.names(""), ["a.psv", "b.psv", "b.psv.manifest.json", "tmp"]);
    assert_eq!(
        fs::metadata(dir.join("b.psv")).unwrap().len(),
        fs::metadata(dir.join("a.psv")).unwrap().len()
    );
}

#[test]
fn a_missing_temporary_folder_is_named_in_the_error() {
    let dir = Dir::new();
    large_archive(&dir);
    assert_data_eq!(
        dir.kyokumen(["shuffle", "a.psv", "-o", "b.psv", "--memory", "1M", "--tmp-dir", "nowhere"])
            .run()
            .transcript,
        str![[r#"
status 1
error: cannot create temporary files in nowhere (see --tmp-dir): No such file or directory (os error 2); check the path: relative paths start in [FOLDER]

"#]]
    );
    assert!(!dir.join("b.psv.partial").exists());
}
