//! What a search does because others search the same position: it spreads out, and gives up what another has solved.
//!
//! Where another search is below a child, the child counts as if it were harder (virtual loss), so that the next search
//! takes another one if that is nearly as good: after Kaneko, *Parallel Depth First Proof Number Search* (2010), and
//! Pawlewicz and Hayward, *Scalable Parallel DFPN Search* (2014). None of it touches what a value says; it only chooses
//! where to search, and when to stop.

use kyokumen_game::Game;

use super::{Child, Descent, Value};
use crate::numbers::{ChildSummary, ProofNumbers};
use crate::table::TranspositionTable;
use crate::verdict::Stop;

/// Nodes of the path that are looked at for each grant of nodes: all of them in turn.
const ANCESTORS_A_GRANT: u16 = 4;

impl<G: Game, T: TranspositionTable<G::Hand>> Descent<G, T> {
    /// How many searches are at this position or below it, this one included.
    #[inline]
    pub(super) fn searches_at(&self, game: &G) -> u32 {
        self.table.searches_at(game.board_key(), game.hand())
    }

    /// Chooses among the children as if those that others search were harder.
    #[cold]
    pub(super) fn spread(
        &self,
        game: &G,
        first: usize,
        summary: ChildSummary,
        limit: ProofNumbers,
    ) -> ChildSummary {
        let children = self.children[first..].iter();
        let searches = |index: usize| {
            let m = self.children[first + index].m;
            self.table.searches_at(game.board_key_after(m), game.hand_after(m))
        };
        summary.spread(game.node_kind(), limit, children.map(Child::seen), searches)
    }

    /// Looks whether a node on the path, the next few in turn, has been solved by another search: what is below it
    /// need not be searched any more.
    pub(super) fn look_at_ancestors(&mut self) {
        let plies = self.path.plies();
        for _ in 0..ANCESTORS_A_GRANT.min(plies) {
            let ply = if self.next_ancestor < plies { self.next_ancestor } else { 0 };
            self.next_ancestor = ply + 1;
            let (key, hand) = self.path.node(ply);
            let plies_left = self.limits.depth_plies - ply;
            let known = self.read_table(key, hand, plies_left);
            if known.is_some_and(|known| known.numbers.is_solved()) {
                self.unwinding_to = Some(ply);
                self.stop = Some(Stop::Cancelled);
                return;
            }
        }
    }

    /// The value of the node that the search came back to because another has solved it. It has been written down
    /// already.
    pub(super) fn adopted(&mut self, game: &G, ply: u16) -> Option<Value<G::Hand>> {
        if self.unwinding_to != Some(ply) {
            return None;
        }
        let plies_left = self.limits.depth_plies - ply;
        let known = self.read_table(game.board_key(), game.hand(), plies_left);
        let known = known.filter(|known| known.numbers.is_solved());
        self.is_adopted = known.is_some();
        known
    }

    /// The search leaves the node at this ply: if it was to come back to there, it has.
    pub(super) fn end_unwinding(&mut self, ply: u16) {
        if self.unwinding_to.is_some_and(|to| to >= ply) {
            self.unwinding_to = None;
            self.stop = None;
        }
    }
}
