//! Processes killed at any instant, also by `kill -9`. `--resume` then writes the same files as an uninterrupted run.
//!
//! `KYOKUMEN_KILLS=200 cargo test --release killed` kills 200 processes per test. The default is 20.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use kyokumen::format::Format;
#[cfg(unix)]
use kyokumen::jobs::checkpoint::Checkpoint;
#[cfg(unix)]
use kyokumen::jobs::record_totals::RecordProgress;
#[cfg(unix)]
use snapbox::{assert_data_eq, str};

use crate::archive::{encoded, records};
#[cfg(all(unix, feature = "network"))]
use crate::engine_games::{ENGINE, UNIFORM};
use crate::harness::{Dir, Ran, TestCommand};
#[cfg(unix)]
use crate::signals::{heeds_hangups, send};
use kyokumen_testing::positions::Random;

/// The number of processes that a test kills.
fn kills() -> u64 {
    std::env::var("KYOKUMEN_KILLS").map_or(20, |kills| kills.parse().unwrap())
}

/// A run of a command in its folder.
struct Job {
    dir: Dir,
    input: Option<PathBuf>,
    command: &'static str,
    words: &'static [&'static str],
    /// Sets of arguments that do not change the outputs. Each process takes the next set.
    varied: &'static [&'static [&'static str]],
    started: Cell<usize>,
}

impl Job {
    fn new(name: &str, bytes: &[u8], words: &'static [&'static str]) -> Self {
        let dir = Dir::in_memory();
        let input = Some(dir.write(name, bytes));
        Self { dir, input, command: "filter", words, varied: &[&[]], started: Cell::new(0) }
    }

    #[cfg(feature = "network")]
    fn selfplay(words: &'static [&'static str]) -> Self {
        let started = Cell::new(0);
        Self {
            dir: Dir::in_memory(),
            input: None,
            command: "selfplay",
            words,
            varied: &[&[]],
            started,
        }
    }

    #[cfg(feature = "network")]
    fn relabel(self) -> Self {
        Self { command: "relabel", ..self }
    }

    #[cfg(feature = "network")]
    fn varied(self, varied: &'static [&'static [&'static str]]) -> Self {
        Self { varied, ..self }
    }

    fn dataset(self) -> Self {
        Self { command: "dataset", ..self }
    }

    fn command(&self, out: &Path, words: &[&str]) -> TestCommand {
        let varied = self.varied[self.started.get() % self.varied.len()];
        self.started.set(self.started.get() + 1);
        let command = self.dir.kyokumen([self.command]).args(&self.input);
        let command = command.args([Path::new("-o"), out]).args(self.words).args(varied);
        command.args(words).args(["--progress", "none", "--hash-mb", "1"])
    }

    fn spawn(&self, out: &Path, words: &[&str]) -> Child {
        let mut command = self.command(out, words);
        command.0.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn start(&self, out: &Path) -> Child {
        self.spawn(out, &["--resume"])
    }

    fn run(&self, out: &Path) -> Ran {
        self.command(out, &["--resume"]).run()
    }

    fn out(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The files of an uninterrupted run, and its duration.
    fn whole(&self) -> (BTreeMap<String, Vec<u8>>, Duration) {
        let whole = self.out("whole");
        let started = std::time::Instant::now();
        let ran = self.run(&whole);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        (contents(&whole), started.elapsed())
    }

    /// Kills a process that replaces a finished run, with other or with the same settings, as soon as it writes. Then
    /// `--resume` must write the files of an uninterrupted run, and must not continue the old run.
    #[track_caller]
    fn replaces_a_run(&self, partial: &str) {
        let written = |out: &Path, words: &[&str]| {
            self.command(out, words).succeeds();
            contents(out)
        };
        let (first, second) = (["--seed=1"], ["--seed=2"]);
        let whole = written(&self.out("whole"), &second);
        assert!(written(&self.out("other"), &first) != whole);
        for (number, (before, every)) in
            [(first, "1000"), (second, "1000"), (first, "0.001")].into_iter().enumerate()
        {
            let out = self.out(&format!("out-{number}"));
            written(&out, &before);
            let manifest = fs::read(out.join("a.manifest.json")).unwrap();
            let every = ["--checkpoint-every", every];
            let force = [&second[..], &every, &["--force"]].concat();
            let mut child = self.spawn(&out, &force);
            while !out.join(partial).exists() && child.try_wait().unwrap().is_none() {
                sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(was_killed(&output), "the process ended before it was killed");
            let status = self.dir.kyokumen([Path::new("status"), &out]).run().text();
            assert!(status.starts_with("a: 1 interrupted"), "{status}");
            let resumed = written(&out, &[&second[..], &every, &["--resume"]].concat());
            assert!(resumed == whole, "{number}");
            assert!(fs::read(out.join("a.manifest.json")).unwrap() != manifest);
        }
    }

    #[track_caller]
    fn survives(&self) {
        self.survives_kills(kills());
    }

    /// Kills processes, each at a random instant, every second one after its first checkpoint, and resumes the run each
    /// time. Starts a new run when one finishes first.
    #[track_caller]
    fn survives_kills(&self, kills: u64) {
        let (whole, duration) = self.whole();
        let mut random = Random::new(99);
        let (mut killed, mut in_this_run, mut runs) = (0, 0, 0);
        let mut resumed = 0;
        while killed < kills {
            let out = self.out(&format!("out-{runs}"));
            let checkpoint =
                || fs::metadata(out.join("a.checkpoint")).and_then(|it| it.modified()).ok();
            let before = checkpoint();
            let mut child = self.start(&out);
            while killed % 2 == 1 && checkpoint() == before && child.try_wait().unwrap().is_none() {
                sleep(Duration::from_millis(1));
            }
            // Most processes get no further than the next checkpoints, so that a run has kills in all its phases.
            let instant = duration.as_micros() as usize / 4 * (in_this_run / 4 + 1) + 1;
            sleep(Duration::from_micros(random.below(instant) as u64));
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            let is_killed = was_killed(&output);
            assert!(is_killed || output.status.success(), "{}", message(&output));
            assert_no_partial_file_has_a_final_name(&out, &whole);
            if is_killed {
                killed += 1;
                in_this_run += 1;
                resumed += u64::from(checkpoint().is_some());
                continue;
            }
            check(&out, &whole);
            (in_this_run, runs) = (0, runs + 1);
        }
        let out = self.out(&format!("out-{runs}"));
        let ran = self.run(&out);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        check(&out, &whole);
        assert!(resumed > 0, "no process was killed after its first checkpoint");
        eprintln!("{killed} processes killed, {resumed} of them after a checkpoint, {runs} runs");
    }
}

/// On Windows a killed process has the exit status 1, but no message.
fn was_killed(output: &Output) -> bool {
    match output.status.code() {
        Some(code) => cfg!(windows) && code == 1 && output.stderr.is_empty(),
        None => true,
    }
}

#[track_caller]
fn check(out: &Path, whole: &BTreeMap<String, Vec<u8>>) {
    let found = contents(out);
    assert_eq!(found.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
    for (name, bytes) in whole {
        assert!(found[name] == *bytes, "{name}");
    }
    fs::remove_dir_all(out).unwrap();
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Contents of a folder by file name. Manifests are listed without content.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let content = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = if name.contains("manifest") { Vec::new() } else { fs::read(&path).unwrap() };
        (name, bytes)
    };
    files.map(content).collect()
}

#[track_caller]
fn assert_no_partial_file_has_a_final_name(out: &Path, whole: &BTreeMap<String, Vec<u8>>) {
    for (name, bytes) in whole {
        let found = fs::read(out.join(name));
        assert!(found.is_err() || bytes.is_empty() || found.unwrap() == *bytes, "{name}");
    }
}

fn positions(format: Format, count: usize) -> Vec<u8> {
    records(count, 5).iter().flat_map(|record| encoded(format, record)).collect()
}

#[test]
fn plain_outputs_survive_kills() {
    let words = &["--nodes", "300", "--unknown", "split", "--checkpoint-every", "0"];
    Job::new("a.psv", &positions(Format::Psv, 4000), words).survives();
}

#[test]
fn compressed_outputs_survive_kills() {
    let words = &["--nodes", "1", "--depth", "1", "--checkpoint-every", "0.05", "--to", "hcp.zst"];
    // More kept records than a frame has.
    Job::new("a.hcp", &positions(Format::Hcp, 2000).repeat(36), words).survives();
}

#[test]
fn dataset_tables_survive_kills() {
    let lines = &["--nodes", "300", "--checkpoint-every", "0", "--to", "jsonl"];
    Job::new("a.psv", &positions(Format::Psv, 2000), lines).dataset().survives();
    // Many rows and no searches, so that some of the processes are killed while the file is made.
    let arrays = &["--nodes", "1", "--depth", "1", "--checkpoint-every", "0.05", "--to", "npz"];
    Job::new("a.hcp", &positions(Format::Hcp, 2000).repeat(8), arrays).dataset().survives();
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_tables_survive_kills() {
    let columns =
        &["--nodes", "1", "--depth", "1", "--checkpoint-every", "0.05", "--to", "parquet"];
    // More rows than a row group has.
    Job::new("a.hcp", &positions(Format::Hcp, 2000).repeat(33), columns).dataset().survives();
}

#[test]
#[cfg(unix)]
fn a_run_ended_by_a_signal_can_be_resumed() {
    let job = Job::new("a.hcp", &positions(Format::Hcp, 4000), &["--nodes", "300"]);
    let (whole, _) = job.whole();
    for (signal, code) in [(libc::SIGINT, 130), (libc::SIGTERM, 143), (libc::SIGHUP, 129)] {
        if signal == libc::SIGHUP && !heeds_hangups() {
            continue;
        }
        let out = job.out("out");
        let child = job.start(&out);
        while fs::metadata(out.join("a.hcp.partial")).map_or(0, |metadata| metadata.len()) == 0 {
            std::thread::yield_now();
        }
        send(signal, &child);
        if signal == libc::SIGTERM {
            // Job systems send a signal to a process and to its parent, which passes the signal on.
            send(signal, &child);
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", message(&output));
        assert!(!out.join("a.lock").exists());
        let checkpoint =
            Checkpoint::<RecordProgress>::read(&out.join("a.checkpoint")).unwrap().unwrap();
        let stderr = message(&output);
        let records = checkpoint.progress.resume_point.counts.input.to_string();
        assert_data_eq!(
            stderr.replace(&records, "N"),
            str![[r#"
error: interrupted after N records; repeat the command with --resume to continue

"#]]
        );
        assert_eq!(job.run(&out).code, Some(0));
        check(&out, &whole);
    }
}

#[test]
#[cfg(unix)]
fn a_run_ended_by_a_full_disk_can_be_resumed() {
    let job = Job::new(
        "a.psv",
        &positions(Format::Psv, 4000),
        &["--nodes", "10", "--checkpoint-every", "0"],
    );
    let (whole, _) = job.whole();
    let out = job.out("out");
    // 100 blocks of 512 bytes, in some shells of 1024: more than a checkpoint, less than the outputs.
    let ran = job.command(&out, &["--resume"]).in_shell("ulimit -f 100").run();
    assert_data_eq!(
        ran.transcript,
        str![[r#"
status 1
error: cannot write [FOLDER]/out/[..]: File too large (os error 27); the file system or a limit of the system does not allow a file of this size

"#]]
    );
    assert_no_partial_file_has_a_final_name(&out, &whole);
    assert!(
        Checkpoint::<RecordProgress>::read(&out.join("a.checkpoint"))
            .unwrap()
            .unwrap()
            .progress
            .resume_point
            .blocks
            > 0
    );
    let ran = job.run(&out);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    check(&out, &whole);
}

#[test]
#[cfg(feature = "network")]
fn new_evaluations_survive_kills() {
    let bytes: Vec<u8> =
        records(2000, 3).iter().flat_map(|record| encoded(Format::Hcpe, record)).collect();
    let words = &["--model=hashed", "--playouts=20", "--checkpoint-every=0.001", "--root-mate=0,0"];
    let varied: &[&[&str]] =
        &[&["--batch=8", "--threads=2"], &["--batch=5", "--threads=1"], &["--batch=13"]];
    Job::new("a.hcpe", &bytes, words).relabel().varied(varied).survives();
}

/// Several threads, which finish their games in another order each time.
#[test]
#[cfg(feature = "network")]
fn selfplay_games_survive_kills() {
    Job::selfplay(&[
        "--model=hashed",
        "--name=a",
        "--games=150",
        "--playouts=8",
        "--max-moves=40",
        "--drop-max-moves",
        "--min-moves=20",
        "--checkpoint-every=0.001",
        "--to=hcpe3.zst",
    ])
    .varied(&[
        &["--batch=7", "--threads=2"],
        &["--batch=3", "--threads=1", "--groups=2"],
        &["--batch=12"],
    ])
    .survives();
}

/// Each process starts its own engines, which takes longer than a game.
#[test]
#[cfg(all(unix, feature = "network"))]
fn games_of_engines_survive_kills() {
    let threads: &[&[&str]] = &[&["--threads=2"], &["--threads=1"], &["--threads=3"]];
    let game = &[
        "--engine",
        ENGINE,
        "--engine",
        UNIFORM,
        "--name=a",
        "--games=60",
        "--nodes=20",
        "--max-moves=20",
        "--root-mate=5,100",
        "--checkpoint-every=0.001",
    ];
    Job::selfplay(game).varied(threads).survives_kills(kills() / 4);
    let game = &[
        "--model=hashed",
        "--opponent-engine",
        UNIFORM,
        "--opponent-share=0.5",
        "--name=a",
        "--games=150",
        "--nodes=20",
        "--playouts=8",
        "--max-moves=20",
        "--root-mate=5,100",
        "--checkpoint-every=0.001",
    ];
    Job::selfplay(game).varied(threads).survives_kills(kills() / 4);
}

#[test]
fn resume_never_continues_a_replaced_run() {
    let bytes = positions(Format::Hcp, 3000);
    let words = &["--nodes=30", "--sample=0.9"];
    Job::new("a.hcp", &bytes, words).replaces_a_run("a.hcp.partial");
    let words = &["--to=jsonl", "--nodes=30", "--sample=0.9"];
    Job::new("a.hcp", &bytes, words).dataset().replaces_a_run("a.jsonl.partial");
}

#[test]
#[cfg(feature = "network")]
fn resume_with_a_network_never_continues_a_replaced_run() {
    let bytes: Vec<u8> =
        records(600, 3).iter().flat_map(|record| encoded(Format::Hcpe, record)).collect();
    let words = &["--model=hashed", "--playouts=20", "--sample=0.9"];
    Job::new("a.hcpe", &bytes, words).relabel().replaces_a_run("a.hcpe.partial");
    let words = &["--model=hashed", "--name=a", "--games=30", "--playouts=20", "--max-moves=40"];
    Job::selfplay(words).replaces_a_run("a.hcpe3.partial");
}
