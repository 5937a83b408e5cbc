//! Engines and evaluators that hang, flood, give wrong answers or die: errors and signals. No process is left.
#![cfg(unix)]

#[cfg(feature = "network")]
mod games;
#[cfg(feature = "network")]
mod networks;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use kyokumen::format::Format;
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::archive::{encoded, records};
use crate::harness::{Dir, TestCommand};
use crate::messages::transcript_of;
use crate::signals::{heeds_hangups, send};

/// An engine that evaluates a position by the length of its line. Faults replace the words in capitals.
const ENGINE: &str = r#"
echo $$ >> pids
START
while read -r line; do
  case "$line" in
    usi) USI; echo "id name Lengths"; echo usiok ;;
    isready) ISREADY; echo readyok ;;
    position*) position="$line" ;;
    go*) GO; echo "info depth 1 score cp ${#position}"; echo "bestmove resign"; AFTER ;;
    quit) exit ;;
  esac
done"#;

/// The words that faults replace, in the order of their replacement.
const PLACES: [&str; 5] = ["START", "ISREADY", "USI", "GO", "AFTER"];

/// The time limit for a process that should end at once. Machines may be busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A script with a fault in one place.
fn faulty(script: &str, (place, fault): (&str, &str)) -> String {
    let fill =
        |text: String, name: &&str| text.replace(name, if *name == place { fault } else { ":" });
    PLACES.iter().fold(script.to_owned(), fill)
}

/// A folder with a program in it, and some records.
struct Bench(Dir);

impl Bench {
    fn new(script: &str, fault: (&str, &str)) -> Self {
        let dir = Dir::new();
        dir.write("program", faulty(script, fault));
        let bytes: Vec<u8> = records(20, 3).iter().flat_map(|r| encoded(Format::Psv, r)).collect();
        dir.write("a.psv", bytes);
        Self(dir)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn command(&self, words: &[&str]) -> TestCommand {
        self.0.kyokumen(words)
    }

    fn run(&self, words: &[&str]) -> Output {
        finished(spawned(self.command(words)))
    }

    /// Relabels with the engine, in less memory than a flood of some seconds would take.
    fn relabel(&self, words: &[&str]) -> Output {
        let command = self.command(&[&RELABEL, words].concat());
        // Not every system has this limit.
        finished(spawned(command.in_shell("ulimit -v 2000000 2> /dev/null")))
    }

    fn error(&self, output: &Output) -> String {
        transcript_of(self.0.path(), output)
    }

    fn manifest(&self) -> Value {
        self.0.json("out/a.manifest.json")
    }

    /// Asserts that no program whose id is in `pids` is running.
    #[track_caller]
    fn assert_no_program_is_left(&self) {
        let ids = self.0.text("pids");
        let until = Instant::now() + PATIENCE;
        for id in ids.split_whitespace() {
            while is_running(id) {
                assert!(Instant::now() < until, "the program {id} is still running");
                sleep(Duration::from_millis(10));
            }
        }
    }
}

/// Whether a process runs. One that has ended may wait for its parent to notice.
fn is_running(id: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", id]).output();
    let state = output.expect("ps is installed").stdout;
    !state.is_empty() && !state.starts_with(b"Z")
}

const RELABEL: [&str; 7] = [
    "relabel",
    "a.psv",
    "--output=out",
    "--engine=sh program",
    "--nodes=1",
    "--threads=1",
    "--progress=none",
];

/// Starts a command that gets nothing on standard input.
pub(crate) fn spawned(mut command: TestCommand) -> Child {
    let command = command.0.stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
pub(crate) fn finished(mut child: Child) -> Output {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("the process does not end");
        }
        sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

/// Starts a child of the program that inherits its pipes.
const GRANDCHILD: &str = "sleep 600 & echo $! >> pids; ";

/// Signals in sending order, and the exit status.
const SIGNALS: [(&[i32], i32); 4] = [
    (&[libc::SIGTERM], 143),
    (&[libc::SIGINT], 130),
    (&[libc::SIGHUP], 129),
    (&[libc::SIGINT, libc::SIGINT], 130),
];

/// Sends signals when a program reaches its fault. The fault replaces the word `place` and occurs if `unless` fails.
/// Checks that the run ends, that no program is left, and that the run can be resumed with the repaired program.
#[track_caller]
fn survives_signals(
    script: &str,
    (place, unless, fault): (&str, &str, &str),
    words: &[&str],
    output: &str,
) {
    let until_repaired =
        format!("[ -e repaired ] || {unless} || {{ {GRANDCHILD} touch reached; {fault}; }}");
    let sound = Bench::new(script, ("", ""));
    assert!(sound.run(words).status.success());
    for (signals, code) in SIGNALS {
        if signals.contains(&libc::SIGHUP) && !heeds_hangups() {
            continue;
        }
        let bench = Bench::new(script, (place, &until_repaired));
        let child = spawned(bench.command(words));
        let until = Instant::now() + PATIENCE;
        while !bench.path("reached").exists() {
            assert!(Instant::now() < until, "{fault:?} is not reached");
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(50));
        for &signal in signals {
            send(signal, &child);
            // Two equal signals at the same time count as one.
            sleep(Duration::from_millis(5));
        }
        let transcript = bench.error(&finished(child));
        let is_reported = signals.len() > 1 || transcript.contains("error: interrupted");
        assert!(
            transcript.starts_with(&format!("status {code}\n")) && is_reported,
            "{fault:?} {transcript}"
        );
        bench.assert_no_program_is_left();
        bench.0.write("repaired", b"");
        let resumed = bench.run(&[words, &["--resume"]].concat());
        assert!(resumed.status.success(), "{fault:?} {}", bench.error(&resumed));
        assert!(bench.0.read(output) == sound.0.read(output));
    }
}

#[test]
fn a_signal_ends_a_run_even_if_its_engine_hangs_or_floods() {
    for fault in [
        ("START", "false", "trap '' HUP INT TERM; sleep 600"),
        ("START", "false", "while :; do echo hello; sleep 0.01; done"),
        ("USI", "false", "exec sleep 600"),
        ("ISREADY", "false", "exec sleep 600"),
        ("GO", "false", "exec sleep 600"),
        ("GO", "false", "while :; do echo info depth 1; sleep 0.01; done"),
        ("GO", "{ n=$((n + 1)); [ $n -lt 6 ]; }", "exec sleep 600"),
    ] {
        survives_signals(ENGINE, fault, &RELABEL, "out/a.psv");
    }
}

#[test]
fn a_signal_that_is_ignored_at_the_start_stays_ignored() {
    let fault = "touch reached; [ -e repaired ] || exec sleep 600";
    let bench = Bench::new(ENGINE, ("GO", fault));
    let command = bench.command(&[&RELABEL[..], &["--engine-timeout=2"]].concat());
    let child = spawned(command.in_shell("trap '' HUP"));
    let until = Instant::now() + PATIENCE;
    while !bench.path("reached").exists() {
        assert!(Instant::now() < until, "the engine gets no `go`");
        sleep(Duration::from_millis(5));
    }
    send(libc::SIGHUP, &child);
    bench.0.write("repaired", b"");
    let output = finished(child);
    assert!(output.status.success(), "{}", bench.error(&output));
}

#[test]
fn a_signal_to_all_processes_is_reported_as_an_interruption() {
    // As when a job system sends a signal to every process of a job.
    let bench = Bench::new(ENGINE, ("GO", "kill -INT $PPID; kill -INT $$; sleep 600"));
    let transcript = bench.error(&bench.relabel(&[]));
    assert!(transcript.starts_with("status 130\nerror: interrupted"), "{transcript}");
}

#[test]
fn no_program_is_left_after_sigquit() {
    let bench = Bench::new(ENGINE, ("GO", &format!("{GRANDCHILD} kill -QUIT $PPID; sleep 600")));
    let output = bench.relabel(&[]);
    assert!(!output.status.success());
    bench.assert_no_program_is_left();
}

#[test]
fn engines_get_quit_at_the_end() {
    let script = ENGINE.replace("quit) exit", "quit) echo >> ended; exit");
    let bench = Bench::new(&script, ("", ""));
    assert!(bench.relabel(&[]).status.success());
    // One process reports the name, another one evaluates.
    assert_eq!(bench.0.text("ended"), "\n\n");
}

#[test]
fn the_output_of_an_engine_is_limited() {
    for (fault, why) in [
        (
            ("START", "exec yes hello"),
            "the engine `sh program` sent more than 16 MiB without an answer",
        ),
        (("USI", "cat /dev/zero"), "the engine `sh program` sent a line of more than 65536 bytes"),
        (
            ("GO", "yes info depth 1 score cp 1"),
            "the engine `sh program` sent more than 16 MiB without an answer",
        ),
        (("GO", "cat /dev/zero"), "the engine `sh program` sent a line of more than 65536 bytes"),
    ] {
        let bench = Bench::new(ENGINE, fault);
        let transcript = bench.error(&bench.relabel(&[]));
        assert!(
            transcript.starts_with("status 1\n") && transcript.ends_with(&format!("{why}\n")),
            "{transcript}"
        );
    }
    let name = "x".repeat(50_000);
    let bench = Bench::new(ENGINE, ("GO", &format!("echo bestmove {name}; continue")));
    let transcript = bench.error(&bench.relabel(&["--limit=1"]));
    assert!(transcript.starts_with("status 1\n") && transcript.len() < 1000, "{transcript}");
    // Standard error is not limited.
    let bench = Bench::new(ENGINE, ("GO", "yes | head -c 10000000 >&2"));
    assert!(bench.relabel(&["--limit=2"]).status.success());
}

fn with_json_lines<'a>(words: &[&'a str]) -> Vec<&'a str> {
    words
        .iter()
        .map(|&word| if word == "--progress=none" { "--progress=json" } else { word })
        .collect()
}

/// Asserts that each line of standard error is JSON, and that the message `shown` is one of them.
#[track_caller]
fn assert_json_lines(output: &Output, kind: &str, shown: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    let parsed = text.lines().map(|line| serde_json::from_str(line).expect(line));
    let lines: Vec<Value> = parsed.collect();
    assert!(lines.iter().any(|line| line["type"] == kind && line["message"] == shown), "{text}");
    assert_eq!(lines.last().unwrap()["type"], "done", "{text}");
}

#[test]
fn messages_of_engines_are_log_lines() {
    let bench = Bench::new(ENGINE, ("START", "echo no GPU >&2"));
    let words = [&RELABEL[..], &["--limit=2", "--verbose"]].concat();
    assert_json_lines(&bench.run(&with_json_lines(&words)), "info", "sh: no GPU");
    let text = bench.error(&bench.run(&[&words[..], &["--force"]].concat()));
    assert!(text.contains("\n INFO sh: no GPU\n"), "{text}");
}

#[test]
fn an_engine_that_does_not_answer_is_stopped_after_the_timeout() {
    let talks = "while :; do echo info string hello; sleep 0.01; done";
    for fault in [
        ("START", "exec sleep 600"),
        ("START", talks),
        ("USI", "exec sleep 600"),
        ("ISREADY", "exec sleep 600"),
        ("ISREADY", talks),
        ("GO", "exec sleep 600"),
        ("GO", talks),
    ] {
        let bench = Bench::new(ENGINE, fault);
        let transcript = bench.error(&bench.relabel(&["--engine-timeout=1"]));
        let why = "the engine `sh program` did not answer within 1 s; --engine-timeout sets the time limit\n";
        assert!(
            transcript.starts_with("status 1\n") && transcript.ends_with(why),
            "{fault:?} {transcript}"
        );
        bench.assert_no_program_is_left();
    }
}

#[test]
fn an_engine_without_progress_is_stopped_after_the_timeout() {
    for fault in [
        "while :; do echo info depth 1; sleep 0.01; done",
        "while :; do echo info depth 1 nodes 5 score cp 3; sleep 0.01; done",
        // The depth does not count as progress if the engine reports nodes.
        "while :; do i=$((i + 1)); echo info depth $i nodes 5; sleep 0.01; done",
        // No end, and no answer to `stop`.
        "while :; do i=$((i + 1)); echo info depth $i; sleep 0.001; done",
        "while :; do i=$((i + 1)); echo info nodes ${i}00000; sleep 0.1; done",
    ] {
        let bench = Bench::new(ENGINE, ("GO", fault));
        let transcript = bench.error(&bench.relabel(&["--engine-timeout=1"]));
        let why = "the engine `sh program` did not answer within 1 s; --engine-timeout sets the time limit\n";
        assert!(
            transcript.starts_with("status 1\n") && transcript.ends_with(why),
            "{fault:?} {transcript}"
        );
        bench.assert_no_program_is_left();
    }
}

#[test]
fn an_engine_with_progress_or_an_answer_to_stop_may_be_slow() {
    for fault in [
        // Three seconds, with a line every half second.
        "for i in 1 2 3 4 5 6; do echo info nodes $i; sleep 0.5; done",
        // Ends on `stop`.
        "echo info nodes 2000000; while read -r line && [ \"$line\" != stop ]; do :; done",
    ] {
        let bench = Bench::new(ENGINE, ("GO", fault));
        let output = bench.relabel(&["--engine-timeout=2", "--limit=1"]);
        assert!(output.status.success(), "{fault} {}", bench.error(&output));
    }
}

#[test]
fn an_engine_does_not_search_a_mated_position() {
    let mated = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2\n";
    let bench = Bench::new(ENGINE, ("GO", "touch searched"));
    bench.0.write("a.sfen", mated.as_bytes());
    let words = [&["relabel", "a.sfen"], &RELABEL[2..]].concat();
    assert!(bench.run(&words).status.success());
    let written = bench.0.text("out/a.sfen");
    assert_eq!(written.trim_end().split('\t').nth(2), Some("-30000"), "{written}");
    assert!(!bench.path("searched").exists());
}

#[test]
fn an_engine_timeout_must_be_above_zero() {
    for time in ["0", "0.0", "1e-30"] {
        let bench = Bench::new(ENGINE, ("START", "touch started"));
        let output = bench.relabel(&["--engine-timeout", time]);
        assert_eq!(output.status.code(), Some(2), "{}", bench.error(&output));
        assert!(!bench.path("started").exists());
    }
}

/// Whether the second `bestmove` arrives before or after the next `go` depends on the time.
#[test]
fn a_second_bestmove_is_never_an_answer() {
    let bench = Bench::new(ENGINE, ("AFTER", "echo bestmove resign"));
    let output = bench.relabel(&[]);
    let transcript = bench.error(&output);
    let refused = ["sent a `bestmove` without a `go`", "sent no score before `bestmove resign`"];
    assert!(refused.iter().any(|why| transcript.contains(why)), "{transcript}");
    if output.status.success() {
        let sound = Bench::new(ENGINE, ("AFTER", ":"));
        assert!(sound.relabel(&[]).status.success());
        assert!(bench.0.read("out/a.psv") == sound.0.read("out/a.psv"));
    }
}

#[test]
fn invalid_answers_end_the_run() {
    for (fault, failed, why) in [
        // A line that is cut off by the end of the process.
        (
            ("GO", "echo info score cp 1; printf 'bestmove 7g7f'; exit 4"),
            "failed 3 times",
            "the engine `sh program` ended before it answered (exit status: 4)",
        ),
        (
            ("GO", "exec >&-; exec sleep 600"),
            "failed 3 times",
            "the engine `sh program` ended before it answered (it closed its pipe)",
        ),
        (
            ("GO", "echo bestmove; continue"),
            "failed 3 times",
            "the engine sent no score before `bestmove `",
        ),
        (
            ("ISREADY", "echo bestmove 7g7f"),
            "failed",
            "the engine `sh program` sent a `bestmove` without a `go`",
        ),
    ] {
        let bench = Bench::new(ENGINE, fault);
        let transcript = bench.error(&bench.relabel(&["--limit=1"]));
        let last = transcript.lines().last().unwrap();
        let expected =
            format!("error: cannot evaluate records: the engine {failed} on [..] b - 1: {why}");
        assert_data_eq!(last.to_owned(), expected);
        assert!(!bench.path("out/a.psv").exists());
    }
    let bench = Bench::new(ENGINE, ("USI", "echo bestmove 7g7f"));
    assert_data_eq!(
        bench.error(&bench.relabel(&[])),
        str![[r#"
status 1
error: the engine `sh program` sent a `bestmove` without a `go`

"#]]
    );
}

#[test]
fn an_illegal_best_move_is_not_written() {
    let illegal = "n=$((n + 1)); [ $((n % 4)) -gt 0 ] || { echo info score cp 7; echo bestmove 5e5d; continue; }";
    let bench = Bench::new(ENGINE, ("GO", illegal));
    let words = ["--to=hcpe", "--policy", "--fill=move=none"];
    assert_eq!(bench.relabel(&words).status.code(), Some(3));
    let manifest = bench.manifest();
    assert_eq!(manifest["counts"]["evaluations"]["new"], 15);
    assert_eq!(manifest["counts"]["bad"]["quarantined"], 5);
    let reasons = bench.0.text("out/a.quarantine.jsonl");
    assert!(reasons.contains(r#"the best move that the engine found, \"5e5d\", is not legal"#));
    // Without --policy no move is written, and illegal best moves are only counted.
    assert_eq!(bench.relabel(&["--to=hcpe", "--force"]).status.code(), Some(0));
    assert_eq!(bench.manifest()["counts"]["warnings"]["illegal_best_move"], 5);
}

#[test]
fn mate_scores_of_any_length_become_evaluations() {
    for (score, eval) in [
        ("mate 1001", 29_000),
        ("mate 30001", 29_000),
        ("mate -30001", -29_000),
        ("mate 99999999999999999999999", 29_000),
        ("mate 5", 29_995),
        ("mate 0", -30_000),
        ("mate +", 30_000),
        ("cp 30001", 28_999),
    ] {
        let answer = format!("echo info score {score}; echo bestmove resign; continue");
        let bench = Bench::new(ENGINE, ("GO", &answer));
        assert!(bench.relabel(&["--limit=1"]).status.success());
        let bytes = bench.0.read("out/a.psv");
        assert_eq!(i16::from_le_bytes([bytes[32], bytes[33]]), eval, "{score}");
    }
}

#[test]
fn outputs_are_checked_before_a_program_is_started() {
    let models =
        if cfg!(feature = "network") { &["--engine", "--model"][..] } else { &["--engine"] };
    for option in models {
        let bench = Bench::new(ENGINE, ("START", "touch started"));
        let bytes: Vec<u8> = records(3, 3).iter().flat_map(|r| encoded(Format::Hcp, r)).collect();
        bench.0.write("a.hcp", &bytes);
        let program = if *option == "--engine" { "sh program" } else { "run:sh program" };
        let mut words = vec!["relabel", "a.hcp", "--output=out", option, program];
        words.extend((*option == "--engine").then_some("--nodes=1"));
        assert_eq!(bench.run(&words).status.code(), Some(2));
        words.extend(["--to=hcpe", "--fill=result=draw,move=none", "--dry-run"]);
        assert_eq!(bench.run(&words).status.code(), Some(0));
        assert!(!bench.path("started").exists(), "{option}");
    }
}
