//! Search of one position by several threads: virtual loss, and returning from nodes that another thread has solved.
//!
//! A child that another thread searches counts as harder (virtual loss). The next thread then takes another child if
//! that is nearly as good. After Kaneko, *Parallel Depth First Proof Number Search* (2010), and Pawlewicz and Hayward,
//! *Scalable Parallel DFPN Search* (2014). This decides only where to search and when to stop; it changes no value of a
//! node.

use kyokumen_game::Game;

use super::{Child, Descent, Value, position_after};
use crate::numbers::{ChildSummary, Delay, ProofNumbers};
use crate::table::TranspositionTable;
use crate::verdict::Stop;

/// Nodes of the path that are tested with each grant of nodes, in turn.
const ANCESTORS_PER_GRANT: u16 = 4;

impl<G: Game, T: TranspositionTable<G::Hand>> Descent<G, T> {
    /// Number of searches at this position or below it, including this one.
    #[inline]
    pub(super) fn searches_at(&self, game: &G) -> u32 {
        self.table.searches_at(game.board_key(), game.hand())
    }

    /// Chooses the best child with virtual loss, see [`ChildSummary::with_virtual_loss`].
    #[cold]
    pub(super) fn with_virtual_loss(
        &self,
        game: &G,
        first_child: usize,
        summary: ChildSummary,
        thresholds: ProofNumbers,
    ) -> ChildSummary {
        let children = self.children[first_child..].iter();
        let searches = |index: usize| {
            let (key, hand) = position_after(game, self.children[first_child + index].m);
            self.table.searches_at(key, hand)
        };
        let children = children.map(Child::numbers);
        summary.with_virtual_loss(
            game.node_kind(),
            Delay::when(self.is_long()),
            thresholds,
            children,
            searches,
        )
    }

    /// Tests whether another thread has solved one of the next few nodes of the path. If so, the search unwinds to it.
    pub(super) fn test_ancestors(&mut self) {
        let plies = self.path.plies();
        for _ in 0..ANCESTORS_PER_GRANT.min(plies) {
            let ply = if self.next_ancestor < plies { self.next_ancestor } else { 0 };
            self.next_ancestor = ply + 1;
            let (key, hand) = self.path.node(ply);
            let plies_left = self.limits.depth_plies - ply;
            let value = self.read_table(key, hand, plies_left);
            if value.is_some_and(|value| value.numbers.is_solved()) {
                self.unwinding_to = Some(ply);
                self.stop = Some(Stop::Cancelled);
                return;
            }
        }
    }

    /// The value from the table, if the search has unwound to this node because another thread has solved it.
    pub(super) fn adopted(&mut self, game: &G, ply: u16) -> Option<Value<G::Hand>> {
        if self.unwinding_to != Some(ply) {
            return None;
        }
        let plies_left = self.limits.depth_plies - ply;
        let value = self.read_table(game.board_key(), game.hand(), plies_left);
        let value = value.filter(|value| value.numbers.is_solved());
        self.is_from_table = value.is_some();
        value
    }

    /// Ends unwinding if the search leaves the node at its target ply.
    pub(super) fn end_unwinding(&mut self, ply: u16) {
        if self.unwinding_to.is_some_and(|to| to >= ply) {
            self.unwinding_to = None;
            self.stop = None;
            self.must_progress = false;
        }
    }
}
