//! The value of a node, and a child as its parent keeps it.

use kyokumen_game::{Game, NodeKind};

use crate::child_cache::{CacheHandle, NO_HANDLE};
use crate::numbers::{ChildNumbers, DISPROVEN, PROVEN, ProofNumbers};
use crate::path::{PATH_INDEPENDENT, PathDependency};

/// The value of a node: its numbers, and for a solved node the proof or disproof.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<H> {
    pub(crate) numbers: ProofNumbers,
    /// Solved: proof or disproof hand.
    pub(super) hand: H,
    /// Open: the cached children.
    pub(super) handle: CacheHandle,
    /// Proven: plies of the proof.
    pub(crate) plies: u16,
    /// Disproven: the ancestor on which the disproof depends, see [`PathDependency`].
    pub(super) path_dependency: PathDependency,
    /// Disproven: the disproof is by depth, valid only within the plies that were left.
    pub(crate) is_depth_bound: bool,
}

impl<H> Value<H> {
    pub(super) const fn new(numbers: ProofNumbers, hand: H) -> Self {
        Self {
            numbers,
            hand,
            handle: NO_HANDLE,
            plies: 0,
            path_dependency: PATH_INDEPENDENT,
            is_depth_bound: false,
        }
    }

    pub(super) fn proven(hand: H, plies: u16) -> Self {
        Self { plies, ..Self::new(PROVEN, hand) }
    }

    pub(super) const fn disproven(hand: H) -> Self {
        Self::new(DISPROVEN, hand)
    }

    pub(super) fn depth_bound(hand: H) -> Self {
        Self { is_depth_bound: true, ..Self::new(DISPROVEN, hand) }
    }

    /// Adds the cost of the move that leads to this value. `kind` is the kind of the parent.
    pub(super) fn with_cost(self, kind: NodeKind, cost: i8) -> Self {
        Self { numbers: self.numbers.with_cost(kind, cost), ..self }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.numbers == PROVEN
    }

    /// Whether a disproof holds on every path and at every depth.
    pub(super) const fn is_unconditional(&self) -> bool {
        !self.is_depth_bound && self.path_dependency == PATH_INDEPENDENT
    }
}

pub(super) struct Child<G: Game> {
    pub(super) m: G::Move,
    pub(super) delayed: bool,
    /// At an AND node: whether positions below the child are also below another child, see [`ChildNumbers::overlaps`].
    pub(super) overlaps: bool,
    /// The cost of the move, see [`Candidate::cost`].
    pub(super) cost: i8,
    /// Its numbers include the cost.
    pub(super) value: Value<G::Hand>,
}

impl<G: Game> Child<G> {
    pub(super) const fn numbers(&self) -> ChildNumbers {
        let &Self { delayed, overlaps, value: Value { numbers, .. }, .. } = self;
        ChildNumbers { delayed, overlaps, numbers }
    }
}

impl<G: Game> Clone for Child<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Child<G> {}
