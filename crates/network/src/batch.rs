//! Positions that are evaluated together, and the answers.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use kyokumen_game::random::SplitMix64;
use kyokumen_shogi::{Color, Move, Position};

use crate::NetworkError;
use crate::features::{BOARD, INPUT1_PLANES, Input2, write_input1, write_input2};
use crate::label::{LABELS, move_label};

/// Positions that an evaluator in this process looks at together, whatever the batch: what it computes must not depend
/// on how many there are.
pub const CHUNK: usize = 4;

/// Positions for an [`Evaluator`](crate::Evaluator), and its answers: for each position a probability of each legal
/// move and of a win.
///
/// Made once and used again and again: nothing is allocated after the first batches. What is written is what the
/// evaluator reads: a position's key, its moves' labels, and its planes if a network wants them.
#[derive(Clone, Debug)]
pub struct Batch {
    capacity: usize,
    planes: Option<Input2>,
    keys: Vec<u64>,
    labels: Vec<u16>,
    /// Where the labels of each position end.
    ends: Vec<usize>,
    input1: Vec<f32>,
    input2: Vec<f32>,
    policies: Vec<f32>,
    values: Vec<f32>,
}

impl Batch {
    /// Room for so many positions; `planes` is what the evaluator asks for.
    pub fn new(capacity: usize, planes: Option<Input2>) -> Self {
        let slots = capacity.next_multiple_of(CHUNK);
        let numbers = |of_one: usize| vec![0.0; slots * of_one * BOARD];
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

    /// Positions in it.
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Most positions.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes all positions out.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.labels.clear();
        self.ends.clear();
    }

    /// Adds a position with its legal moves, in the order in which the answer is wanted.
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
            let of_one = INPUT1_PLANES * BOARD;
            write_input1(position, &mut self.input1[slot * of_one..][..of_one]);
            let of_one = kind.planes() * BOARD;
            write_input2(position, kind, &mut self.input2[slot * of_one..][..of_one]);
        }
    }

    /// `input1` of all slots, [`capacity`](Self::capacity) rounded up to a multiple of [`CHUNK`] × 62 × 9 × 9; what
    /// stands behind the last position is of earlier batches. Empty if no planes are wanted.
    pub fn input1(&self) -> &[f32] {
        &self.input1
    }

    /// `input2` of as many slots × 57 or 119 × 9 × 9.
    pub fn input2(&self) -> &[f32] {
        &self.input2
    }

    /// The key of a position: board, hands and side to move.
    pub fn key(&self, slot: usize) -> u64 {
        self.keys[slot]
    }

    /// The labels of a position's moves.
    pub fn labels(&self, slot: usize) -> &[u16] {
        &self.labels[self.moves(slot)]
    }

    /// Probabilities of the moves, in their order: their sum is 1.
    pub fn policy(&self, slot: usize) -> &[f32] {
        &self.policies[self.moves(slot)]
    }

    /// How probable it is that the mover wins.
    pub fn value(&self, slot: usize) -> f32 {
        self.values[slot]
    }

    fn moves(&self, slot: usize) -> Range<usize> {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        start..self.ends[slot]
    }

    /// Makes room for the answers; an evaluator calls it first.
    pub fn start_answers(&mut self) {
        self.policies.clear();
        self.policies.resize(self.labels.len(), 0.0);
        self.values.clear();
        self.values.resize(self.len(), 0.0);
    }

    /// The answer of a network for a position: logits of all labels, of which the legal moves' count, and the value.
    ///
    /// `temperature` divides the logits: above 1, it makes the policy flatter. The exponential function is `libm`'s,
    /// which gives the same bits on every machine.
    ///
    /// # Errors
    ///
    /// If a legal move's logit is not finite, or the value no probability.
    ///
    /// # Panics
    ///
    /// If there are not [`LABELS`] logits.
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

    /// The answer for a position, as it is.
    ///
    /// # Panics
    ///
    /// If there are not as many probabilities as moves.
    pub fn set(&mut self, slot: usize, policy: &[f32], value: f32) {
        let moves = self.moves(slot);
        self.policies[moves].copy_from_slice(policy);
        self.values[slot] = value;
    }
}

/// Board, hands and side to move as one number: equal positions have equal keys.
fn key(position: &Position) -> u64 {
    let [black, white] = Color::ALL.map(|color| u64::from(position.hand(color).bits()));
    position.board_key() ^ SplitMix64::nth_bits(black << 32 | white, 0)
}

/// Turns logits into probabilities, summed up in their order.
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

/// A network, or what takes the place of one.
pub trait Evaluator: Send {
    /// The planes it reads; `None` if it needs none.
    fn planes(&self) -> Option<Input2>;

    /// Answers all positions of a batch. What may take long ends soon after `cancel` is set.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the network cannot be asked, or answers nonsense.
    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError>;
}
