//! Runs that fail: each reports the cause and leaves no files.
//!
//! The judges in this module cause the failures.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kyokumen::ErrorKind;
use kyokumen::engine::progress::Progress;
use kyokumen::format::Format;
use kyokumen::jobs::filter::filter_with;
use kyokumen::jobs::plan::JobPlan;
use kyokumen::mate::judge::{MateResult, PositionJudge, Stop};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;
use tempfile::TempDir;

use super::{FakeJudge, request, run, try_run};
use crate::archive::{archive, write};

/// Searches until it is cancelled.
struct Endless;

impl PositionJudge for Endless {
    fn judge(&mut self, _position: &mut Position, cancel: &AtomicBool) -> MateResult {
        while !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        MateResult::new(PositionVerdict::Unknown(Stop::Cancelled), Vec::new(), 0)
    }
}

#[test]
fn a_cancelled_run_leaves_no_files() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 1000));
    let out = folder.path().join("out");
    let plan = JobPlan::new(request(&input, &out)).unwrap();
    let cancel = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !out.join("a.hcp.partial").exists() {
                std::thread::yield_now();
            }
            cancel.store(true, Ordering::Relaxed);
        });
        filter_with(plan, || Ok(Endless), &mut Progress::none(), &cancel)
    });
    assert!(matches!(result.unwrap_err().kind(), ErrorKind::Interrupted));
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn two_runs_cannot_write_the_same_files() {
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 100));
    let out = folder.path().join("out");
    let cancel = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let plan = JobPlan::new(request(&input, &out)).unwrap();
        scope.spawn(|| filter_with(plan, || Ok(Endless), &mut Progress::none(), &cancel));
        // The lock file has content once the lock is taken.
        while fs::metadata(out.join("a.lock")).map_or(0, |lock| lock.len()) == 0 {
            std::thread::yield_now();
        }
        let second = try_run(request(&input, &out));
        cancel.store(true, Ordering::Relaxed);
        let error = second.map(|_| ()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Busy), "{error}");
        assert_eq!(error.file(), out.join("a.lock").to_str());
    });
    // A file that a killed run left does not prevent a new run.
    write(&out, "a.hcp.partial", b"remains");
    run(request(&input, &out));
    assert!(!out.join("a.hcp.partial").exists());
}

#[test]
fn a_truncated_input_fails_the_run_and_leaves_no_files() {
    let folder = TempDir::new().unwrap();
    let packed = zstd::encode_all(&archive(Format::Hcp, 500)[..], 1).unwrap();
    let input = write(folder.path(), "a.hcp.zst", &packed[..packed.len() / 2]);
    let out = folder.path().join("out");
    let error = try_run(request(&input, &out)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io) && error.offset().is_some(), "{error}");
    assert_eq!(error.file(), input.to_str());
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

/// Appends to the input during the run.
struct Meddler(PathBuf);

impl PositionJudge for Meddler {
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
        let mut input = fs::OpenOptions::new().append(true).open(&self.0).unwrap();
        input.write_all(b"more").unwrap();
        FakeJudge.judge(position, cancel)
    }
}

#[test]
fn an_input_that_changes_during_the_run_is_an_error() {
    let folder = TempDir::new().unwrap();
    // More blocks than are read ahead, so the reader cannot finish before the first block is judged.
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 64 * 40));
    let out = folder.path().join("out");
    let plan = JobPlan::new(request(&input, &out)).unwrap();
    let read = input.clone();
    let make_judge = move || Ok(Meddler(read.clone()));
    let error = filter_with(plan, make_judge, &mut Progress::none(), &AtomicBool::new(false))
        .map(|_| ())
        .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Changed), "{error}");
    assert_eq!(error.file(), input.to_str());
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

/// Panics at once.
struct Broken;

impl PositionJudge for Broken {
    fn judge(&mut self, _position: &mut Position, _cancel: &AtomicBool) -> MateResult {
        panic!("broken on purpose")
    }
}

#[test]
fn a_judge_that_panics_fails_the_run_and_leaves_no_files() {
    let folder = TempDir::new().unwrap();
    // A single block, so that the message does not depend on the order of the threads.
    let input = write(folder.path(), "a.hcp", &archive(Format::Hcp, 8));
    let out = folder.path().join("out");
    let plan = JobPlan::new(request(&input, &out)).unwrap();
    let result = filter_with(plan, || Ok(Broken), &mut Progress::none(), &AtomicBool::new(false));
    let message = result.unwrap_err().to_string();
    let expected = format!(
        "internal error at one of the records from number 0 of {}: broken on purpose (",
        input.display()
    );
    assert!(message.starts_with(&expected), "{message}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}
