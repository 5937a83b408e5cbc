//! Failing system calls. After any failure, the command, run again, writes the same files as without the failure.
//!
//! `KYOKUMEN_FAULTS=1000 cargo test --release faults` lets up to 1000 calls of each kind fail, with every error. By
//! default a few calls fail. The tests need Linux and a C compiler; without a compiler they print a note and pass.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use assert_cmd::cargo::cargo_bin;
use kyokumen::format::Format;
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::archive::{archive, write};
use crate::messages::transcript_of;

/// Kinds of system calls and their errors. `EINTR`, after which a call is repeated, is the last error.
const CALLS: [(&str, &[i32]); 10] = [
    ("rename", &[libc::EIO, libc::ENOSPC, libc::EACCES]),
    ("fsync", &[libc::EIO, libc::ENOSPC, libc::EINTR]),
    ("open", &[libc::EACCES, libc::ENOSPC, libc::EINTR]),
    ("look", &[libc::EIO, libc::EACCES, libc::EINTR]),
    ("unlink", &[libc::EIO, libc::EACCES]),
    ("ftruncate", &[libc::EIO, libc::EINTR]),
    ("write", &[libc::ENOSPC, libc::EIO, libc::EINTR]),
    ("read", &[libc::EIO, libc::EINTR]),
    ("mkdir", &[libc::EACCES, libc::ENOSPC]),
    ("flock", &[libc::EIO]),
];

/// The most calls of each kind that fail in a test, from the environment.
fn max_faults() -> Option<u64> {
    std::env::var("KYOKUMEN_FAULTS").ok().map(|number| number.parse().unwrap())
}

/// The preloaded library that lets calls fail. `None` without a C compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<(TempDir, PathBuf)>> = OnceLock::new();
    let compile = || {
        let folder = TempDir::new().unwrap();
        let library = folder.path().join("faults.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/faults.c");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
        let is_compiled = cc.status().is_ok_and(|status| status.success());
        is_compiled.then_some((folder, library))
    };
    let library = LIBRARY.get_or_init(compile).as_ref().map(|(_, library)| &**library);
    if library.is_none() {
        eprintln!("skipped: no C compiler was found");
    }
    library
}

/// A failing system call.
#[derive(Clone, Copy, Debug)]
struct Fault {
    call: &'static str,
    /// Its number, from 1.
    number: u64,
    /// Whether all later calls fail too.
    many: bool,
    errno: i32,
}

/// A command that writes into a folder.
struct Job {
    folder: TempDir,
    /// `IN` is replaced by the input and `OUT` by the output folder.
    words: Vec<String>,
    /// The files in the output folder before the run.
    before: BTreeMap<String, Vec<u8>>,
    /// Arguments that let another process resume the run. Empty if it cannot be resumed.
    resume_args: Vec<&'static str>,
    status: i32,
}

impl Job {
    fn new(command: &str, resume_args: &[&'static str], status: i32) -> Self {
        // In memory if possible: the tests call fsync often, which is slow on a disk.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        write(folder.path(), "a.hcp", &archive(Format::Hcp, 100));
        let words = command.split(' ').map(str::to_owned).collect();
        Self { folder, words, before: BTreeMap::new(), resume_args: resume_args.to_vec(), status }
    }

    /// A search, which another process can resume.
    fn search(command: &str) -> Self {
        let more = "IN -o OUT --nodes 10 --hash-mb 1 --threads 2 --progress none";
        Self::new(&format!("{command} {more}"), &["--resume"], 3)
    }

    /// The same job, replacing the files of another search.
    fn replacing(mut self, other: &str) -> Self {
        let other = Self::search(other).words;
        let mut words = std::mem::replace(&mut self.words, other);
        self.before = self.whole();
        words.push("--force".to_owned());
        Self { words, ..self }
    }

    fn command(&self, out: &Path) -> Command {
        let mut command = Command::new(cargo_bin("kyokumen"));
        let (input, out) = (self.folder.path().join("a.hcp"), out.to_str().unwrap());
        let place = |word: &String| word.replace("IN", input.to_str().unwrap()).replace("OUT", out);
        command.args(self.words.iter().map(place));
        command
    }

    /// Resumes the run in another process, or runs the same command again.
    fn run_again(&self, out: &Path, has_begun: bool) -> Output {
        let mut command = self.command(out);
        if has_begun && !self.resume_args.is_empty() {
            let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            command = Command::new(cargo_bin("kyokumen"));
            command.args(words.iter().filter(|word| *word != "--force")).args(&self.resume_args);
        }
        command.output().unwrap()
    }

    /// The command with the library that counts calls.
    fn counted(&self, out: &Path) -> Command {
        let mut command = self.command(out);
        command.env("LD_PRELOAD", library().unwrap()).env("FAULT_FOLDER", self.folder.path());
        command
    }

    /// The number of calls of each kind.
    fn calls(&self) -> BTreeMap<String, u64> {
        let report = self.folder.path().join("report");
        self.counted(&self.out()).env("FAULT_REPORT", &report).output().unwrap();
        let text = fs::read_to_string(&report).unwrap();
        let lines = text.lines().map(|line| line.split_once(' ').unwrap());
        lines.map(|(call, number)| (call.to_owned(), number.parse().unwrap())).collect()
    }

    /// Runs the command with a failing call.
    fn faulty(&self, out: &Path, fault: Fault) -> Output {
        let mut command = self.counted(out);
        command.env("FAULT_CALL", fault.call).env("FAULT_FIRST", fault.number.to_string());
        command.env("FAULT_MANY", u8::from(fault.many).to_string());
        command.env("FAULT_ERRNO", fault.errno.to_string()).output().unwrap()
    }

    /// The files of a run without failures.
    fn whole(&self) -> BTreeMap<String, Vec<u8>> {
        let out = self.out();
        let output = self.command(&out).output().unwrap();
        assert_eq!(output.status.code(), Some(self.status), "{}", message(&output));
        contents(&out)
    }

    /// A new output folder with the files of `before`.
    fn out(&self) -> PathBuf {
        let out = self.folder.path().join("out");
        if out.exists() {
            fs::remove_dir_all(&out).unwrap();
        }
        // Searches and `split` create their folder.
        if !self.before.is_empty() || self.resume_args.is_empty() && self.words[0] != "split" {
            fs::create_dir(&out).unwrap();
        }
        for (name, bytes) in &self.before {
            fs::write(out.join(name), bytes).unwrap();
        }
        out
    }

    /// Lets calls of every kind fail, one or many in a run.
    fn survives(&self) {
        if library().is_none() {
            return;
        }
        let (whole, all_calls, mut failed, mut runs) = (self.whole(), self.calls(), 0, 0);
        for (call, errnos) in CALLS {
            let calls = all_calls[call];
            let tried = max_faults().unwrap_or(2).min(calls);
            for i in 0..tried {
                // The last calls rename the files, so the tests begin with them.
                let number = calls - i * calls / tried;
                for (way, &errno) in errnos.iter().enumerate() {
                    for many in [false, true] {
                        let is_chosen = (number + way as u64 + u64::from(many)).is_multiple_of(3);
                        if max_faults().is_none() && !is_chosen {
                            continue;
                        }
                        failed += u64::from(
                            self.survives_one(Fault { call, number, many, errno }, &whole),
                        );
                        runs += 1;
                    }
                }
            }
        }
        eprintln!("{}: {runs} runs with faults, {failed} of them failed", self.words.join(" "));
    }

    /// Runs the command with the fault and checks the files. If it failed or can be resumed, runs it again and checks
    /// them again. Returns whether the first run failed.
    #[track_caller]
    fn survives_one(&self, fault: Fault, whole: &BTreeMap<String, Vec<u8>>) -> bool {
        let out = self.out();
        let output = self.faulty(&out, fault);
        let context = format!("{fault:?}: {}", message(&output));
        let has_failed = output.status.code() == Some(1);
        assert!(has_failed || output.status.code() == Some(self.status), "{context}");
        assert!(!(has_failed && fault.errno == libc::EINTR), "{context}");
        let found = if out.exists() { contents(&out) } else { BTreeMap::new() };
        for (name, expected) in whole {
            let found = found.get(name);
            let is_whole = found.is_some_and(|found| is_same(name, found, expected));
            let is_before = found == self.before.get(name);
            let is_right = match (has_failed, self.resume_args.is_empty()) {
                (false, _) => is_whole,
                // Some files may already have their final names.
                (true, false) => is_whole || is_before || found.is_none(),
                (true, true) => is_before,
            };
            assert!(is_right, "{name}, {context}");
        }
        if has_failed || !self.resume_args.is_empty() {
            // Until a checkpoint records that files are to be replaced, only --force replaces them.
            let has_begun = self.before.is_empty()
                || found.contains_key("a.checkpoint")
                || self.before.iter().any(|(name, bytes)| found.get(name) != Some(bytes));
            let second = self.run_again(&out, has_begun);
            let context = format!("{context}\nthe second run: {}", message(&second));
            assert_eq!(second.status.code(), Some(self.status), "{context}");
            let found = contents(&out);
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                whole.keys().collect::<Vec<_>>(),
                "{context}"
            );
            for (name, bytes) in whole {
                assert!(is_same(name, &found[name], bytes), "{name}, {context}");
            }
        }
        has_failed
    }
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Whether two files are the same. Manifests are compared without times and values that depend on them.
fn is_same(name: &str, one: &[u8], other: &[u8]) -> bool {
    if !name.ends_with(".manifest.json") {
        return one == other;
    }
    let content = |bytes: &[u8]| {
        let mut manifest: Value = serde_json::from_slice(bytes).unwrap();
        let entries = manifest.as_object_mut().unwrap();
        for key in
            ["ended_unix_s", "elapsed_s", "records_per_s", "nodes_per_s", "saved", "resumed_from"]
        {
            entries.remove(key);
        }
        manifest
    };
    content(one) == content(other)
}

/// Contents of a folder by file name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let content = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read(&path).unwrap())
    };
    files.map(content).collect()
}

#[test]
fn a_filter_survives_failing_calls() {
    Job::search("filter").survives();
    Job::search("filter --to hcp.zst --unknown split --checkpoint-every 0").survives();
}

#[test]
fn a_filter_that_replaces_another_survives_failing_calls() {
    Job::search("filter --unknown split").replacing("filter --depth 1").survives();
    Job::search("filter --checkpoint-every 0").replacing("filter").survives();
}

#[test]
fn dataset_tables_survive_failing_calls() {
    Job::search("dataset --to npz").survives();
    Job::search("dataset --to npz --checkpoint-every 0").survives();
}

#[test]
fn the_error_of_a_failed_rename_states_how_to_continue() {
    if library().is_none() {
        return;
    }
    let job = Job::search("filter");
    let fault = Fault { call: "rename", number: 1, many: true, errno: libc::ENOSPC };
    let output = job.faulty(&job.out(), fault);
    assert_data_eq!(
        transcript_of(job.folder.path(), &output),
        str![[r#"
status 1
error: cannot rename the outputs to their final names: cannot rename [FOLDER]/out/a.hcp.partial: No space left on device (os error 28); repeat the command with --resume to continue

"#]]
    );
}

/// The input is large enough that encoders write before its end.
#[test]
fn interrupted_calls_are_repeated() {
    if library().is_none() {
        return;
    }
    let job = Job::search("dataset --to npz --depth 1");
    write(job.folder.path(), "a.hcp", &archive(Format::Hcp, 100).repeat(200));
    let whole = job.whole();
    for call in ["write", "read", "open", "look", "fsync", "ftruncate"] {
        let fault = Fault { call, number: 1, many: true, errno: libc::EINTR };
        assert!(!job.survives_one(fault, &whole));
    }
}

#[test]
fn commands_without_resume_succeed_when_run_again() {
    let quarantine = "--on-error quarantine";
    for (command, status) in [
        (format!("convert IN -o OUT/b.sfen.zst {quarantine}"), 3),
        (format!("shuffle IN -o OUT/b.hcp --seed 1 {quarantine}"), 0),
        (format!("split IN -o OUT --parts 3 {quarantine}"), 0),
        (format!("dedup IN -o OUT/b.hcp {quarantine}"), 3),
        ("generate --count 20 --seed 1 -o OUT/b.hcp".to_owned(), 0),
        ("marubatsu dataset -o OUT/b.npz --to npz".to_owned(), 0),
    ] {
        Job::new(&command, &[], status).survives();
    }
}
