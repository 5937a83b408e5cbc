#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Game`] is what a game implements, [`Hand`] what its hands can do where it has some; [`Candidate`] is a move
//! with what the search should know of it. OR and AND nodes are those of Nilsson (1971), proof and disproof
//! hands those of Nagai (2002).

mod permutation;
pub mod random;

use std::fmt::Debug;
use std::hash::Hash;
use std::num::NonZeroU16;

pub use permutation::Permutation;

/// Who is to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// The attacker: one move that reaches the goal is enough.
    Or,
    /// The defender: the goal must be reached against every move.
    And,
}

/// How a finished game counts for the goal of the attacker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The goal is reached.
    Reached,
    /// The goal cannot be reached any more.
    Missed,
}

/// The moves of a node, or its value where the game is over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Moves<M> {
    /// The game is over.
    Over(Outcome),
    /// At least one move.
    Some(Vec<M>),
}

/// What [`Game::expand`] found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expansion {
    /// At least one move was appended.
    Moves,
    /// The game is over.
    Over(Outcome),
}

/// A move as the search receives it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<M> {
    /// The move.
    pub m: M,
    /// Hold this move back until the one before it in the list is solved. For moves that rarely differ
    /// from their predecessor, such as the next piece interposed on the same square.
    pub delayed: bool,
    /// First guess at the proof number of the position after the move; at least 1.
    pub proof_number: u32,
    /// First guess at the disproof number; at least 1.
    pub disproof_number: u32,
    /// By how much the move is dearer than the position after it, or cheaper: the number by which its side chooses (of
    /// attacks the proof number, of defences the disproof number) counts so much more, as long as nothing is solved.
    pub cost: i8,
}

impl<M> Candidate<M> {
    /// A move about which nothing is known.
    pub const fn new(m: M) -> Self {
        Self { m, delayed: false, proof_number: 1, disproof_number: 1, cost: 0 }
    }
}

/// The attacker's hand: a partially ordered set in which more is never worse for the attacker.
pub trait Hand: Copy + Eq + Hash + Debug {
    /// Whether `self` holds at least as much of everything as `other`.
    fn dominates(self, other: Self) -> bool;
    /// The least hand that dominates both.
    #[must_use]
    fn union(self, other: Self) -> Self;
    /// The greatest hand that both dominate.
    #[must_use]
    fn intersection(self, other: Self) -> Self;
    /// A number that differs between hands.
    fn bits(self) -> u32;
    /// The hand whose [`Hand::bits`] these are.
    #[must_use]
    fn from_bits(bits: u32) -> Self;
}

/// Games without hands: all hands are equal.
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

/// A position of an AND/OR game, seen by one attacker.
///
/// # Hands of proofs and disproofs
/// Where hands matter, a proof holds for every hand that dominates the *proof hand*, a disproof for
/// every hand that the *disproof hand* dominates (proof and disproof pieces, Nagai 2002). The
/// `…_hand_…` methods carry such hands from children to their parent; games without hands keep the
/// defaults, which are right whenever all hands are equal.
pub trait Game {
    /// A move.
    type Move: Copy + Eq + Debug;
    /// The attacker's hand.
    type Hand: Hand;
    /// What is needed to take a move back.
    type Undo;

    /// How many plies two proofs of a position differ by at least, if at all: 2 where the goal is only
    /// reached by the attacker's own move.
    const PLIES_APART: u16 = 1;

    /// Who is to move; attacker and defender take turns.
    fn node_kind(&self) -> NodeKind;
    /// Key of everything but the attacker's hand; different where the side to move differs.
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
    /// A number for the move, unique within its position, to be kept in tables.
    fn code(m: Self::Move) -> NonZeroU16;

    /// Appends the moves worth searching, or says how the game ended. At OR nodes these may be fewer
    /// than the rules allow (only checks); at AND nodes they are all moves.
    fn expand(&self, moves: &mut Vec<Candidate<Self::Move>>) -> Expansion;

    /// Fills in first guesses at the numbers of the moves that [`Game::expand`] appended. An OR node may
    /// name a move that reaches the goal at once instead; games that cannot tell without making moves
    /// need not.
    fn weigh(&self, _moves: &mut [Candidate<Self::Move>]) -> Option<Self::Move> {
        None
    }

    /// What [`Game::expand`] finds, by plain rules: slow, and independent of it. Proofs are checked against it.
    fn plain_moves(&mut self) -> Moves<Self::Move>;

    /// The one of [`Game::plain_moves`] with this code.
    fn plain_move(&mut self, code: u16) -> Option<Self::Move> {
        let Moves::Some(moves) = self.plain_moves() else { return None };
        moves.into_iter().find(|&m| Self::code(m).get() == code)
    }

    /// Gives the attacker this hand and everything else that is not on the board to the defender. Called
    /// with hands that [`Game::hand`] dominates, and then with the old hand again.
    fn set_hand(&mut self, hand: Self::Hand);

    /// Proof hand of this AND node, given the union of those of its children.
    fn proof_hand_of_defence(&self, children: Self::Hand) -> Self::Hand {
        children
    }

    /// Proof hand of this OR node, given that of the child its move `m` leads to.
    fn proof_hand_of_attack(&self, _m: Self::Move, child: Self::Hand) -> Self::Hand {
        child
    }

    /// What the disproof hand of the child after `m` says about this OR node.
    fn disproof_hand_of_attack(&self, _m: Self::Move, child: Self::Hand) -> Self::Hand {
        child
    }

    /// Disproof hand of this OR node, given the intersection of what all its moves say; `None` where
    /// it has no move.
    fn disproof_hand_of_attacks(&self, children: Option<Self::Hand>) -> Self::Hand {
        children.unwrap_or_else(|| self.hand())
    }

    /// Disproof hand of this AND node, given that of the child its move `m` leads to.
    fn disproof_hand_of_defence(&self, _m: Self::Move, child: Self::Hand) -> Self::Hand {
        child
    }

    /// Replies to the defence `m` of this AND node after which the attacker stands no worse than before it,
    /// if he gives back what he gained: where they lead to an end as soon as without it, the defence is
    /// futile (無駄合い in shogi).
    fn futile_replies(&self, _m: Self::Move) -> Vec<Self::Move> {
        Vec::new()
    }

    /// Takes the moves that have [`Game::futile_replies`] out of those of this AND node.
    fn leave_out_futile(&self, moves: &mut Vec<Candidate<Self::Move>>) {
        moves.retain(|candidate| self.futile_replies(candidate.m).is_empty());
    }

    /// Proof hand of this AND node when the game is over and the goal reached.
    fn proof_hand_of_goal(&self) -> Self::Hand;
}
