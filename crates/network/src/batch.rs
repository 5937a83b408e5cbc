//! Positions that are evaluated together, and their results.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{Color, Move, Position};

use crate::NetworkError;
use crate::features::{BOARD, INPUT1_PLANES, Input2, write_input1, write_input2};
use crate::label::{LABELS, move_label};

/// Number of positions that an evaluator in this process evaluates together, for any batch size. The result for a
/// position must not depend on the size of the batch.
pub const CHUNK: usize = 4;

/// Positions for an [`Evaluator`](crate::Evaluator), and its results: for each position, the probability of each legal
/// move and the probability of a win.
///
/// A batch is created once and reused: nothing is allocated after the first batches. It contains only what evaluators
/// read: the key of a position, the labels of its moves, and its planes if the network needs them.
#[derive(Clone, Debug)]
pub struct Batch {
    capacity: usize,
    planes: Option<Input2>,
    keys: Vec<u64>,
    labels: Vec<u16>,
    /// The end of each position's labels.
    ends: Vec<usize>,
    input1: Vec<f32>,
    input2: Vec<f32>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

impl Batch {
    /// Creates a batch for at most `capacity` positions. `planes` is [`Evaluator::planes`](crate::Evaluator::planes).
    pub fn new(capacity: usize, planes: Option<Input2>) -> Self {
        let slots = capacity.next_multiple_of(CHUNK);
        let numbers = |per_position: usize| vec![0.0; slots * per_position * BOARD];
        Self {
            capacity,
            planes,
            keys: Vec::with_capacity(capacity),
            labels: Vec::new(),
            ends: Vec::with_capacity(capacity),
            input1: planes.map_or_else(Vec::new, |_| numbers(INPUT1_PLANES)),
            input2: planes.map_or_else(Vec::new, |kind| numbers(kind.planes())),
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
            let per_position = INPUT1_PLANES * BOARD;
            write_input1(position, &mut self.input1[slot * per_position..][..per_position]);
            let per_position = kind.planes() * BOARD;
            write_input2(position, kind, &mut self.input2[slot * per_position..][..per_position]);
        }
    }

    /// `input1` of all slots, with shape (slots, 62, 9, 9). The number of slots is [`capacity`](Self::capacity) rounded
    /// up to a multiple of [`CHUNK`]. Slots after the last position contain data of earlier batches. Empty if the
    /// evaluator needs no planes.
    pub fn input1(&self) -> &[f32] {
        &self.input1
    }

    /// `input2` of all slots, with shape (slots, 57 or 119, 9, 9).
    pub fn input2(&self) -> &[f32] {
        &self.input2
    }

    /// The key of a position, computed from board, hands and side to move.
    pub fn key(&self, slot: usize) -> u64 {
        self.keys[slot]
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
    /// `temperature` divides the logits; above 1 it makes the policy flatter. The exponential function is from `libm`
    /// and gives the same bits on every machine.
    ///
    /// # Errors
    ///
    /// If the logit of a legal move is not finite, or the value is not a probability.
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
        let len = self.len();
        let unusable = |output, number, expected| {
            Err(NetworkError::Unusable { output, slot, len, number, expected })
        };
        if !(0.0..=1.0).contains(&value) {
            return unusable("output_value", value, "a number from 0 to 1");
        }
        let moves = self.moves(slot);
        let labels = &self.labels[moves.clone()];
        let policy = &mut self.policies[moves];
        for (probability, &label) in policy.iter_mut().zip(labels) {
            *probability = logits[usize::from(label)];
        }
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
