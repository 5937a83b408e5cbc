//! Edited manifests: every command refuses impossible values, and none needs long for it.

use std::fs;
use std::path::Path;

use kyokumen::format::Format;
use kyokumen::storage::checksum::Sha256Sum;
use serde_json::{Value, json};
use snapbox::{assert_data_eq, str};

use crate::archive::archive;
use crate::harness::{Dir, Ran};
use crate::messages;

const SETTINGS: [&str; 7] =
    ["--nodes", "5", "--hash-mb", "1", "--unknown", "split", "--progress=none"];

/// A folder with all three shards of a run.
fn shards() -> Dir {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 303));
    for shard in ["1/3", "2/3", "3/3"] {
        let words = [&["a.hcp", "-o", "out", "--shard", shard], &SETTINGS[..]].concat();
        dir.program("gen-filter", &words).exits(&[3]);
    }
    dir
}

fn manifest(shard: u32) -> String {
    format!("out/a-{shard:05}-of-00003.manifest.json")
}

fn edit(dir: &Dir, shard: u32, edit: impl FnOnce(&mut Value)) {
    let path = dir.join(manifest(shard));
    let mut value = dir.json(&path);
    edit(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

/// Runs every command that reads the manifest of the second shard. Returns its name, exit status and output.
fn run_all(dir: &Dir) -> Vec<(&'static str, Option<i32>, String)> {
    let manifests = [1, 2, 3].map(manifest);
    let verify = ["verify", "--manifest", &manifests[0], &manifests[1], &manifests[2]];
    let resume = ["a.hcp", "-o", "out", "--shard", "2/3", "--resume"];
    let resume = [&resume, &SETTINGS[..]].concat();
    let retry = ["--retry-unknown", &manifests[1], "-o", "again", "--nodes", "9", "--hash-mb", "1"];
    let commands = [
        ("merge", "kyokumen", &["merge", "out", "-o", "joined.hcp"][..]),
        ("status", "kyokumen", &["status", "out"]),
        ("verify", "kyokumen", &verify),
        ("verify one", "kyokumen", &["verify", "--manifest", &manifests[1]]),
        ("resume", "gen-filter", &resume),
        ("retry", "gen-filter", &retry),
    ];
    let results = commands.map(|(name, program, words)| {
        let ran = dir.program(program, words).run();
        (name, ran.code, stdout_and_stderr(&ran))
    });
    assert!(!dir.join("joined.hcp").exists() && !dir.join("again/a.hcp").exists());
    results.into()
}

/// Standard output and standard error.
fn stdout_and_stderr(ran: &Ran) -> String {
    format!("{}{}", ran.text(), ran.stderr)
}

/// The transcripts of all commands, each after its name.
fn lines_of(results: &[(&str, Option<i32>, String)]) -> String {
    let mut lines = String::new();
    for (name, code, output) in results {
        lines.extend([name, ": "]);
        lines += &messages::transcript(Path::new("/nowhere"), *code, output);
    }
    lines
}

fn add(value: &mut Value, number: i64) {
    *value = (value.as_i64().unwrap() + number).into();
}

type Edit = fn(&mut Value);

/// Edits that make a manifest contradict itself.
const EDITS: &[Edit] = &[
    |m| m["outputs"] = json!([]),
    |m| {
        let first = m["outputs"][0].clone();
        m["outputs"].as_array_mut().unwrap().push(first);
    },
    |m| {
        let mut first = m["outputs"][0].clone();
        first["file"] = "a-00002-of-00003.other.hcp".into();
        m["outputs"].as_array_mut().unwrap().push(first);
    },
    |m| drop(m["outputs"].as_array_mut().unwrap().remove(0)),
    |m| m["settings"]["mated"] = "drop".into(),
    |m| m["settings"]["mated"] = "all".into(),
    |m| m["outputs"][0]["sha256"] = Value::Null,
    |m| add(&mut m["counts"]["kept"], 1),
    |m| m["counts"]["kept"] = u64::MAX.into(),
    |m| m["counts"]["filtered"]["min_ply"] = u64::MAX.into(),
    |m| m["outputs"][0]["records"] = u64::MAX.into(),
    |m| add(&mut m["outputs"][0]["records"], 1),
    |m| add(&mut m["outputs"][0]["bytes"], 1),
    |m| m["outputs"][0]["bytes"] = u64::MAX.into(),
    |m| m["outputs"][0]["file"] = "../a.hcp".into(),
    |m| m["outputs"][0]["file"] = "/etc/passwd".into(),
    |m| m["outputs"][0]["file"] = "".into(),
    |m| m["outputs"][0]["file"] = "a-00001-of-00003.hcp".into(),
    |m| m["shard"] = "1/3".into(),
    |m| m["shard"] = "2/4294967295".into(),
    |m| m["shard"] = Value::Null,
    |m| add(&mut m["inputs"][0]["from"], 1),
    |m| m["inputs"][0]["from"] = 999.into(),
    |m| m["inputs"][0]["to"] = u64::MAX.into(),
    |m| m["inputs"][0]["offset"] = u64::MAX.into(),
    |m| m["inputs"][0]["format"] = "hcp9".into(),
    |m| m["inputs"] = json!([]),
];

/// The reason in a message about a manifest that contradicts itself.
fn reason(output: &str) -> &str {
    let (_, reason) =
        output.split_once("contradicts itself: ").unwrap_or_else(|| panic!("{output}"));
    reason.split([';', '\n']).next().unwrap_or(reason)
}

#[test]
fn impossible_values_are_refused_by_every_command() {
    let dir = shards();
    let original = dir.read(manifest(2));
    let mut reasons = String::new();
    for change in EDITS {
        edit(&dir, 2, change);
        let results = run_all(&dir);
        let expected = reason(&results[0].2);
        for (name, code, output) in &results {
            assert_eq!((*code, reason(output)), (Some(1), expected), "{name}");
        }
        reasons += expected;
        reasons += "\n";
        dir.write(manifest(2), &original);
    }
    assert_data_eq!(
        reasons,
        str![[r#"
it has 0 outputs, expected at least one
the output a-00002-of-00003.hcp is listed twice
it has 2 outputs of kind kept, but its settings require 1
it has 0 outputs of kind kept, but its settings require 1
it has 1 output of kind mated, but its settings require 0
settings.mated is "all"
the output a-00002-of-00003.hcp has no SHA-256
the counts do not add up: input = 101, but kept + mated + unknown + filtered + bad = 102
a record count is 18446744073709551615, above the maximum of 281474976710656
a record count is 18446744073709551615, above the maximum of 281474976710656
a record number is 18446744073709551615, above the maximum of 281474976710656
the counts do not add up: records in an output = 51, but records counted for it = 50
a-00002-of-00003.hcp cannot hold 50 records of hcp in 1601 bytes
a byte count is 18446744073709551615, above the maximum of 1152921504606846976
the output name "../a.hcp" is not a file name without a folder
the output name "/etc/passwd" is not a file name without a folder
the output name "" is not a file name without a folder
it lists the output a-00001-of-00003.hcp, expected a-00002-of-00003.hcp
its shard is 1/3, but the shard in its name is 2/3
its shard is 2/4294967295, but the shard in its name is 2/3
its shard is none, but the shard in its name is 2/3
a.hcp cannot hold 100 records of hcp in 3232 bytes
the record range of a.hcp starts at 999 and ends at 202
a record number is 18446744073709551615, above the maximum of 281474976710656
a byte count is 18446744073709551615, above the maximum of 1152921504606846976
the format of a.hcp is unknown: "hcp9"
the counts do not add up: records read = 0, but input = 101

"#]]
    );
    assert_eq!(statuses_of_intact_shards(&dir), [0, 0, 0]);
}

#[test]
fn a_backslash_ends_the_name_of_a_folder_on_windows_only() {
    let dir = shards();
    edit(&dir, 2, |m| m["outputs"][0]["file"] = "..\\a.hcp".into());
    let expected = if cfg!(windows) {
        r#"the output name "..\\a.hcp" is not a file name without a folder"#
    } else {
        r"it lists the output ..\a.hcp, expected a-00002-of-00003.hcp"
    };
    for (name, _, output) in run_all(&dir) {
        assert_eq!(reason(&output), expected, "{name}");
    }
}

fn statuses_of_intact_shards(dir: &Dir) -> [i32; 3] {
    let manifests = [1, 2, 3].map(manifest);
    let verify = ["verify", "--manifest", &manifests[0], &manifests[1], &manifests[2]];
    let merge = ["merge", "out", "-o", "joined.hcp"];
    [&verify[..], &["status", "out"], &merge].map(|words| dir.kyokumen(words).run().code.unwrap())
}

#[test]
fn gaps_and_overlaps_of_shards_are_reported() {
    let dir = shards();
    edit(&dir, 2, |m| {
        add(&mut m["inputs"][0]["from"], 60);
        add(&mut m["inputs"][0]["to"], 60);
    });
    // For the resumed run, the message suggests a restart.
    assert_data_eq!(
        lines_of(&run_all(&dir)),
        str![[r#"
merge: status 1
error: the shards in out cannot be merged:
  shard 2/3 begins at record 161 of a.hcp, expected 101 because shards are contiguous
  shard 3/3 begins at record 202 of a.hcp, expected 262 because shards are contiguous
status: status 1
a: 3 done; 303 of 303 records
  shard  state    %  done   of  mated  unknown[..]
    1/3  done   100[..]
    2/3  done   100[..]
    3/3  done   100[..]
  shard 2/3 begins at record 161 of a.hcp, expected 101 because shards are contiguous
  shard 3/3 begins at record 202 of a.hcp, expected 262 because shards are contiguous
error: 2 problems in the manifests; standard output describes them
verify: status 1
out/a, 3 manifests: 2 differences
  shard 2/3 begins at record 161 of a.hcp, expected 101 because shards are contiguous
  shard 3/3 begins at record 202 of a.hcp, expected 262 because shards are contiguous
error: the outputs do not match their manifests: 2 differences
verify one: status 0
out/a, 1 manifest: no differences
resume: status 1
error: out/a-00002-of-00003.manifest.json was written for records 161 to 262 of a.hcp, but this run would read records 101 to 202; start again with --force
retry: status 1
error: out/a-00002-of-00003.unknown.jsonl, line 1: record [..] of a.hcp is outside the range in the manifest, so the list is from another run

"#]]
    );
}

#[test]
fn bytes_of_shards_must_be_contiguous() {
    let dir = shards();
    edit(&dir, 2, |m| add(&mut m["inputs"][0]["offset"], -32));
    assert_data_eq!(
        lines_of(&run_all(&dir)[..3]),
        str![[r#"
merge: status 1
error: the shards in out cannot be merged:
  shard 2/3 begins at byte 3200 of a.hcp, expected 3232 because shards are contiguous
  shard 3/3 begins at byte 6464 of a.hcp, expected 6432 because shards are contiguous
status: status 1
a: 3 done; 303 of 303 records
  shard  state    %  done   of  mated  unknown[..]
    1/3  done   100[..]
    2/3  done   100[..]
    3/3  done   100[..]
  shard 2/3 begins at byte 3200 of a.hcp, expected 3232 because shards are contiguous
  shard 3/3 begins at byte 6464 of a.hcp, expected 6432 because shards are contiguous
error: 2 problems in the manifests; standard output describes them
verify: status 1
out/a, 3 manifests: 2 differences
  shard 2/3 begins at byte 3200 of a.hcp, expected 3232 because shards are contiguous
  shard 3/3 begins at byte 6464 of a.hcp, expected 6432 because shards are contiguous
error: the outputs do not match their manifests: 2 differences

"#]]
    );
}

#[test]
fn shards_must_reach_the_end_of_their_inputs() {
    let dir = shards();
    for shard in 1..=3 {
        edit(&dir, shard, |m| add(&mut m["inputs"][0]["file_bytes"], 320));
    }
    assert_data_eq!(
        dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript,
        str![[r#"
status 1
error: the shards in out cannot be merged:
  the shards end at byte 9696 of a.hcp, which has 10016 bytes

"#]]
    );
}

/// Missing shards take neither time nor memory.
#[test]
fn billions_of_missing_shards_are_listed_as_ranges() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 3));
    let words = ["a.hcp", "-o", "out", "--shard", "7/4294967295"];
    dir.program("gen-filter", [&words, &SETTINGS[..]].concat()).succeeds();
    let ran = dir.kyokumen(["status", "out"]).succeeds();
    let text = ran.text();
    assert!(text.starts_with("a: 1 done, 4294967294 missing; 0 of "), "{text}");
    assert!(text.contains("8-4294967295/4294967295  missing"), "{text}");
    let status = dir.kyokumen(["status", "out", "--json"]).run().json();
    let shards: Vec<_> = status["shards"].as_array().unwrap().iter().collect();
    assert_eq!((shards.len(), &shards[0]["shard"]), (3, &"1-6/4294967295".into()));
    assert_eq!((&shards[0]["shards"], &shards[1]["shards"]), (&6.into(), &1.into()));
    assert_data_eq!(
        dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript,
        str![[r#"
status 1
error: the shards in out cannot be merged:
  shards 1-6/4294967295 are missing (out/a-00001-of-4294967295.manifest.json and following)
  shards 8-4294967295/4294967295 are missing (out/a-00008-of-4294967295.manifest.json and following)

"#]]
    );
}

#[test]
fn lists_of_an_earlier_run_must_name_its_records() {
    let dir = shards();
    let list = dir.join("out/a-00002-of-00003.unknown.jsonl");
    let text = fs::read_to_string(&list).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let without_last = lines[..lines.len() - 1].join("\n") + "\n";
    let last = lines[lines.len() - 1];
    let index = last.find("\"index\":").unwrap();
    let digits = last[index + 8..].find(',').unwrap();
    let beyond = format!("{}900{}\n", &last[..index + 8], &last[index + 8 + digits..]);
    let mut transcripts = String::new();
    for text in [
        without_last.clone() + &beyond,
        without_last.clone(),
        without_last + &"x".repeat(70_000) + "\n",
    ] {
        fs::write(&list, &text).unwrap();
        edit(&dir, 2, |m| {
            let outputs = m["outputs"].as_array_mut().unwrap();
            let list = outputs.iter_mut().find(|out| out["stream"] == "unknown_lines").unwrap();
            list["bytes"] = text.len().into();
            list["sha256"] = Sha256Sum::of(text.as_bytes()).to_string().into();
        });
        let words = ["--retry-unknown", &manifest(2), "-o", "again", "--nodes", "9"];
        transcripts += &dir.program("gen-filter", &words).run().transcript;
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
error: out/a-00002-of-00003.unknown.jsonl, line [..]: record 900 of a.hcp is outside the range in the manifest, so the list is from another run
status 1
error: out/a-00002-of-00003.unknown.jsonl has [..] lines, but its manifest states [..]
status 1
error: out/a-00002-of-00003.unknown.jsonl, line [..]: the line is longer than 65536 bytes

"#]]
    );
}

/// Manifests of commands without a search are checked too.
#[test]
fn manifests_of_other_commands_must_add_up() {
    let dir = Dir::new();
    dir.write("a.hcp", archive(Format::Hcp, 30));
    let words = ["split", "a.hcp", "-o", "out", "--parts", "2", "--on-error", "skip"];
    dir.kyokumen(words).exits(&[0, 3]);
    let path = dir.join("out/a.manifest.json");
    let original = dir.json(&path);
    let edits: &[Edit] = &[
        |m| m["outputs"][0]["file"] = "../a.hcp".into(),
        |m| m["outputs"][1] = m["outputs"][0].clone(),
        |m| m["outputs"][0]["sha256"] = Value::Null,
        |m| add(&mut m["counts"]["written"], 1),
        |m| m["counts"]["written"] = u64::MAX.into(),
        |m| m["outputs"] = json!([]),
    ];
    let mut transcripts = String::new();
    for change in edits {
        let mut edited = original.clone();
        change(&mut edited);
        fs::write(&path, serde_json::to_vec(&edited).unwrap()).unwrap();
        let words = ["verify", "--manifest", "out/a.manifest.json"];
        let ran = dir.kyokumen(words).run();
        transcripts += &messages::transcript(dir.path(), ran.code, &stdout_and_stderr(&ran));
    }
    assert_data_eq!(
        transcripts,
        str![[r#"
status 1
out/a, 1 manifest: 1 difference
  out/a.manifest.json was changed and contradicts itself: the output name "../a.hcp" is not a file name without a folder
error: the outputs do not match their manifests
status 1
out/a, 1 manifest: 1 difference
  out/a.manifest.json was changed and contradicts itself: the output a-00001-of-00002.hcp is listed twice
error: the outputs do not match their manifests
status 1
out/a, 1 manifest: 1 difference
  out/a.manifest.json was changed and contradicts itself: the output a-00001-of-00002.hcp has no SHA-256
error: the outputs do not match their manifests
status 1
out/a, 1 manifest: 1 difference
  out/a.manifest.json was changed and contradicts itself: the counts do not add up: input = 30, but written + filtered + bad = 31
error: the outputs do not match their manifests
status 1
out/a, 1 manifest: 1 difference
  out/a.manifest.json was changed and contradicts itself: a record count is 18446744073709551615, above the maximum of 281474976710656
error: the outputs do not match their manifests
status 1
out/a, 1 manifest: 1 difference
  out/a.manifest.json was changed and contradicts itself: it has 0 outputs, expected at least one
error: the outputs do not match their manifests

"#]]
    );
}

/// Turns a manifest of records into a plausible manifest of games.
fn into_games(manifest: &mut Value, endings: &Value) {
    let kept = |output: &&Value| output["stream"] == "kept";
    let outputs = manifest["outputs"].as_array().unwrap();
    let output = outputs.iter().find(kept).unwrap().clone();
    let records = output["records"].clone();
    manifest["outputs"] = json!([output]);
    manifest["games"] = json!({
        "played": 0, "written": 0, "dropped": {}, "mated_openings": 0, "endings": endings,
        "results": {}, "moves": 0, "training_positions": records, "simulations": 0,
    });
    manifest["networks"] = json!([]);
    manifest["reproducible"] = json!(true);
}

#[test]
fn games_and_records_are_not_joined() {
    let dir = shards();
    edit(&dir, 2, |manifest| into_games(manifest, &json!({})));
    assert_data_eq!(
        dir.kyokumen(["merge", "out", "-o", "joined.hcp"]).run().transcript,
        str![[r#"
status 1
error: the shards in out cannot be merged:
  shard 2/3 belongs to a different run: the counted unit is "games", but "records" in shard 1/3

"#]]
    );
    assert!(!dir.join("joined.hcp").exists());
}

#[test]
fn sums_of_endings_do_not_overflow() {
    let dir = shards();
    let endings = (0..70_000).map(|number| (number.to_string(), json!(1_u64 << 48)));
    let endings = Value::Object(endings.collect());
    edit(&dir, 2, |manifest| into_games(manifest, &endings));
    let ran = dir.kyokumen(["status", "out"]).run();
    assert_data_eq!(
        messages::transcript(dir.path(), ran.code, &stdout_and_stderr(&ran)),
        str![[r#"
status 1
a: 2 done, 1 damaged; 202 of about 303 records
  shard  state      %  done   of  unknown[..]
    1/3  done     100[..]
    2/3  damaged          0    ?        0
    3/3  done     100[..]
  out/a-00002-of-00003.manifest.json was changed and contradicts itself: the counts do not add up: endings = 18446744073709551615, but games played = 0
error: 1 problem in the manifests; standard output describes it

"#]]
    );
}
