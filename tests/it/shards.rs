//! Shards of one run: joined, compared with their manifests, and shown by `status`.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen::format::Format;
use kyokumen::storage::lock::Lock;
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::Dir;

const SETTINGS: [&str; 8] =
    ["--nodes", "5", "--hash-mb", "1", "--unknown", "split", "--progress", "none"];

fn filter(dir: &Dir, words: &[&str]) {
    dir.program("gen-filter", [words, &SETTINGS].concat()).exits(&[0, 3]);
}

/// A folder with the shards in `out`, except for those in `without`, and the unsharded run in `whole`.
fn shards(input: &str, count: u32, without: &[u32]) -> Dir {
    let dir = Dir::new();
    let format = Format::from_extension(input.rsplit_once('.').unwrap().1).unwrap();
    dir.write(input, archive(format, 403));
    filter(&dir, &[input, "-o", "whole"]);
    for index in (1..=count).filter(|index| !without.contains(index)) {
        filter(&dir, &[input, "-o", "out", "--shard", &format!("{index}/{count}")]);
    }
    dir
}

#[test]
fn joined_shards_equal_the_unsharded_output() {
    let dir = shards("a.psv", 3, &[]);
    for (kind, file) in [
        ("kept", "a.psv"),
        ("mated", "a.psv.mated"),
        ("mated_lines", "a.mated.jsonl"),
        ("unknown", "a.psv.unknown"),
        ("quarantine", "a.quarantine.bin"),
        ("quarantine_lines", "a.quarantine.jsonl"),
    ] {
        let joined = format!("joined/{file}");
        fs::create_dir_all(dir.join("joined")).unwrap();
        dir.kyokumen(["merge", "out", "-o", &joined, "--stream", kind]).exits(&[0, 3]);
        let expected = dir.read(format!("whole/{file}"));
        assert!(!expected.is_empty());
        assert!(dir.read(&joined) == expected, "{file}");
    }
    let (joined, whole) =
        (dir.json("joined/a.psv.manifest.json"), dir.json("whole/a.manifest.json"));
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
    dir.kyokumen(["verify", "--manifest", "joined/a.psv.manifest.json"]).exits(&[0, 3]);
}

#[test]
fn joined_shards_of_a_book_have_one_header() {
    let dir = Dir::new();
    dir.write("a.psv", archive(Format::Psv, 50));
    let words = ["a.psv", "--to", "db.zst", "-o"];
    filter(&dir, &[&words[..], &["whole"]].concat());
    for shard in ["1/2", "2/2"] {
        filter(&dir, &[&words[..], &["out", "--shard", shard]].concat());
    }
    dir.kyokumen(["merge", "out", "-o", "joined.db.zst"]).exits(&[0, 3]);
    let [joined, whole] = ["joined.db.zst", "whole/a.db.zst"].map(|file| dir.read(file));
    assert!(zstd::decode_all(&*whole).unwrap().starts_with(Format::Db.header()));
    assert!(joined == whole);
}

#[test]
fn joined_compressed_shards_have_the_frames_of_the_whole() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 1000).repeat(150));
    let words =
        ["a.hcp", "--to", "hcp.zst", "--depth", "1", "--nodes", "1", "--hash-mb", "1", "-o"];
    let run = |more: &[&str]| {
        dir.program("gen-filter", [&words, more, &["--progress", "none"]].concat()).exits(&[0, 3]);
    };
    run(&["whole"]);
    for shard in ["1/3", "2/3", "3/3"] {
        run(&["out", "--shard", shard]);
    }
    dir.kyokumen(["merge", "out", "-o", "joined.hcp.zst"]).exits(&[0, 3]);
    let [joined, whole] = ["joined.hcp.zst", "whole/a.hcp.zst"].map(|file| dir.read(file));
    assert!(joined == whole);
    assert_data_eq!(
        dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript,
        str![[r#"
status 2
error: the shards are hcp.zst, but the extension of joined.hcp means hcp; merge to hcp.zst and convert the result

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

/// With more shards than records, some shards are empty and begin within a game.
#[test]
fn more_shards_than_records_join_to_the_whole() {
    const SHARDS: usize = 8;
    let dir = Dir::new();
    dir.write("games.csa", GAMES);
    for format in ["kif", "csa", "hcpe3", "pack", "sbinpack", "usi"] {
        let input = format!("a.{format}");
        dir.kyokumen(["convert", "games.csa", "-o", &input, "--fill", "eval=0"]).exits(&[0, 3]);
        let filter = |words: &[&str]| {
            let words = [&[&*input, "--to", "jsonl"], words].concat();
            dir.program("gen-filter", [&words, &SETTINGS[..]].concat()).exits(&[0, 3]);
        };
        let (whole, out) = (format!("whole-{format}"), format!("out-{format}"));
        let joined = format!("{format}.jsonl");
        filter(&["-o", &whole]);
        for index in 1..=SHARDS {
            filter(&["-o", &out, "--shard", &format!("{index}/{SHARDS}")]);
        }
        dir.kyokumen(["merge", &out, "-o", &joined]).exits(&[0, 3]);
        let expected = dir.read(format!("{whole}/a.jsonl"));
        assert_eq!(expected.split_inclusive(|&byte| byte == b'\n').count(), 5);
        assert!(dir.read(joined) == expected, "{format}");
    }
}

#[test]
fn merge_lists_missing_shards() {
    let dir = shards("a.hcp", 5, &[2, 4]);
    dir.write("out/a-00004-of-00005.checkpoint", "");
    let transcripts = ["out", "whole", "out --name b"]
        .map(|from| dir.line(&format!("merge {from} -o joined.hcp")).run().transcript);
    assert_data_eq!(
        transcripts.concat(),
        str![[r#"
status 1
error: the shards in out cannot be merged:
  shard 2/5 is missing (out/a-00002-of-00005.manifest.json)
  shard 4/5 is not finished: out/a-00004-of-00005.manifest.json is missing
status 1
error: no finished shards found in whole; repeat the command of an unfinished run with --resume; a run without --shard needs no merge
status 2
error: no finished shards named b found in out, only those of a (5 shards)

"#]]
    );
    assert!(!dir.join("joined.hcp").exists() && !dir.join("joined.hcp.partial").exists());
}

/// A merge joins bytes, so the name of the output must state the format and compression of the shards.
#[test]
fn merge_refuses_other_formats_and_compressions() {
    let dir = shards("a.hcp", 3, &[]);
    for (words, why) in [
        ("-o joined.psv", "the extension of joined.psv means psv"),
        ("-o joined.hcp.zst", "the extension of joined.hcp.zst means hcp.zst"),
        ("-o joined.bin.zst", "the extension of joined.bin.zst means another compression"),
        ("-o joined.bin.zst --to hcp", "the extension of joined.bin.zst means another compression"),
        ("-o joined.bin --to psv", "--to means psv"),
    ] {
        let refused = dir.line(&format!("merge out {words}")).exits(&[2]).stderr;
        assert!(refused.contains(why), "{refused}");
    }
    dir.line("merge out -o joined.bin --to hcp").succeeds();
    dir.line("merge out -o joined.hcp").succeeds();
    assert!(dir.read("joined.bin") == dir.read("joined.hcp"));
    dir.line("filter a.hcp -o packed --to hcp.zst --shard 1/1 --nodes 1 --progress none")
        .exits(&[3]);
    dir.line("merge packed -o packed.bin").succeeds();
    dir.line("merge packed -o packed.hcp.zst").succeeds();
    assert!(dir.read("packed.bin") == dir.read("packed.hcp.zst"));
}

#[test]
fn merge_and_verify_list_differences() {
    let dir = shards("a.hcp", 3, &[]);
    let all = |command: &[&str]| {
        let manifests = [1, 2, 3].map(|i| format!("out/a-0000{i}-of-00003.manifest.json"));
        let words = [command, &manifests.each_ref().map(String::as_str)].concat();
        dir.kyokumen(&words).run()
    };
    assert_eq!(all(&["verify", "--manifest"]).code, Some(0));
    let mut transcripts = String::new();
    let mut check = || {
        let refusal = dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript;
        assert!(!dir.join("joined.hcp").exists());
        let output = all(&["verify", "--manifest"]);
        assert_eq!(output.code, Some(1));
        let found = output.text();
        let findings = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect()
        };
        assert_eq!(findings(&refusal), findings(&found));
        transcripts += &refusal;
    };
    let second = dir.join("out/a-00002-of-00003.hcp");
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
    let manifest = dir.join("out/a-00003-of-00003.manifest.json");
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
    // The outputs that are not joined.
    let (mated, list) = ("out/a-00001-of-00003.hcp.mated", "out/a-00001-of-00003.mated.jsonl");
    let before = [mated, list].map(|file| dir.read(file));
    fs::remove_file(dir.join(mated)).unwrap();
    dir.write(list, [&before[1][..], b"\n"].concat());
    check();
    dir.write(mated, &before[0]);
    dir.write(list, &before[1]);
    dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).exits(&[0, 3]);
    transcripts += &dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript;
    transcripts += &dir
        .kyokumen(["merge", "out", "-o", "out/a-00002-of-00003.hcp", "--force"])
        .run()
        .transcript;
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
error: the shards in out cannot be merged:
  out/a-00002-of-00003.hcp has 2719 bytes, but its manifest states 2720
status 1
error: the shards in out cannot be merged:
  out/a-00002-of-00003.hcp has changed: its SHA-256 differs from the manifest
status 1
error: the shards in out cannot be merged:
  out/a-00002-of-00003.hcp is missing
status 1
error: the shards in out cannot be merged:
  shard 3/3 belongs to a different run: settings.nodes is 6, but 5 in shard 1/3
status 1
error: the shards in out cannot be merged:
  out/a-00003-of-00003.manifest.json contradicts itself: a.hcp cannot hold 133 records of hcp in 4320 bytes
  shard 3/3 begins at record 270 of a.hcp, expected 268 because shards are contiguous
status 1
error: the shards in out cannot be merged:
  out/a-00003-of-00003.manifest.json contradicts itself: the counts do not add up: input = 134, but kept + mated + unknown + filtered + bad = 135
  shard 3/3 has 134 records, expected 135
status 1
error: the shards in out cannot be merged:
  out/a-00001-of-00003.hcp.mated is missing
  out/a-00001-of-00003.mated.jsonl has 1 byte, but its manifest states 0
status 1
error: joined.hcp exists; replace it with --force
status 2
error: out/a-00002-of-00003.hcp would overwrite the input out/a-00002-of-00003.hcp; choose another output

"#]]
    );
}

#[test]
fn shards_may_name_the_same_input_differently() {
    let dir = shards("a.hcp", 3, &[2, 3]);
    fs::create_dir(dir.join("copy")).unwrap();
    fs::copy(dir.join("a.hcp"), dir.join("copy/a.hcp")).unwrap();
    let modified = dir.join("a.hcp").metadata().unwrap().modified().unwrap();
    let set_modified = |modified| {
        let copy = fs::File::options().write(true).open(dir.join("copy/a.hcp")).unwrap();
        copy.set_modified(modified).unwrap();
    };
    filter(&dir, &["./a.hcp", "-o", "out", "--shard", "2/3"]);
    set_modified(modified);
    filter(&dir, &["copy/a.hcp", "-o", "out", "--shard", "3/3"]);
    dir.line("merge out -o joined.hcp").succeeds();
    assert!(dir.read("joined.hcp") == dir.read("whole/a.hcp"));
    // Another file with the same name and size.
    set_modified(modified + Duration::from_secs(1));
    filter(&dir, &["copy/a.hcp", "-o", "out", "--shard", "3/3", "--force"]);
    let refusal = dir.line("merge out -o other.hcp").fails(1);
    let why = "shard 3/3 belongs to a different run: inputs[0].modified_unix_ns is ";
    assert!(refusal.contains(why), "{refusal}");
}

#[test]
fn a_single_shard_is_compared_with_its_manifest() {
    let dir = shards("a.hcp", 3, &[1, 3]);
    let manifest = "out/a-00002-of-00003.manifest.json";
    let message = dir.kyokumen(["verify", "--manifest", manifest]).exits(&[0, 3]).text();
    assert_eq!(message, "out/a, 1 manifest: no differences\n");
    assert_data_eq!(
        dir.kyokumen(["verify", "--manifest", "a.hcp"]).run().transcript,
        str![[r#"
status 2
error: a.hcp is not a manifest: its name does not end with .manifest.json

"#]]
    );
}

/// A process was killed while it wrote the offset table. The next one writes the table and leaves no partial file.
#[test]
fn a_partial_offset_table_is_replaced() {
    let dir = Dir::new();
    dir.write("a.sfen", archive(Format::Sfen, 200));
    fs::create_dir(dir.join("out")).unwrap();
    let half = vec![b'{'; 1 << 20];
    dir.write("out/a.sfen.index.json.partial", half);
    filter(&dir, &["a.sfen", "-o", "out", "--shard", "1/2"]);
    assert_eq!(dir.json("out/a.sfen.index.json")["index"]["records"], 200);
    assert!(!dir.join("out/a.sfen.index.json.partial").exists());
}

/// `split` names its parts like shards. A run over a part is not a shard.
#[test]
fn runs_over_parts_of_split_are_not_shards() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 100));
    dir.kyokumen(["split", "a.hcp", "-o", "parts", "--parts", "2"]).exits(&[0, 3]);
    for part in ["parts/a-00001-of-00002.hcp", "parts/a-00002-of-00002.hcp"] {
        filter(&dir, &[part, "-o", "out"]);
    }
    filter(&dir, &["parts/a-00001-of-00002.hcp", "-o", "out", "--shard", "1/2"]);
    let manifests = ["out/a-00001-of-00002.manifest.json", "out/a-00002-of-00002.manifest.json"];
    dir.kyokumen([&["verify", "--manifest"][..], &manifests].concat()).exits(&[0, 3]);
    let manifest_of_shard = "out/a-00001-of-00002-00001-of-00002.manifest.json";
    dir.kyokumen(["verify", "--manifest", manifest_of_shard]).exits(&[0, 3]);
    filter(&dir, &["--retry-unknown", manifests[0], "-o", "again"]);
    assert!(dir.join("again/a-00001-of-00002.manifest.json").exists());
    let lock = dir.join("out/a-00003-of-00004.lock");
    let lock = Lock::take(&lock, None, &AtomicBool::new(false)).unwrap();
    let status = dir.kyokumen(["status", "out"]).exits(&[0, 3]).text();
    let runs = status.lines().filter(|line| !line.starts_with(' ')).collect::<Vec<_>>();
    let expected = [
        "a-00001-of-00002: 1 done; 50 of 50 records",
        "a-00001-of-00002: 1 done, 1 missing; 25 of about 50 records",
        "a-00002-of-00002: 1 done; 50 of 50 records",
        "a-00003-of-00004: 1 running; 0 records",
    ];
    assert_eq!(runs, expected);
    drop(lock);
    fs::remove_file(dir.join(manifest_of_shard)).unwrap();
    assert_data_eq!(
        dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript,
        str![[r#"
status 1
error: no finished shards found in out; repeat the command of an unfinished run with --resume; a run without --shard needs no merge

"#]]
    );
}

#[test]
fn status_shows_the_state_of_each_shard() {
    let dir = shards("a.hcp", 4, &[2, 3]);
    let owner = r#"{"host":"a-machine-far-away","pid":17,"shard":"3/4"}"#;
    dir.write("out/a-00003-of-00004.lock", owner);
    let words = ["status", "out", "--json"];
    let status = dir.kyokumen(words).exits(&[0, 3]).json();
    let column = |key: &str| -> Vec<&Value> {
        status["shards"].as_array().unwrap().iter().map(|shard| &shard[key]).collect()
    };
    assert_eq!(column("state"), ["done", "missing", "running", "done"]);
    assert_eq!(column("shard"), ["1/4", "2/4", "3/4", "4/4"]);
    assert_eq!(column("done"), [100, 0, 0, 101]);
    assert_eq!(status["shards"][2]["holder"]["host"], "a-machine-far-away");
    assert_eq!((&status["name"], &status["done"]), (&"a".into(), &201.into()));
    let text = dir.kyokumen(["status", "out"]).exits(&[0, 3]).text();
    assert!(
        text.starts_with("a: 2 done, 1 running, 1 missing; 201 of about 402 records"),
        "{text}"
    );
    assert!(
        text.contains("left  process\n") && text.contains("  17 on a-machine-far-away\n"),
        "{text}"
    );
    let whole = dir.kyokumen(["status", "whole"]).exits(&[0, 3]).text();
    assert!(whole.starts_with("a: 1 done; 403 of 403 records\n"), "{whole}");
    // The parts of a file have names like shards, but they are not shards.
    dir.kyokumen(["split", "a.hcp", "-o", "out", "--parts", "3", "--name", "b"]).exits(&[0, 3]);
    assert_eq!(dir.kyokumen(["status", "out"]).exits(&[0, 3]).text(), text);
    assert_data_eq!(
        dir.kyokumen(["status", "."]).run().transcript,
        str![[r#"
status 1
error: no runs found in .

"#]]
    );
}

#[test]
fn mixing_kept_and_removed_records_gives_a_warning() {
    let dir = shards("a.psv", 2, &[]);
    let shuffled = |inputs: &[&str]| {
        let words =
            [&["shuffle", "-o", "all.psv", "--force", "--progress", "none"], inputs].concat();
        let message = dir.kyokumen(words).succeeds().stderr;
        let is_warning = |line: &&str| line.trim_start().starts_with("WARN");
        message.split_inclusive('\n').filter(is_warning).collect::<String>()
    };
    let (first, second) = ("out/a-00001-of-00002.psv", "out/a-00002-of-00002.psv");
    let mated = "out/a-00002-of-00002.psv.mated";
    assert_eq!(shuffled(&[first, second]), "");
    assert_eq!(shuffled(&[mated, "whole/a.psv.mated"]), "");
    let message = shuffled(&[first, second, mated]) + &shuffled(&["whole/a.psv.unknown", first]);
    assert_data_eq!(
        message,
        str![[r#"
 WARN out/a-00002-of-00002.psv.mated holds the mated records of out/a-00002-of-00002.manifest.json (filter), and out/a-00001-of-00002.psv holds kept records; together they contain the removed records again
 WARN whole/a.psv.unknown holds the unknown records of whole/a.manifest.json (filter), and out/a-00001-of-00002.psv holds kept records; together they contain the removed records again

"#]]
    );
}
