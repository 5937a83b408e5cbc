//! Files of several CSA games: a separator stands between two games, and nowhere else.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

const FIRST: &str = "V2.2\nN+A\nPI\n+\n+7776FU\nT1\n%TORYO\n";
const SECOND: &str = "V2.2\nN+B\nPI\n+\n+2726FU\n-8384FU\n%CHUDAN\n";

fn run(folder: &Path, words: &[&str]) -> Output {
    Command::new(cargo_bin("kyokumen")).current_dir(folder).args(words).output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, words: &[&str]) {
    let output = run(folder, words);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {message}");
}

#[track_caller]
fn text(folder: &Path, name: &str) -> String {
    String::from_utf8(fs::read(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn games_are_separated_and_neither_begin_nor_end_with_a_separator() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let both = format!("{FIRST}/\n{SECOND}");
    // With a last separator and without a last line end, as other programs write them, and joined as they are.
    for (name, content) in [
        ("closed.csa", format!("{FIRST}/\n{SECOND}/\n")),
        ("open.csa", format!("{FIRST}/\n{}", SECOND.trim_end())),
        ("joined.csa", format!("\u{feff}{FIRST}\u{feff}{SECOND}")),
    ] {
        fs::write(folder.join(name), content).unwrap();
        succeeds(folder, &["convert", name, "-o", "copied.csa", "--force"]);
        assert_eq!(text(folder, "copied.csa"), both, "{name}");
        succeeds(folder, &["convert", name, "-o", "made.csa", "--canonical", "--force"]);
        assert_eq!(text(folder, "made.csa"), both, "{name}");
        succeeds(folder, &["split", name, "-o", "parts", "--parts", "2", "--force"]);
        let part = |number: u32| {
            let stem = name.strip_suffix(".csa").unwrap();
            text(folder, &format!("parts/{stem}-{number:05}-of-00002.csa"))
        };
        assert_eq!([part(1), part(2)], [FIRST, SECOND]);
    }
    // Several inputs are one sequence; compressed outputs hold the same.
    fs::write(folder.join("1.csa"), FIRST).unwrap();
    fs::write(folder.join("2.csa"), SECOND).unwrap();
    succeeds(folder, &["convert", "1.csa", "2.csa", "-o", "two.csa"]);
    assert_eq!(text(folder, "two.csa"), both);
    succeeds(folder, &["convert", "1.csa", "2.csa", "-o", "two.csa.zst"]);
    let packed = fs::read(folder.join("two.csa.zst")).unwrap();
    assert_eq!(zstd::decode_all(&*packed).unwrap(), both.as_bytes());
    succeeds(folder, &["convert", "two.csa.zst", "-o", "two.jkf"]);
    succeeds(folder, &["convert", "two.jkf", "-o", "again.csa", "--threads", "2"]);
    assert_eq!(text(folder, "again.csa"), both);
}

/// What the standard output takes is a file as any other.
#[test]
fn mates_are_separated_on_the_standard_output() {
    let folder = TempDir::new().unwrap();
    let sfen = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\n";
    fs::write(folder.path().join("a.sfen"), sfen.repeat(2)).unwrap();
    let output = run(folder.path(), &["solve", "a.sfen", "--to", "csa"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((text.matches("\n/\n").count(), text.starts_with("V2.2\n")), (1, true), "{text}");
    assert!(!text.ends_with("/\n"));
    let output = run(folder.path(), &["solve", "a.sfen", "--to", "usi"]);
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.lines().all(|line| line.ends_with("moves G*5b")), "{line}");
}

/// Words for the end of a game are written where the source knows how it ended.
#[test]
fn the_end_of_a_game_passes_through_usi() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    fs::write(folder.join("1.csa"), FIRST).unwrap();
    succeeds(folder, &["convert", "1.csa", "-o", "1.usi"]);
    assert_eq!(text(folder, "1.usi"), "startpos moves 7g7f resign\n");
    succeeds(folder, &["convert", "1.usi", "-o", "2.csa"]);
    assert_eq!(text(folder, "2.csa"), "V2.2\nPI\n+\n+7776FU\n%TORYO\n");
    // psv does not say how it was won.
    succeeds(folder, &["convert", "1.usi", "-o", "1.psv", "--fill", "eval=0"]);
    succeeds(folder, &["convert", "1.psv", "-o", "3.usi"]);
    assert_eq!(text(folder, "3.usi"), "startpos moves 7g7f\n");
}
