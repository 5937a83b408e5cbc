//! The guarantees of runs, tested with a judge whose verdicts are a simple function of the position.
//!
//! The search does not matter here: the guarantees hold for any judge.

mod failures;
mod groups;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen::engine::progress::Progress;
use kyokumen::format::Format;
use kyokumen::jobs::filter::filter_with;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::record_totals::RecordManifest;
use kyokumen::jobs::run_files::RunRequest;
use kyokumen::jobs::settings::{MatedPolicy, Settings, UnknownPolicy};
use kyokumen::mate::judge::{InCheck, MateResult, PositionJudge, Stop};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::filters::Condition;
use kyokumen::records::opening::Unreadable;
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::records::shard::Shard;
use kyokumen::records::shard_choice::ShardChoice;
use kyokumen::shogi::{Move, Position};
use kyokumen::{Error, ErrorKind};
use serde_json::Value;
use sha2::{Digest, Sha256};
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::archive::{archive, encoded, records, write};

/// Derives verdicts from the key of the board. It is sometimes slow, so that blocks overtake each other.
struct FakeJudge;

impl PositionJudge for FakeJudge {
    fn judge(&mut self, position: &mut Position, _cancel: &AtomicBool) -> MateResult {
        let key = position.board_key();
        if key.is_multiple_of(97) {
            std::thread::sleep(Duration::from_millis(3));
        }
        let verdict = match key % 10 {
            0 => PositionVerdict::Win,
            1 => PositionVerdict::Loss,
            2 => PositionVerdict::Unknown(Stop::Nodes),
            3 => PositionVerdict::Unknown(Stop::Depth),
            _ => PositionVerdict::NoMate,
        };
        let line = match verdict {
            PositionVerdict::Win => vec![Move::from_usi("2d2c+").unwrap()],
            PositionVerdict::Loss => ["5a4a", "P*4b"].map(|m| Move::from_usi(m).unwrap()).to_vec(),
            _ => Vec::new(),
        };
        MateResult::new(verdict, line, key % 1000)
    }
}

fn try_run(request: JobRequest) -> Result<RecordManifest, Error> {
    let plan = JobPlan::new(request).unwrap();
    filter_with(plan, || Ok(FakeJudge), &mut Progress::none(), &AtomicBool::new(false))
        .map(|filtered| filtered.manifest)
}

fn run(request: JobRequest) -> RecordManifest {
    try_run(request).unwrap()
}

fn request(input: &Path, output: &Path) -> JobRequest {
    JobRequest {
        inputs: vec![input.to_owned()],
        run: RunRequest::new(output),
        settings: Settings { threads: 2, ..Settings::default() },
        ..JobRequest::default()
    }
}

fn with_shard(shard: Option<Shard>, request: JobRequest) -> JobRequest {
    let run = RunRequest { shard: shard.map(ShardChoice::This), ..request.run };
    JobRequest { run, ..request }
}

fn forced(request: JobRequest) -> JobRequest {
    JobRequest { run: RunRequest { force: true, ..request.run }, ..request }
}

fn split_everything() -> Settings {
    Settings { unknown: UnknownPolicy::Split, threads: 2, ..Settings::default() }
}

/// Contents of a folder by file name, without the manifest.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path))
        .filter(|(name, _)| !name.ends_with(".manifest.json"))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n');
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// An output of all shards, joined.
fn joined(shards: &BTreeMap<String, Vec<u8>>, name: &str, count: u32) -> Vec<u8> {
    let (stem, suffix) = name.split_once('.').unwrap();
    let part = |index| &shards[&format!("{stem}-{index:05}-of-{count:05}.{suffix}")][..];
    (1..=count).map(part).collect::<Vec<_>>().concat()
}

#[test]
fn shards_in_order_equal_the_unsharded_output_for_any_number_of_threads() {
    for (format, name) in [(Format::Hcp, "a.hcp"), (Format::Psv, "a.psv"), (Format::Sfen, "a.sfen")]
    {
        let folder = TempDir::new().unwrap();
        let input = write(folder.path(), name, &archive(format, 1003));
        let whole = folder.path().join("whole");
        run(JobRequest { settings: split_everything(), ..request(&input, &whole) });
        let whole = contents(&whole);
        assert_eq!(whole.len(), 7);
        assert!(whole.values().all(|bytes| !bytes.is_empty()), "every output has records");
        for threads in [1, 2] {
            let shards = folder.path().join(format!("shards-{threads}"));
            for index in 1..=10 {
                let settings = Settings { threads, ..split_everything() };
                let shard = Shard::new(index, 10);
                run(with_shard(shard, JobRequest { settings, ..request(&input, &shards) }));
            }
            let shards = contents(&shards);
            for (name, bytes) in &whole {
                assert!(joined(&shards, name, 10) == *bytes, "{name} with {threads} threads");
            }
        }
    }
}

#[test]
fn several_inputs_are_one_sequence_with_record_numbers_per_input() {
    let folder = TempDir::new().unwrap();
    let bytes = archive(Format::Hcpe, 300);
    let (head, tail) = bytes.split_at(38 * 130);
    let inputs =
        vec![write(folder.path(), "first.hcpe", head), write(folder.path(), "second.hcpe", tail)];
    let one = write(folder.path(), "both.hcpe", &bytes);
    let [both, alone, shards] = ["both", "alone", "shards"].map(|name| folder.path().join(name));
    run(JobRequest { inputs: inputs.clone(), ..request(&one, &both) });
    let mut named = request(&one, &alone);
    named.run.name = Some("first".to_owned());
    run(named);
    for index in 1..=3 {
        let shard = Shard::new(index, 3);
        run(with_shard(shard, JobRequest { inputs: inputs.clone(), ..request(&one, &shards) }));
    }
    let [both, alone, shards] = [both, alone, shards].map(|folder| contents(&folder));
    assert!(both["first.hcpe"] == alone["first.hcpe"]);
    for (name, bytes) in &both {
        assert!(joined(&shards, name, 3) == *bytes, "{name}");
    }
    let numbers = |bytes: &[u8]| {
        lines(bytes).iter().map(|line| line["index"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let in_sequence = numbers(&alone["first.mated.jsonl"]);
    let in_files = in_sequence.iter().map(|&i| if i < 130 { i } else { i - 130 });
    assert_eq!(numbers(&both["first.mated.jsonl"]), in_files.collect::<Vec<_>>());
}

#[test]
fn no_byte_is_lost_or_changed() {
    for (format, len, name) in [(Format::Psv, 40, "a.psv"), (Format::Hcpe, 38, "a.hcpe")] {
        let folder = TempDir::new().unwrap();
        let mut bytes = archive(format, 500);
        bytes.extend([9; 17]);
        let input = write(folder.path(), name, &bytes);
        let out = folder.path().join("out");
        let manifest = run(JobRequest { settings: split_everything(), ..request(&input, &out) });
        let out = contents(&out);
        let extension = format.name();
        let names = ["", ".mated", ".unknown"].map(|output| format!("a.{extension}{output}"));
        let records = names.iter().flat_map(|name| out[name].chunks(len));
        let mut records: Vec<&[u8]> = records.chain(out["a.quarantine.bin"].chunks(len)).collect();
        let mut expected: Vec<&[u8]> = bytes.chunks(len).collect();
        records.sort_unstable();
        expected.sort_unstable();
        assert!(records == expected);
        // Records 5, 16, …, 498 of the archive and the truncated one after it.
        assert_eq!(
            (manifest.totals.counts.input, manifest.totals.counts.bad.quarantined),
            (501, 45 + 1)
        );
        assert!(manifest.totals.counts.warnings["padding_not_zero"] > 300);
        manifest.check_balance().unwrap();
    }
}

#[test]
fn a_bad_record_is_quarantined_with_its_offset_and_reason() {
    let folder = TempDir::new().unwrap();
    let good = encoded(Format::Hcp, &records(1, 1)[0]);
    let input = write(folder.path(), "a.hcp", &[&good[..], &[0; 32], &good, &good[..7]].concat());
    let out = folder.path().join("out");
    let manifest = run(request(&input, &out));
    let out = contents(&out);
    let bad = lines(&out["a.quarantine.jsonl"]);
    assert_eq!(bad.len(), 2);
    assert_eq!(bad[0]["file"], input.to_str().unwrap());
    let place = |bad: &Value| ["index", "offset", "bytes"].map(|key| bad[key].as_u64().unwrap());
    assert_eq!((place(&bad[0]), place(&bad[1])), ([1, 32, 32], [3, 96, 7]));
    let reasons = [&bad[0], &bad[1]].map(|bad| bad["reason"].as_str().unwrap());
    assert_data_eq!(
        reasons.join("\n"),
        str![[r#"
byte 1: both kings are on 1a
the record has 7 bytes instead of 32; 3 complete records precede it
"#]]
    );
    assert_eq!(out["a.quarantine.bin"], [&[0; 32][..], &good[..7]].concat());
    assert_eq!((manifest.totals.counts.input, manifest.totals.counts.bad.quarantined), (4, 2));
}

#[test]
fn a_position_whose_king_could_be_captured_is_quarantined() {
    let folder = TempDir::new().unwrap();
    let text = "4k4/9/9/9/4R4/9/9/9/4K4 b - 1\n4k4/9/9/9/4R4/9/9/9/4K4 w - 1\n";
    let input = write(folder.path(), "a.sfen", text.as_bytes());
    let out = folder.path().join("out");
    run(request(&input, &out));
    let bad = lines(&contents(&out)["a.quarantine.jsonl"]);
    assert_eq!((bad.len(), &bad[0]["index"]), (1, &0.into()));
    assert_data_eq!(
        bad[0]["reason"].as_str().unwrap(),
        str!["the White king on 5a is attacked from 5e although White is not to move"]
    );
}

#[test]
fn only_the_attackers_king_may_be_missing() {
    let folder = TempDir::new().unwrap();
    // Black attacks without a king; the king to be mated is missing; White defends against a side without a king.
    let text =
        "4k4/9/9/9/9/9/9/9/9 b G 1\n9/9/9/9/9/9/9/9/4K4 b G 1\n4k4/4G4/9/9/9/9/9/9/9 w - 1\n";
    let input = write(folder.path(), "a.sfen", text.as_bytes());
    let out = folder.path().join("out");
    run(request(&input, &out));
    let bad = lines(&contents(&out)["a.quarantine.jsonl"]);
    assert_eq!((bad.len(), &bad[0]["index"]), (1, &1.into()));
    assert_eq!(bad[0]["reason"], "the White king is missing, so there is no king to mate");
}

#[test]
fn on_error_skip_counts_and_stop_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.psv", &archive(Format::Psv, 200));
    let out = folder.path().join("skip");
    let settings = Settings { on_error: BadPolicy::Skip, ..split_everything() };
    let manifest = run(JobRequest { settings, ..request(&input, &out) });
    assert_eq!(
        (manifest.totals.counts.bad.skipped, manifest.totals.counts.bad.quarantined),
        (18, 0)
    );
    assert!(!contents(&out).keys().any(|name| name.contains("quarantine")));

    let out = folder.path().join("stop");
    let settings = Settings { on_error: BadPolicy::Stop, ..split_everything() };
    let error = try_run(JobRequest { settings, ..request(&input, &out) }).unwrap_err();
    let ErrorKind::BadRecord(bad) = error.kind() else { panic!("{error}") };
    assert_eq!((&*bad.file, bad.index, bad.offset), (input.to_str().unwrap(), 5, 200));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn a_compressed_input_gives_the_outputs_of_the_uncompressed_one() {
    for (format, extension) in [(Format::Psv, "psv"), (Format::Sfen, "sfen")] {
        let folder = TempDir::new().unwrap();
        let bytes = archive(format, 700);
        let plain = write(folder.path(), &format!("a.{extension}"), &bytes);
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        let packed = write(folder.path(), &format!("a.{extension}.zst"), &packed);
        for shard in [None, Shard::new(2, 3)] {
            let outputs = [(&plain, "plain"), (&packed, "packed")].map(|(input, name)| {
                let out = folder.path().join(name).join(shard.is_some().to_string());
                let to = Some(extension.parse().unwrap());
                run(with_shard(
                    shard,
                    JobRequest { to, settings: split_everything(), ..request(input, &out) },
                ));
                let mut outputs = contents(&out);
                // The lines contain the name of the input. If a shard had to count records, there is an offset table.
                let index =
                    outputs.remove(&format!("{}.index.json", input.file_name().unwrap().display()));
                assert_eq!(
                    index.is_some(),
                    shard.is_some() && (name == "packed" || extension == "sfen")
                );
                outputs.retain(|name, _| !name.contains("jsonl"));
                outputs
            });
            assert_eq!(outputs[0].len(), 4);
            assert!(outputs[0] == outputs[1]);
        }
    }
}

#[test]
fn compressed_shards_hold_the_uncompressed_outputs() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.psv", &archive(Format::Psv, 500));
    let [plain, packed] = ["plain", "packed"].map(|name| folder.path().join(name));
    run(request(&input, &plain));
    for index in 1..=2 {
        let to = Some("psv.zst".parse().unwrap());
        run(with_shard(Shard::new(index, 2), JobRequest { to, ..request(&input, &packed) }));
    }
    let (plain, packed) = (contents(&plain), contents(&packed));
    for output in ["a.psv", "a.psv.mated"] {
        // Compressed files can be concatenated, so the shards are joined before they are decompressed.
        let joined = joined(&packed, &output.replacen("psv", "psv.zst", 1), 2);
        assert!(zstd::decode_all(&joined[..]).unwrap() == plain[output], "{output}");
    }
    assert!(joined(&packed, "a.mated.jsonl", 2) == plain["a.mated.jsonl"]);
}

#[test]
fn a_line_of_the_mated_list_holds_the_proven_mate() {
    let folder = TempDir::new().unwrap();
    let all = records(300, 5);
    let bytes: Vec<u8> = all.iter().flat_map(|record| encoded(Format::Psv, record)).collect();
    let input = write(folder.path(), "a.psv", &bytes);
    let out = folder.path().join("out");
    let counts = run(request(&input, &out)).totals.counts;
    let proofs = &contents(&out)["a.mated.jsonl"];
    let (file, mut nodes) = (serde_json::to_string(&input).unwrap(), 0);
    let expected = all.iter().enumerate().filter_map(|(index, record)| {
        let key = Position::try_from(&record.setup).unwrap().board_key();
        nodes += key % 1000;
        let (verdict, plies, line) = match key % 10 {
            0 => ("win", 1, r#"["2d2c+"]"#),
            1 => ("loss", 2, r#"["5a4a","P*4b"]"#),
            _ => return None,
        };
        let (sfen, nodes) = (&record.setup, key % 1000);
        Some(format!(
            "{{\"file\":{file},\"index\":{index},\"sfen\":\"{sfen}\",\"verdict\":\"{verdict}\",\
             \"plies\":{plies},\"line\":{line},\"nodes\":{nodes}}}\n"
        ))
    });
    let expected: String = expected.collect();
    assert!(expected.contains("\"win\"") && expected.contains("\"loss\""));
    assert_eq!(String::from_utf8_lossy(proofs), expected);
    assert_eq!(counts.nodes, nodes);
}

#[test]
fn dropped_mates_and_unknowns_are_counted() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 400));
    let out = folder.path().join("out");
    let (mated, unknown) = (MatedPolicy::Drop, UnknownPolicy::Drop);
    let settings = Settings { mated, unknown, ..split_everything() };
    let counts = run(JobRequest { settings, ..request(&input, &out) }).totals.counts;
    assert_eq!(counts.mated.dropped, counts.verdicts.win + counts.verdicts.loss);
    assert_eq!(counts.unknown.dropped, counts.verdicts.unknown.values().sum::<u64>());
    assert!(counts.mated.dropped > 0 && counts.unknown.dropped > 0);
    let out = contents(&out);
    assert_eq!(out["a.hcp"].len() as u64, 32 * counts.kept);
    assert_eq!(out.len(), 5, "kept, quarantine, the lists of the mated and the unknown");
}

#[test]
fn relabelled_records_keep_their_place_and_all_other_bytes() {
    let folder = TempDir::new().unwrap();
    let mut bytes = Vec::new();
    for (padding, record) in (1u8..=255).zip(records(255, 9)) {
        bytes.extend(encoded(Format::Psv, &record));
        *bytes.last_mut().unwrap() = padding;
    }
    let input = write(folder.path(), "a.psv", &bytes);
    let out = folder.path().join("out");
    let settings = Settings { mated: MatedPolicy::Relabel, ..Settings::default() };
    let counts = run(JobRequest { settings, ..request(&input, &out) }).totals.counts;
    let kept = &contents(&out)["a.psv"];
    assert_eq!(kept.len(), bytes.len());
    let mut changed = 0;
    for (before, after) in bytes.chunks(40).zip(kept.chunks(40)) {
        // Score ±(30000 − plies), move 2d2c+ or 5a4a, result ±1; all from the side to move.
        match (&after[32..36], after[38].cast_signed()) {
            ([0x2f, 0x75, 0x0b, 0x86], 1) | ([0xd2, 0x8a, 0x1b, 0x12], -1) => changed += 1,
            _ => assert_eq!(before, after),
        }
        assert_eq!(before[..32], after[..32]);
        assert_eq!((&before[36..38], before[39]), (&after[36..38], after[39]));
    }
    assert_eq!(changed, counts.mated.relabelled);
    assert_eq!(changed, counts.verdicts.win + counts.verdicts.loss);
    assert!(counts.verdicts.win > 0 && counts.verdicts.loss > 0);
}

#[test]
fn filters_must_all_hold_and_the_first_that_fails_is_counted() {
    let folder = TempDir::new().unwrap();
    let evals = [(0, 10), (500, 10), (501, 10), (-501, 3), (i16::MIN, 90), (-500, 3), (0, 81)];
    let mut record = records(1, 3).remove(0);
    let mut bytes = Vec::new();
    for (eval_cp, ply) in evals {
        (record.eval_cp, record.ply) = (Some(eval_cp), Some(ply));
        bytes.extend(encoded(Format::Psv, &record));
    }
    let input = write(folder.path(), "a.psv", &bytes);
    let mut settings = Settings::default();
    settings.filters.max_abs_eval_cp = Some(500);
    settings.filters.min_ply = Some(4);
    settings.filters.max_ply = Some(80);
    let counts =
        run(JobRequest { settings, ..request(&input, &folder.path().join("out")) }).totals.counts;
    let filtered = [(Condition::MaxAbsEval, 3), (Condition::MinPly, 1), (Condition::MaxPly, 1)];
    assert_eq!(counts.filtered, BTreeMap::from(filtered));
    assert_eq!(counts.input, 7);
}

#[test]
fn positions_in_check_are_not_searched_on_request() {
    let folder = TempDir::new().unwrap();
    let text = "4k4/9/9/9/4R4/9/9/9/4K4 w - 1\n";
    let input = write(folder.path(), "a.sfen", text.as_bytes());
    let mut settings = Settings::default();
    settings.search.in_check = InCheck::Skip;
    let out = folder.path().join("out");
    let counts = run(JobRequest { settings, ..request(&input, &out) }).totals.counts;
    assert_eq!((counts.verdicts.not_searched, counts.kept), (1, 1));
    assert_eq!(contents(&out)["a.sfen"], text.as_bytes());
}

#[test]
fn text_lines_are_copied_unchanged_except_for_a_missing_last_line_end() {
    let folder = TempDir::new().unwrap();
    let first = "4k4/9/9/9/4R4/9/9/9/4K4 w - 1\r\nsfen 4k4/9/9/9/4R4/9/9/9/4K4 w - 2";
    let second = "4k4/9/9/9/4R4/9/9/9/4K4  w - 3\n";
    let inputs = vec![
        write(folder.path(), "a.sfen", first.as_bytes()),
        write(folder.path(), "b.sfen", second.as_bytes()),
    ];
    let mut settings = Settings::default();
    settings.search.in_check = InCheck::Skip;
    let out = folder.path().join("out");
    run(JobRequest { inputs, settings, ..request(folder.path(), &out) });
    let kept = &contents(&out)["a.sfen"];
    assert_eq!(String::from_utf8_lossy(kept), format!("{first}\n{second}"));
}

#[test]
fn an_overlong_line_is_quarantined_in_pieces_even_if_one_is_a_valid_position() {
    const PIECE: usize = 65_536;
    let position = "4k4/9/9/9/9/9/9/9/4K4 b - 1\n";
    let unreadable = Unreadable::Accepted;
    let folder = TempDir::new().unwrap();
    // The pieces are within a block of 64 records, or they cross its end.
    for (before, name) in [(1, "within"), (62, "last"), (63, "across")] {
        let long = [&vec![b'x'; 2 * PIECE][..], position.as_bytes()].concat();
        let bytes = [position.repeat(before).as_bytes(), &long, position.as_bytes()].concat();
        let plain = write(folder.path(), &format!("{name}.sfen"), &bytes);
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        let packed = write(folder.path(), &format!("{name}.sfen.zst"), &packed);
        for (input, out) in [(plain, "plain"), (packed, "packed")] {
            let out = folder.path().join(name).join(out);
            let to = Some("sfen".parse().unwrap());
            let counts = run(JobRequest { to, unreadable, ..request(&input, &out) }).totals.counts;
            let records = before as u64 + 4;
            assert_eq!((counts.input, counts.bad.quarantined), (records, 3), "{name}");
            // One record per shard: two shards begin in the middle of the line.
            let shards = (before..before + 3).map(|i| Shard::new(i as u32 + 1, records as u32));
            for shard in shards {
                let counts =
                    run(with_shard(shard, JobRequest { to, unreadable, ..request(&input, &out) }))
                        .totals
                        .counts;
                assert_eq!((counts.input, counts.bad.quarantined), (1, 1), "{name}");
            }
            let out = contents(&out);
            let quarantine = &out[&format!("{name}.quarantine.bin")];
            assert!(*quarantine == long);
            let last = &lines(&out[&format!("{name}.quarantine.jsonl")])[2];
            assert_eq!(last["index"], before + 2);
            assert_eq!(last["offset"], before * position.len() + 2 * PIECE);
        }
    }
}

#[test]
fn a_change_of_format_counts_lost_and_filled_in_fields() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcpe", &archive(Format::Hcpe, 100));
    let to = Some("psv".parse().unwrap());
    let without = JobRequest { to, ..request(&input, &folder.path().join("without")) };
    let error = JobPlan::new(without).unwrap_err();
    assert!(error.is_usage() && error.to_string().starts_with("cannot convert "), "{error}");

    let settings = Settings { fill: "ply=7".parse().unwrap(), ..Settings::default() };
    let out = folder.path().join("out");
    let counts = run(JobRequest { to, settings, ..request(&input, &out) }).totals.counts;
    let converted = counts.input - counts.bad.quarantined;
    assert_eq!(counts.filled_in, BTreeMap::from([("ply".to_owned(), converted)]));
    assert_eq!(counts.lost, BTreeMap::new());
    let kept = &contents(&out)["a.psv"];
    assert!(!kept.is_empty() && kept.chunks(40).all(|record| record[36..38] == [7, 0]));

    let to = Some("hcp".parse().unwrap());
    let counts = run(forced(JobRequest { to, ..request(&input, &out) })).totals.counts;
    assert_eq!(counts.lost.keys().collect::<Vec<_>>(), ["eval", "move", "result"]);
}

#[test]
fn empty_inputs_give_empty_outputs() {
    let folder = TempDir::new().unwrap();
    for name in ["a.hcp", "b.sfen"] {
        let input = write(folder.path(), name, b"");
        let out = folder.path().join(name).with_extension("out");
        let manifest = run(JobRequest { settings: split_everything(), ..request(&input, &out) });
        assert_eq!(manifest.totals.counts.input, 0);
        let out = contents(&out);
        assert_eq!((out.len(), out.values().all(Vec::is_empty)), (7, true));
    }
}

#[test]
fn more_shards_than_records_read_each_record_once() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 2));
    let out = folder.path().join("out");
    let counts = (1..=5).map(|index| {
        run(with_shard(Shard::new(index, 5), request(&input, &out))).totals.counts.input
    });
    assert_eq!(counts.sum::<u64>(), 2);
}

#[cfg(unix)]
#[test]
fn an_output_that_links_to_an_input_is_refused() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "input.hcp", &archive(Format::Hcp, 5));
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let refused = || {
        let error = JobPlan::new(forced(request(&input, &out))).unwrap_err();
        error.is_usage() && error.to_string().contains(" would overwrite the input ")
    };
    for output in ["input.hcp", "input.hcp.mated", "input.hcp.partial", "input.manifest.json"] {
        let link = out.join(output);
        fs::hard_link(&input, &link).unwrap();
        assert!(refused(), "{output}");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&input, &link).unwrap();
        assert!(refused(), "{output}");
        fs::remove_file(&link).unwrap();
    }
    assert!(fs::read(&input).unwrap() == archive(Format::Hcp, 5));
}

#[test]
fn the_manifest_describes_inputs_and_outputs() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.psv", &archive(Format::Psv, 300));
    let out = folder.path().join("out");
    run(with_shard(Shard::new(2, 3), request(&input, &out)));
    let manifest = fs::read(out.join("a-00002-of-00003.manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let hex = |bytes: &[u8]| {
        Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
    };
    let contents = contents(&out);
    let outputs = manifest["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), contents.len());
    for output in outputs {
        let bytes = &contents[output["file"].as_str().unwrap()];
        assert_eq!(output["bytes"], bytes.len());
        assert_eq!(output["sha256"], hex(bytes));
    }
    let bytes = fs::read(&input).unwrap();
    let input = &manifest["inputs"][0];
    let numbers = ["from", "to", "offset", "bytes"].map(|key| input[key].as_u64().unwrap());
    assert_eq!(numbers, [100, 200, 4000, 4000]);
    assert_eq!(input["sha256"], hex(&bytes[4000..8000]));
    assert_eq!((&manifest["shard"], &manifest["settings"]["depth"]), (&"2/3".into(), &20.into()));
}
