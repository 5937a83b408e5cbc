//! A variant of a game: one side has fewer moves, or the attacker fails on some boards.
//!
//! - *Conceding game*: the defender makes no move that could be futile. It gives a lower bound of the problem length
//!   (`docs/tsume.md`). If every interposition counts, mates are too long. If no interposition counts that the attacker
//!   can capture, mates are too short. So a proof that measures as short as the shortest mate of the conceding game has
//!   the exact length.
//! - *Avoided boards*: the attacker must not be to move on them. This shows whether a mate is a separate solution or
//!   only returns to an earlier board (迂回手順).
//! - *First moves*: the attacker must begin with one of them. This shows whether any of them mates.
//!
//! No search has more than one of these restrictions. They are one type because the search is compiled for each game
//! type.

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};

/// Changes the key of a root with restricted first moves. The search may return to the same board, where all moves are
/// allowed.
const ROOT_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// The restrictions of a game.
pub(super) struct Restrictions<M> {
    /// Boards by [`Game::board_key`]. The attacker fails if to move on one of them, with any hand.
    avoided_boards: Vec<u64>,
    /// The attacker's moves at the root. `None` allows all.
    first_moves: Option<Vec<M>>,
    /// Whether the defender makes no move that has [futile replies](Game::futile_replies).
    leaves_out_futile: bool,
}

impl<M> Restrictions<M> {
    pub(super) const NONE: Self =
        Self { avoided_boards: Vec::new(), first_moves: None, leaves_out_futile: false };

    /// The attacker fails if to move on one of these boards.
    pub(super) fn avoiding(boards: Vec<u64>) -> Self {
        Self { avoided_boards: boards, ..Self::NONE }
    }

    /// The attacker is to move and must begin with one of these moves. They must be legal, and at least one.
    pub(super) fn beginning_with(moves: Vec<M>) -> Self {
        Self { first_moves: Some(moves), ..Self::NONE }
    }

    /// The defender makes no move that could be futile. The shortest mate is then at most as long as the problem.
    pub(super) fn conceding() -> Self {
        Self { leaves_out_futile: true, ..Self::NONE }
    }
}

/// A game under restrictions.
pub(super) struct Restricted<G: Game> {
    game: G,
    restrictions: Restrictions<G::Move>,
    /// Moves made since the root.
    ply: u32,
}

impl<G: Game> Restricted<G> {
    pub(super) const fn new(game: G, restrictions: Restrictions<G::Move>) -> Self {
        Self { game, restrictions, ply: 0 }
    }

    /// Whether the attacker is to move on an avoided board.
    fn is_avoided(&self) -> bool {
        let boards = &self.restrictions.avoided_boards;
        !boards.is_empty()
            && self.game.node_kind() == NodeKind::Or
            && boards.contains(&self.game.board_key())
    }

    /// The allowed moves; `None` if all are allowed here.
    fn allowed(&self) -> Option<&[G::Move]> {
        self.restrictions.first_moves.as_deref().filter(|_| self.ply == 0)
    }

    /// Whether the defender is to move and leaves out moves that could be futile.
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
        let root_key = if self.allowed().is_some() { ROOT_KEY } else { 0 };
        self.game.board_key() ^ root_key
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
            // The candidates of the game are not used. One of them may be delayed until a move is solved that is not
            // allowed here.
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

    fn set_first_numbers(&self, moves: &mut [Candidate<G::Move>]) -> Option<G::Move> {
        self.game.set_first_numbers(moves)
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

    /// The moves of the search, after comparing them with the plain rules. `None` if the game is over.
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
    fn a_conceding_defender_drops_nothing_that_can_be_captured_with_check() {
        let in_check = "4k4/9/9/9/4R4/9/9/9/9 w p 1";
        let game = || Mate::against_side_to_move(position(in_check));
        let steps = ["5a4a", "5a4b", "5a6a", "5a6b"].map(str::to_owned);
        let mut conceding = Restricted::new(game(), Restrictions::conceding());
        assert_eq!(moves(&mut conceding).unwrap(), steps);
        assert_eq!(conceding.plain_move(m("P*5d").code().get()), None);
        let mut all = Restricted::new(game(), Restrictions::NONE);
        assert_eq!(moves(&mut all).unwrap().len(), steps.len() + 3);
    }

    #[test]
    fn first_moves_restrict_only_the_root() {
        let root = position(MATE_OF_ONE_PLY);
        let key = Mate::by_side_to_move(root.clone()).board_key();
        let first_moves = vec![m("G*4b"), m("G*6b")];
        let mut game =
            Restricted::new(Mate::by_side_to_move(root), Restrictions::beginning_with(first_moves));
        assert_eq!(moves(&mut game).unwrap(), ["G*4b", "G*6b"]);
        assert_eq!(game.plain_move(m("G*5b").code().get()), None);
        assert_ne!(game.board_key(), key, "table entries for the unrestricted root must not apply");
        let undo = game.make(m("G*4b"));
        assert!(moves(&mut game).unwrap().len() > 1);
        game.unmake(m("G*4b"), undo);
        assert_eq!(moves(&mut game).unwrap().len(), 2);
    }

    #[test]
    fn the_attacker_fails_on_avoided_boards() {
        let root = position(MATE_OF_ONE_PLY);
        let mut game = Mate::by_side_to_move(root.clone());
        let undo = game.make(m("G*4b"));
        let defender_board = game.board_key();
        game.unmake(m("G*4b"), undo);
        for (boards, is_over) in [(vec![game.board_key()], true), (vec![defender_board], false)] {
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
