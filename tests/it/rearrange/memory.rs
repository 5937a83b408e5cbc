//! Archives that are four times as large as the memory that is allowed, and processes that are killed.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use super::{good, run, succeeds};
use crate::archive::write;
use crate::messages::told;
use crate::signals::send;

/// What the commands may take of memory for records.
const MEMORY_MIB: u64 = 24;

/// Size of the archive.
const ARCHIVE_BYTES: u64 = (4 * MEMORY_MIB) << 20;

/// What they may take besides: threads, blocks under way, the program itself.
const BESIDES_MIB: u64 = 32;

/// Four times as much as the memory, in positions that come again and again.
fn large_archive(folder: &Path) {
    let records = good(Format::Psv, 3000);
    let mut file = File::create(folder.join("a.psv")).unwrap();
    for number in 0..=ARCHIVE_BYTES / records.len() as u64 {
        let mut records = records.clone();
        // In the padding: the positions stay, the bytes differ.
        records.chunks_mut(40).for_each(|record| record[39] = number as u8);
        file.write_all(&records).unwrap();
    }
    assert!(file.metadata().unwrap().len() >= ARCHIVE_BYTES);
}

/// The most anonymous memory that a command had, in KiB, looked at again and again.
fn peak_kib(folder: &Path, words: &[&str]) -> u64 {
    let mut command = Command::new(cargo_bin("kyokumen"));
    let mut child = command.args(words).current_dir(folder).stderr(Stdio::null()).spawn().unwrap();
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
fn memory_is_bounded_whatever_the_size_of_the_archive() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    large_archive(folder);
    let memory = format!("{MEMORY_MIB}M");
    // One position again and again.
    write(folder, "same.psv", &good(Format::Psv, 1).repeat(1_200_000));
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
        let peak = peak_kib(folder, &[*words, &common, threads].concat());
        assert!(peak > 0, "nothing was measured");
        assert!(peak >> 10 < MEMORY_MIB + BESIDES_MIB, "{words:?}: {} MiB", peak >> 10);
        fs::remove_file(folder.join(output)).unwrap();
    }
}

#[test]
fn a_killed_process_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    large_archive(folder);
    fs::create_dir(folder.join("tmp")).unwrap();
    let words = ["shuffle", "a.psv", "-o", "b.psv", "--memory", "1M", "--tmp-dir", "tmp"];
    for wait_ms in [50, 200, 500] {
        let mut command = Command::new(cargo_bin("kyokumen"));
        let mut child =
            command.args(words).current_dir(folder).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait_ms));
        send(9, &child);
        assert!(!child.wait().unwrap().success(), "it was too late to kill it");
        assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
        assert!(!folder.join("b.psv").exists());
    }
    succeeds(folder, &words);
    let mut left: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.psv", "b.psv", "b.psv.manifest.json", "tmp"]);
    assert_eq!(
        fs::metadata(folder.join("b.psv")).unwrap().len(),
        fs::metadata(folder.join("a.psv")).unwrap().len()
    );
}

#[test]
fn a_full_disk_is_told_with_the_folder() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    large_archive(folder);
    let (status, message) =
        run(folder, &["shuffle", "a.psv", "-o", "b.psv", "--memory", "1M", "--tmp-dir", "nowhere"]);
    assert_data_eq!(
        told(folder, Some(status), &message),
        str![[r#"
status 1
error: cannot create temporary files in nowhere; --tmp-dir says where they stand: No such file or directory (os error 2); check the path: all folders in it must exist, and a relative one starts in [FOLDER]

"#]]
    );
    assert!(!folder.join("b.psv.partial").exists());
}
