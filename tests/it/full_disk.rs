//! A disk that is full: exit status 1, a message with the path, and no file left behind.
//!
//! The limit of the size of files stands in for the disk: every system has it, and it needs no rights.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use tempfile::TempDir;

use crate::archive::{encoded, records};

/// Runs a program that may write files of 16 KiB at most.
fn run(program: &str, words: &[&str], folder: &TempDir) -> (Option<i32>, String) {
    let program = cargo_bin(program);
    let mut command = Command::new("sh");
    // The shell counts in blocks of 512 bytes, some shells in blocks of 1024.
    command.args(["-c", "ulimit -f 16; exec \"$@\"", "sh"]).arg(program).args(words);
    let output = command.current_dir(folder).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn nothing_is_half_written() {
    let folder = TempDir::new().unwrap();
    let bytes: Vec<u8> =
        records(4000, 9).iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    fs::write(folder.path().join("a.psv"), bytes).unwrap();
    let filter = ["a.psv", "-o", ".", "--nodes", "10", "--hash-mb", "1", "--name", "out"];
    let generate = ["generate", "--count", "4000", "-o", "out.hcpe"];
    for (program, words, output) in [
        ("kyokumen", &["convert", "a.psv", "-o", "out.hcp"][..], "out.hcp"),
        ("kyokumen", &["convert", "a.psv", "-o", "out.sfen.zst"], "out.sfen.zst"),
        ("kyokumen", &generate, "out.hcpe"),
        ("gen-filter", &filter, "out.psv"),
    ] {
        let (code, message) = run(program, words, &folder);
        assert_eq!(code, Some(1), "{words:?}: {message}");
        let last = message.lines().last().unwrap_or_default();
        assert!(last.starts_with("error: cannot write"), "{message}");
        assert!(last.contains(output) && last.contains("File too large"), "{message}");
        let left: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["a.psv"], "{words:?}");
    }
}
