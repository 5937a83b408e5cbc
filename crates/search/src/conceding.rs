//! A game in which the defender leaves out whatever might be futile: no mate of it takes longer than that of a problem.
//!
//! What problems count (`docs/tsume.md`) lies between two games that are easily searched. If every interposition counts,
//! mates are too long; if none does that the attacker can take, they are too short. Where a proof is measured to be no
//! longer than the shortest mate of the second game, its length is that of the problem, whichever proof it is.

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

/// A game whose defender makes no move that has [futile replies](Game::futile_replies).
pub(super) struct Conceding<G>(pub(super) G);

impl<G: Game> Game for Conceding<G> {
    type Move = G::Move;
    type Hand = G::Hand;
    type Undo = G::Undo;

    const PLIES_APART: u16 = G::PLIES_APART;

    fn node_kind(&self) -> NodeKind {
        self.0.node_kind()
    }

    fn board_key(&self) -> u64 {
        self.0.board_key()
    }

    fn hand(&self) -> G::Hand {
        self.0.hand()
    }

    fn board_key_after(&self, m: G::Move) -> u64 {
        self.0.board_key_after(m)
    }

    fn hand_after(&self, m: G::Move) -> G::Hand {
        self.0.hand_after(m)
    }

    fn make(&mut self, m: G::Move) -> G::Undo {
        self.0.make(m)
    }

    fn unmake(&mut self, m: G::Move, undo: G::Undo) {
        self.0.unmake(m, undo);
    }

    fn code(m: G::Move) -> NonZeroU16 {
        G::code(m)
    }

    fn expand(&self, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        let expansion = self.0.expand(moves);
        if self.node_kind() == NodeKind::And && !moves.is_empty() {
            self.0.leave_out_futile(moves);
            if moves.is_empty() {
                return Expansion::Over(Outcome::Reached);
            }
        }
        expansion
    }

    fn weigh(&self, moves: &mut [Candidate<G::Move>]) -> Option<G::Move> {
        self.0.weigh(moves)
    }

    fn plain_moves(&mut self) -> Moves<G::Move> {
        let moves = self.0.plain_moves();
        if self.node_kind() == NodeKind::Or {
            return moves;
        }
        match moves {
            Moves::Some(mut moves) => {
                moves.retain(|&m| self.0.futile_replies(m).is_empty());
                if moves.is_empty() { Moves::Over(Outcome::Reached) } else { Moves::Some(moves) }
            }
            over @ Moves::Over(_) => over,
        }
    }

    fn set_hand(&mut self, hand: G::Hand) {
        self.0.set_hand(hand);
    }

    fn proof_hand_of_defence(&self, children: G::Hand) -> G::Hand {
        self.0.proof_hand_of_defence(children)
    }

    fn proof_hand_of_attack(&self, m: G::Move, child: G::Hand) -> G::Hand {
        self.0.proof_hand_of_attack(m, child)
    }

    fn disproof_hand_of_attack(&self, m: G::Move, child: G::Hand) -> G::Hand {
        self.0.disproof_hand_of_attack(m, child)
    }

    fn disproof_hand_of_attacks(&self, children: Option<G::Hand>) -> G::Hand {
        self.0.disproof_hand_of_attacks(children)
    }

    fn disproof_hand_of_defence(&self, m: G::Move, child: G::Hand) -> G::Hand {
        self.0.disproof_hand_of_defence(m, child)
    }

    fn proof_hand_of_goal(&self) -> G::Hand {
        self.0.proof_hand_of_goal()
    }
}
