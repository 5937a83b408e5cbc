//! A game in which the attacker may not come to certain boards: what needs them is not reached.
//!
//! Whether a mate is a way of its own or only a way back is asked by it (迂回手順, see [`super`]).

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

/// A game whose attacker fails wherever he is to move on one of some boards, whatever he holds.
pub(super) struct Avoiding<G> {
    game: G,
    /// By [`Game::board_key`].
    boards: Vec<u64>,
}

impl<G: Game> Avoiding<G> {
    pub(super) const fn new(game: G, boards: Vec<u64>) -> Self {
        Self { game, boards }
    }

    fn is_avoided(&self) -> bool {
        !self.boards.is_empty()
            && self.game.node_kind() == NodeKind::Or
            && self.boards.contains(&self.game.board_key())
    }
}

impl<G: Game> Game for Avoiding<G> {
    type Move = G::Move;
    type Hand = G::Hand;
    type Undo = G::Undo;

    const PLIES_APART: u16 = G::PLIES_APART;

    fn node_kind(&self) -> NodeKind {
        self.game.node_kind()
    }

    fn board_key(&self) -> u64 {
        self.game.board_key()
    }

    fn hand(&self) -> G::Hand {
        self.game.hand()
    }

    fn board_key_after(&self, m: G::Move) -> u64 {
        self.game.board_key_after(m)
    }

    fn hand_after(&self, m: G::Move) -> G::Hand {
        self.game.hand_after(m)
    }

    fn make(&mut self, m: G::Move) -> G::Undo {
        self.game.make(m)
    }

    fn unmake(&mut self, m: G::Move, undo: G::Undo) {
        self.game.unmake(m, undo);
    }

    fn code(m: G::Move) -> NonZeroU16 {
        G::code(m)
    }

    fn expand(&self, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        if self.is_avoided() { Expansion::Over(Outcome::Missed) } else { self.game.expand(moves) }
    }

    fn weigh(&self, moves: &mut [Candidate<G::Move>]) -> Option<G::Move> {
        self.game.weigh(moves)
    }

    fn plain_moves(&mut self) -> Moves<G::Move> {
        if self.is_avoided() { Moves::Over(Outcome::Missed) } else { self.game.plain_moves() }
    }

    fn plain_move(&mut self, code: u16) -> Option<G::Move> {
        if self.is_avoided() { None } else { self.game.plain_move(code) }
    }

    fn set_hand(&mut self, hand: G::Hand) {
        self.game.set_hand(hand);
    }

    fn proof_hand_of_defence(&self, children: G::Hand) -> G::Hand {
        self.game.proof_hand_of_defence(children)
    }

    fn proof_hand_of_attack(&self, m: G::Move, child: G::Hand) -> G::Hand {
        self.game.proof_hand_of_attack(m, child)
    }

    fn disproof_hand_of_attack(&self, m: G::Move, child: G::Hand) -> G::Hand {
        self.game.disproof_hand_of_attack(m, child)
    }

    fn disproof_hand_of_attacks(&self, children: Option<G::Hand>) -> G::Hand {
        self.game.disproof_hand_of_attacks(children)
    }

    fn futile_replies(&self, m: G::Move) -> Vec<G::Move> {
        self.game.futile_replies(m)
    }

    fn disproof_hand_of_defence(&self, m: G::Move, child: G::Hand) -> G::Hand {
        self.game.disproof_hand_of_defence(m, child)
    }

    fn proof_hand_of_goal(&self) -> G::Hand {
        self.game.proof_hand_of_goal()
    }
}
