//! Misbehaving programs, run by a shell.
#![cfg(unix)]

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use kyokumen_process::{ChildProcess, Fault, MAX_LINE_BYTES, Wait};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Longer than any test takes.
const LONG: Duration = Duration::from_mins(5);

fn start(script: &str) -> ChildProcess {
    ChildProcess::start(&["sh", "-c", script].map(str::to_owned), |_| ()).unwrap()
}

fn long() -> Wait<'static> {
    Wait::new(LONG, &NEVER)
}

#[test]
fn an_incomplete_line_is_not_returned() {
    let mut child = start("printf 'one\\r\\n\\ntwo'; exit 3");
    assert_eq!(child.line(&long()), Ok("one".to_owned()));
    assert_eq!(child.line(&long()), Ok(String::new()));
    for _ in 0..2 {
        let fault = child.line(&long()).unwrap_err();
        assert_eq!(fault.to_string(), "the program ended (exit status: 3)");
    }
}

#[test]
fn the_last_messages_arrive_before_the_end_is_reported() {
    let script =
        format!("echo one >&2; printf '%0{}d\\n\\r\\ntwo' 0 >&2; exit 3", MAX_LINE_BYTES + 1);
    let (sender, messages) = channel();
    let command = ["sh", "-c", &script].map(str::to_owned);
    let on_message = move |line: &str| {
        if line == "one" {
            thread::sleep(Duration::from_millis(200));
        }
        sender.send(line.to_owned()).unwrap();
    };
    let mut child = ChildProcess::start(&command, on_message).unwrap();
    assert!(matches!(child.line(&long()), Err(Fault::Ended(_))));
    let messages: Vec<_> = messages.try_iter().collect();
    assert_eq!(messages, ["one", &"0".repeat(MAX_LINE_BYTES), "0", "two"]);
}

#[test]
fn lines_have_a_maximum_length() {
    let script = format!("printf '%0{MAX_LINE_BYTES}d\\n%0{}d\\n' 0 0", MAX_LINE_BYTES + 1);
    let mut child = start(&script);
    assert_eq!(child.line(&long()).unwrap().len(), MAX_LINE_BYTES);
    assert_eq!(child.line(&long()), Err(Fault::LongLine));
    assert_eq!(start("exec cat /dev/zero").line(&long()), Err(Fault::LongLine));
}

#[test]
fn endless_output_is_not_read_ahead() {
    let file = std::env::temp_dir().join(format!("kyokumen-flood-{}", std::process::id()));
    let mut child = start(&format!("exec tee {} < /dev/zero", file.display()));
    assert!(child.answer(1, &long()).is_err_and(|fault| fault == Fault::Surplus));
    thread::sleep(Duration::from_millis(300));
    drop(child);
    let written = fs::metadata(&file).unwrap().len();
    fs::remove_file(&file).unwrap();
    // The capacity of pipes and buffers.
    assert!(written < 2 << 20, "{written}");
}

#[test]
fn an_answer_has_exactly_the_requested_length() {
    let mut child =
        start("head -c 200000 /dev/zero; read line; printf abc; read line; printf abcd");
    assert_eq!(child.answer(200_000, &long()).map(|bytes| bytes.len()), Ok(200_000));
    assert!(!child.has_unread());
    child.send(b"\n".to_vec());
    assert_eq!(child.answer(3, &long()), Ok(b"abc".to_vec()));
    child.send(b"\n".to_vec());
    // The last byte may arrive later.
    let answer = child.answer(3, &long());
    let until = Instant::now() + LONG / 5;
    while answer != Err(Fault::Surplus) && !child.has_unread() {
        assert!(Instant::now() < until, "the fourth byte does not come");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the process of this id has ended.
fn wait_for_end(id: &str) {
    let until = Instant::now() + LONG / 5;
    loop {
        let state = Command::new("ps").args(["-o", "stat=", "-p", id]).output().unwrap().stdout;
        // A process that has ended remains visible until its parent has read the exit status.
        if state.is_empty() || state.starts_with(b"Z") {
            return;
        }
        assert!(Instant::now() < until, "process {id} runs");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn programs_started_by_a_child_end_with_it() {
    let starts = "sleep 600 <&- >&- 2>&- & echo $!";
    let mut child = start(&format!("{starts}; exec sleep 600"));
    let id = child.line(&long()).unwrap();
    drop(child);
    wait_for_end(&id);
    let mut child = start(&format!("{starts}; exit 3"));
    let id = child.line(&long()).unwrap();
    assert!(matches!(child.line(&long()), Err(Fault::Ended(status)) if status.code() == Some(3)));
    wait_for_end(&id);
    let mut child = start(&format!("{starts}; exec sleep 600"));
    let id = child.line(&long()).unwrap();
    child.kill();
    wait_for_end(&id);
}

#[test]
fn a_program_may_end_by_itself() {
    let file = std::env::temp_dir().join(format!("kyokumen-end-{}", std::process::id()));
    let mut child = start(&format!("read line; touch {}", file.display()));
    child.send(b"quit\n".to_vec());
    child.end_or_kill();
    assert!(file.exists());
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_cancel_that_comes_soon_after_the_end_takes_precedence() {
    let cancel = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&cancel);
    let mut child = start("kill -INT $$");
    // The end of the child has been reported once.
    while child.line(&Wait::new(LONG, &NEVER)).is_ok() {}
    let setter = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        set.store(true, Ordering::Relaxed);
    });
    assert_eq!(child.line(&Wait::new(LONG, &cancel)), Err(Fault::Cancelled));
    setter.join().unwrap();
}

#[test]
fn every_wait_ends() {
    // More than a pipe can hold. The child does not read it.
    let message = vec![b'x'; 10 << 20];
    for script in ["exec sleep 600", "while :; do printf x; sleep 0.01; done", "trap '' TERM; cat"]
    {
        let mut child = start(script);
        let patience = Duration::from_millis(100);
        child.send(message.clone());
        if script.contains("cat") {
            // It sends back its input.
            assert_eq!(child.answer(message.len(), &long()), Ok(message.clone()));
        }
        assert_eq!(child.line(&Wait::new(patience, &NEVER)), Err(Fault::Silent { patience }));
        let cancel = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&cancel);
        let setter = thread::spawn(move || {
            thread::sleep(patience);
            set.store(true, Ordering::Relaxed);
        });
        let began = Instant::now();
        assert_eq!(child.line(&Wait::new(LONG, &cancel)), Err(Fault::Cancelled));
        drop(child);
        assert!(began.elapsed() < LONG / 5);
        setter.join().unwrap();
    }
}

#[test]
fn a_closed_pipe_is_reported_while_the_program_runs() {
    assert_eq!(start("exec >&-; exec sleep 600").line(&long()), Err(Fault::Closed));
    let mut child = start("exec <&-; exec sleep 600");
    // Until the child has closed its input.
    let fault = (0..1000).find_map(|_| {
        child.send(b"x".to_vec());
        child
            .line(&Wait::new(Duration::from_millis(20), &NEVER))
            .err()
            .filter(|fault| *fault == Fault::Closed)
    });
    assert_eq!(fault, Some(Fault::Closed));
}

#[test]
fn a_missing_program_is_not_started() {
    for command in [&["/no/such/program".to_owned()][..], &[]] {
        assert!(ChildProcess::start(command, |_| ()).is_err());
    }
}
