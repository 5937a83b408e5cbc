//! A game in which the attacker may not come to certain boards: what needs them is not reached.
//!
//! Whether a mate is a way of its own or only a way back is asked by it (迂回手順, see [`super`]).

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use crate::restricted::{Restricted, Restriction};

/// A game whose attacker fails wherever he is to move on one of some boards, whatever he holds.
pub(super) type Avoiding<G> = Restricted<G, AvoidedBoards>;

/// Boards by [`Game::board_key`].
pub(super) struct AvoidedBoards(pub(super) Vec<u64>);

impl AvoidedBoards {
    fn contain<G: Game>(&self, game: &G) -> bool {
        !self.0.is_empty() && game.node_kind() == NodeKind::Or && self.0.contains(&game.board_key())
    }
}

impl<G: Game> Restriction<G> for AvoidedBoards {
    fn expand(&self, game: &G, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        if self.contain(game) { Expansion::Over(Outcome::Missed) } else { game.expand(moves) }
    }

    fn plain_moves(&self, game: &mut G) -> Moves<G::Move> {
        if self.contain(game) { Moves::Over(Outcome::Missed) } else { game.plain_moves() }
    }

    fn plain_move(&self, game: &mut G, code: u16) -> Option<G::Move> {
        if self.contain(game) { None } else { game.plain_move(code) }
    }
}
