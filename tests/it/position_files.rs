//! Files of one position, as people exchange problems, and files of none.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use kyokumen_testing::literals::PROBLEM;
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

fn run(folder: &Path, words: &[&str]) -> Output {
    Command::new(cargo_bin("kyokumen")).current_dir(folder).args(words).output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, words: &[&str]) -> Output {
    let output = run(folder, words);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {message}");
    output
}

#[test]
fn positions_for_people_are_records() {
    let folder = TempDir::new().unwrap();
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    fs::write(folder.path().join("problem.kif"), PROBLEM).unwrap();
    fs::write(folder.path().join("problem.bod"), PROBLEM).unwrap();
    succeeds(folder.path(), &["convert", "problem.kif", "-o", "problem.csa"]);
    for name in ["problem.kif", "problem.bod", "problem.csa"] {
        let solved = succeeds(folder.path(), &["solve", name, "--json"]);
        let solved: Value = serde_json::from_slice(&solved.stdout).unwrap();
        assert_eq!((&solved["sfen"], &solved["verdict"]), (&sfen.into(), &"win".into()), "{name}");
        succeeds(folder.path(), &["convert", name, "-o", "problem.sfen", "--force"]);
        let line = fs::read_to_string(folder.path().join("problem.sfen")).unwrap();
        assert!(line.starts_with(sfen), "{line}");
        succeeds(folder.path(), &["verify", name]);
    }
}

#[test]
fn nothing_read_is_no_success() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.usi"), "startpos\n").unwrap();
    fs::write(folder.path().join("a.hcp"), "").unwrap();
    for name in ["a.usi", "a.hcp"] {
        for words in [
            &["solve", name][..],
            &["convert", name, "-o", "b.sfen", "--force"],
            &["verify", name],
            &["stats", name],
            &["inspect", name],
            &["filter", name, "--to", "sfen", "-o", "out", "--force"],
            &["dataset", name, "--to", "jsonl", "-o", "rows", "--force"],
            &["split", name, "--parts", "2", "-o", "parts", "--force"],
        ] {
            let output = run(folder.path(), words);
            let message = String::from_utf8_lossy(&output.stderr);
            let last = message.lines().last().unwrap_or_default();
            assert_eq!(output.status.code(), Some(3), "{words:?}: {message}");
            assert_data_eq!(last, str!["nothing was read: there is no record in the input"]);
        }
    }
}
