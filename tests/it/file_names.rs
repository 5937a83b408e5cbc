//! Names of files are bytes: they come through as they are, and stand reversibly in manifests.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use serde_json::Value;
use tempfile::TempDir;

use crate::archive::archive;

fn run(folder: &Path, words: &[&[u8]]) -> String {
    let words = words.iter().map(|word| OsStr::from_bytes(word));
    let mut command = Command::new(cargo_bin("kyokumen"));
    let ran = command.args(words).current_dir(folder).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    // 3: bad records, of which the archives of these tests have some.
    assert!(matches!(ran.status.code(), Some(0 | 3)), "{said}");
    String::from_utf8(ran.stdout).unwrap() + &said
}

fn names(folder: &Path) -> BTreeSet<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// Two names that are one if what is no text is replaced, one that reads like the text of the first, and one with a
/// backslash.
const STEMS: [&[u8]; 4] = [b"\xE9", b"\xEA", b"\\xE9", b"a\\b"];

#[test]
fn names_that_are_no_text_come_through() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    for (number, stem) in STEMS.iter().enumerate() {
        let bytes = archive(Format::Hcp, 50 + number);
        let name = [stem, &b".hcp"[..]].concat();
        // Some file systems take text only.
        if fs::write(folder.join(OsStr::from_bytes(&name)), bytes).is_err() {
            println!("skipped: this file system has no such names");
            return;
        }
        run(folder, &[b"filter", &name, b"-o", b"out", b"--nodes", b"20", b"--hash-mb", b"1"]);
        run(folder, &[b"shuffle", &name, b"-o", &[stem, &b"-shuffled.hcp"[..]].concat()]);
        let shard = [&b"filter"[..], &name, b"-o", b"shards", b"--nodes", b"20", b"--shard"];
        for number in [&b"1/2"[..], b"2/2"] {
            run(folder, &[&shard[..], &[number]].concat());
        }
        let mut joined = OsString::from_vec(stem.to_vec());
        joined.push("-joined.hcp");
        let stem_text = ["\\xE9", "\\xEA", "\\x5CxE9", "a\\b"][number];
        let words = [&b"merge"[..], b"shards", b"-o", joined.as_bytes(), b"--name"];
        run(folder, &[&words[..], &[stem_text.as_bytes()]].concat());
        let read = |path: &Path| fs::read(folder.join(path)).unwrap();
        let whole = Path::new("out").join(OsStr::from_bytes(&name));
        assert!(read(&whole) == read(Path::new(&joined)));
        let mut manifest = OsString::from_vec(stem.to_vec());
        manifest.push(".manifest.json");
        let manifest: Value =
            serde_json::from_slice(&read(&Path::new("out").join(&manifest))).unwrap();
        assert_eq!(manifest["outputs"][0]["file"], format!("{stem_text}.hcp"));
        assert_eq!(manifest["inputs"][0]["file"], format!("{stem_text}.hcp"));
    }
    let made = names(&folder.join("out"));
    assert_eq!(made.len(), STEMS.len() * 7, "{made:?}");
    for stem in STEMS {
        let manifest = [&b"out/"[..], stem, b".manifest.json"].concat();
        run(folder, &[b"verify", b"--manifest", &manifest]);
        let again = [&b"filter"[..], b"--retry-unknown", &manifest, b"-o", b"again"];
        run(folder, &again);
        let name = [stem, &b".hcp"[..]].concat();
        assert!(folder.join("again").join(OsStr::from_bytes(&name)).exists());
    }
    assert_eq!(run(folder, &[b"status", b"out"]).matches("1 done").count(), STEMS.len());
}

#[test]
fn solve_reads_a_file_whose_name_is_no_text() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let name = b"\xE9.hcp";
    if fs::write(folder.join(OsStr::from_bytes(name)), archive(Format::Hcp, 3)).is_err() {
        println!("skipped: this file system has no such names");
        return;
    }
    let said = run(folder, &[b"solve", name, b"--depth", b"1", b"--hash-mb", b"1"]);
    assert!(said.contains("3 records: 3 no mate"), "{said}");
}
