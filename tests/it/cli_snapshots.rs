//! What the commands print, word for word: `tests/cmd/*.trycmd` and the README.
//!
//! After a change that is meant, `TRYCMD=overwrite cargo test cli_snapshots` writes them anew;
//! what differs from run to run (times, nodes of a search) is then to be replaced by `[..]` again.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use tempfile::TempDir;

#[test]
#[cfg_attr(feature = "network", ignore = "a build with networks has one more benchmark")]
fn commands_print_what_the_snapshots_say() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd").case("README.md");
}

/// The README's blocks of shell commands, as a reader would paste them.
fn shell_blocks() -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim().to_owned()).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// With fewer nodes than the README's, for the sake of time.
#[test]
fn the_main_job_of_the_readme_runs() {
    let blocks = shell_blocks();
    let arguments = blocks[0].strip_prefix("cargo run --bin gen-filter -- ").unwrap();
    assert_eq!(blocks[1], "cargo test");
    let folder = TempDir::new().unwrap();
    let run = Command::new(cargo_bin("gen-filter"))
        .current_dir(root())
        .args(arguments.split(' ').map(|word| match word {
            "out" => folder.path().as_os_str().to_owned(),
            word => word.into(),
        }))
        .args(["--nodes", "1000", "--progress", "none"])
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let lines = fs::read_to_string(folder.path().join("sample.mated.jsonl")).unwrap();
    assert!(lines.lines().count() > 100);
}

#[cfg(unix)]
#[test]
fn the_conversation_of_the_readme_takes_place() {
    let programs = cargo_bin("kyokumen").parent().unwrap().to_owned();
    let run =
        Command::new("/bin/sh").args(["-c", &shell_blocks()[2]]).env("PATH", programs).output();
    let said = String::from_utf8(run.unwrap().stdout).unwrap();
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, after) = readme.split_once("| kyokumen usi\n```\n\n```text\n").unwrap();
    // The first line has a time in it.
    let shown: Vec<&str> = after.split("```").next().unwrap().lines().collect();
    let said: Vec<&str> = said.lines().collect();
    assert_eq!((said.len(), said.last()), (shown.len(), shown.last()));
}

/// Every option and subcommand that the README names is in the help.
#[test]
fn the_readme_names_what_there_is() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let help = |arguments: &[&str]| {
        let output = Command::new(cargo_bin("kyokumen")).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut known = help(&["--help"]);
    for command in [
        "filter",
        "convert",
        "solve",
        "verify",
        "stats",
        "usi",
        "inspect",
        "generate",
        "perft",
        "bench",
        "shuffle",
        "dedup",
        "split",
        "sample",
        "interleave",
        "marubatsu",
        "selfplay",
        "relabel",
    ] {
        assert!(readme.contains(&format!("`kyokumen {command}")), "{command} is missing");
        known += &help(&[command, "--help"]);
    }
    known += &help(&["marubatsu", "show", "--help"]);
    known += &help(&["marubatsu", "check", "--help"]);
    let of_cargo =
        ["--release", "--bin", "--example", "--path", "--profile", "--open", "--features", "--"];
    for option in readme.split([' ', '`', '"', '\n', '(', ')', ',', ';']) {
        if option.starts_with("--") && !of_cargo.contains(&option) && !option.contains('|') {
            assert!(known.contains(option), "{option} of the README is in no help");
        }
    }
}
