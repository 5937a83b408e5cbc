//! Uses the df-pn search for another game. Two players alternately take one to three matches from a heap. The player
//! who takes the last match wins, so a player who faces a multiple of four matches loses.
//!
//! ```sh
//! cargo run --example game_for_search
//! ```

use std::num::NonZeroU16;
use std::sync::atomic::AtomicBool;

use kyokumen::game::{Candidate, Expansion, Game, Moves, NodeKind, Outcome};
use kyokumen::search::{DfPn, Limits, TableSize, Verdict};

#[derive(Clone, Copy)]
struct Heap {
    matches: u16,
    attacker_moves: bool,
}

impl Heap {
    fn over(self) -> Option<Outcome> {
        // The player to move loses if no match is left.
        match (self.matches, self.attacker_moves) {
            (0, true) => Some(Outcome::Missed),
            (0, false) => Some(Outcome::Reached),
            _ => None,
        }
    }

    fn moves(self) -> impl Iterator<Item = NonZeroU16> {
        (1..=self.matches.min(3)).filter_map(NonZeroU16::new)
    }

    /// The key of a position in the transposition table. The multiplication spreads it over all 64 bits.
    fn key(matches: u16, attacker_moves: bool) -> u64 {
        (u64::from(matches) << 1 | u64::from(attacker_moves)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl Game for Heap {
    type Move = NonZeroU16;
    type Hand = ();
    type Undo = ();

    fn node_kind(&self) -> NodeKind {
        if self.attacker_moves { NodeKind::Or } else { NodeKind::And }
    }

    fn board_key(&self) -> u64 {
        Self::key(self.matches, self.attacker_moves)
    }

    fn board_key_after(&self, taken: NonZeroU16) -> u64 {
        Self::key(self.matches - taken.get(), !self.attacker_moves)
    }

    fn make(&mut self, taken: NonZeroU16) {
        self.matches -= taken.get();
        self.attacker_moves = !self.attacker_moves;
    }

    fn unmake(&mut self, taken: NonZeroU16, (): ()) {
        self.matches += taken.get();
        self.attacker_moves = !self.attacker_moves;
    }

    fn code(taken: NonZeroU16) -> NonZeroU16 {
        taken
    }

    /// The moves for the search. A game may order promising moves first.
    fn expand(&self, moves: &mut Vec<Candidate<NonZeroU16>>) -> Expansion {
        if let Some(outcome) = self.over() {
            return Expansion::Over(outcome);
        }
        moves.extend(self.moves().map(Candidate::new));
        Expansion::Moves
    }

    /// The moves for checking proofs. They should follow the rules in the simplest way.
    fn plain_moves(&mut self) -> Moves<NonZeroU16> {
        self.over().map_or_else(|| Moves::Some(self.moves().collect()), Moves::Over)
    }

    // This game has no hands.
    fn hand(&self) {}
    fn hand_after(&self, _: NonZeroU16) {}
    fn set_hand(&mut self, (): ()) {}
    fn proof_hand_of_goal(&self) {}
}

fn main() {
    let mut search = DfPn::new(TableSize::from_mib(1));
    for matches in 1..=12 {
        let mut heap = Heap { matches, attacker_moves: true };
        let result = search.solve(&mut heap, Limits::NONE, &AtomicBool::new(false));
        let is_win = result.verdict == Verdict::Proven;
        let winner = if is_win { "the first player" } else { "the second player" };
        println!("{matches:2} matches: {winner} wins; {} nodes", result.stats.nodes);
    }
}
