//! File names that are not UTF-8: output names keep their bytes, and manifests contain them reversibly escaped.
#![cfg(unix)]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use kyokumen::format::Format;
use serde_json::Value;

use crate::archive::archive;
use crate::harness::Dir;

fn run(dir: &Dir, words: &[&[u8]]) -> String {
    let ran = dir.kyokumen(words.iter().map(|word| OsStr::from_bytes(word))).exits(&[0, 3]);
    ran.text() + &ran.stderr
}

fn names(folder: &Path) -> BTreeSet<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// Two names that differ only in an invalid byte, one that equals the escaped form of the first, and one with a
/// backslash.
const STEMS: [&[u8]; 4] = [b"\xE9", b"\xEA", b"\\xE9", b"a\\b"];

#[test]
fn names_that_are_not_utf8_keep_their_bytes() {
    let dir = Dir::new();
    for (number, stem) in STEMS.iter().enumerate() {
        let bytes = archive(Format::Hcp, 50 + number);
        let name = [stem, &b".hcp"[..]].concat();
        // Some file systems accept only UTF-8.
        if fs::write(dir.join(OsStr::from_bytes(&name)), bytes).is_err() {
            println!("skipped: the file system refuses names that are not UTF-8");
            return;
        }
        run(&dir, &[b"filter", &name, b"-o", b"out", b"--nodes", b"20", b"--hash-mb", b"1"]);
        run(&dir, &[b"shuffle", &name, b"-o", &[stem, &b"-shuffled.hcp"[..]].concat()]);
        let shard = [&b"filter"[..], &name, b"-o", b"shards", b"--nodes", b"20", b"--shard"];
        for number in [&b"1/2"[..], b"2/2"] {
            run(&dir, &[&shard[..], &[number]].concat());
        }
        let mut joined = OsString::from_vec(stem.to_vec());
        joined.push("-joined.hcp");
        let stem_text = ["\\xE9", "\\xEA", "\\x5CxE9", "a\\b"][number];
        let words = [&b"merge"[..], b"shards", b"-o", joined.as_bytes(), b"--name"];
        run(&dir, &[&words[..], &[stem_text.as_bytes()]].concat());
        let read = |path: &Path| dir.read(path);
        let whole = Path::new("out").join(OsStr::from_bytes(&name));
        assert!(read(&whole) == read(Path::new(&joined)));
        let mut manifest = OsString::from_vec(stem.to_vec());
        manifest.push(".manifest.json");
        let manifest: Value =
            serde_json::from_slice(&read(&Path::new("out").join(&manifest))).unwrap();
        assert_eq!(manifest["outputs"][0]["file"], format!("{stem_text}.hcp"));
        assert_eq!(manifest["inputs"][0]["file"], format!("{stem_text}.hcp"));
    }
    let made = names(&dir.join("out"));
    assert_eq!(made.len(), STEMS.len() * 7, "{made:?}");
    for stem in STEMS {
        let manifest = [&b"out/"[..], stem, b".manifest.json"].concat();
        run(&dir, &[b"verify", b"--manifest", &manifest]);
        let again = [&b"filter"[..], b"--retry-unknown", &manifest, b"-o", b"again"];
        run(&dir, &again);
        let name = [stem, &b".hcp"[..]].concat();
        assert!(dir.join("again").join(OsStr::from_bytes(&name)).exists());
    }
    assert_eq!(run(&dir, &[b"status", b"out"]).matches("1 done").count(), STEMS.len());
}

#[test]
fn solve_reads_a_file_whose_name_is_not_utf8() {
    let dir = Dir::new();
    let name = b"\xE9.hcp";
    if fs::write(dir.join(OsStr::from_bytes(name)), archive(Format::Hcp, 3)).is_err() {
        println!("skipped: the file system refuses names that are not UTF-8");
        return;
    }
    let text = run(&dir, &[b"solve", name, b"--depth", b"1", b"--hash-mb", b"1"]);
    assert!(text.contains("3 records: 3 no mate"), "{text}");
}
