#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! A game implements [`Game`]. If it has pieces in hand, their type implements [`Hand`]. [`Candidate`] is a move with
//! first estimates for the search. OR and AND nodes are from Nilsson (1971), proof and disproof hands from Nagai
//! (2002).

mod permutation;
pub mod random;

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroU16;

pub use permutation::Permutation;

/// The kind of a node in the AND/OR tree, by the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// The attacker is to move. One move that leads to the goal is enough.
    Or,
    /// The defender is to move. The attacker must reach the goal after every move.
    And,
}

/// The outcome of a finished game for the attacker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The attacker has reached the goal.
    Reached,
    /// The attacker can no longer reach the goal.
    Missed,
}

/// The moves of a node, or the outcome if the game is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Moves<M> {
    /// The game is over.
    Over(Outcome),
    /// At least one move.
    Some(Vec<M>),
}

/// The result of [`Game::expand`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expansion {
    /// At least one move was appended.
    Moves,
    /// The game is over.
    Over(Outcome),
}

/// A move with first estimates for the search.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<M> {
    /// The move.
    pub m: M,
    /// Whether the search ignores the move until the move before it in the list is solved. For moves that differ little
    /// from their predecessor, such as another piece interposed on the same square.
    pub delayed: bool,
    /// First estimate of the proof number of the position after the move. At least 1.
    pub proof_number: u32,
    /// First estimate of its disproof number. At least 1.
    pub disproof_number: u32,
    /// The cost of the move. While the position after the move is open, this is added to its deciding number: the proof
    /// number after a move of the attacker, the disproof number after a move of the defender.
    pub cost: i8,
}

impl<M> Candidate<M> {
    /// A move without estimates.
    pub const fn new(m: M) -> Self {
        Self { m, delayed: false, proof_number: 1, disproof_number: 1, cost: 0 }
    }
}

/// The attacker's pieces in hand. Hands are partially ordered by dominance: a larger hand is never worse for the
/// attacker.
pub trait Hand: Copy + Eq + Hash + Debug {
    /// Whether `self` has at least as many pieces of each kind as `other`.
    fn dominates(self, other: Self) -> bool;
    /// The smallest hand that dominates both.
    #[must_use]
    fn union(self, other: Self) -> Self;
    /// The largest hand that both dominate.
    #[must_use]
    fn intersection(self, other: Self) -> Self;
    /// A number that is different for different hands.
    fn bits(self) -> u32;
    /// The inverse of [`Hand::bits`].
    #[must_use]
    fn from_bits(bits: u32) -> Self;
}

/// For games without hands: all hands are equal.
impl Hand for () {
    fn dominates(self, (): Self) -> bool {
        true
    }

    fn union(self, (): Self) {}

    fn intersection(self, (): Self) {}

    fn bits(self) -> u32 {
        0
    }

    fn from_bits(_bits: u32) {}
}

/// A two-player game with an attacker and a defender, at its current position.
///
/// # Proof hands and disproof hands
/// A proof holds for every hand that dominates its *proof hand*. A disproof holds for every hand that its *disproof
/// hand* dominates (proof and disproof pieces, Nagai 2002). The `…_hand_…` methods derive these hands for a node from
/// its children. Games without hands use the defaults, which are correct if all hands are equal.
pub trait Game {
    /// A move.
    type Move: Copy + Eq + Debug;
    /// The attacker's hand.
    type Hand: Hand;
    /// The data needed to take a move back.
    type Undo;

    /// The smallest difference in plies between two proofs of a position with different lengths. 2 if the attacker
    /// reaches the goal only by a move of the attacker.
    const PLIES_APART: u16 = 1;

    /// The kind of the current node. Attacker and defender take turns.
    fn node_kind(&self) -> NodeKind;
    /// Hash key of the position without the attacker's hand. It depends on the side to move.
    fn board_key(&self) -> u64;
    /// The attacker's hand.
    fn hand(&self) -> Self::Hand;
    /// [`Game::board_key`] after a move of [`Game::expand`].
    fn board_key_after(&self, m: Self::Move) -> u64;
    /// [`Game::hand`] after a move of [`Game::expand`].
    fn hand_after(&self, m: Self::Move) -> Self::Hand;
    /// Plays a move of [`Game::expand`].
    fn make(&mut self, m: Self::Move) -> Self::Undo;
    /// Takes back the move that was made last.
    fn unmake(&mut self, m: Self::Move, undo: Self::Undo);
    /// A number for the move, unique in its position, for tables. It is never 0; tables use 0 for "no move".
    fn code(m: Self::Move) -> NonZeroU16;

    /// Appends the moves to search, or returns the outcome if the game is over. At OR nodes these may be fewer moves
    /// than the rules allow (only checks). At AND nodes they are all legal moves.
    fn expand(&self, moves: &mut Vec<Candidate<Self::Move>>) -> Expansion;

    /// Fills in first proof and disproof numbers and costs of the moves that [`Game::expand`] appended. At an OR node
    /// it may instead return a move that reaches the goal at once, if the game can find one without making moves.
    fn set_first_numbers(&self, _moves: &mut [Candidate<Self::Move>]) -> Option<Self::Move> {
        None
    }

    /// [`Game::expand`] and [`Game::set_first_numbers`] in one. A game may stop at a move that reaches the goal at
    /// once, before it has appended the others.
    ///
    /// # Errors
    /// The move that reaches the goal at once.
    fn expand_with_numbers(
        &self,
        moves: &mut Vec<Candidate<Self::Move>>,
    ) -> Result<Expansion, Self::Move> {
        match self.expand(moves) {
            Expansion::Moves => self.set_first_numbers(moves).map_or(Ok(Expansion::Moves), Err),
            over @ Expansion::Over(_) => Ok(over),
        }
    }

    /// The moves of [`Game::expand`] by the plain rules: an independent, deliberately simple implementation. Proofs are
    /// checked with it.
    fn plain_moves(&mut self) -> Moves<Self::Move>;

    /// The move of [`Game::plain_moves`] with this code.
    fn plain_move(&mut self, code: u16) -> Option<Self::Move> {
        let Moves::Some(moves) = self.plain_moves() else { return None };
        moves.into_iter().find(|&m| Self::code(m).get() == code)
    }

    /// The move of [`Game::plain_moves`] with this code, if the goal is then reached by the plain rules.
    fn plain_goal_move(&mut self, code: u16) -> Option<Self::Move> {
        let m = self.plain_move(code)?;
        let undo = self.make(m);
        let is_goal = self.plain_moves() == Moves::Over(Outcome::Reached);
        self.unmake(m, undo);
        is_goal.then_some(m)
    }

    /// Gives the attacker this hand, and the defender all other pieces that are not on the board. Called with hands
    /// that [`Game::hand`] dominates, and afterwards with the old hand.
    fn set_hand(&mut self, hand: Self::Hand);

    /// The proof hand of this AND node. `children` is the union of the proof hands of its children.
    fn proof_hand_of_defence(&self, children: Self::Hand) -> Self::Hand {
        children
    }

    /// The proof hand of this OR node. `child` is the proof hand after the proving move `m`.
    fn proof_hand_of_attack(&self, _m: Self::Move, child: Self::Hand) -> Self::Hand {
        child
    }

    /// Converts `child`, the disproof hand after the move `m`, to a hand of this OR node.
    fn disproof_hand_of_attack(&self, _m: Self::Move, child: Self::Hand) -> Self::Hand {
        child
    }

    /// The disproof hand of this OR node. `children` is the intersection of [`Game::disproof_hand_of_attack`] over all
    /// moves, `None` if there are no moves.
    fn disproof_hand_of_attacks(&self, children: Option<Self::Hand>) -> Self::Hand {
        children.unwrap_or_else(|| self.hand())
    }

    /// The disproof hand of this AND node. `child` is the disproof hand after the refuting move `m`.
    fn disproof_hand_of_defence(&self, _m: Self::Move, child: Self::Hand) -> Self::Hand {
        child
    }

    /// Replies to the move `m` of this AND node that could make it futile (無駄合い in shogi). After such a reply, and with
    /// the captured piece given back, the attacker is not worse off than before `m`. If the attacker then reaches the
    /// goal as soon as without `m`, the move was futile.
    fn futile_replies(&self, _m: Self::Move) -> Vec<Self::Move> {
        Vec::new()
    }

    /// Removes the moves of this AND node that have [`Game::futile_replies`].
    fn leave_out_futile(&self, moves: &mut Vec<Candidate<Self::Move>>) {
        moves.retain(|candidate| self.futile_replies(candidate.m).is_empty());
    }

    /// The proof hand of this node if the game is over and the goal is reached.
    fn proof_hand_of_goal(&self) -> Self::Hand;
}
