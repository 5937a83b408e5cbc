//! A game in which the attacker may not come to certain boards, or begins with one of some moves.
//!
//! Whether a mate is a way of its own or only a way back is asked by the first (迂回手順, see [`super`]), whether any of
//! several moves mates by the second.

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

use crate::restricted::{Restricted, Restriction};

/// A game whose attacker does not have all of his moves.
pub(super) type WithRestrictions<G> = Restricted<G, Restrictions<<G as Game>::Move>>;

/// Under its first moves the root is another position than where all moves are allowed, which the search may come back to.
const ROOT_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// What the attacker may not do.
pub(super) struct Restrictions<M> {
    /// Boards by [`Game::board_key`]: wherever he is to move on one of them he fails, whatever he holds.
    avoided_boards: Vec<u64>,
    /// The moves of the root; `None`: all of them.
    first_moves: Option<Vec<M>>,
    /// Moves that were made.
    ply: u32,
}

impl<M> Restrictions<M> {
    /// The attacker may not be to move on these boards.
    pub(super) const fn avoiding(boards: Vec<u64>) -> Self {
        Self { avoided_boards: boards, first_moves: None, ply: 0 }
    }

    /// The attacker, who is to move, begins with one of these; they must be legal, and not none.
    pub(super) const fn beginning_with(moves: Vec<M>) -> Self {
        Self { avoided_boards: Vec::new(), first_moves: Some(moves), ply: 0 }
    }

    fn avoid<G: Game>(&self, game: &G) -> bool {
        !self.avoided_boards.is_empty()
            && game.node_kind() == NodeKind::Or
            && self.avoided_boards.contains(&game.board_key())
    }

    /// Those that may be played here, where not all may.
    fn allowed(&self) -> Option<&[M]> {
        self.first_moves.as_deref().filter(|_| self.ply == 0)
    }
}

impl<G: Game> Restriction<G> for Restrictions<G::Move> {
    fn board_key(&self, game: &G) -> u64 {
        let own = if self.allowed().is_some() { ROOT_KEY } else { 0 };
        game.board_key() ^ own
    }

    fn made(&mut self) {
        self.ply += 1;
    }

    fn unmade(&mut self) {
        self.ply -= 1;
    }

    fn expand(&self, game: &G, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        if self.avoid(game) {
            return Expansion::Over(Outcome::Missed);
        }
        let Some(allowed) = self.allowed() else { return game.expand(moves) };
        // Not what the game proposes: there a move may be held back until another is solved, which may be forbidden here.
        moves.extend(allowed.iter().map(|&m| Candidate::new(m)));
        Expansion::Moves
    }

    fn plain_moves(&self, game: &mut G) -> Moves<G::Move> {
        if self.avoid(game) {
            return Moves::Over(Outcome::Missed);
        }
        match (game.plain_moves(), self.allowed()) {
            (Moves::Some(mut moves), Some(allowed)) => {
                moves.retain(|m| allowed.contains(m));
                Moves::Some(moves)
            }
            (moves, _) => moves,
        }
    }

    fn plain_move(&self, game: &mut G, code: u16) -> Option<G::Move> {
        if self.avoid(game) {
            return None;
        }
        let m = game.plain_move(code)?;
        self.allowed().is_none_or(|allowed| allowed.contains(&m)).then_some(m)
    }
}
