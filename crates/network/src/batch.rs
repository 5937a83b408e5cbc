//! Positions that are evaluated together, and their results.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{Color, Move, Position};

use crate::NetworkError;
use crate::feature_bits::{INPUT1_BYTES, write_input1_bits, write_input2_bits};
use crate::features::Input2;
use crate::label::{LABELS, move_label};

/// Number of positions that an evaluator in this process evaluates together, for any batch size. The result for a
/// position must not depend on the size of the batch.
pub const CHUNK: usize = 4;

/// Positions for an [`Evaluator`](crate::Evaluator), and its results: for each position, the probability of each legal
/// move and the probability of a win.
///
/// A batch is created once and reused: nothing is allocated after the first batches. It contains only what evaluators
/// read: the key of a position, the labels of its moves, and its planes as bits if the network needs them.
#[derive(Clone, Debug)]
pub struct Batch {
    capacity: usize,
    planes: Option<Input2>,
    keys: Vec<u64>,
    labels: Vec<u16>,
    /// The end of each position's labels.
    ends: Vec<usize>,
    input1: Vec<u8>,
    input2: Vec<u8>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

impl Batch {
    /// Creates a batch for at most `capacity` positions. `planes` is [`Evaluator::planes`](crate::Evaluator::planes).
    pub fn new(capacity: usize, planes: Option<Input2>) -> Self {
        let slots = capacity.next_multiple_of(CHUNK);
        Self {
            capacity,
            planes,
            keys: Vec::with_capacity(capacity),
            labels: Vec::new(),
            ends: Vec::with_capacity(capacity),
            input1: planes.map_or_else(Vec::new, |_| vec![0; slots * INPUT1_BYTES]),
            input2: planes.map_or_else(Vec::new, |kind| vec![0; slots * kind.bytes()]),
            policies: Vec::new(),
            values: Vec::with_capacity(capacity),
        }
    }

    /// Number of positions.
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the batch is empty.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Maximum number of positions.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Removes all positions.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.labels.clear();
        self.ends.clear();
    }

    /// Adds a position with its legal moves. The result gives the probabilities in the same order.
    ///
    /// # Panics
    ///
    /// If the batch is full.
    pub fn push(&mut self, position: &Position, moves: &[Move]) {
        let slot = self.len();
        assert!(slot < self.capacity, "a batch is full, its capacity is {}", self.capacity);
        let mover = position.side_to_move();
        self.keys.push(key(position));
        self.labels.extend(moves.iter().map(|&m| move_label(m, mover)));
        self.ends.push(self.labels.len());
        if let Some(kind) = self.planes {
            write_input1_bits(position, &mut self.input1[slot * INPUT1_BYTES..][..INPUT1_BYTES]);
            let bytes = kind.bytes();
            write_input2_bits(position, kind, &mut self.input2[slot * bytes..][..bytes]);
        }
    }

    /// `input1` of all slots as [bits](write_input1_bits), [`INPUT1_BYTES`] per slot. The number of slots is
    /// [`capacity`](Self::capacity) rounded up to a multiple of [`CHUNK`]. Slots after the last position contain data
    /// of earlier batches. Empty if the evaluator needs no planes.
    pub fn input1(&self) -> &[u8] {
        &self.input1
    }

    /// `input2` of all slots as [bits](write_input2_bits), [`Input2::bytes`] per slot.
    pub fn input2(&self) -> &[u8] {
        &self.input2
    }

    /// The key of a position, computed from board, hands and side to move.
    pub fn key(&self, slot: usize) -> u64 {
        self.keys[slot]
    }

    /// Number of moves of all positions.
    pub const fn moves_len(&self) -> usize {
        self.labels.len()
    }

    /// The labels of a position's moves.
    pub fn labels(&self, slot: usize) -> &[u16] {
        &self.labels[self.moves(slot)]
    }

    /// Probabilities of the moves, in the order of the moves. Their sum is 1.
    pub fn policy(&self, slot: usize) -> &[f32] {
        &self.policies[self.moves(slot)]
    }

    /// Probability that the side to move wins.
    pub fn value(&self, slot: usize) -> f32 {
        self.values[slot]
    }

    fn moves(&self, slot: usize) -> Range<usize> {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        start..self.ends[slot]
    }

    /// Prepares the memory for the results. An evaluator calls this first.
    pub fn start_answers(&mut self) {
        self.policies.clear();
        self.policies.resize(self.labels.len(), 0.0);
        self.values.clear();
        self.values.resize(self.len(), 0.0);
    }

    /// Sets the result of a position from a network's output: the logits of all labels and the value. Only the logits
    /// of legal moves count.
    ///
    /// # Errors
    ///
    /// As [`set_move_logits`](Self::set_move_logits).
    ///
    /// # Panics
    ///
    /// If the number of logits is not [`LABELS`].
    pub fn set_logits(
        &mut self,
        slot: usize,
        logits: &[f32],
        temperature: f32,
        value: f32,
    ) -> Result<(), NetworkError> {
        assert_eq!(logits.len(), LABELS, "logits of one position");
        let moves = self.moves(slot);
        for (probability, &label) in
            self.policies[moves.clone()].iter_mut().zip(&self.labels[moves])
        {
            *probability = logits[usize::from(label)];
        }
        self.set_value_and_policy(slot, temperature, value)
    }

    /// Sets the result of a position from the logits of its moves, in the order of the moves, and the value.
    ///
    /// `temperature` divides the logits; above 1 it makes the policy flatter. The exponential function is from `libm`
    /// and gives the same bits on every machine.
    ///
    /// # Errors
    ///
    /// If a logit is not finite, or the value is not a probability.
    ///
    /// # Panics
    ///
    /// If the number of logits is not the number of moves.
    pub fn set_move_logits(
        &mut self,
        slot: usize,
        logits: &[f32],
        temperature: f32,
        value: f32,
    ) -> Result<(), NetworkError> {
        let moves = self.moves(slot);
        self.policies[moves].copy_from_slice(logits);
        self.set_value_and_policy(slot, temperature, value)
    }

    /// Sets the value, and turns logits into the policy.
    fn set_value_and_policy(
        &mut self,
        slot: usize,
        temperature: f32,
        value: f32,
    ) -> Result<(), NetworkError> {
        let len = self.len();
        let unusable = |output, number, expected| {
            Err(NetworkError::Unusable { output, slot, len, number, expected })
        };
        if !(0.0..=1.0).contains(&value) {
            return unusable("output_value", value, "a number from 0 to 1");
        }
        let moves = self.moves(slot);
        let policy = &mut self.policies[moves];
        if let Some(&number) = policy.iter().find(|number| !number.is_finite()) {
            return unusable("output_policy", number, "a finite number");
        }
        softmax(policy, temperature);
        self.values[slot] = value;
        Ok(())
    }

    /// Sets the result of a position.
    ///
    /// # Panics
    ///
    /// If the number of probabilities is not the number of moves.
    pub fn set(&mut self, slot: usize, policy: &[f32], value: f32) {
        let moves = self.moves(slot);
        self.policies[moves].copy_from_slice(policy);
        self.values[slot] = value;
    }
}

/// Board, hands and side to move as one number. Equal positions have equal keys.
fn key(position: &Position) -> u64 {
    let [black, white] = Color::ALL.map(|color| u64::from(position.hand(color).bits()));
    position.board_key() ^ SplitMix64::nth_bits(black << 32 | white, 0)
}

/// Turns logits into probabilities. The sum is computed in the order of the logits.
pub(crate) fn softmax(logits: &mut [f32], temperature: f32) {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in logits.iter_mut() {
        *logit = libm::expf((*logit - largest) / temperature);
        sum += *logit;
    }
    for probability in logits {
        *probability /= sum;
    }
}

/// A network, or a substitute for one.
pub trait Evaluator: Send {
    /// The planes it reads; `None` if it reads none.
    fn planes(&self) -> Option<Input2>;

    /// Evaluates all positions of a batch. A long evaluation ends soon after `cancel` is set.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the network cannot be evaluated, or if its output is invalid.
    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError>;
}
