//! Shards as files of one run: joined, compared with their manifests, looked at while they are made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::AtomicBool;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use kyokumen::storage::lock::Lock;
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::archive::{archive, write};
use crate::messages::told_by;

fn run(program: &str, words: &[&str], folder: &Path) -> Output {
    Command::new(cargo_bin(program)).args(words).current_dir(folder).output().unwrap()
}

#[track_caller]
fn succeeds(program: &str, words: &[&str], folder: &Path) -> String {
    let output = run(program, words, folder);
    let message = String::from_utf8_lossy(&output.stderr);
    // 3: bad records, of which the archives of these tests have some.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{words:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(words: &[&str], folder: &Path) -> String {
    told_by(folder, &run("kyokumen", words, folder))
}

const SETTINGS: [&str; 8] =
    ["--nodes", "5", "--hash-mb", "1", "--unknown", "split", "--progress", "none"];

fn filter(folder: &Path, words: &[&str]) {
    succeeds("gen-filter", &[words, &SETTINGS].concat(), folder);
}

/// A folder with shards in `out` of which all but some are made, and the whole in `whole`.
fn shards(input: &str, count: u32, without: &[u32]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let format = Format::from_extension(input.rsplit_once('.').unwrap().1).unwrap();
    write(path, input, &archive(format, 403));
    filter(path, &[input, "-o", "whole"]);
    for index in (1..=count).filter(|index| !without.contains(index)) {
        filter(path, &[input, "-o", "out", "--shard", &format!("{index}/{count}")]);
    }
    folder
}

fn json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn what_is_joined_is_the_unsharded_output() {
    let folder = shards("a.psv", 3, &[]);
    let path = folder.path();
    for (stream, file) in [
        ("kept", "a.psv"),
        ("mated", "a.psv.mated"),
        ("mated_lines", "a.mated.jsonl"),
        ("unknown", "a.psv.unknown"),
        ("quarantine", "a.quarantine.bin"),
        ("quarantine_lines", "a.quarantine.jsonl"),
    ] {
        let joined = format!("joined/{file}");
        fs::create_dir_all(path.join("joined")).unwrap();
        succeeds("kyokumen", &["merge", "out", "-o", &joined, "--stream", stream], path);
        let expected = fs::read(path.join("whole").join(file)).unwrap();
        assert!(!expected.is_empty());
        assert!(fs::read(path.join(&joined)).unwrap() == expected, "{file}");
    }
    let (joined, whole) =
        (json(path.join("joined/a.psv.manifest.json")), json(path.join("whole/a.manifest.json")));
    assert_eq!((&joined["command"], &joined["shard"]), (&"merge".into(), &Value::Null));
    for key in ["counts", "settings", "solver_version", "node_definition"] {
        assert_eq!(joined[key], whole[key], "{key}");
    }
    assert_eq!(joined["outputs"][0], whole["outputs"][0]);
    for key in ["file", "from", "to", "offset", "bytes", "file_bytes", "evidence"] {
        assert_eq!(joined["inputs"][0][key], whole["inputs"][0][key], "{key}");
    }
    let parents: Vec<_> =
        joined["parents"].as_array().unwrap().iter().map(|parent| &parent["file"]).collect();
    let expected = [1, 2, 3].map(|i| format!("a-0000{i}-of-00003.manifest.json"));
    assert_eq!(parents, expected.each_ref().map(String::as_str));
    succeeds("kyokumen", &["verify", "--manifest", "joined/a.psv.manifest.json"], path);
}

#[test]
fn the_header_of_a_book_stands_once_in_what_is_joined() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path, "a.psv", &archive(Format::Psv, 50));
    let words = ["a.psv", "--to", "db.zst", "-o"];
    filter(path, &[&words[..], &["whole"]].concat());
    for shard in ["1/2", "2/2"] {
        filter(path, &[&words[..], &["out", "--shard", shard]].concat());
    }
    succeeds("kyokumen", &["merge", "out", "-o", "joined.db.zst"], path);
    let [joined, whole] =
        ["joined.db.zst", "whole/a.db.zst"].map(|file| fs::read(path.join(file)).unwrap());
    assert!(zstd::decode_all(&*whole).unwrap().starts_with(Format::Db.header()));
    assert!(joined == whole);
}

#[test]
fn frames_of_compressed_shards_are_those_of_the_whole() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path, "a.hcp", &archive(Format::Hcp, 1000).repeat(150));
    let words =
        ["a.hcp", "--to", "hcp.zst", "--depth", "1", "--nodes", "1", "--hash-mb", "1", "-o"];
    let run = |more: &[&str]| {
        succeeds("gen-filter", &[&words, more, &["--progress", "none"]].concat(), path);
    };
    run(&["whole"]);
    for shard in ["1/3", "2/3", "3/3"] {
        run(&["out", "--shard", shard]);
    }
    succeeds("kyokumen", &["merge", "out", "-o", "joined.hcp.zst"], path);
    let [joined, whole] =
        ["joined.hcp.zst", "whole/a.hcp.zst"].map(|file| fs::read(path.join(file)).unwrap());
    assert!(joined == whole);
    assert_data_eq!(
        fails(&["merge", "out", "-o", "joined.hcp"], path),
        str![[r#"
status 2
error: the shards are hcp.zst, the name of joined.hcp says hcp; join them as they are, and convert the file

"#]]
    );
}

/// Games of three and two moves.
const GAMES: &str = "\
V2.2
PI
+
+7776FU
-3334FU
+2726FU
%TORYO
/
V2.2
PI
+
+2726FU
-8384FU
%TORYO
";

/// With more shards than records some are empty and begin within a game.
#[test]
fn more_shards_than_records_of_games_make_the_whole() {
    const SHARDS: usize = 8;
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path, "games.csa", GAMES.as_bytes());
    for format in ["kif", "csa", "hcpe3", "pack", "sbinpack", "usi"] {
        let input = format!("a.{format}");
        succeeds("kyokumen", &["convert", "games.csa", "-o", &input, "--fill", "eval=0"], path);
        let filter = |words: &[&str]| {
            let words = [&[&*input, "--to", "jsonl"], words].concat();
            succeeds("gen-filter", &[&words, &SETTINGS[..]].concat(), path);
        };
        let (whole, out) = (format!("whole.{format}"), format!("out.{format}"));
        let joined = format!("{format}.jsonl");
        filter(&["-o", &whole]);
        for index in 1..=SHARDS {
            filter(&["-o", &out, "--shard", &format!("{index}/{SHARDS}")]);
        }
        succeeds("kyokumen", &["merge", &out, "-o", &joined], path);
        let expected = fs::read(path.join(whole).join("a.jsonl")).unwrap();
        assert_eq!(expected.split_inclusive(|&byte| byte == b'\n').count(), 5);
        assert!(fs::read(path.join(joined)).unwrap() == expected, "{format}");
    }
}

#[test]
fn what_is_missing_is_listed() {
    let folder = shards("a.hcp", 5, &[2, 4]);
    let path = folder.path();
    fs::write(path.join("out/a-00004-of-00005.checkpoint"), "").unwrap();
    let told = ["out", "whole"].map(|from| fails(&["merge", from, "-o", "joined.hcp"], path));
    assert_data_eq!(
        told.concat(),
        str![[r#"
status 1
error: the shards in out cannot be joined:
  shard 2/5 is missing: there is no out/a-00002-of-00005.manifest.json
  shard 4/5 is not finished: there is no out/a-00004-of-00005.manifest.json
status 2
error: there is no manifest of a shard in whole

"#]]
    );
    assert!(!path.join("joined.hcp").exists() && !path.join("joined.hcp.partial").exists());
}

#[test]
fn what_is_different_is_listed() {
    let folder = shards("a.hcp", 3, &[]);
    let path = folder.path();
    let all = |command: &[&str]| {
        let manifests = [1, 2, 3].map(|i| format!("out/a-0000{i}-of-00003.manifest.json"));
        let words = [command, &manifests.each_ref().map(String::as_str)].concat();
        run("kyokumen", &words, path)
    };
    assert!(all(&["verify", "--manifest"]).status.success());
    let mut told = String::new();
    let mut check = || {
        let refusal = fails(&["merge", "out", "-o", "joined.hcp"], path);
        assert!(!path.join("joined.hcp").exists());
        let output = all(&["verify", "--manifest"]);
        assert_eq!(output.status.code(), Some(1));
        let found = String::from_utf8(output.stdout).unwrap();
        let findings = |said: &str| -> Vec<String> {
            said.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect()
        };
        assert_eq!(findings(&refusal), findings(&found));
        told += &refusal;
    };
    let second = path.join("out/a-00002-of-00003.hcp");
    let bytes = fs::read(&second).unwrap();
    fs::write(&second, &bytes[1..]).unwrap();
    check();
    let mut damaged = bytes.clone();
    damaged[40] ^= 1;
    fs::write(&second, damaged).unwrap();
    check();
    fs::remove_file(&second).unwrap();
    check();
    fs::write(&second, &bytes).unwrap();
    let manifest = path.join("out/a-00003-of-00003.manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let rewrite = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
    };
    rewrite("\"nodes\": 5", "\"nodes\": 6");
    check();
    rewrite("\"from\": 268", "\"from\": 270");
    check();
    rewrite("\"input\": 135", "\"input\": 134");
    check();
    fs::write(&manifest, &text).unwrap();
    succeeds("kyokumen", &["merge", "out", "-o", "joined.hcp"], path);
    told += &fails(&["merge", "out", "-o", "joined.hcp"], path);
    told += &fails(&["merge", "out", "-o", "out/a-00002-of-00003.hcp", "--force"], path);
    assert_data_eq!(
        told,
        str![[r#"
status 1
error: the shards in out cannot be joined:
  out/a-00002-of-00003.hcp has 2719 bytes, its manifest says 2720
status 1
error: the shards in out cannot be joined:
  out/a-00002-of-00003.hcp has another SHA-256 than its manifest says
status 1
error: the shards in out cannot be joined:
  out/a-00002-of-00003.hcp is missing
status 1
error: the shards in out cannot be joined:
  shard 3/3 is of another run: settings.nodes is 6, in shard 1/3 5
status 1
error: the shards in out cannot be joined:
  out/a-00003-of-00003.manifest.json contradicts itself: a.hcp, hcp, cannot have 133 records in 4320 bytes
  shard 3/3 begins with record 270 of a.hcp, not with 268, where the one before it ends
status 1
error: the shards in out cannot be joined:
  out/a-00003-of-00003.manifest.json contradicts itself: the counts do not add up: input = 134, but kept + mated + unknown + filtered + bad = 135
  shard 3/3 has 134 records, not its part of 135
status 2
error: joined.hcp exists; replace it with --force
status 2
error: out/a-00002-of-00003.hcp would be written over the input out/a-00002-of-00003.hcp

"#]]
    );
}

#[test]
fn a_single_shard_is_compared_with_its_manifest() {
    let folder = shards("a.hcp", 3, &[1, 3]);
    let manifest = "out/a-00002-of-00003.manifest.json";
    let said = succeeds("kyokumen", &["verify", "--manifest", manifest], folder.path());
    assert_eq!(said, "out/a: as 1 manifest says\n");
    assert_data_eq!(
        fails(&["verify", "--manifest", "a.hcp"], folder.path()),
        str![[r#"
status 2
error: a.hcp is no manifest: its name does not end with .manifest.json

"#]]
    );
}

/// A process was killed while it wrote down where records begin: the next one does it, and nothing is left.
#[test]
fn what_was_left_of_an_index_is_taken_over() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path, "a.sfen", &archive(Format::Sfen, 200));
    fs::create_dir(path.join("out")).unwrap();
    let half = vec![b'{'; 1 << 20];
    write(&path.join("out"), "a.sfen.index.json.partial", &half);
    filter(path, &["a.sfen", "-o", "out", "--shard", "1/2"]);
    assert_eq!(json(path.join("out/a.sfen.index.json"))["index"]["records"], 200);
    assert!(!path.join("out/a.sfen.index.json.partial").exists());
}

/// `split` names its parts as shards are named. A run over one of them has no shards.
#[test]
fn runs_over_the_parts_of_split_are_no_shards() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path, "a.hcp", &archive(Format::Hcp, 100));
    succeeds("kyokumen", &["split", "a.hcp", "-o", "parts", "--parts", "2"], path);
    for part in ["parts/a-00001-of-00002.hcp", "parts/a-00002-of-00002.hcp"] {
        filter(path, &[part, "-o", "out"]);
    }
    filter(path, &["parts/a-00001-of-00002.hcp", "-o", "out", "--shard", "1/2"]);
    let manifests = ["out/a-00001-of-00002.manifest.json", "out/a-00002-of-00002.manifest.json"];
    succeeds("kyokumen", &[&["verify", "--manifest"][..], &manifests].concat(), path);
    let of_shard = "out/a-00001-of-00002-00001-of-00002.manifest.json";
    succeeds("kyokumen", &["verify", "--manifest", of_shard], path);
    filter(path, &["--retry-unknown", manifests[0], "-o", "again"]);
    assert!(path.join("again/a-00001-of-00002.manifest.json").exists());
    let lock = path.join("out/a-00003-of-00004.lock");
    let lock = Lock::take(&lock, None, &AtomicBool::new(false)).unwrap();
    let status = succeeds("kyokumen", &["status", "out"], path);
    let runs = status.lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>();
    let expected = [
        "a-00001-of-00002: 1 done; 50 of 50 records",
        "a-00001-of-00002: 1 done, 1 missing; 25 of about 50 records",
        "a-00002-of-00002: 1 done; 50 of 50 records",
        "a-00003-of-00004: 1 running; 0 records",
    ];
    assert_eq!(runs, expected);
    drop(lock);
    fs::remove_file(path.join(of_shard)).unwrap();
    assert_data_eq!(
        fails(&["merge", "out", "-o", "joined.hcp"], path),
        str![[r#"
status 2
error: there is no manifest of a shard in out

"#]]
    );
}

#[test]
fn status_tells_the_shards_apart() {
    let folder = shards("a.hcp", 4, &[2, 3]);
    let path = folder.path();
    let holder = r#"{"host":"a-machine-far-away","pid":17,"shard":"3/4"}"#;
    fs::write(path.join("out/a-00003-of-00004.lock"), holder).unwrap();
    let words = ["status", "out", "--json"];
    let status: Value = serde_json::from_str(&succeeds("kyokumen", &words, path)).unwrap();
    let of = |key: &str| -> Vec<&Value> {
        status["shards"].as_array().unwrap().iter().map(|shard| &shard[key]).collect()
    };
    assert_eq!(of("state"), ["done", "missing", "running", "done"]);
    assert_eq!(of("shard"), ["1/4", "2/4", "3/4", "4/4"]);
    assert_eq!(of("done"), [100, 0, 0, 101]);
    assert_eq!(status["shards"][2]["holder"]["host"], "a-machine-far-away");
    assert_eq!((&status["name"], &status["done"]), (&"a".into(), &201.into()));
    let text = succeeds("kyokumen", &["status", "out"], path);
    assert!(
        text.starts_with("a: 2 done, 1 running, 1 missing; 201 of about 402 records"),
        "{text}"
    );
    assert!(text.contains("process 17 on a-machine-far-away"), "{text}");
    let whole = succeeds("kyokumen", &["status", "whole"], path);
    assert!(whole.starts_with("a: 1 done; 403 of 403 records\n"), "{whole}");
    // The parts of a file have names like shards, and are none.
    succeeds("kyokumen", &["split", "a.hcp", "-o", "out", "--parts", "3", "--name", "b"], path);
    assert_eq!(succeeds("kyokumen", &["status", "out"], path), text);
    assert_data_eq!(
        fails(&["status", "."], path),
        str![[r#"
status 1
error: there are no runs in .

"#]]
    );
}

#[test]
fn what_was_taken_out_is_not_taken_in_again_without_a_word() {
    let folder = shards("a.psv", 2, &[]);
    let shuffled = |inputs: &[&str]| {
        let words =
            [&["shuffle", "-o", "all.psv", "--force", "--progress", "none"], inputs].concat();
        let output = run("kyokumen", &words, folder.path());
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        let is_warning = |line: &&str| line.trim_start().starts_with("WARN");
        said.split_inclusive('\n').filter(is_warning).collect::<String>()
    };
    let (first, second) = ("out/a-00001-of-00002.psv", "out/a-00002-of-00002.psv");
    let mated = "out/a-00002-of-00002.psv.mated";
    assert_eq!(shuffled(&[first, second]), "");
    assert_eq!(shuffled(&[mated, "whole/a.psv.mated"]), "");
    let said = shuffled(&[first, second, mated]) + &shuffled(&["whole/a.psv.unknown", first]);
    assert_data_eq!(
        said,
        str![[r#"
 WARN out/a-00002-of-00002.psv.mated holds the mated records of out/a-00002-of-00002.manifest.json (filter), out/a-00001-of-00002.psv the kept ones: what was taken out is taken in again
 WARN whole/a.psv.unknown holds the unknown records of whole/a.manifest.json (filter), out/a-00001-of-00002.psv the kept ones: what was taken out is taken in again

"#]]
    );
}
