//! A game in which the defender leaves out whatever might be futile: no mate of it takes longer than that of a problem.
//!
//! What problems count (`docs/tsume.md`) lies between two games that are easily searched. If every interposition counts,
//! mates are too long; if none does that the attacker can take, they are too short. Where a proof is measured to be no
//! longer than the shortest mate of the second game, its length is that of the problem, whichever proof it is.

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use super::restricted::{Restricted, Restriction};

/// A game whose defender makes no move that has [futile replies](Game::futile_replies).
pub(super) type Conceding<G> = Restricted<G, NothingFutile>;

/// The defender leaves out what might be futile.
pub(super) struct NothingFutile;

impl<G: Game> Restriction<G> for NothingFutile {
    fn expand(&self, game: &G, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        let expansion = game.expand(moves);
        if game.node_kind() == NodeKind::And && !moves.is_empty() {
            game.leave_out_futile(moves);
            if moves.is_empty() {
                return Expansion::Over(Outcome::Reached);
            }
        }
        expansion
    }

    fn plain_moves(&self, game: &mut G) -> Moves<G::Move> {
        match game.plain_moves() {
            Moves::Some(mut moves) if game.node_kind() == NodeKind::And => {
                moves.retain(|&m| game.futile_replies(m).is_empty());
                if moves.is_empty() { Moves::Over(Outcome::Reached) } else { Moves::Some(moves) }
            }
            moves => moves,
        }
    }

    fn plain_move(&self, game: &mut G, code: u16) -> Option<G::Move> {
        let m = game.plain_move(code)?;
        (game.node_kind() == NodeKind::Or || game.futile_replies(m).is_empty()).then_some(m)
    }
}
