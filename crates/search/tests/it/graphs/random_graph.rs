//! Random graphs as games, and their true values by retrograde analysis (Ströhlein 1970). Moves may drop or capture
//! pieces.

use std::num::NonZeroU16;

use kyokumen_game::{Candidate, Expansion, Game, Hand, Moves, NodeKind, Outcome};
use kyokumen_testing::positions::Random;

const KINDS: usize = 2;

/// Number of the attacker's pieces of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Counts([u8; KINDS]);

impl Counts {
    fn map(self, other: Self, f: impl Fn(u8, u8) -> u8) -> Self {
        Self(std::array::from_fn(|kind| f(self.0[kind], other.0[kind])))
    }

    fn moved(mut self, kind: usize, by: i8) -> Self {
        self.0[kind] = self.0[kind].saturating_add_signed(by);
        self
    }
}

impl Hand for Counts {
    fn dominates(self, other: Self) -> bool {
        self.0.iter().zip(other.0).all(|(&a, b)| a >= b)
    }

    fn union(self, other: Self) -> Self {
        self.map(other, u8::max)
    }

    fn intersection(self, other: Self) -> Self {
        self.map(other, u8::min)
    }

    fn bits(self) -> u32 {
        u32::from(self.0[0]) << 8 | u32::from(self.0[1])
    }

    fn from_bits(bits: u32) -> Self {
        Self([(bits >> 8) as u8, bits as u8])
    }
}

/// The effect of a move on the hand of the side that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trade {
    None,
    Drop(usize),
    Capture(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) to: usize,
    pub(super) trade: Trade,
    pub(super) delayed: bool,
    pub(super) numbers: [u32; 2],
    pub(super) cost: i8,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// Pieces in both hands together. A drop leads to a node with one less, a capture to a node with one more.
    pub(super) held: Counts,
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) mates_in_one: bool,
}

impl Graph {
    /// A graph without hands, given by the kind of each node and the nodes that its moves lead to.
    pub(super) fn plain(nodes: &[(NodeKind, &[usize])]) -> Self {
        let edge =
            |&to: &usize| Edge { to, trade: Trade::None, delayed: false, numbers: [1, 1], cost: 0 };
        let node = |&(kind, moves): &(NodeKind, &[usize])| Node {
            kind,
            held: Counts::default(),
            edges: moves.iter().map(edge).collect(),
        };
        Self { nodes: nodes.iter().map(node).collect(), mates_in_one: false }
    }

    /// Most moves lead to nodes nearby. So proofs are long, and there are cycles of all lengths.
    pub(super) fn random(seed: u64, size: usize, max_edges: usize) -> Self {
        let mut random = Random::new(seed);
        let least_held = random.below(3);
        let kinds_of_held = 1 + random.below(3);
        let wide = 1 + random.below(size);
        let far = 3 + random.below(wide);
        let mut nodes: Vec<Node> = (0..size)
            .map(|_| Node {
                kind: if random.below(2) == 0 { NodeKind::Or } else { NodeKind::And },
                held: Counts(std::array::from_fn(|_| {
                    (least_held + random.below(kinds_of_held)) as u8
                })),
                edges: Vec::new(),
            })
            .collect();
        for from in 0..size {
            let ends = random.below(size) < 2;
            let edges = if ends { 0 } else { 1 + random.below(max_edges) };
            while nodes[from].edges.len() < edges {
                let to = (from + size - far / 2 + random.below(far + 1)) % size;
                let alternates = nodes[to].kind != nodes[from].kind;
                let trade = trade(nodes[from].held, nodes[to].held).filter(|_| alternates);
                let delayed = random.below(4) == 0;
                let numbers = std::array::from_fn(|_| 1 + random.below(3) as u32);
                let cost = random.below(5) as i8 - 2;
                if let Some(trade) = trade {
                    nodes[from].edges.push(Edge { to, trade, delayed, numbers, cost });
                } else if random.below(50) == 0 {
                    break;
                }
            }
        }
        Self { nodes, mates_in_one: random.below(2) == 0 }
    }

    pub(super) fn hands(&self, node: usize) -> Vec<Counts> {
        let Counts([a, b]) = self.nodes[node].held;
        (0..=a).flat_map(|x| (0..=b).map(move |y| Counts([x, y]))).collect()
    }

    /// Plies to the goal from every position, computed by passes until a fixpoint.
    pub(super) fn distances(&self) -> Vec<Vec<(Counts, Option<u16>)>> {
        let mut distances: Vec<Vec<(Counts, Option<u16>)>> = (0..self.nodes.len())
            .map(|node| self.hands(node).into_iter().map(|hand| (hand, None)).collect())
            .collect();
        for plies in 0.. {
            let mut found = Vec::new();
            for node in 0..self.nodes.len() {
                for (index, &(hand, known)) in distances[node].iter().enumerate() {
                    let state = State { graph: self, node, hand };
                    if known.is_none() && state.is_won(&distances) {
                        found.push((node, index));
                    }
                }
            }
            if found.is_empty() {
                break;
            }
            for (node, index) in found {
                distances[node][index].1 = Some(plies);
            }
        }
        distances
    }
}

fn trade(from: Counts, to: Counts) -> Option<Trade> {
    let change: [i8; KINDS] =
        std::array::from_fn(|kind| to.0[kind].cast_signed() - from.0[kind].cast_signed());
    match change {
        [0, 0] => Some(Trade::None),
        [-1, 0] => Some(Trade::Drop(0)),
        [0, -1] => Some(Trade::Drop(1)),
        [1, 0] => Some(Trade::Capture(0)),
        [0, 1] => Some(Trade::Capture(1)),
        _ => None,
    }
}

/// A position: a node and the attacker's hand. The defender holds the other pieces of the node.
#[derive(Clone, Copy)]
pub(super) struct State<'a> {
    pub(super) graph: &'a Graph,
    pub(super) node: usize,
    pub(super) hand: Counts,
}

impl State<'_> {
    pub(super) fn node(&self) -> &Node {
        &self.graph.nodes[self.node]
    }

    fn defender_hand(&self) -> Counts {
        self.node().held.map(self.hand, |held, own| held - own)
    }

    fn is_possible(&self, edge: &Edge) -> bool {
        let holder = match self.node().kind {
            NodeKind::Or => self.hand,
            NodeKind::And => self.defender_hand(),
        };
        !matches!(edge.trade, Trade::Drop(kind) if holder.0[kind] == 0)
    }

    /// Indices of the possible moves.
    pub(super) fn moves(&self) -> impl Iterator<Item = usize> {
        let edges = self.node().edges.iter().enumerate();
        edges.filter(|(_, edge)| self.is_possible(edge)).map(|(index, _)| index)
    }

    pub(super) fn after(&self, m: usize) -> Self {
        let edge = &self.node().edges[m];
        let hand = match (self.node().kind, edge.trade) {
            (NodeKind::Or, Trade::Drop(kind)) => self.hand.moved(kind, -1),
            (NodeKind::Or, Trade::Capture(kind)) => self.hand.moved(kind, 1),
            _ => self.hand,
        };
        Self { node: edge.to, hand, ..*self }
    }

    fn is_won(&self, distances: &[Vec<(Counts, Option<u16>)>]) -> bool {
        let known = |m: usize| {
            let State { node, hand, .. } = self.after(m);
            distances[node].iter().any(|&(h, plies)| h == hand && plies.is_some())
        };
        match self.node().kind {
            NodeKind::Or => self.moves().any(known),
            NodeKind::And => self.moves().all(known),
        }
    }

    pub(super) fn is_goal(&self) -> bool {
        self.node().kind == NodeKind::And && self.moves().next().is_none()
    }

    fn can_be_dropped(&self, kind: usize) -> bool {
        self.node().edges.iter().any(|edge| edge.trade == Trade::Drop(kind))
    }
}

impl Game for State<'_> {
    type Move = usize;
    type Hand = Counts;
    type Undo = (usize, Counts);

    fn node_kind(&self) -> NodeKind {
        self.node().kind
    }

    fn board_key(&self) -> u64 {
        Random::new(self.node as u64).next()
    }

    fn hand(&self) -> Counts {
        self.hand
    }

    fn board_key_after(&self, m: usize) -> u64 {
        self.after(m).board_key()
    }

    fn hand_after(&self, m: usize) -> Counts {
        self.after(m).hand
    }

    fn make(&mut self, m: usize) -> (usize, Counts) {
        let undo = (self.node, self.hand);
        *self = self.after(m);
        undo
    }

    fn unmake(&mut self, _: usize, (node, hand): (usize, Counts)) {
        (self.node, self.hand) = (node, hand);
    }

    fn code(m: usize) -> NonZeroU16 {
        NonZeroU16::new(m as u16 + 1).unwrap()
    }

    fn expand(&self, moves: &mut Vec<Candidate<usize>>) -> Expansion {
        for m in self.moves() {
            let &Edge { delayed, numbers: [proof_number, disproof_number], cost, .. } =
                &self.node().edges[m];
            moves.push(Candidate { m, delayed, proof_number, disproof_number, cost });
        }
        let end = match self.node().kind {
            NodeKind::Or => Outcome::Missed,
            NodeKind::And => Outcome::Reached,
        };
        if moves.is_empty() { Expansion::Over(end) } else { Expansion::Moves }
    }

    fn set_first_numbers(&self, moves: &mut [Candidate<usize>]) -> Option<usize> {
        let looks = self.graph.mates_in_one && self.node().kind == NodeKind::Or;
        let mut moves = moves.iter().map(|candidate| candidate.m);
        moves.find(|&m| looks && self.after(m).is_goal())
    }

    fn plain_moves(&mut self) -> Moves<usize> {
        let moves: Vec<usize> = self.moves().collect();
        match (self.node().kind, moves.is_empty()) {
            (_, false) => Moves::Some(moves),
            (NodeKind::Or, true) => Moves::Over(Outcome::Missed),
            (NodeKind::And, true) => Moves::Over(Outcome::Reached),
        }
    }

    fn set_hand(&mut self, hand: Counts) {
        assert!(self.node().held.dominates(hand));
        self.hand = hand;
    }

    fn proof_hand_of_goal(&self) -> Counts {
        self.proof_hand_of_defence(Counts::default())
    }

    fn proof_hand_of_defence(&self, mut children: Counts) -> Counts {
        for kind in 0..KINDS {
            if self.defender_hand().0[kind] == 0 && self.can_be_dropped(kind) {
                children.0[kind] = self.hand.0[kind];
            }
        }
        children
    }

    fn proof_hand_of_attack(&self, m: usize, child: Counts) -> Counts {
        match self.node().edges[m].trade {
            Trade::None => child,
            Trade::Drop(kind) => child.moved(kind, 1),
            Trade::Capture(kind) => child.moved(kind, -1),
        }
    }

    fn disproof_hand_of_attack(&self, m: usize, child: Counts) -> Counts {
        self.proof_hand_of_attack(m, child)
    }

    fn disproof_hand_of_attacks(&self, children: Option<Counts>) -> Counts {
        let held = self.node().held;
        let mut hand = children.map_or(held, |hand| hand.intersection(held));
        for kind in 0..KINDS {
            if self.hand.0[kind] == 0 && self.can_be_dropped(kind) {
                hand.0[kind] = 0;
            }
        }
        hand
    }

    fn disproof_hand_of_defence(&self, m: usize, child: Counts) -> Counts {
        let most = match self.node().edges[m].trade {
            Trade::Drop(kind) => self.node().held.moved(kind, -1),
            _ => self.node().held,
        };
        child.intersection(most)
    }
}
