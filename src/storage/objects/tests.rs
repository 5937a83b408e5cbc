//! Runs that read from and write to a store in memory. `tests/interop/object_store.py` does the same with an S3 server.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::*;
use crate::engine::progress::Progress;
use crate::error::{Error, ErrorKind, Remedy};
use crate::jobs::checkpoint::Checkpoint;
use crate::jobs::filter::{filter, filter_with};
use crate::jobs::merge::{MergePlan, MergeRequest, merge};
use crate::jobs::plan::{JobPlan, JobRequest};
use crate::jobs::record_totals::{RecordManifest, RecordProgress};
use crate::jobs::run_files::RunRequest;
use crate::jobs::settings::Settings;
use crate::jobs::shard_set::ShardSet;
use crate::jobs::status::{ShardState, status};
use crate::mate::judge::{Judge, MateResult, PositionJudge};
use crate::ops::convert::{ConvertPlan, ConvertRequest, convert};
use crate::records::output_kind::OutputKind;
use crate::records::shard::Shard;
use crate::records::shard_choice::ShardChoice;
use crate::records::source::{Input, InputRange, Source};
use crate::shogi::Position;
use crate::storage::checksum::Sha256Sum;
use crate::storage::{files, own_files};

fn put(url: &str, bytes: &[u8]) {
    let upload = Upload::begin(Path::new(url), None).unwrap();
    upload.writer().write_all(bytes).unwrap();
    upload.commit().unwrap();
}

fn bytes(len: usize, factor: usize) -> Vec<u8> {
    (0..len).map(|i| ((i * factor) >> 3) as u8).collect()
}

fn progress() -> Progress {
    Progress::none()
}

fn sample(records: usize) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample.hcp");
    fs::read(path).unwrap()[..32 * records].to_vec()
}

#[test]
fn any_range_of_an_object_can_be_read() {
    let url = "memory://reader/a";
    let whole = bytes(20 << 20, 7);
    put(url, &whole);
    let object = Object::named(url);
    let mut read = Vec::new();
    object.reader().unwrap().read_to_end(&mut read).unwrap();
    assert!(read == whole);
    let (len, mut reader) = (whole.len() as u64, object.reader().unwrap());
    for from in [0, 1, 1 << 17, 5_000_000, len - 70_000, len - 65_536, len - 3, len, 9] {
        let mut range = vec![0; 300_000.min(len - from) as usize];
        assert_eq!(reader.seek(SeekFrom::Start(from)).unwrap(), from);
        reader.read_exact(&mut range).unwrap();
        assert!(range == whole[from as usize..][..range.len()], "{from}");
    }
    assert_eq!(reader.seek(SeekFrom::End(-8)).unwrap(), len - 8);
    assert_eq!(reader.seek(SeekFrom::Current(3)).unwrap(), len - 5);
    read.clear();
    reader.read_to_end(&mut read).unwrap();
    assert_eq!(read, whole[whole.len() - 5..]);
    for (from, until) in [(0, 10), (3, 3), (5, 1 << 20), (len - 100, len - 90), (len - 1, u64::MAX)]
    {
        let mut reader = object.reader().unwrap().until(until);
        reader.seek(SeekFrom::Start(from)).unwrap();
        read.clear();
        reader.read_to_end(&mut read).unwrap();
        assert!(read == whole[from as usize..until.min(len) as usize], "{from} {until}");
    }
}

#[test]
fn an_object_that_changes_while_it_is_read_is_an_error() {
    let url = "memory://changes/a.hcp";
    let whole: Vec<u8> = sample(200).repeat(3000);
    put(url, &whole);
    let format = "hcp".parse().unwrap();
    let range = InputRange::whole(Input::named(Path::new(url), format));
    let mut source = Source::new(vec![range], 1000);
    assert!(source.next().unwrap().is_ok());
    put(url, &whole);
    let end = source.find_map(Result::err).unwrap();
    assert!(matches!(end.kind(), ErrorKind::Changed), "{end:?}");
    // A missing object is a different error.
    let range = InputRange::whole(Input::named(Path::new("memory://changes/b.hcp"), format));
    let end = Source::new(vec![range], 1000).find_map(Result::err).unwrap();
    assert!(end.is_not_found(), "{end:?}");
}

#[test]
fn an_object_appears_when_its_upload_is_committed() {
    for (name, len) in [("empty", 0), ("small", 1000), ("one part", 8 << 20), ("parts", 50_000_000)]
    {
        let url = PathBuf::from(format!("memory://upload/{name}"));
        let whole = bytes(len, 5);
        for is_committed in [false, true] {
            let upload = Upload::begin(&url, None).unwrap();
            whole.chunks(100_003).for_each(|bytes| upload.writer().write_all(bytes).unwrap());
            assert!(!files::exists(&url).unwrap(), "{name}");
            if is_committed {
                upload.commit().unwrap();
            }
        }
        assert!(files::read(&url).unwrap() == whole, "{name}");
    }
}

#[test]
fn an_object_created_during_an_upload_is_not_replaced() {
    for len in [10, 20 << 20] {
        let url = PathBuf::from(format!("memory://meanwhile/{len}"));
        let upload = Upload::begin(&url, None).unwrap();
        upload.writer().write_all(&bytes(len, 3)).unwrap();
        put(&url.to_string_lossy(), b"other");
        let error = upload.commit().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(files::read(&url).unwrap(), b"other");
        // An object that existed at the beginning is replaced: `--force` has allowed it.
        put(&url.to_string_lossy(), &bytes(len, 3));
        assert!(files::read(&url).unwrap() == bytes(len, 3));
        files::remove(&url).unwrap();
        assert!(!files::exists(&url).unwrap());
    }
}

fn convert_request(input: &Path, output: &Path) -> ConvertRequest {
    let (inputs, output) = (vec![input.to_owned()], output.to_owned());
    ConvertRequest { inputs, output, ..ConvertRequest::default() }
}

fn run_convert(input: &Path, output: &Path) {
    let plan = ConvertPlan::new(convert_request(input, output)).unwrap();
    convert(plan, &mut progress(), &AtomicBool::new(false)).unwrap();
}

#[test]
fn conversion_to_and_from_a_store_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("a.hcp");
    fs::write(&local, sample(2000)).unwrap();
    for name in ["a.hcp", "a.hcp.zst", "a.sfen", "a.sfen.zst"] {
        let (converted, down) =
            (folder.path().join(format!("local-{name}")), folder.path().join("down.hcp"));
        let up = PathBuf::from(format!("memory://convert/x y/{name}"));
        run_convert(&local, &up);
        run_convert(&local, &converted);
        assert!(files::read(&up).unwrap() == fs::read(&converted).unwrap(), "{name}");
        run_convert(&up, &down);
        assert!(fs::read(&down).unwrap() == sample(2000), "{name}");
        fs::remove_file(&down).unwrap();
        let again = ConvertPlan::new(convert_request(&local, &up));
        assert_eq!(again.unwrap_err().to_string(), format!("{} exists", up.display()));
        let itself = ConvertRequest { force: true, ..convert_request(&up, &up) };
        let itself = ConvertPlan::new(itself);
        let itself = itself.unwrap_err().to_string();
        assert!(itself.contains(" would overwrite the input "), "{itself}");
    }
}

fn request(input: &str, output: &str, folder: &Path) -> JobRequest {
    let mut settings = Settings::default();
    settings.search.nodes = 100;
    settings.search.hash_mb = 1;
    settings.threads = 2;
    JobRequest {
        inputs: vec![PathBuf::from(input)],
        run: RunRequest {
            output: PathBuf::from(output),
            tmp_dir: Some(folder.to_owned()),
            ..RunRequest::default()
        },
        settings,
        ..JobRequest::default()
    }
}

/// The request with changed options of the run.
fn with(request: JobRequest, change: impl FnOnce(&mut RunRequest)) -> JobRequest {
    let mut request = request;
    change(&mut request.run);
    request
}

fn resumed(request: JobRequest) -> JobRequest {
    with(request, |run| run.resume = true)
}

fn run_filter(request: JobRequest) -> Result<bool, Error> {
    let plan = JobPlan::new(request).unwrap();
    let filtered = filter(plan, &mut progress(), &AtomicBool::new(false))?;
    Ok(filtered.was_done)
}

/// Asserts that the files of two folders are equal. Only the checksums in manifests are compared.
#[track_caller]
fn assert_same(one: &Path, other: &Path) {
    let names = |folder| {
        let mut names = files::names_in(folder).unwrap();
        names.sort();
        names
    };
    assert_eq!(names(one), names(other));
    for name in names(one) {
        let read = |folder: &Path| files::read(&folder.join(&name)).unwrap();
        if name.ends_with(".manifest.json") {
            let sums = |folder: &Path| -> Vec<Option<Sha256Sum>> {
                let manifest = RecordManifest::read(&folder.join(&name)).unwrap();
                let inputs = manifest.totals.inputs.iter().map(|input| input.sha256);
                inputs.chain(manifest.outputs.iter().map(|output| output.sha256)).collect()
            };
            assert_eq!(sums(one), sums(other), "{name}");
        } else {
            assert!(read(one) == read(other), "{name}");
        }
    }
}

#[test]
fn shards_in_a_store_equal_shards_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("temporary");
    let local = folder.path().join("a.hcp");
    fs::write(&local, sample(400)).unwrap();
    put("memory://shards/a.hcp", &sample(400));
    let out = folder.path().join("out");
    for index in 1..=3 {
        let shard = Shard::new(index, 3).map(ShardChoice::This);
        let request =
            |input, output| with(request(input, output, &temporary), |run| run.shard = shard);
        let there = request("memory://shards/a.hcp", "memory://shards/out");
        let here = request(local.to_str().unwrap(), out.to_str().unwrap());
        assert!(!run_filter(there.clone()).unwrap());
        assert!(!run_filter(here).unwrap());
        assert!(run_filter(resumed(there.clone())).unwrap());
        let again = JobPlan::new(there);
        assert!(again.unwrap_err().to_string().ends_with(" exists"));
        let done = status(Path::new("memory://shards/out")).unwrap()[0]
            .shards
            .iter()
            .filter(|shard| shard.state == ShardState::Done)
            .count();
        assert_eq!(done, index as usize);
    }
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    let url = PathBuf::from("memory://shards/out");
    // The lines contain the path or URL of the input as it was given, as JSON.
    let local = serde_json::to_string(&local).unwrap();
    for name in files::names_in(&url).unwrap() {
        let path = out.join(&name);
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let lines = fs::read_to_string(&path).unwrap();
            let lines = lines.replace(&local, "\"memory://shards/a.hcp\"");
            assert!(files::read(&url.join(&name)).unwrap() == lines.as_bytes(), "{name}");
        } else if !name.ends_with(".manifest.json") {
            assert!(files::read(&url.join(&name)).unwrap() == fs::read(path).unwrap(), "{name}");
        }
    }
    check_merged(&url, &out);
}

fn check_merged(url: &Path, out: &Path) {
    let merged = |folder: &Path, output: &Path| {
        let (name, kind, force) = (None, OutputKind::Kept, false);
        let (folder, output) = (folder.to_owned(), output.to_owned());
        let plan = MergePlan::new(MergeRequest {
            folder,
            name,
            kind: Some(kind),
            output,
            to: None,
            force,
        })
        .unwrap();
        merge(&plan, &mut progress(), &AtomicBool::new(false)).unwrap();
    };
    let (there, here) = (PathBuf::from("memory://shards/merged.hcp"), out.with_file_name("m.hcp"));
    merged(url, &there);
    merged(out, &here);
    assert!(files::read(&there).unwrap() == fs::read(&here).unwrap());
    let manifests = [
        "memory://shards/merged.hcp.manifest.json",
        "memory://shards/out/a-00001-of-00003.manifest.json",
    ];
    let damaged = url.join("a-00001-of-00003.hcp");
    let kept = files::read(&damaged).unwrap();
    for (bytes, problems) in [(kept.clone(), 0), ([&kept[1..], b"x"].concat(), 1), (b"".into(), 1)]
    {
        put(&damaged.to_string_lossy(), &bytes);
        let sets = ShardSet::from_files(&manifests.map(PathBuf::from)).unwrap();
        let wrong: Vec<_> = sets.iter().flat_map(|set| set.wrong_outputs(None)).collect();
        assert_eq!(wrong.len(), problems, "{wrong:?}");
    }
    files::remove(&damaged).unwrap();
    let sets = ShardSet::from_files(&manifests.map(PathBuf::from)).unwrap();
    assert!(sets.iter().any(|set| !set.wrong_outputs(None).is_empty()));
}

/// Asserts that a new run is refused, because the files belong to an interrupted run.
#[track_caller]
fn assert_not_restarted(request: JobRequest) {
    let refused = JobPlan::new(request).unwrap_err();
    assert!(refused.to_string().ends_with(" belongs to an interrupted run"), "{refused}");
    assert_eq!(refused.remedy(), Some(Remedy::ResumeOrRestart));
}

#[test]
fn a_resumed_run_sends_outputs_that_were_finished_and_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    put("memory://send/a.hcp", &sample(300));
    let (whole, out) = ("memory://send/whole", "memory://send/out");
    let request = |output| request("memory://send/a.hcp", output, folder.path());
    run_filter(request(whole)).unwrap();
    // The outputs of this run are complete. It is interrupted before it sends them.
    let plan = JobPlan::new(request(out)).unwrap();
    let staging = plan.files.staging.clone().unwrap();
    own_files::create_private_folder(&staging.folder).unwrap();
    let here = with(request(out), |run| run.output = staging.folder.clone());
    run_filter(here).unwrap();
    assert_eq!(files::names_in(Path::new(out)).unwrap(), [""; 0]);
    assert_not_restarted(request(out));
    // Standard input cannot be read again, so a run that reads it is not told to resume.
    let inputs = vec![PathBuf::from("-")];
    let once = with(request(out), |run| run.name = Some("a".to_owned()));
    let once = JobRequest { inputs, from: Some("hcp".parse().unwrap()), ..once };
    let refused = JobPlan::new(once).unwrap_err();
    assert_eq!(refused.remedy(), Some(Remedy::Replace), "{refused}");
    let manifest = RecordManifest::read(&staging.folder.join("a.manifest.json")).unwrap();
    let copy = Checkpoint::<RecordProgress>::begun(manifest.identity(), Some(300), Vec::new());
    put("memory://send/out/a.checkpoint", &copy.to_bytes(&[]).unwrap());
    let state = || status(Path::new(out)).unwrap()[0].shards[0].state;
    assert_eq!(state(), ShardState::Running);
    let resumed_plan = || JobPlan::new(resumed(request(out))).unwrap();
    let cancelled = filter(resumed_plan(), &mut progress(), &AtomicBool::new(true));
    let cancelled = cancelled.unwrap_err();
    assert_eq!(cancelled.to_string(), "interrupted while sending outputs");
    assert_eq!(cancelled.remedy(), Some(Remedy::Resume));
    assert_eq!(state(), ShardState::Interrupted);
    // An output that was changed in the staging folder is not sent.
    let kept = staging.folder.join("a.hcp");
    let bytes = fs::read(&kept).unwrap();
    fs::write(&kept, [&bytes[1..], b"x"].concat()).unwrap();
    let damaged = run_filter(resumed(request(out)));
    assert!(matches!(damaged.unwrap_err().kind(), ErrorKind::Changed));
    assert!(!files::exists(&Path::new(out).join("a.hcp")).unwrap());
    // A process that was interrupted while it sent the outputs has sent the first.
    put("memory://send/out/a.hcp", &bytes);
    assert_not_restarted(request(out));
    let folder_there = tempfile::tempdir().unwrap();
    let there = |run: &mut RunRequest| run.tmp_dir = Some(folder_there.path().to_owned());
    assert_not_restarted(with(request(out), there));
    fs::write(&kept, bytes).unwrap();
    assert!(!run_filter(resumed(request(out))).unwrap());
    assert_same(Path::new(whole), Path::new(out));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(run_filter(resumed(request(out))).unwrap());
}

/// Interrupts a run after a number of verdicts. Asserts before each verdict that `status` shows the run as running.
struct Interrupting {
    judge: Judge,
    out: &'static str,
    left: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
}

impl PositionJudge for Interrupting {
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
        assert_eq!(status(Path::new(self.out)).unwrap()[0].shards[0].state, ShardState::Running);
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cancel.store(true, Ordering::Relaxed);
        }
        self.judge.judge(position, cancel)
    }
}

#[test]
fn another_machine_resumes_a_run_from_the_copy_of_its_checkpoint() {
    put("memory://moved/a.hcp", &sample(500));
    let (whole, out) = ("memory://moved/whole", "memory://moved/out");
    let request = |output, folder: &Path| {
        with(request("memory://moved/a.hcp", output, folder), |run| {
            run.checkpoint_every = Some(Duration::ZERO);
        })
    };
    let folder = tempfile::tempdir().unwrap();
    run_filter(request(whole, folder.path())).unwrap();
    let state = || status(Path::new(out)).unwrap()[0].shards[0].state;
    let (mut rounds, mut interruptions, mut segments) = (0, 0, 0);
    loop {
        rounds += 1;
        // Each process has an empty folder, as on another machine.
        let folder = tempfile::tempdir().unwrap();
        let plan = JobPlan::new(resumed(request(out, folder.path()))).unwrap();
        let search = plan.settings.search.clone();
        // More verdicts each time, so that the run ends.
        let left = Arc::new(AtomicU64::new(60 * rounds));
        let cancel = Arc::new(AtomicBool::new(false));
        let judge_cancel = Arc::clone(&cancel);
        let make_judge = move || {
            let (left, cancel) = (Arc::clone(&left), Arc::clone(&judge_cancel));
            Ok(Interrupting { judge: Judge::try_new(&search)?, out, left, cancel })
        };
        let result = filter_with(plan, make_judge, &mut progress(), &cancel);
        let Err(error) = result else { break };
        // All records may be searched before the thread that writes has run.
        if matches!(error.kind(), ErrorKind::Interrupted) {
            continue;
        }
        assert_eq!(error.remedy(), Some(Remedy::Resume), "{error}");
        interruptions += 1;
        let names = files::names_in(Path::new(out)).unwrap();
        segments = segments.max(names.iter().filter(|name| name.contains(".partial.")).count());
        assert_eq!(state(), ShardState::Interrupted);
        assert_not_restarted(request(out, folder.path()));
        let mut other = resumed(request(out, tempfile::tempdir().unwrap().path()));
        other.settings.search.nodes = 101;
        assert!(matches!(run_filter(other).unwrap_err().kind(), ErrorKind::Different(_)));
    }
    assert!(interruptions > 1 && segments > 1, "{interruptions} {segments}");
    assert_same(Path::new(whole), Path::new(out));
}

#[test]
fn a_run_that_ends_before_its_first_checkpoint_leaves_no_copy() {
    put("memory://early/a.hcp", &sample(100));
    let (out, folder) = ("memory://early/out", tempfile::tempdir().unwrap());
    let request = || request("memory://early/a.hcp", out, folder.path());
    let plan = JobPlan::new(request()).unwrap();
    let cancelled = filter(plan, &mut progress(), &AtomicBool::new(true)).unwrap_err();
    assert!(cancelled.is_interruption(), "{cancelled}");
    assert_eq!(files::names_in(Path::new(out)).unwrap(), [""; 0]);
    run_filter(request()).unwrap();
    assert!(!files::exists(&Path::new(out).join("a.checkpoint")).unwrap());
}

#[test]
fn only_a_run_with_the_same_inputs_and_settings_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    put("memory://same/a.hcp", &sample(100));
    let out = "memory://same/out";
    let request = || request("memory://same/a.hcp", out, folder.path());
    run_filter(request()).unwrap();
    let manifest = RecordManifest::read(&Path::new(out).join("a.manifest.json")).unwrap();
    assert!(
        manifest.totals.inputs[0].identity.etag.is_some()
            && manifest.identity().inputs[0].etag.is_some()
    );
    let mut other = resumed(request());
    other.settings.search.nodes = 101;
    let different = run_filter(other);
    assert!(matches!(different.unwrap_err().kind(), ErrorKind::Different(_)));
    // An input that was written again is a different input, even if its bytes are the same.
    put("memory://same/a.hcp", &sample(100));
    let changed = run_filter(resumed(request()));
    let changed = changed.unwrap_err();
    let ErrorKind::Different(difference) = changed.kind() else { panic!("{changed}") };
    assert!(difference.what.starts_with("inputs[0]."), "{difference}");
    run_filter(with(request(), |run| run.force = true)).unwrap();
    assert!(run_filter(resumed(request())).unwrap());
    // First an output that does not match the manifest, then outputs without a manifest.
    files::remove(&Path::new(out).join("a.hcp.mated")).unwrap();
    let lost = run_filter(resumed(request()));
    let lost = lost.unwrap_err().to_string();
    assert!(lost.contains("a.hcp.mated does not match "), "{lost}");
    files::remove(&Path::new(out).join("a.manifest.json")).unwrap();
    let lost = run_filter(resumed(request()));
    let lost = lost.unwrap_err().to_string();
    assert!(lost.ends_with("exists without a manifest"), "{lost}");
}
