//! Batches, and evaluators without a network.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kyokumen_network::{
    BOARD, Batch, Delayed, Evaluator, Hashed, INPUT1_BYTES, INPUT1_PLANES, Input2, LABELS,
    NetworkError, Uniform, move_label, unpack_input1, unpack_input2, write_input1, write_input2,
};
use kyokumen_shogi::Position;
use kyokumen_testing::positions::random_play;

/// Positions with legal moves.
fn positions(seed: u64, count: usize) -> Vec<Position> {
    let mut positions = random_play(seed, 2 * count);
    positions.retain(Position::has_legal_move);
    positions.truncate(count);
    positions
}

fn push_all(batch: &mut Batch, positions: &[Position]) {
    batch.clear();
    for position in positions {
        batch.push(position, &position.legal_moves());
    }
}

/// The results of each position, as bits.
fn results(batch: &Batch) -> Vec<(Vec<u32>, u32)> {
    let policy = |slot| batch.policy(slot).iter().map(|number| number.to_bits()).collect();
    (0..batch.len()).map(|slot| (policy(slot), batch.value(slot).to_bits())).collect()
}

fn evaluated(
    evaluator: &mut impl Evaluator,
    positions: &[Position],
    batch: usize,
) -> Vec<(Vec<u32>, u32)> {
    let mut batch = Batch::new(batch, evaluator.planes());
    let mut all = Vec::new();
    for positions in positions.chunks(batch.capacity()) {
        push_all(&mut batch, positions);
        evaluator.evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
        all.extend(results(&batch));
    }
    all
}

#[test]
fn results_do_not_depend_on_the_batch() {
    let positions = positions(91, 300);
    let expected = evaluated(&mut Hashed::default(), &positions, 300);
    for batch in [1, 7, 64] {
        assert_eq!(evaluated(&mut Hashed::default(), &positions, batch), expected);
    }
    assert_ne!(evaluated(&mut Hashed { seed: 1 }, &positions, 64), expected);
    let mut delayed = Delayed::new(Hashed::default(), Duration::ZERO);
    assert_eq!(evaluated(&mut delayed, &positions, 64), expected);
}

/// These figures must never change: games in other tests depend on them.
#[test]
fn hashed_results_never_change() {
    let mut batch = Batch::new(1, None);
    push_all(&mut batch, &[Position::start()]);
    Hashed::default().evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
    let policy = batch.policy(0);
    assert_eq!(policy.len(), 30);
    let sum: f32 = policy.iter().sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    let first = [policy[0], policy[1], policy[2], batch.value(0)].map(f32::to_bits);
    assert_eq!(first, [997564089, 1037808641, 1029081783, 1052617306]);
}

#[test]
fn hashed_results_differ_between_positions() {
    let mut positions = positions(92, 2_000);
    positions.sort_by_key(ToString::to_string);
    // The move number is not part of a position.
    let text = |position: &Position| position.to_string().rsplit_once(' ').unwrap().0.to_owned();
    positions.dedup_by_key(|position| text(position));
    let mut values: Vec<u32> = evaluated(&mut Hashed::default(), &positions, 64)
        .into_iter()
        .map(|(_, value)| value)
        .collect();
    values.sort_unstable();
    values.dedup();
    // Two of 2,000 positions may share one of 16 million values.
    assert!(values.len() + 3 > positions.len(), "{} of {}", values.len(), positions.len());
}

#[test]
fn planes_are_in_the_slots_of_their_positions() {
    let positions = positions(93, 10);
    for kind in [Input2::Hands, Input2::EnteringKings] {
        let mut uniform = Uniform { planes: Some(kind) };
        let mut batch = Batch::new(16, uniform.planes());
        push_all(&mut batch, &positions);
        uniform.evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
        for (slot, position) in positions.iter().enumerate() {
            let [mut input1, mut unpacked1] = [(); 2].map(|()| vec![0.5; INPUT1_PLANES * BOARD]);
            write_input1(position, &mut input1);
            unpack_input1(&batch.input1()[slot * INPUT1_BYTES..][..INPUT1_BYTES], &mut unpacked1);
            assert_eq!(unpacked1, input1);
            let [mut input2, mut unpacked2] = [(); 2].map(|()| vec![0.5; kind.planes() * BOARD]);
            write_input2(position, kind, &mut input2);
            let bits = &batch.input2()[slot * kind.bytes()..][..kind.bytes()];
            unpack_input2(bits, kind, &mut unpacked2);
            assert_eq!(unpacked2, input2);
            let moves = position.legal_moves().len();
            let even = (1.0 / moves as f32).to_bits();
            assert!(batch.policy(slot).iter().all(|p| p.to_bits() == even));
            assert_eq!(batch.policy(slot).len(), moves);
        }
        assert_eq!(batch.input1().len(), 16 * INPUT1_BYTES);
    }
}

/// Compares with a softmax over the legal moves in double precision.
#[test]
fn logits_become_probabilities_of_the_legal_moves() {
    let position = Position::start();
    let moves = position.legal_moves();
    let logits: Vec<f32> = (0..LABELS).map(|label| (label % 97) as f32 / 10.0 - 4.0).collect();
    for temperature in [0.5_f32, 1.0, 1.74] {
        let mut batch = Batch::new(1, None);
        batch.push(&position, &moves);
        batch.start_answers();
        batch.set_logits(0, &logits, temperature, 0.25).unwrap();
        let exponentials: Vec<f64> = moves
            .iter()
            .map(|&m| {
                let label = usize::from(move_label(m, position.side_to_move()));
                (f64::from(logits[label]) / f64::from(temperature)).exp()
            })
            .collect();
        let sum: f64 = exponentials.iter().sum();
        for (&found, expected) in batch.policy(0).iter().zip(&exponentials) {
            assert!((f64::from(found) - expected / sum).abs() < 1e-6);
        }
        assert!((batch.value(0) - 0.25).abs() < f32::EPSILON);
    }
}

#[test]
fn invalid_outputs_are_reported_with_their_slot() {
    let mut batch = Batch::new(2, None);
    push_all(&mut batch, &positions(94, 2));
    batch.start_answers();
    let good = vec![0.0; LABELS];
    for value in [f32::NAN, f32::INFINITY, -0.1, 1.1] {
        let error = batch.set_logits(1, &good, 1.0, value).unwrap_err();
        assert!(matches!(
            error,
            NetworkError::Unusable { output: "output_value", slot: 1, len: 2, .. }
        ));
    }
    for logit in [f32::NAN, f32::INFINITY] {
        let mut bad = good.clone();
        bad[usize::from(batch.labels(0)[0])] = logit;
        let error = batch.set_logits(0, &bad, 1.0, 0.5).unwrap_err();
        assert!(matches!(
            error,
            NetworkError::Unusable { output: "output_policy", slot: 0, len: 2, .. }
        ));
        // Logits of illegal moves may have any value.
        let mut bad = good.clone();
        bad[LABELS - 1] = logit;
        batch.set_logits(0, &bad, 1.0, 0.5).unwrap();
    }
}

#[test]
fn a_simulated_device_takes_its_time() {
    let time = Duration::from_millis(20);
    let mut batch = Batch::new(1, None);
    push_all(&mut batch, &[Position::start()]);
    let start = Instant::now();
    Delayed::new(Uniform::default(), time).evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
    assert!(start.elapsed() >= time);
}

#[test]
#[should_panic(expected = "a batch is full, its capacity is 1")]
fn a_full_batch_takes_no_more() {
    push_all(&mut Batch::new(1, None), &positions(95, 2));
}
