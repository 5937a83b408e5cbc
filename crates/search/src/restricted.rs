//! A game of which a side has fewer moves, or is over sooner; all else is as in the game itself.

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind};

/// What may not be done.
pub(super) trait Restriction<G: Game> {
    /// See [`Game::board_key`]; another one where the same board is another position.
    fn board_key(&self, game: &G) -> u64 {
        game.board_key()
    }

    /// A move was made.
    fn made(&mut self) {}

    /// A move was taken back.
    fn unmade(&mut self) {}

    /// See [`Game::expand`].
    fn expand(&self, game: &G, moves: &mut Vec<Candidate<G::Move>>) -> Expansion;

    /// See [`Game::plain_moves`].
    fn plain_moves(&self, game: &mut G) -> Moves<G::Move>;

    /// See [`Game::plain_move`].
    fn plain_move(&self, game: &mut G, code: u16) -> Option<G::Move>;
}

/// A game under a restriction.
pub(super) struct Restricted<G, R> {
    pub(super) game: G,
    pub(super) restriction: R,
}

impl<G: Game, R: Restriction<G>> Game for Restricted<G, R> {
    type Move = G::Move;
    type Hand = G::Hand;
    type Undo = G::Undo;

    const PLIES_APART: u16 = G::PLIES_APART;

    fn node_kind(&self) -> NodeKind {
        self.game.node_kind()
    }

    fn board_key(&self) -> u64 {
        self.restriction.board_key(&self.game)
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
        self.restriction.made();
        self.game.make(m)
    }

    fn unmake(&mut self, m: G::Move, undo: G::Undo) {
        self.restriction.unmade();
        self.game.unmake(m, undo);
    }

    fn code(m: G::Move) -> NonZeroU16 {
        G::code(m)
    }

    fn expand(&self, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        self.restriction.expand(&self.game, moves)
    }

    fn weigh(&self, moves: &mut [Candidate<G::Move>]) -> Option<G::Move> {
        self.game.weigh(moves)
    }

    fn plain_moves(&mut self) -> Moves<G::Move> {
        self.restriction.plain_moves(&mut self.game)
    }

    fn plain_move(&mut self, code: u16) -> Option<G::Move> {
        self.restriction.plain_move(&mut self.game, code)
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
