//! Programs that evaluate batches, and programs that fail.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kyokumen_network::{Batch, Evaluator, NetworkError, ProcessNetwork};
use kyokumen_shogi::Position;

/// Bytes of a batch that contains the start position with its 30 moves, and of its result.
const REQUEST_BYTES: usize = 8 + 628 + 8 + 2 + 30 * 2;
const RESULT_BYTES: usize = (30 + 1) * 4;

fn start(script: &str) -> Result<ProcessNetwork, NetworkError> {
    ProcessNetwork::start(&["sh", "-c", script].map(str::to_owned), 1.0, &NEVER)
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// A flag that is set after 100 ms.
fn soon() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        set.store(true, Ordering::Relaxed);
    });
    flag
}

/// The reason of a failure.
fn cause(error: &dyn Error) -> String {
    error.source().unwrap().to_string()
}

fn batch(network: &ProcessNetwork) -> Batch {
    let mut batch = Batch::new(4, network.planes());
    let start = Position::start();
    batch.push(&start, &start.legal_moves());
    batch
}

#[test]
fn a_program_evaluates_batch_after_batch() {
    // Logits of 0, a value of 0.
    let script = format!(
        "echo kyokumen-evaluator 2 57
         while [ $(head -c {REQUEST_BYTES} | wc -c) = {REQUEST_BYTES} ]; do head -c {RESULT_BYTES} /dev/zero; done"
    );
    let mut network = start(&script).unwrap();
    for _ in 0..3 {
        let mut batch = batch(&network);
        network.evaluate(&mut batch, &NEVER).unwrap();
        assert!(batch.policy(0).iter().all(|p| (p - 1.0 / 30.0).abs() < 1e-6));
        assert_eq!(batch.value(0).to_bits(), 0);
    }
    let mut nothing = Batch::new(4, network.planes());
    network.evaluate(&mut nothing, &NEVER).unwrap();
}

#[test]
fn failing_programs_are_reported() {
    let mut network = start("echo kyokumen-evaluator 2 119; exit 5").unwrap();
    let mut batch = batch(&network);
    for _ in 0..2 {
        let error = network.evaluate(&mut batch, &NEVER).unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), "the program ended (exit status: 5)");
    }
    for script in ["echo hello", "echo kyokumen-evaluator 2 58", "echo kyokumen-evaluator 1 57"] {
        assert!(matches!(start(script), Err(NetworkError::Greeting { .. })), "{script}");
    }
    for (script, why) in [
        ("exit 3", "the program ended (exit status: 3)"),
        // A line without its end is not accepted.
        ("printf 'kyokumen-evaluator 2 57'; exit 3", "the program ended (exit status: 3)"),
        ("exec >&-; exec sleep 60", "the program closed its pipe"),
        ("exec cat /dev/zero", "the program sent a line of more than 65536 bytes"),
    ] {
        let error = start(script).err().unwrap();
        assert!(matches!(error, NetworkError::NoGreeting { .. }), "{script}");
        assert_eq!(cause(&error), why, "{script}");
    }
    let long = format!("echo {}", "x".repeat(5000));
    assert!(start(&long).err().unwrap().to_string().len() < 300);
    let absent = ProcessNetwork::start(&["no-such-program".to_owned()], 1.0, &NEVER);
    assert!(matches!(absent, Err(NetworkError::Start { .. })));
}

#[test]
fn a_result_that_is_too_long_is_an_error() {
    let script_with_result = |bytes: &str| {
        format!(
            "echo kyokumen-evaluator 2 57
             while [ $(head -c {REQUEST_BYTES} | wc -c) = {REQUEST_BYTES} ]; do {bytes}; done"
        )
    };
    let greets_too_much = "printf 'kyokumen-evaluator 2 57\\nmore'; exec cat".to_owned();
    for script in [
        script_with_result(&format!("head -c {} /dev/zero", RESULT_BYTES + 1)),
        script_with_result("exec cat /dev/zero"),
        greets_too_much,
    ] {
        let mut network = start(&script).unwrap();
        // The surplus may arrive after the result.
        let error = (0..100).find_map(|_| {
            thread::sleep(Duration::from_millis(10));
            network.evaluate(&mut batch(&network), &NEVER).err()
        });
        let error = error.expect("an error");
        assert_eq!(cause(&error), "the program sent more than was requested", "{script}");
        let again = network.evaluate(&mut batch(&network), &NEVER).unwrap_err();
        assert_eq!(cause(&again), cause(&error));
    }
}

#[test]
fn every_wait_for_a_program_can_be_cancelled() {
    let began = Instant::now();
    for script in ["exec sleep 600", "while :; do printf x; sleep 0.01; done"] {
        let words = ["sh", "-c", script].map(str::to_owned);
        let started = ProcessNetwork::start(&words, 1.0, &soon());
        assert!(matches!(started, Err(NetworkError::Cancelled)), "{script}");
    }
    for (then, is_silent) in [
        ("exec sleep 600", true),
        ("cat > /dev/null", true),
        ("while :; do printf x; sleep 0.01; done", false),
    ] {
        let mut network = start(&format!("echo kyokumen-evaluator 2 57; {then}")).unwrap();
        // More than a pipe holds.
        let mut batch = Batch::new(100, network.planes());
        let position = Position::start();
        (0..100).for_each(|_| batch.push(&position, &position.legal_moves()));
        let error = network.evaluate(&mut batch, &soon()).unwrap_err();
        // Output before the request may be reported as another error.
        let is_known = matches!(error, NetworkError::Cancelled)
            || !is_silent && matches!(error, NetworkError::Runtime(_));
        assert!(is_known, "{then}: {error}");
    }
    assert!(began.elapsed() < Duration::from_mins(1));
}
