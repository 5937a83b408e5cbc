//! `--retry-unknown`: a second pass over the unknown positions gives the outputs of a single run with larger limits.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use kyokumen::format::Format;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::previous_run::PreviousRun;
use kyokumen::jobs::run_files::RunRequest;
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::Dir;

/// Runs the filter. Its exit status is 3, because some records are bad.
#[track_caller]
fn filter(dir: &Dir, words: &[&str]) {
    dir.program("gen-filter", words).exits(&[3]);
}

fn unknown(manifest: &Value) -> u64 {
    let stops = manifest["counts"]["verdicts"]["unknown"].as_object().unwrap();
    stops.values().map(|count| count.as_u64().unwrap()).sum()
}

const FEW: [&str; 4] = ["--nodes", "20", "--hash-mb", "1"];
const MORE: [&str; 4] = ["--nodes", "3000", "--hash-mb", "1"];

/// Asserts that two runs wrote the same files, except for manifests.
fn assert_same(dir: &Dir, one: &str, other: &str) {
    let names = |folder| {
        let names = dir.names(folder).into_iter();
        names.filter(|name| !name.ends_with(".manifest.json")).collect::<Vec<_>>()
    };
    assert_eq!(names(one), names(other));
    for name in names(one) {
        let file = |folder| dir.read(Path::new(folder).join(&name));
        assert!(file(one) == file(other), "{name}");
    }
}

#[test]
fn a_second_pass_equals_a_single_run_with_the_larger_limits() {
    for more in [
        &["--unknown", "split"][..],
        &["--max-abs-eval", "1500", "--every", "2", "--to", "hcpe.zst"],
        &["--in-check", "or", "--name", "other"],
    ] {
        let dir = Dir::new();
        dir.write("a.psv", archive(Format::Psv, 200));
        dir.write("b.psv", &archive(Format::Psv, 300)[40 * 150..]);
        let inputs = ["a.psv", "b.psv", "-o"];
        filter(&dir, &[&inputs[..], &["direct"], &MORE, more].concat());
        filter(&dir, &[&inputs[..], &["first"], &FEW, more].concat());
        let name = if more.contains(&"other") { "other" } else { "a" };
        let manifest = |pass: &str| dir.join(pass).join(format!("{name}.manifest.json"));
        let first = format!("first/{name}.manifest.json");
        filter(&dir, &[&["--retry-unknown", &first, "-o", "second"], &MORE[..]].concat());
        assert_same(&dir, "second", "direct");
        let [first, second, direct] =
            ["first", "second", "direct"].map(|pass| dir.json(manifest(pass)));
        assert!(unknown(&first) > 0 && unknown(&second) < unknown(&first), "{more:?}");
        for key in ["kept", "mated", "unknown", "filtered", "bad", "verdicts"] {
            assert_eq!(second["counts"][key], direct["counts"][key], "{key}");
        }
        assert_eq!(second["parents"][0]["file"], format!("{name}.manifest.json"));
        // Known verdicts are not searched again.
        assert!(second["counts"]["nodes"].as_u64() < direct["counts"]["nodes"].as_u64());
    }
}

/// The name of the input does not state its format, but the manifest does.
#[test]
fn a_second_pass_has_the_formats_and_move_encodings_of_the_first() {
    let dir = Dir::new();
    dir.write("a.bin", archive(Format::Psv, 100));
    let words = ["a.bin", "--from", "psv", "--dialect", "rshogi", "-o", "first"];
    filter(&dir, &[&words[..], &FEW].concat());
    let words = ["--retry-unknown", "first/a.manifest.json", "-o", "second"];
    filter(&dir, &[&words[..], &MORE].concat());
    let second = dir.json("second/a.manifest.json");
    assert_eq!(second["inputs"][0]["dialect"], "rshogi");
}

#[test]
fn mated_positions_are_listed_for_every_policy_so_that_a_second_pass_works() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 300));
    let pass = |out: &str, words: &[&str]| {
        filter(&dir, &[&["-o", out], words].concat());
        fs::read(dir.join(out).join("a.mated.jsonl")).unwrap()
    };
    let split = pass("split", &[&["a.psv"], &MORE[..]].concat());
    assert!(split.len() > 1000);
    for mated in ["drop", "relabel"] {
        let first = format!("{mated}-1");
        let at_once = pass(mated, &[&["a.psv", "--mated", mated], &MORE[..]].concat());
        assert!(at_once == split, "{mated}");
        pass(&first, &[&["a.psv", "--mated", mated], &FEW[..]].concat());
        let (manifest, second) = (format!("{first}/a.manifest.json"), format!("{mated}-2"));
        pass(&second, &[&["--retry-unknown", &manifest], &MORE[..]].concat());
        assert_same(&dir, mated, &second);
    }
}

/// The command line cannot remove an option, but the library can.
#[test]
fn a_second_pass_with_other_filters_is_refused() {
    let dir = Dir::new();
    let input = dir.write("a.psv", archive(Format::Psv, 60));
    let quiet = [&["a.psv", "-o", "first", "--quiet"], &FEW[..]].concat();
    filter(&dir, &quiet);
    let first = PreviousRun::read(&dir.join("first/a.manifest.json")).unwrap();
    let request = JobRequest {
        inputs: vec![input],
        run: RunRequest::new(dir.join("second")),
        previous_run: Some(Arc::new(first)),
        ..JobRequest::default()
    };
    let error = JobPlan::new(request).unwrap_err();
    assert_eq!(error.to_string(), "--quiet must be as in the previous run, where it was true");
}

#[test]
fn shards_of_a_second_pass_are_joined() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 300));
    filter(&dir, &[&["a.hcp", "-o", "direct"], &MORE[..]].concat());
    for index in [1, 2] {
        let shard = format!("{index}/2");
        filter(&dir, &[&["a.hcp", "-o", "first", "--shard", &shard], &FEW[..]].concat());
        let first = format!("first/a-0000{index}-of-00002.manifest.json");
        let words = ["--retry-unknown", &first, "-o", "second", "--resume"];
        filter(&dir, &[&words[..], &MORE].concat());
        let message = dir.program("gen-filter", [&words[..], &MORE].concat()).fails(3);
        let first = message.lines().next().unwrap_or_default();
        assert_data_eq!(first, str!["nothing to do: shard [..]/2 has already finished"]);
    }
    for (kind, name) in [("kept", "a.hcp"), ("mated_lines", "a.mated.jsonl")] {
        let joined = format!("joined.{name}");
        let words = ["merge", "second", "-o", &joined, "--stream", kind];
        dir.kyokumen(&words).succeeds();
        let expected = fs::read(dir.join("direct").join(name)).unwrap();
        assert!(dir.read(joined) == expected, "{name}");
    }
}

#[test]
fn a_second_pass_that_contradicts_the_first_is_refused() {
    let dir = Dir::new();
    let bytes = archive(Format::Psv, 100);
    dir.write("a.psv", &bytes);
    filter(&dir, &[&["a.psv", "-o", "first"], &FEW[..]].concat());
    let mut all = String::new();
    let mut retry = |manifest: &str, more: &[&str]| {
        let words = [&["--retry-unknown", manifest, "-o", "second"], &MORE[..], more].concat();
        all += &dir.program("gen-filter", &words).run().transcript;
        assert!(!dir.join("second/a.psv").exists());
    };
    let first = "first/a.manifest.json";
    retry(first, &["a.psv"]);
    retry(first, &["--min-ply", "3"]);
    retry(first, &["--in-check", "skip"]);
    retry("first/a.mated.jsonl", &[]);
    // The lines of a list do not distinguish two files of one name.
    filter(&dir, &[&["a.psv", "a.psv", "-o", "twice"], &FEW[..]].concat());
    retry("twice/a.manifest.json", &[]);
    // The lists are read while outputs are written, so outputs must not replace them.
    let words = ["--retry-unknown", first, "-o", "first", "--force"];
    let replaced = dir.program("gen-filter", [&words[..], &MORE].concat()).run().transcript;
    // Other bytes of the same size are detected when they are read.
    let mut other = bytes.clone();
    other.rotate_left(40);
    dir.write("a.psv", &other);
    retry(first, &[]);
    dir.write("a.psv", &bytes[..bytes.len() - 40]);
    retry(first, &[]);
    dir.write("a.psv", &bytes);
    let list = dir.text("first/a.unknown.jsonl");
    dir.write("first/a.unknown.jsonl", list.replacen("nodes", "Nodes", 1).as_bytes());
    retry(first, &[]);
    fs::remove_file(dir.join("first/a.unknown.jsonl")).unwrap();
    retry(first, &[]);
    assert_data_eq!(
        all + &replaced,
        str![[r#"
status 2
error: the argument '--retry-unknown <MANIFEST>' cannot be used with '[INPUT]...'

Usage: gen-filter --output <DIR> --retry-unknown <MANIFEST> --nodes <NODES> --hash-mb <MIB> [INPUT]...

For more information, try '--help'.
status 2
error: --min-ply must be as in the previous run, where it was not given
status 2
error: --in-check must be as in the previous run, where it was "both"
status 1
error: first/a.mated.jsonl is not a manifest: EOF while parsing a value at line 1 column 0
status 2
error: twice/a.manifest.json names the input a.psv twice, so record numbers in its lists are ambiguous; repeat that run with each input once
status 1
error: a.psv is not the input of the previous run: its bytes differ
status 1
error: a.psv is not the input of the previous run: its size differs
status 1
error: first/a.unknown.jsonl has changed: its SHA-256 differs from the manifest
status 1
error: first/a.unknown.jsonl is missing
status 2
error: first/a.mated.jsonl would overwrite a file of the run that --retry-unknown reads; choose another output

"#]]
    );
}
