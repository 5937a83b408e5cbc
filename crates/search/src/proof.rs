//! Proofs: a move that leads to the goal for each position with the attacker to move.

use kyokumen_game::{Game, Hand};
use rustc_hash::FxHashMap;

/// A move of the attacker that is proven to lead to the goal from a board, with a minimal hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step<M, H> {
    /// The hand of the attacker with which the step was checked. The defender held all other pieces.
    pub hand: H,
    /// The move.
    pub m: M,
    /// Upper bound of the plies to the end of the game, including this move. Every following step has fewer.
    pub plies: u16,
}

/// A checked proof. After each step and each reply of the defender, the game is over in the attacker's favour, or there
/// is another step with fewer plies.
///
/// A step holds for its board with every hand that dominates its own (see [`kyokumen_game::Game`]). The moves before do
/// not matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof<M, H> {
    /// The step that was checked first, with its [`Game::board_key`]. It is not in the map, so that the proof of a mate
    /// in one allocates nothing.
    first: Option<(u64, Step<M, H>)>,
    /// The other steps by [`Game::board_key`].
    others: FxHashMap<u64, Vec<Step<M, H>>>,
}

impl<M: Copy, H: Hand> Proof<M, H> {
    pub(super) fn new() -> Self {
        Self { first: None, others: FxHashMap::default() }
    }

    pub(super) fn add(&mut self, key: u64, step: Step<M, H>) {
        if self.first.is_none() {
            self.first = Some((key, step));
        } else {
            self.others.entry(key).or_default().push(step);
        }
    }

    /// The steps for a board that hold with this hand of the attacker.
    pub fn steps(&self, board_key: u64, hand: H) -> impl Iterator<Item = Step<M, H>> {
        self.all_steps(board_key).filter(move |step| hand.dominates(step.hand))
    }

    /// The steps for a board with any hand, in the order of their check.
    fn all_steps(&self, board_key: u64) -> impl Iterator<Item = Step<M, H>> {
        let first = self.first.filter(|&(key, _)| key == board_key).map(|(_, step)| step);
        first.into_iter().chain(self.others.get(&board_key).into_iter().flatten().copied())
    }

    /// Whether a step for this board, with any hand, makes the move `m`.
    pub(super) fn has_move(&self, board_key: u64, m: M) -> bool
    where
        M: PartialEq,
    {
        self.all_steps(board_key).any(|step| step.m == m)
    }

    /// The step of [`Self::steps`] with the fewest plies. Among equals it is the one that was checked first.
    pub fn shortest_step(&self, board_key: u64, hand: H) -> Option<Step<M, H>> {
        self.steps(board_key, hand).min_by_key(|step| step.plies)
    }
}

pub(super) type StepOf<G> = Step<<G as Game>::Move, <G as Game>::Hand>;
pub(super) type ProofOf<G> = Proof<<G as Game>::Move, <G as Game>::Hand>;
