//! Control characters and secrets in file names and URLs must never reach the terminal.

use crate::harness::{Dir, Ran};

fn kyokumen(dir: &Dir, words: &[&str]) -> Ran {
    let mut command = dir.kyokumen(words);
    command.0.env("AWS_SECRET_ACCESS_KEY", "hidden+in+the+environment");
    command.run()
}

#[cfg(unix)]
#[test]
fn control_characters_in_file_names_are_never_printed() {
    let dir = Dir::new();
    let stem = "\u{1b}]0;title\u{7}a\rb\nforged: line";
    let (input, missing) = (&*format!("{stem}.psv"), &*format!("{stem}.hcp"));
    dir.write(input, crate::archive::archive(kyokumen::format::Format::Psv, 12));
    std::fs::create_dir(dir.join("out")).unwrap();
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
        &["marubatsu", "check", "--player", stem],
    ] {
        let output = kyokumen(&dir, words);
        for text in [output.text(), output.stderr] {
            let is_raw = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!text.contains(is_raw), "{words:?}: {text:?}");
            assert!(!text.lines().any(|line| line.starts_with("forged")), "{words:?}: {text}");
        }
    }
    assert_eq!(kyokumen(&dir, &["verify", input, "--json"]).json()["file"], input);
}

#[test]
fn secrets_in_urls_and_environment_are_never_printed() {
    let dir = Dir::new();
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
            let output = kyokumen(&dir, words);
            assert_ne!(output.code, Some(0), "{words:?}");
            let text = output.text() + &output.stderr;
            assert!(!text.contains("hidden") && !text.contains("AKIAKEY"), "{words:?}: {text}");
        }
    }
}
