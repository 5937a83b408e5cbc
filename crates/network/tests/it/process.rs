//! Programs that evaluate batches, and programs that do not.

use std::error::Error;

use kyokumen_network::{Batch, Evaluator, NetworkError, ProcessNetwork};
use kyokumen_shogi::Position;

/// Bytes of a batch of one position, and of its answer.
const ASKED: usize = 4 + (62 + 57) * 81;
const ANSWERED: usize = (2187 + 1) * 4;

fn start(script: &str) -> Result<ProcessNetwork, NetworkError> {
    ProcessNetwork::start(&["sh", "-c", script].map(str::to_owned), 1.0)
}

fn batch(network: &ProcessNetwork) -> Batch {
    let mut batch = Batch::new(4, network.planes());
    let start = Position::start();
    batch.push(&start, &start.legal_moves());
    batch
}

#[test]
fn a_program_is_asked_again_and_again() {
    // Logits of 0, a value of 0.
    let script = format!(
        "echo kyokumen-evaluator 1 57
         while [ $(head -c {ASKED} | wc -c) = {ASKED} ]; do head -c {ANSWERED} /dev/zero; done"
    );
    let mut network = start(&script).unwrap();
    for _ in 0..3 {
        let mut batch = batch(&network);
        network.evaluate(&mut batch).unwrap();
        assert!(batch.policy(0).iter().all(|p| (p - 1.0 / 30.0).abs() < 1e-6));
        assert_eq!(batch.value(0).to_bits(), 0);
    }
    let mut nothing = Batch::new(4, network.planes());
    network.evaluate(&mut nothing).unwrap();
}

#[test]
fn programs_that_end_or_lie_are_told() {
    let mut network = start("echo kyokumen-evaluator 1 119; exit 5").unwrap();
    let mut batch = batch(&network);
    for _ in 0..2 {
        let error = network.evaluate(&mut batch).unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), "the program ended (exit status: 5)");
    }
    for script in
        ["exit 1", "echo hello", "echo kyokumen-evaluator 1 58", "echo kyokumen-evaluator 2 57"]
    {
        assert!(matches!(start(script), Err(NetworkError::Greeting { .. })), "{script}");
    }
    let absent = ProcessNetwork::start(&["no-such-program".to_owned()], 1.0);
    assert!(matches!(absent, Err(NetworkError::Start { .. })));
}
