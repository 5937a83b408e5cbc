//! The path from the root to the current node, and the disproofs that depend on it.
//!
//! A position that repeats an ancestor fails for the attacker, but only on this path. Which disproofs may be stored
//! follows Kishimoto and Müller, *A general solution to the graph history interaction problem* (2004).

use std::mem;

use kyokumen_game::Hand;

/// The ply of the ancestor nearest the root on which a disproof by repetition depends.
pub(super) type PathDependency = u16;
/// The disproof holds on every path.
pub(super) const PATH_INDEPENDENT: PathDependency = PathDependency::MAX;

/// The dependency of a disproof as seen from above the node at `ply`. A disproof that depends only on its own node, or
/// on none, is independent of the path.
pub(super) fn dependency_above(ply: u16, path_dependency: PathDependency) -> PathDependency {
    if path_dependency >= ply { PATH_INDEPENDENT } else { path_dependency }
}

const PATH_BUCKETS: usize = 1 << 12;

/// The end of a chain, in place of a ply.
const NO_PLY: u16 = u16::MAX;

/// The positions from the root to the current node.
pub(super) struct Path<H> {
    nodes: Vec<PathNode<H>>,
    /// For each value of the low bits of the key, the last ancestor with these bits. Usually there is none, so a
    /// position is new after one look.
    last: Box<[u16; PATH_BUCKETS]>,
}

struct PathNode<H> {
    key: u64,
    hand: H,
    /// The previous ancestor with the same low bits of the key, or [`NO_PLY`].
    previous: u16,
    /// The hashes of all positions up to this one, combined by exclusive or.
    hash: u64,
}

impl<H: Hand> Path<H> {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), last: Box::new([NO_PLY; PATH_BUCKETS]) }
    }

    pub(super) fn clear(&mut self) {
        while !self.nodes.is_empty() {
            self.pop();
        }
    }

    pub(super) fn push(&mut self, key: u64, hand: H) {
        let ply = self.plies();
        let previous = mem::replace(&mut self.last[bucket(key)], ply);
        let hash = self.hash() ^ position_hash(key, hand);
        self.nodes.push(PathNode { key, hand, previous, hash });
    }

    pub(super) fn pop(&mut self) {
        if let Some(PathNode { key, previous, .. }) = self.nodes.pop() {
            self.last[bucket(key)] = previous;
        }
    }

    /// Number of positions on the path.
    pub(super) fn plies(&self) -> u16 {
        u16::try_from(self.nodes.len()).unwrap_or(NO_PLY)
    }

    /// A hash of all positions. It does not depend on their order.
    fn hash(&self) -> u64 {
        self.nodes.last().map_or(0, |node| node.hash)
    }

    /// The same for the last `plies` positions, at most all.
    pub(super) fn hash_of_last(&self, plies: u16) -> u64 {
        let others = self.nodes.len() - usize::from(plies);
        let hash_of_others = others.checked_sub(1).map_or(0, |last| self.nodes[last].hash);
        self.hash() ^ hash_of_others
    }

    /// Board key and hand of the position at this ply.
    pub(super) fn node(&self, ply: u16) -> (u64, H) {
        let node = &self.nodes[usize::from(ply)];
        (node.key, node.hand)
    }

    /// Plies and hands of the ancestors with this board, beginning at the current node.
    #[inline]
    fn with_board(&self, key: u64) -> impl Iterator<Item = (u16, H)> {
        let node_at = move |ply| self.nodes.get(usize::from(ply)).map(|node| (ply, node));
        let last = node_at(self.last[bucket(key)]);
        let in_bucket = std::iter::successors(last, move |(_, node)| node_at(node.previous));
        in_bucket.filter(move |(_, node)| node.key == key).map(|(ply, node)| (ply, node.hand))
    }

    /// The ply of this position on the path.
    pub(super) fn ply_of(&self, key: u64, hand: H) -> Option<u16> {
        self.with_board(key).find(|&(_, on_path)| on_path == hand).map(|(ply, _)| ply)
    }

    /// The ancestor nearest the root with this board and at least this hand. A shortest proof never returns to a board
    /// without a gain of material, so the attacker loses nothing by not trying.
    #[inline]
    pub(super) fn repeats(&self, key: u64, hand: H) -> Option<PathDependency> {
        self.with_board(key)
            .filter(|(_, on_path)| on_path.dominates(hand))
            .last()
            .map(|(ply, _)| ply)
    }
}

/// A hash of a position. Hashes of several positions can be combined by exclusive or. Board keys cannot: four keys
/// cancel each other if the boards differ by two independent moves (none, the first, the second, both).
#[inline]
pub(super) fn position_hash<H: Hand>(key: u64, hand: H) -> u64 {
    const ODD_FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let mut hash = key ^ u64::from(hand.bits()).wrapping_mul(ODD_FACTORS[0]);
    for factor in ODD_FACTORS {
        hash = hash.wrapping_mul(factor);
        hash ^= hash >> 32;
    }
    hash
}

const fn bucket(key: u64) -> usize {
    key as usize & (PATH_BUCKETS - 1)
}
