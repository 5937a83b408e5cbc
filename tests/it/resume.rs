//! Resumed runs write the same files as uninterrupted runs.
//!
//! Here a judge interrupts the runs between any two records. `killed.rs` kills processes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use kyokumen::engine::progress::Progress;
use kyokumen::format::Format;
use kyokumen::jobs::filter::filter_with;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::record_run::Completed;
use kyokumen::jobs::run_files::RunRequest;
use kyokumen::jobs::settings::DatasetSettings;
use kyokumen::jobs::settings::{Settings, UnknownPolicy};
use kyokumen::jobs::shares::Shares;
use kyokumen::jobs::status::{ShardState, status};
use kyokumen::mate::judge::{MateResult, PositionJudge, Stop};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::records::shard::Shard;
use kyokumen::records::shard_choice::ShardChoice;
use kyokumen::shogi::{Move, Position};
use kyokumen::{Error, ErrorKind, Remedy};
use serde_json::Value;
use tempfile::TempDir;

use crate::archive::{archive, write};
use crate::dataset::FORMATS;

/// Derives verdicts from the key of the board, and interrupts the run when no verdicts are left.
struct Interrupting {
    left: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
}

impl PositionJudge for Interrupting {
    fn judge(&mut self, position: &mut Position, _cancel: &AtomicBool) -> MateResult {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancel.store(true, Ordering::Relaxed);
        }
        let key = position.board_key();
        let (verdict, line) = match key % 10 {
            0 => (PositionVerdict::Win, vec![Move::from_usi("2d2c+").unwrap()]),
            1 => (PositionVerdict::Unknown(Stop::Nodes), Vec::new()),
            _ => (PositionVerdict::NoMate, Vec::new()),
        };
        MateResult::new(verdict, line, key % 1000)
    }
}

/// Filters, with an interruption after this number of verdicts.
fn run(request: JobRequest, verdicts: u64) -> Result<Completed, Error> {
    run_plan(JobPlan::new(request).unwrap(), verdicts)
}

fn run_plan(plan: JobPlan, verdicts: u64) -> Result<Completed, Error> {
    let (left, cancel) = (Arc::new(AtomicU64::new(verdicts)), Arc::new(AtomicBool::new(false)));
    let make_judge = {
        let cancel = Arc::clone(&cancel);
        move || Ok(Interrupting { left: Arc::clone(&left), cancel: Arc::clone(&cancel) })
    };
    filter_with(plan, make_judge, &mut Progress::none(), &cancel)
}

fn request(input: &Path, output: &Path) -> JobRequest {
    let settings = Settings { unknown: UnknownPolicy::Split, threads: 2, ..Settings::default() };
    let inputs = vec![input.to_owned()];
    JobRequest {
        inputs,
        run: RunRequest { resume: true, ..RunRequest::new(output) },
        settings,
        ..JobRequest::default()
    }
}

/// The same with other options of the run.
fn with_run(request: &JobRequest, change: impl FnOnce(&mut RunRequest)) -> JobRequest {
    let mut request = request.clone();
    change(&mut request.run);
    request
}

/// The same from the start, replacing existing files.
fn restarted(request: &JobRequest) -> JobRequest {
    with_run(request, |run| (run.resume, run.force) = (false, true))
}

/// The second of three shards, with a checkpoint after each block.
fn second_shard(request: &JobRequest) -> JobRequest {
    with_run(request, |run| {
        run.shard = Shard::new(2, 3).map(ShardChoice::This);
        run.checkpoint_every = Some(Duration::ZERO);
    })
}

/// Interrupts and resumes the run until it finishes. Returns the number of interruptions.
fn run_in_pieces(request: &JobRequest, verdicts: u64) -> u64 {
    // More verdicts each time, because a resumed run repeats blocks that several threads had begun.
    for interruptions in 0.. {
        let threads = (interruptions % 3) as usize + 1;
        let settings = Settings { threads, ..request.settings.clone() };
        match run(JobRequest { settings, ..request.clone() }, verdicts + 100 * interruptions) {
            Ok(Completed { manifest, was_done }) => {
                assert!(!was_done);
                assert!(manifest.resumed_from.is_sorted());
                return manifest.resumed_from.len() as u64;
            }
            Err(error) => assert!(error.is_interruption(), "{error:?}"),
        }
    }
    unreachable!("each attempt makes progress");
}

/// Contents of a folder by file name. Manifests are listed without values that vary.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let content = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = fs::read(&path).unwrap();
        if !name.ends_with(".manifest.json") {
            return (name, bytes);
        }
        let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
        let object = manifest.as_object_mut().unwrap();
        for key in
            ["ended_unix_s", "elapsed_s", "records_per_s", "nodes_per_s", "saved", "resumed_from"]
        {
            object.remove(key).unwrap();
        }
        object["settings"].as_object_mut().unwrap().remove("threads").unwrap();
        (name, serde_json::to_vec(&manifest).unwrap())
    };
    files.map(content).collect()
}

/// Checks that a run in pieces writes the same files as an uninterrupted run.
#[track_caller]
fn check(request: &JobRequest, verdicts: u64) {
    let whole = request.run.output.with_extension("whole");
    run(with_run(request, |run| run.output.clone_from(&whole)), u64::MAX).unwrap();
    let interruptions = run_in_pieces(request, verdicts);
    assert!(interruptions > 0);
    let (whole, pieces) = (contents(&whole), contents(&request.run.output));
    assert_eq!(whole.keys().collect::<Vec<_>>(), pieces.keys().collect::<Vec<_>>());
    for (name, bytes) in &whole {
        assert!(pieces[name] == *bytes, "{name}");
    }
}

#[test]
fn resumed_runs_equal_uninterrupted_runs_in_every_format() {
    for name in ["a.hcp", "a.psv", "a.sfen", "a.jsonl", "a.sfen.zst", "a.hcpe.zst"] {
        let folder = TempDir::new().unwrap();
        let (stem, compression) = name.strip_suffix(".zst").map_or((name, false), |n| (n, true));
        let format = Format::from_extension(stem.rsplit_once('.').unwrap().1).unwrap();
        let bytes = archive(format, 3000);
        let bytes = if compression { zstd::encode_all(&bytes[..], 1).unwrap() } else { bytes };
        let input = write(folder.path(), name, &bytes);
        check(&request(&input, &folder.path().join("out")), 500);
        check(&second_shard(&request(&input, &folder.path().join("shard"))), 300);
    }
}

#[test]
fn resumed_datasets_equal_uninterrupted_datasets() {
    for to in FORMATS {
        let folder = TempDir::new().unwrap();
        let input = write(folder.path(), "a.psv", &archive(Format::Psv, 3000));
        let format = serde_json::from_value((*to).into()).unwrap();
        let dataset = DatasetSettings { format, shares: Shares::default(), tsume_plies: false };
        let request = request(&input, &folder.path().join("out"));
        let settings = Settings { dataset: Some(dataset), ..request.settings.clone() };
        let request = JobRequest { settings, ..request };
        check(&request, 500);
        let shard = with_run(&request, |run| run.output = folder.path().join("shard"));
        check(&second_shard(&shard), 300);
    }
}

#[test]
fn resumed_runs_have_the_frames_of_uninterrupted_runs() {
    let folder = TempDir::new().unwrap();
    let bytes = archive(Format::Hcp, 1000).repeat(200);
    let input = write(folder.path(), "a.hcp", &bytes);
    let to = Some("hcp.zst".parse().unwrap());
    check(&JobRequest { to, ..request(&input, &folder.path().join("out")) }, 50_000);
    let frames = |name| {
        let mut file = fs::File::open(folder.path().join("out").join(name)).unwrap();
        zeekstd::SeekTable::from_seekable(&mut file).unwrap().num_frames()
    };
    assert_eq!([frames("a.hcp.zst"), frames("a.hcp.zst.mated")], [3, 1]);
}

#[test]
fn runs_over_several_inputs_can_be_resumed() {
    let folder = TempDir::new().unwrap();
    let names = ["a.psv", "b.psv", "c.psv"];
    let inputs = names.map(|name| write(folder.path(), name, &archive(Format::Psv, 700)));
    let out = folder.path().join("out");
    check(&JobRequest { inputs: inputs.to_vec(), ..request(&inputs[0], &out) }, 250);
}

/// An interrupted run.
struct Interrupted {
    folder: TempDir,
    request: JobRequest,
}

/// Interrupts the run after 600 verdicts, repeatedly until some records are written. All records may be searched before
/// the thread that writes has run.
fn interrupt(request: &JobRequest) {
    loop {
        let error = run(request.clone(), 600).unwrap_err();
        match error.kind() {
            ErrorKind::Suspended(64..) => return,
            ErrorKind::Suspended(_) | ErrorKind::Interrupted => {}
            _ => panic!("{error}"),
        }
    }
}

fn interrupted() -> Interrupted {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 2000));
    let request = request(&input, &folder.path().join("out"));
    interrupt(&request);
    Interrupted { folder, request }
}

impl Interrupted {
    fn output(&self, name: &str) -> PathBuf {
        self.request.run.output.join(name)
    }

    /// Asserts that the run is refused and changes no file. Returns the error.
    fn refusal(&self, request: JobRequest) -> Error {
        let before = contents(&self.request.run.output);
        let error = run(request, u64::MAX).unwrap_err();
        assert!(contents(&self.request.run.output) == before);
        error
    }

    /// Asserts that the run is refused because of this difference. Returns both values.
    #[track_caller]
    fn difference(&self, request: JobRequest, what: &str) -> [Value; 2] {
        difference(&self.refusal(request), what)
    }
}

#[track_caller]
fn difference(refusal: &Error, what: &str) -> [Value; 2] {
    let ErrorKind::Different(difference) = refusal.kind() else { panic!("{refusal}") };
    assert_eq!(difference.what, what);
    [difference.was.clone(), difference.is.clone()]
}

#[test]
fn other_settings_are_refused_and_named() {
    let left = interrupted();
    let with = |change: fn(&mut Settings)| {
        let mut request = left.request.clone();
        change(&mut request.settings);
        request
    };
    let nodes = left.difference(with(|s| s.search.nodes = 5), "settings.nodes");
    assert_eq!(nodes, [1_048_576, 5]);
    let in_check = with(|s| s.filters.drop_in_check = true);
    assert_eq!(left.difference(in_check, "settings.drop-in-check"), [false, true]);
    let to = Some("hcp.zst".parse().unwrap());
    let named = with_run(&left.request, |run| run.name = Some("a".to_owned()));
    let to = left.difference(JobRequest { to, ..named.clone() }, "settings.to");
    assert_eq!(to, ["hcp", "hcp.zst"]);
    let other = write(left.folder.path(), "b.hcp", &archive(Format::Hcp, 2000));
    let inputs = vec![other];
    left.difference(JobRequest { inputs, ..named }, "inputs[0].file");
}

#[test]
fn a_changed_input_is_refused() {
    let left = interrupted();
    let path = &left.request.inputs[0];
    let modified = path.metadata().unwrap().modified().unwrap();
    let bytes = fs::read(path).unwrap();
    let rewrite = |bytes: &[u8], modified| {
        fs::write(path, bytes).unwrap();
        fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    };
    rewrite(&bytes, modified + Duration::from_secs(1));
    left.difference(left.request.clone(), "inputs[0].modified_unix_ns");
    rewrite(&bytes[..bytes.len() - 32], modified);
    let file_bytes = left.difference(left.request.clone(), "inputs[0].file_bytes");
    assert_eq!(file_bytes, [64_000, 63_968]);
    // The part that was read is compared again, even if the modification time is the same.
    let mut changed = bytes.clone();
    changed[7] ^= 1;
    rewrite(&changed, modified);
    let refusal = left.refusal(left.request.clone());
    assert!(matches!(refusal.kind(), ErrorKind::Changed), "{refusal}");
    assert_eq!(refusal.file(), path.to_str());
    rewrite(&bytes, modified);
    run_in_pieces(&left.request, u64::MAX / 2);
}

/// Only the file name, size and modification time of an input identify it. The outputs name it as at the first start.
#[test]
fn a_run_is_resumed_with_another_path_to_the_same_input() {
    let left = interrupted();
    let input = &left.request.inputs[0];
    let modified = input.metadata().unwrap().modified().unwrap();
    let copy = |folder: &str, name: &str| {
        let folder = left.folder.path().join(folder);
        fs::create_dir(&folder).unwrap();
        fs::copy(input, folder.join(name)).unwrap();
        let copy = fs::File::options().write(true).open(folder.join(name)).unwrap();
        copy.set_modified(modified).unwrap();
        let (inputs, request) = (vec![folder.join(name)], left.request.clone());
        JobRequest {
            inputs,
            run: RunRequest { name: Some("a".into()), ..request.run.clone() },
            ..request
        }
    };
    let whole = with_run(&left.request, |run| run.output = left.folder.path().join("whole"));
    run(whole.clone(), u64::MAX).unwrap();
    left.difference(copy("renamed", "b.hcp"), "inputs[0].file");
    let copied = copy("copied", "a.hcp");
    run_in_pieces(&copied, u64::MAX / 2);
    assert!(contents(&left.request.run.output) == contents(&whole.run.output));
    assert!(run(left.request.clone(), 1).unwrap().was_done);
    // A run that has begun elsewhere can be finished with the first path.
    interrupt(&restarted(&copied));
    run_in_pieces(&left.request, u64::MAX / 2);
    let list = fs::read_to_string(left.output("a.mated.jsonl")).unwrap();
    assert!(list.contains("copied") && list.lines().all(|line| line.contains("copied")), "{list}");
}

#[test]
fn damaged_checkpoints_and_outputs_are_refused() {
    let left = interrupted();
    let damage = |name: &str, damage: fn(&mut Vec<u8>)| {
        let path = left.output(name);
        let bytes = fs::read(&path).unwrap();
        let mut damaged = bytes.clone();
        damage(&mut damaged);
        fs::write(&path, damaged).unwrap();
        let refusal = left.refusal(left.request.clone());
        let is_damage = matches!(refusal.kind(), ErrorKind::Malformed | ErrorKind::Changed);
        assert!(is_damage, "{refusal}");
        assert_eq!(refusal.file(), path.to_str());
        fs::write(&path, bytes).unwrap();
    };
    damage("a.checkpoint", |bytes| bytes.truncate(100));
    damage("a.checkpoint", Vec::clear);
    damage("a.checkpoint", |bytes| bytes[50] ^= 1);
    damage("a.hcp.partial", |bytes| bytes.truncate(100));
    damage("a.hcp.partial", |bytes| bytes[50] ^= 1);
    let mated = left.output("a.hcp.mated.partial");
    let bytes = fs::read(&mated).unwrap();
    fs::remove_file(&mated).unwrap();
    let refusal = left.refusal(left.request.clone());
    assert_eq!(
        refusal.to_string(),
        format!("cannot resume the run, because {} is missing", mated.display())
    );
    // Bytes after the checkpoint are cut off.
    fs::write(&mated, [bytes, vec![1; 1 << 20]].concat()).unwrap();
    run_in_pieces(&left.request, u64::MAX / 2);
    assert!(left.output("a.hcp.mated").metadata().unwrap().len() < 1 << 20);
    assert!(!left.output("a.checkpoint").exists());
}

/// Asserts that the run is refused without `--resume` and `--force`, because it was interrupted.
#[track_caller]
fn assert_not_restarted(request: &JobRequest) {
    let error = JobPlan::new(with_run(request, |run| run.resume = false)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Exists));
    assert!(error.to_string().ends_with(" belongs to an interrupted run"), "{error}");
    assert_eq!(error.remedy(), Some(Remedy::ResumeOrRestart));
}

#[test]
fn an_interrupted_run_restarts_only_with_force() {
    let left = interrupted();
    assert_not_restarted(&left.request);
    // The run could have been interrupted while it renamed its outputs.
    fs::write(left.output("a.hcp"), []).unwrap();
    assert_not_restarted(&left.request);
    assert!(JobPlan::new(restarted(&left.request)).is_ok());
    let filtered = run(restarted(&left.request), u64::MAX).unwrap();
    assert_eq!(filtered.manifest.resumed_from, [0; 0]);
}

#[test]
fn a_run_that_replaces_another_can_be_resumed() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 2000));
    let mut request = request(&input, &folder.path().join("out"));
    run(request.clone(), u64::MAX).unwrap();
    request.settings.search.nodes = 5;
    interrupt(&restarted(&request));
    fs::write(request.run.output.join("a.checkpoint.partial"), "half a checkpoint").unwrap();
    let filtered = run(request.clone(), u64::MAX).unwrap();
    assert_eq!((filtered.was_done, filtered.manifest.resumed_from.len()), (false, 1));
    let left = contents(&request.run.output);
    assert!(!left.keys().any(|name| name.contains("checkpoint") || name.contains("partial")));
    assert!(run(request.clone(), 1).unwrap().was_done);
    // With --force, the same run also replaces its own complete outputs.
    let again = restarted(&request);
    interrupt(&again);
    assert!(contents(&request.run.output).len() > left.len());
    assert!(!run(request.clone(), u64::MAX).unwrap().was_done);
    assert!(contents(&request.run.output) == left);
}

#[test]
fn a_run_that_replaces_another_can_be_resumed_from_its_beginning() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 500));
    let with = |depth_plies, output: &str| {
        let mut request = request(&input, &folder.path().join(output));
        request.settings.search.depth_plies = depth_plies;
        request
    };
    run(with(20, "whole"), u64::MAX).unwrap();
    let whole = contents(&folder.path().join("whole"));
    for (output, depth_plies, has_manifest) in
        [("same", 20, true), ("other", 7, true), ("no-manifest", 20, false)]
    {
        let request = with(20, output);
        run(with(depth_plies, output), u64::MAX).unwrap();
        // The damage does not change the size, so it is not visible from outside.
        let damaged = vec![0; fs::read(request.run.output.join("a.hcp")).unwrap().len()];
        write(&request.run.output, "a.hcp", &damaged);
        if !has_manifest {
            fs::remove_file(request.run.output.join("a.manifest.json")).unwrap();
        }
        let before = contents(&request.run.output);
        for _ in 0..2 {
            let force = JobPlan::new(restarted(&request));
            let judge =
                || -> Result<Interrupting, _> { unreachable!("the run is interrupted before") };
            let cancelled = AtomicBool::new(true);
            let ended = filter_with(force.unwrap(), judge, &mut Progress::none(), &cancelled);
            assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Interrupted));
        }
        let mut left = contents(&request.run.output);
        assert!(left.remove("a.checkpoint").is_some());
        assert!(left == before);
        let status = status(&request.run.output).unwrap();
        assert_eq!(status[0].shards[0].state, ShardState::Interrupted, "{output}");
        let filtered = run(request.clone(), u64::MAX).unwrap();
        assert_eq!((filtered.was_done, filtered.manifest.resumed_from.len()), (false, 0));
        assert!(contents(&request.run.output) == whole, "{output}");
        assert!(run(request, 1).unwrap().was_done);
    }
}

#[test]
fn a_finished_run_is_not_repeated() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 500));
    let request = request(&input, &folder.path().join("out"));
    let first = run(request.clone(), u64::MAX).unwrap();
    let before = contents(&request.run.output);
    let second = run(request.clone(), 1).unwrap();
    assert!(!first.was_done && second.was_done);
    assert_eq!(second.manifest.totals.counts, first.manifest.totals.counts);
    assert!(contents(&request.run.output) == before);
    let mut other = request.clone();
    other.settings.search.depth_plies = 7;
    // The lock cannot be taken, as in a folder without write permission.
    let lock = request.run.output.join("a.lock");
    let plans = [&request, &other].map(|request| JobPlan::new(request.clone()).unwrap());
    fs::create_dir(&lock).unwrap();
    let [third, refusal] = plans.map(|plan| run_plan(plan, u64::MAX));
    assert!(third.unwrap().was_done);
    let refusal = refusal.unwrap_err();
    assert_eq!(refusal.to_string(), format!("cannot lock {}", lock.display()));
    fs::remove_dir(&lock).unwrap();
    let depth = difference(&run(other, u64::MAX).unwrap_err(), "settings.depth");
    assert_eq!(depth, [20, 7]);
    fs::write(request.run.output.join("a.hcp"), "short").unwrap();
    let refusal = run(request.clone(), u64::MAX).unwrap_err();
    assert!(refusal.to_string().contains("a.hcp does not match "), "{refusal}");
    assert_eq!(refusal.file(), request.run.output.join("a.hcp").to_str());
    fs::remove_file(request.run.output.join("a.manifest.json")).unwrap();
    let refusal = run(request.clone(), u64::MAX).unwrap_err();
    assert!(refusal.to_string().ends_with("exists without a manifest"), "{refusal}");
    assert_eq!(refusal.remedy(), Some(Remedy::Replace));
    assert_eq!(refusal.file(), request.run.output.join("a.hcp").to_str());
}

#[test]
fn a_run_that_ended_between_renames_can_be_resumed() {
    let left = interrupted();
    let request = &left.request;
    let checkpoint = fs::read(left.output("a.checkpoint")).unwrap();
    let partials: Vec<_> = ["a.hcp", "a.hcp.mated"]
        .map(|name| (left.output(&format!("{name}.partial")), left.output(name)))
        .into();
    run_in_pieces(request, u64::MAX / 2);
    let whole = contents(&request.run.output);
    // As if the process had ended between two renames.
    let unname = || {
        fs::write(left.output("a.checkpoint"), &checkpoint).unwrap();
        fs::rename(left.output("a.manifest.json"), left.output("a.manifest.json.partial")).unwrap();
        for (partial, named) in &partials {
            fs::rename(named, partial).unwrap();
        }
    };
    unname();
    assert_not_restarted(request);
    // A short run has written no checkpoint.
    fs::remove_file(left.output("a.checkpoint")).unwrap();
    assert_not_restarted(request);
    assert!(run(request.clone(), 1).unwrap().was_done);
    assert!(contents(&request.run.output) == whole);
    // A manifest without its outputs is ignored, and the run resumes from the checkpoint.
    unname();
    let longer = fs::read(&partials[0].0).unwrap();
    fs::write(&partials[0].0, &longer[..longer.len() - 32]).unwrap();
    for name in [
        "a.mated.jsonl",
        "a.hcp.unknown",
        "a.unknown.jsonl",
        "a.quarantine.bin",
        "a.quarantine.jsonl",
    ] {
        fs::rename(left.output(name), left.output(&format!("{name}.partial"))).unwrap();
    }
    let filtered = run(request.clone(), u64::MAX).unwrap();
    assert!(!filtered.was_done);
    assert!(contents(&request.run.output) == whole);
}
