//! A game of which a side has fewer moves, or is over sooner; all else is as in the game itself.
//!
//! One type for all restrictions, although no search has more than one of them: a search is compiled once for each
//! game.
//!
//! - The defender leaves out whatever might be futile. What problems count (`docs/tsume.md`) lies between two games
//!   that are easily searched. If every interposition counts, mates are too long; if none does that the attacker can
//!   take, they are too short. Where a proof is measured to be no longer than the shortest mate of the second game, its
//!   length is that of the problem, whichever proof it is.
//! - The attacker may not come to certain boards: whether a mate is a way of its own or only a way back (迂回手順).
//! - The attacker begins with one of some moves: whether any of them mates.

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

/// Under its first moves the root is another position than where all moves are allowed, which the search may come back
/// to.
const ROOT_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// What may not be done.
pub(super) struct Restrictions<M> {
    /// Boards by [`Game::board_key`]: wherever the attacker is to move on one of them he fails, whatever he holds.
    avoided_boards: Vec<u64>,
    /// The attacker's moves at the root; `None`: all of them.
    first_moves: Option<Vec<M>>,
    /// Whether the defender makes no move that has [futile replies](Game::futile_replies).
    leaves_out_futile: bool,
}

impl<M> Restrictions<M> {
    pub(super) const NONE: Self =
        Self { avoided_boards: Vec::new(), first_moves: None, leaves_out_futile: false };

    /// The attacker may not be to move on these boards.
    pub(super) fn avoiding(boards: Vec<u64>) -> Self {
        Self { avoided_boards: boards, ..Self::NONE }
    }

    /// The attacker, who is to move, begins with one of these; they must be legal, and not none.
    pub(super) fn beginning_with(moves: Vec<M>) -> Self {
        Self { first_moves: Some(moves), ..Self::NONE }
    }

    /// The defender leaves out what might be futile: no mate takes longer than that of a problem.
    pub(super) fn conceding() -> Self {
        Self { leaves_out_futile: true, ..Self::NONE }
    }
}

/// A game under restrictions.
pub(super) struct Restricted<G: Game> {
    game: G,
    restrictions: Restrictions<G::Move>,
    /// Moves that were made.
    ply: u32,
}

impl<G: Game> Restricted<G> {
    pub(super) const fn new(game: G, restrictions: Restrictions<G::Move>) -> Self {
        Self { game, restrictions, ply: 0 }
    }

    /// Whether the attacker is to move where he may not be.
    fn is_avoided(&self) -> bool {
        let boards = &self.restrictions.avoided_boards;
        !boards.is_empty()
            && self.game.node_kind() == NodeKind::Or
            && boards.contains(&self.game.board_key())
    }

    /// Those that may be played here, where not all may.
    fn allowed(&self) -> Option<&[G::Move]> {
        self.restrictions.first_moves.as_deref().filter(|_| self.ply == 0)
    }

    /// Whether the defender, who is to move, leaves out what might be futile.
    fn concedes(&self) -> bool {
        self.restrictions.leaves_out_futile && self.game.node_kind() == NodeKind::And
    }
}

impl<G: Game> Game for Restricted<G> {
    type Move = G::Move;
    type Hand = G::Hand;
    type Undo = G::Undo;

    const PLIES_APART: u16 = G::PLIES_APART;

    fn node_kind(&self) -> NodeKind {
        self.game.node_kind()
    }

    fn board_key(&self) -> u64 {
        let own = if self.allowed().is_some() { ROOT_KEY } else { 0 };
        self.game.board_key() ^ own
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
        self.ply += 1;
        self.game.make(m)
    }

    fn unmake(&mut self, m: G::Move, undo: G::Undo) {
        self.ply -= 1;
        self.game.unmake(m, undo);
    }

    fn code(m: G::Move) -> NonZeroU16 {
        G::code(m)
    }

    fn expand(&self, moves: &mut Vec<Candidate<G::Move>>) -> Expansion {
        if self.is_avoided() {
            return Expansion::Over(Outcome::Missed);
        }
        if let Some(allowed) = self.allowed() {
            // Not what the game proposes: there a move may be held back until another is solved, which may be forbidden
            // here.
            moves.extend(allowed.iter().map(|&m| Candidate::new(m)));
            return Expansion::Moves;
        }
        let expansion = self.game.expand(moves);
        if self.concedes() && !moves.is_empty() {
            self.game.leave_out_futile(moves);
            if moves.is_empty() {
                return Expansion::Over(Outcome::Reached);
            }
        }
        expansion
    }

    fn weigh(&self, moves: &mut [Candidate<G::Move>]) -> Option<G::Move> {
        self.game.weigh(moves)
    }

    fn plain_moves(&mut self) -> Moves<G::Move> {
        if self.is_avoided() {
            return Moves::Over(Outcome::Missed);
        }
        let mut moves = match self.game.plain_moves() {
            Moves::Some(moves) => moves,
            over @ Moves::Over(_) => return over,
        };
        if let Some(allowed) = self.allowed() {
            moves.retain(|m| allowed.contains(m));
        }
        if self.concedes() {
            moves.retain(|&m| self.game.futile_replies(m).is_empty());
            if moves.is_empty() {
                return Moves::Over(Outcome::Reached);
            }
        }
        Moves::Some(moves)
    }

    fn plain_move(&mut self, code: u16) -> Option<G::Move> {
        if self.is_avoided() {
            return None;
        }
        let m = self.game.plain_move(code)?;
        let is_allowed = self.allowed().is_none_or(|allowed| allowed.contains(&m))
            && (!self.concedes() || self.game.futile_replies(m).is_empty());
        is_allowed.then_some(m)
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

#[cfg(test)]
mod tests {
    use kyokumen_shogi::{Mate, Move, Position};

    use super::*;

    const MATE_OF_ONE_PLY: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";

    fn position(sfen: &str) -> Position {
        sfen.parse().unwrap()
    }

    /// The moves of the search and those of the rule book, where these are the same; `None` where the game is over.
    fn moves(game: &mut Restricted<Mate>) -> Option<Vec<String>> {
        let mut searched = Vec::new();
        let expansion = game.expand(&mut searched);
        let mut searched: Vec<String> = searched.iter().map(|c| c.m.to_string()).collect();
        searched.sort();
        let plain = match game.plain_moves() {
            Moves::Over(outcome) => {
                assert_eq!(expansion, Expansion::Over(outcome));
                return None;
            }
            Moves::Some(plain) => plain,
        };
        assert_eq!(expansion, Expansion::Moves);
        for &m in &plain {
            assert_eq!(game.plain_move(Move::code(m).get()), Some(m));
        }
        let mut plain: Vec<String> = plain.iter().map(Move::to_string).collect();
        plain.sort();
        assert_eq!(searched, plain);
        Some(searched)
    }

    fn m(text: &str) -> Move {
        Move::from_usi(text).unwrap()
    }

    #[test]
    fn a_conceding_defender_puts_nothing_in_between_that_can_be_taken_with_check() {
        let in_check = "4k4/9/9/9/4R4/9/9/9/9 w p 1";
        let game = || Mate::of_side_to_move(position(in_check));
        let steps = ["5a4a", "5a4b", "5a6a", "5a6b"].map(str::to_owned);
        let mut conceding = Restricted::new(game(), Restrictions::conceding());
        assert_eq!(moves(&mut conceding).unwrap(), steps);
        assert_eq!(conceding.plain_move(m("P*5d").code().get()), None);
        let mut all = Restricted::new(game(), Restrictions::NONE);
        assert_eq!(moves(&mut all).unwrap().len(), steps.len() + 3);
    }

    #[test]
    fn only_the_root_has_first_moves() {
        let root = position(MATE_OF_ONE_PLY);
        let key = Mate::by_side_to_move(root.clone()).board_key();
        let first_moves = vec![m("G*4b"), m("G*6b")];
        let mut game =
            Restricted::new(Mate::by_side_to_move(root), Restrictions::beginning_with(first_moves));
        assert_eq!(moves(&mut game).unwrap(), ["G*4b", "G*6b"]);
        assert_eq!(game.plain_move(m("G*5b").code().get()), None);
        assert_ne!(
            game.board_key(),
            key,
            "what is known of the root with all moves is not known of this one"
        );
        let undo = game.make(m("G*4b"));
        assert!(moves(&mut game).unwrap().len() > 1);
        game.unmake(m("G*4b"), undo);
        assert_eq!(moves(&mut game).unwrap().len(), 2);
    }

    #[test]
    fn the_attacker_fails_on_boards_that_he_may_not_come_to() {
        let root = position(MATE_OF_ONE_PLY);
        let mut game = Mate::by_side_to_move(root.clone());
        let undo = game.make(m("G*4b"));
        let of_defender = game.board_key();
        game.unmake(m("G*4b"), undo);
        for (boards, is_over) in [(vec![game.board_key()], true), (vec![of_defender], false)] {
            let mut restricted = Restricted::new(
                Mate::by_side_to_move(root.clone()),
                Restrictions::avoiding(boards),
            );
            assert_eq!(moves(&mut restricted).is_none(), is_over);
            let mate = m("G*5b");
            assert_eq!(restricted.plain_move(mate.code().get()), (!is_over).then_some(mate));
        }
    }
}
