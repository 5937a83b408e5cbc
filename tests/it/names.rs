//! Names of files with more in them than a name: what a terminal would obey, lines of their own, passwords.

use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use tempfile::TempDir;

use crate::archive::{archive, write};

fn kyokumen(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(cargo_bin("kyokumen"));
    command.env("AWS_SECRET_ACCESS_KEY", "hidden+in+the+environment");
    command.args(words).current_dir(folder).output().unwrap()
}

#[cfg(unix)]
#[test]
fn no_name_speaks_to_the_terminal() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let stem = "\u{1b}]0;title\u{7}a\rb\nforged: line";
    let (input, missing) = (&*format!("{stem}.psv"), &*format!("{stem}.hcp"));
    write(folder, input, &archive(Format::Psv, 12));
    std::fs::create_dir(folder.join("out")).unwrap();
    let filter =
        ["filter", input, "-o", "out", "--nodes", "1", "--depth", "1", "--progress", "plain"];
    for words in [
        &filter[..],
        &[&filter[..], &["--shard", "1/2"]].concat(),
        &[&filter[..], &["--shard", "1/2", "--dry-run"]].concat(),
        &filter,
        &["status", "out"],
        &["merge", "out", "-o", "merged.psv"],
        &["verify", input],
        &["verify", "--manifest", &format!("out/{stem}.manifest.json")],
        &["verify", "--proof", input],
        &["inspect", input, "--range", "0..1"],
        &["stats", input],
        &["convert", input, "-o", missing, "--on-error", "skip"],
        &["shuffle", input, "-o", &format!("out/{input}"), "--on-error", "skip"],
        &["dedup", input, "-o", "b.psv"],
        &["verify", &format!("{missing}x")],
        &["inspect", input, "--range", stem],
        &["inspect", input, input],
        &["solve", stem],
        &[stem],
        &["convert", input, "-o", "b.psv", &format!("--{stem}=1")],
        &["convert", input, "-o", "b.psv", "--on-error", stem],
        &["convert", input, "-o", "b.psv", "--memory", stem],
        &["filter", input, "-o", "b", "--config", stem],
    ] {
        let output = kyokumen(folder, words);
        for said in [output.stdout, output.stderr] {
            let said = String::from_utf8(said).unwrap();
            let is_raw = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!said.contains(is_raw), "{words:?}: {said:?}");
            assert!(!said.lines().any(|line| line.starts_with("forged")), "{words:?}: {said}");
        }
    }
    let json = kyokumen(folder, &["verify", input, "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(report["file"], input);
}

#[test]
fn nothing_that_gives_access_is_shown() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for url in [
        "s3://AKIAKEY:hidden@bucket/a.psv",
        "s3://AKIAKEY:hid/hidden@bucket/a.psv",
        "https://user:hidden@host/a.psv",
        "s3://bucket/a.psv?X-Amz-Signature=hidden",
        "file://user:hidden@host/a.psv",
        "hidden+in+the+environment.psv",
    ] {
        for words in [
            &["verify", url][..],
            &["inspect", url],
            &["convert", url, "-o", "b.psv"],
            &["convert", "a.psv", "-o", url],
            &["filter", url, "-o", url, "--dry-run"],
            &["merge", url, "-o", "b.psv"],
            &["shuffle", "a.psv", "-o", "b.psv", "--tmp-dir", url],
            &["dedup", "a.psv", "-o", "b.psv", "--memory", url],
            &["inspect", "a.psv", url],
        ] {
            let output = kyokumen(folder, words);
            assert_ne!(output.status.code(), Some(0), "{words:?}");
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(!said.contains("hidden") && !said.contains("AKIAKEY"), "{words:?}: {said}");
        }
    }
}
