//! Proofs: for each position of the attacker a move that reaches the goal.

use kyokumen_game::{Game, Hand};
use rustc_hash::FxHashMap;

/// A move of the attacker that is known to reach the goal from a board with some least hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<M, H> {
    /// The least hand of the attacker that it was checked with, everything else being the defender's.
    pub hand: H,
    /// The move.
    pub m: M,
    /// Plies to the end of the game at most, this move included; every step that follows has fewer.
    pub plies: u16,
}

/// A checked proof: after every defence against one of its steps the game is over, or there is another
/// step, with fewer plies.
///
/// A step serves every hand that dominates its own (dominance, see [`kyokumen_game::Game`]), and every
/// way that leads to its board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof<M, H> {
    /// By [`Game::board_key`].
    steps: FxHashMap<u64, Vec<Step<M, H>>>,
}

impl<M: Copy, H: Hand> Proof<M, H> {
    pub(super) fn new() -> Self {
        Self { steps: FxHashMap::default() }
    }

    pub(super) fn add(&mut self, key: u64, step: Step<M, H>) {
        self.steps.entry(key).or_default().push(step);
    }

    /// The steps from a board that serve an attacker with this hand.
    pub fn steps(&self, board_key: u64, hand: H) -> impl Iterator<Item = Step<M, H>> {
        let steps = self.steps.get(&board_key).into_iter().flatten().copied();
        steps.filter(move |step| hand.dominates(step.hand))
    }

    /// Whether a step from a board makes this move, whatever hand it needs.
    pub(super) fn has_move(&self, board_key: u64, m: M) -> bool
    where
        M: PartialEq,
    {
        self.steps.get(&board_key).is_some_and(|steps| steps.iter().any(|step| step.m == m))
    }

    /// The one of [`Self::steps`] with the fewest plies; of equals, the one that was checked first.
    pub fn shortest_step(&self, board_key: u64, hand: H) -> Option<Step<M, H>> {
        self.steps(board_key, hand).min_by_key(|step| step.plies)
    }
}

pub(super) type StepOf<G> = Step<<G as Game>::Move, <G as Game>::Hand>;
pub(super) type ProofOf<G> = Proof<<G as Game>::Move, <G as Game>::Hand>;
