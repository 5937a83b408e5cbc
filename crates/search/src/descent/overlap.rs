//! Positions below several children of an AND node.
//!
//! If the same position is below two children of an AND node, the sum of their proof numbers counts it twice. Where
//! many lines of play lead to the same positions, such sums grow far beyond the real work, and steer the search away
//! from the mate. Similar to `KomoringHeights`, the search therefore follows a known position back to the nodes from
//! which it was first reached. If this leads to an AND node on the path, by another child than the one on the path,
//! both are marked. Of the proof numbers of the marked children only the largest counts.

use kyokumen_game::{Game, NodeKind};

use super::{Descent, Value, position_after};
use crate::table::{TableLookup, TranspositionTable};

/// Nodes to follow back. There may be cycles.
const MAX_STEPS: usize = 64;

/// Largest increase of the proof number from a node to its parent. If it increases more, most of the parent's number
/// comes from other children, and the common position contributes little.
const MAX_GROWTH: u32 = 1;

impl<G: Game, T: TranspositionTable<G::Hand>> Descent<G, T> {
    /// Follows the position after `m`, a child of the current node with the value `child`, back to the path by another
    /// way than the current node. If it meets the path at an AND node, the child there and the child on the path are
    /// marked. Returns whether that AND node is the current one and a child was newly marked; its numbers must then be
    /// computed again.
    pub(super) fn marks_overlap(
        &mut self,
        game: &G,
        ply: u16,
        m: G::Move,
        child: Value<G::Hand>,
    ) -> bool {
        let (mut handle, mut proof_number) = (child.handle, child.numbers.proof);
        let (mut key, mut hand) = position_after(game, m);
        for step in 0..MAX_STEPS {
            let Some(parent) = self.child_cache.parent(handle, key, hand) else { return false };
            if let Some(ancestor) = self.path.ply_of(parent.0, parent.1) {
                let is_reached_as_before = step == 0 && ancestor == ply;
                let is_and =
                    (game.node_kind() == NodeKind::And) == (ply - ancestor).is_multiple_of(2);
                return !is_reached_as_before && is_and && self.mark(ply, ancestor, m, (key, hand));
            }
            (key, hand) = parent;
            let TableLookup::Open { proof_number: of_parent, handle: handle_of_parent, .. } =
                self.table.look_up(key, hand, 0, u16::MAX)
            else {
                return false;
            };
            if of_parent > proof_number.saturating_add(MAX_GROWTH) {
                return false;
            }
            (proof_number, handle) = (of_parent, handle_of_parent);
        }
        false
    }

    /// Marks two children of the ancestor: that with this board and hand, and that on the path. If the ancestor is the
    /// current node, at `ply`, the latter is the child after `m`. Returns as [`Self::marks_overlap`].
    fn mark(&mut self, ply: u16, ancestor: u16, m: G::Move, position: (u64, G::Hand)) -> bool {
        let index = usize::from(ancestor);
        let end = self.first_children.get(index + 1).copied().unwrap_or(self.children.len());
        let on_path = self.line.get(index).copied().unwrap_or(m);
        let children = &mut self.children[self.first_children[index]..end];
        let is_other = |handle| self.child_cache.parent(handle, position.0, position.1).is_some();
        let other = children.iter().position(|child| is_other(child.value.handle));
        let on_path = children.iter().position(|child| child.m == on_path);
        let (Some(other), Some(on_path)) = (other, on_path) else { return false };
        if other == on_path || (children[other].overlaps && children[on_path].overlaps) {
            return false;
        }
        children[other].overlaps = true;
        children[on_path].overlaps = true;
        ancestor == ply
    }
}
