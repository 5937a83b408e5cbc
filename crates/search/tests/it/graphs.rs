//! df-pn on small random graphs whose whole truth is known.
//!
//! Graphs are what trees are not: positions are met again by other ways, with other hands, and on their
//! own path. Here every verdict is compared with a fixpoint over all positions (retrograde analysis,
//! Ströhlein 1970), so that repetition, depth limits and dominance have nowhere to hide.

use std::collections::HashMap;
use std::num::{NonZero, NonZeroU16};
use std::sync::atomic::AtomicBool;

use kyokumen_game::{Candidate, Expansion, Game, Hand, Moves, NodeKind, Outcome};
use kyokumen_search::{DfPn, Limits, Proof, Stop, TableSize, Threads, Verdict, WhenHopeless};
use kyokumen_testing::positions::Random;
use proptest::prelude::*;

/// Numbers in cycles grow beyond all measure, and the truth is wanted all the same.
fn to_the_end(depth_plies: u16, nodes: u64) -> Limits {
    Limits { when_hopeless: WhenHopeless::GoOn, ..Limits::new(depth_plies, nodes) }
}

const KINDS: usize = 2;

/// How many pieces of each kind the attacker holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Counts([u8; KINDS]);

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

/// What a move does to the pieces in hand of the side that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trade {
    None,
    Drop(usize),
    Capture(usize),
}

#[derive(Clone, Debug)]
struct Edge {
    to: usize,
    trade: Trade,
    delayed: bool,
    numbers: [u32; 2],
    cost: i8,
}

#[derive(Clone, Debug)]
struct Node {
    kind: NodeKind,
    /// Pieces that both sides hold together here: a drop leads to fewer, a capture to more.
    held: Counts,
    edges: Vec<Edge>,
}

#[derive(Debug)]
struct Graph {
    nodes: Vec<Node>,
    mates_in_one: bool,
}

impl Graph {
    /// Moves lead to nodes nearby, seldom far away: so proofs are long, and cycles of all lengths occur.
    fn random(seed: u64, size: usize, most_edges: usize) -> Self {
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
            let edges = if ends { 0 } else { 1 + random.below(most_edges) };
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

    fn hands(&self, node: usize) -> Vec<Counts> {
        let Counts([a, b]) = self.nodes[node].held;
        (0..=a).flat_map(|x| (0..=b).map(move |y| Counts([x, y]))).collect()
    }

    /// Plies to the goal from every position, by repeated passes until nothing changes.
    fn distances(&self) -> Vec<Vec<(Counts, Option<u16>)>> {
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

/// A position: a node and the attacker's hand; the rest of what is held there is the defender's.
#[derive(Clone, Copy)]
struct State<'a> {
    graph: &'a Graph,
    node: usize,
    hand: Counts,
}

impl State<'_> {
    fn node(&self) -> &Node {
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

    /// Indices of the moves there are.
    fn moves(&self) -> impl Iterator<Item = usize> {
        let edges = self.node().edges.iter().enumerate();
        edges.filter(|(_, edge)| self.is_possible(edge)).map(|(index, _)| index)
    }

    fn after(&self, m: usize) -> Self {
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

    fn is_goal(&self) -> bool {
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

    fn weigh(&self, moves: &mut [Candidate<usize>]) -> Option<usize> {
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

/// Nodes that suffice for any position of these graphs.
const AMPLE: u64 = 1_000_000;

fn check_all<'a>(
    graph: &'a Graph,
    solver: &mut DfPn<State<'a>>,
    limits: Limits,
    may_stop: &[Stop],
) -> Result<(), TestCaseError> {
    check_some(graph, solver, Threads::ONE, limits, may_stop, 1)
}

/// Checks the positions of every `step`-th node.
fn check_some<'a>(
    graph: &'a Graph,
    solver: &mut DfPn<State<'a>>,
    threads: Threads,
    limits: Limits,
    may_stop: &[Stop],
    step: usize,
) -> Result<(), TestCaseError> {
    for (node, hands) in graph.distances().into_iter().enumerate().step_by(step) {
        for (hand, distance) in hands {
            let root = State { graph, node, hand };
            let what = format!("node {node}, {hand:?}, {limits:?}, distance {distance:?}");
            let solved =
                solver.solve_on(threads, &mut root.clone(), limits, &AtomicBool::new(false));
            match solved.verdict {
                Verdict::Proven => {
                    prop_assert!(distance.is_some(), "wrong proof: {}", what);
                    check_line(root, &solved.line, distance)?;
                }
                Verdict::Disproven => prop_assert!(distance.is_none(), "wrong disproof: {}", what),
                Verdict::Unknown(Stop::Depth) => {
                    let within = distance.is_some_and(|plies| plies <= limits.depth_plies);
                    prop_assert!(!within, "overlooked within the depth limit: {}", what);
                    prop_assert!(limits.depth_plies < 1_000, "depth never felt: {}", what);
                }
                Verdict::Unknown(stop) => {
                    prop_assert!(may_stop.contains(&stop), "gave up for {}: {}", stop, what);
                }
            }
        }
    }
    Ok(())
}

/// Plies to the goal from every position if the attacker keeps to the moves of a proof.
fn plies_within(graph: &Graph, proof: &Proof<usize, Counts>) -> HashMap<(usize, Counts), usize> {
    let mut plies = HashMap::new();
    loop {
        let before = plies.len();
        let mut found = Vec::new();
        for node in 0..graph.nodes.len() {
            for hand in graph.hands(node) {
                let state = State { graph, node, hand };
                let after = |m| {
                    let State { node, hand, .. } = state.after(m);
                    plies.get(&(node, hand)).copied()
                };
                let steps = proof.steps(state.board_key(), hand).map(|step| step.m);
                let value = match state.node().kind {
                    NodeKind::Or => steps.filter_map(after).min().map(|plies| plies + 1),
                    NodeKind::And => {
                        let values: Option<Vec<usize>> = state.moves().map(after).collect();
                        values.map(|values| values.into_iter().max().map_or(0, |plies| plies + 1))
                    }
                };
                found.extend(value.map(|value| ((node, hand), value)));
            }
        }
        // A pass finds the positions one ply longer than those of the pass before.
        for (position, value) in found {
            plies.entry(position).or_insert(value);
        }
        if plies.len() == before {
            return plies;
        }
    }
}

fn check_line(root: State, line: &[usize], distance: Option<u16>) -> Result<(), TestCaseError> {
    let mut state = root;
    for &m in line {
        prop_assert!(state.moves().any(|possible| possible == m));
        state = state.after(m);
    }
    prop_assert!(state.is_goal());
    prop_assert!(distance.is_some_and(|plies| line.len() >= usize::from(plies)));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Without limits every verdict is the truth, with a depth limit none contradicts it.
    #[test]
    fn verdicts_are_true(seed: u64, size in 2usize..40, edges in 1usize..6, depth in 1u16..9) {
        let graph = Graph::random(seed, size, edges);
        let mut solver = DfPn::new(TableSize::from_mib(1));
        for depth_plies in [5_000, depth] {
            check_all(&graph, &mut solver, to_the_end(depth_plies, AMPLE), &[])?;
        }
    }

    /// Few nodes: fewer answers, but no wrong one.
    #[test]
    fn node_limits_only_cost_answers(seed: u64, size in 2usize..60, nodes in 0u64..60) {
        let graph = Graph::random(seed, size, 5);
        let mut solver = DfPn::new(TableSize::from_mib(1));
        for depth_plies in [5_000, 6] {
            check_all(&graph, &mut solver, to_the_end(depth_plies, nodes), &[Stop::Nodes])?;
        }
    }

    /// Two games with the same keys in turn, as when both sides are asked about as attackers: what a
    /// search leaves in the table is not there for the next.
    #[test]
    fn searches_leave_nothing_behind(seed: u64, size in 2usize..30) {
        let graphs = [seed, !seed].map(|seed| Graph::random(seed, size, 4));
        let limits = to_the_end(5_000, AMPLE);
        let mut used = DfPn::new(TableSize::from_mib(1));
        for _ in 0..2 {
            for graph in &graphs {
                check_all(graph, &mut used, limits, &[])?;
                let root = State { graph, node: 0, hand: graph.nodes[0].held };
                let again = used.solve(&mut root.clone(), limits, &AtomicBool::new(false));
                let fresh = DfPn::new(TableSize::from_mib(1)).solve(&mut root.clone(), limits, &AtomicBool::new(false));
                prop_assert_eq!(again, fresh);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The shortest proof is as long as the truth, whatever the limits if it is called the shortest.
    #[test]
    fn shortest_proofs_are_the_shortest(seed: u64, size in 2usize..40, edges in 1usize..6, nodes in 1u64..200) {
        let graph = Graph::random(seed, size, edges);
        for (nodes, hash_mb) in [(AMPLE, 1), (nodes, 0)] {
            let mut solver = DfPn::new(TableSize::from_mib(hash_mb));
            for (node, hands) in graph.distances().into_iter().enumerate() {
                for (hand, distance) in hands {
                    let mut root = State { graph: &graph, node, hand };
                    let limits = to_the_end(5_000, nodes);
                    let (solved, is_shortest) =
                        solver.solve_shortest(&mut root, limits, &AtomicBool::new(false));
                    prop_assert!(!is_shortest || solved.verdict == Verdict::Proven);
                    if solved.verdict == Verdict::Proven {
                        prop_assert!(is_shortest || nodes < AMPLE);
                        check_line(root, &solved.line, distance)?;
                        let plies = u16::try_from(solved.line.len()).unwrap();
                        prop_assert!(!is_shortest || distance == Some(plies));
                    }
                }
            }
        }
    }

    /// No choice among the moves of a proof ends sooner than its line, and no defence later.
    #[test]
    fn lines_are_the_best_of_their_proofs(
        seed: u64, size in 2usize..80, edges in 1usize..6, nodes in 1u64..200,
    ) {
        let graph = Graph::random(seed, size, edges);
        for (nodes, hash_mb) in [(AMPLE, 1), (nodes, 0)] {
            let mut solver = DfPn::new(TableSize::from_mib(hash_mb));
            for (node, hands) in graph.distances().into_iter().enumerate() {
                for (hand, _) in hands {
                    let root = State { graph: &graph, node, hand };
                    let limits = to_the_end(5_000, nodes);
                    let solved = solver.solve(&mut root.clone(), limits, &AtomicBool::new(false));
                    if let Some(proof) = solver.proof() {
                        let plies = plies_within(&graph, proof)[&(node, hand)];
                        prop_assert_eq!(solved.line.len(), plies, "node {}, {:?}", node, hand);
                    }
                }
            }
        }
    }

    /// A table with fewer entries than there are positions loses parts of proofs, never the truth.
    #[test]
    fn a_tiny_table_only_costs_answers(seed: u64, depth in 1u16..12) {
        let graph = Graph::random(seed, 1_000, 5);
        let mut solver = DfPn::new(TableSize::from_mib(0));
        let stops = [Stop::Nodes, Stop::Memory];
        for depth_plies in [5_000, depth] {
            check_some(&graph, &mut solver, Threads::ONE, to_the_end(depth_plies, 20_000), &stops, 97)?;
        }
    }
}

/// Threads that all search from the first node on.
fn at_once(count: usize) -> Threads {
    Threads { nodes_alone: 0, ..Threads::new(NonZero::new(count).unwrap()) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// On several threads every verdict is the truth, too, with and without a depth limit.
    #[test]
    fn verdicts_of_many_threads_are_true(
        seed: u64, size in 2usize..40, edges in 1usize..6, depth in 1u16..9,
    ) {
        let graph = Graph::random(seed, size, edges);
        let mut solver = DfPn::new(TableSize::from_mib(1));
        for threads in [2, 4, 8] {
            for depth_plies in [5_000, depth] {
                let limits = to_the_end(depth_plies, AMPLE);
                check_some(&graph, &mut solver, at_once(threads), limits, &[], 3)?;
            }
        }
    }

    /// Graphs that take some thousand nodes, a table that grows under the search and one that is too small, few nodes.
    #[test]
    fn threads_that_meet_again_and_again_tell_no_lies(
        seed: u64, depth in 1u16..12, nodes in 1u64..5_000,
    ) {
        let graph = Graph::random(seed, 1_000, 5);
        let stops = [Stop::Nodes, Stop::Memory];
        for (threads, hash_mb) in [(2, 0), (4, 1), (8, 1)] {
            let mut solver = DfPn::new(TableSize::from_mib(hash_mb));
            for limits in [to_the_end(5_000, 200_000), to_the_end(depth, 20_000), to_the_end(5_000, nodes)] {
                check_some(&graph, &mut solver, at_once(threads), limits, &stops, 199)?;
            }
        }
    }

    /// The shortest proof is the shortest on several threads, too.
    #[test]
    fn threads_find_the_shortest_proofs(seed: u64, size in 2usize..40, edges in 1usize..6) {
        let graph = Graph::random(seed, size, edges);
        let mut solver = DfPn::new(TableSize::from_mib(1));
        for (node, hands) in graph.distances().into_iter().enumerate().step_by(3) {
            for (hand, distance) in hands {
                let mut root = State { graph: &graph, node, hand };
                let limits = to_the_end(5_000, AMPLE);
                let (solved, is_shortest) =
                    solver.solve_shortest_on(at_once(4), &mut root, limits, &AtomicBool::new(false));
                prop_assert_eq!(is_shortest, distance.is_some());
                if let Some(plies) = distance {
                    check_line(root, &solved.line, distance)?;
                    prop_assert_eq!(solved.line.len(), usize::from(plies));
                }
            }
        }
    }
}

/// A graph without hands, by the kind of each node and the nodes that its moves lead to.
fn plain_graph(nodes: &[(NodeKind, &[usize])]) -> Graph {
    let edge =
        |&to: &usize| Edge { to, trade: Trade::None, delayed: false, numbers: [1, 1], cost: 0 };
    let node = |&(kind, moves): &(NodeKind, &[usize])| Node {
        kind,
        held: Counts::default(),
        edges: moves.iter().map(edge).collect(),
    };
    Graph { nodes: nodes.iter().map(node).collect(), mates_in_one: false }
}

/// A fault on any of the threads is told, and the others do not search on for ever.
#[test]
#[should_panic(expected = "index out of bounds")]
fn a_panic_ends_the_search_of_all_threads() {
    use NodeKind::{And, Or};
    let graph = plain_graph(&[(Or, &[1, 2]), (And, &[3]), (And, &[0]), (Or, &[1, 99])]);
    let mut root = State { graph: &graph, node: 0, hand: Counts::default() };
    let limits = to_the_end(5_000, AMPLE);
    let solver = &mut DfPn::new(TableSize::from_mib(1));
    solver.solve_on(at_once(4), &mut root, limits, &AtomicBool::new(false));
}

/// Nine positions and no goal, which no number of nodes decided while steps beyond a number were steps of
/// one: the proof numbers of a cycle grow by one another up to their cap.
#[test]
fn numbers_that_feed_each_other() {
    use NodeKind::{And, Or};
    let mut graph = plain_graph(&[
        (Or, &[1, 2]),
        (And, &[3, 4]),
        (And, &[5, 5]),
        (Or, &[6, 7]),
        (Or, &[]),
        (Or, &[1, 7]),
        (And, &[8, 4, 5]),
        (And, &[8]),
        (Or, &[1]),
    ]);
    graph.nodes[3].edges[1].delayed = true;
    graph.nodes[5].edges[1].numbers = [2, 3];
    let limits = to_the_end(4_000, 10_000);
    check_all(&graph, &mut DfPn::new(TableSize::from_mib(1)), limits, &[]).unwrap();
}

/// Random graphs must be neither all won nor all lost, and deep enough to feel a depth limit.
#[test]
fn random_graphs_are_rich() {
    let mut counts = [0usize; 3];
    for seed in 0..200 {
        let graph = Graph::random(seed, 30, 4);
        for (_, distance) in graph.distances().into_iter().flatten() {
            counts[distance.map_or(0, |plies| if plies < 5 { 1 } else { 2 })] += 1;
        }
    }
    let [lost, near, far] = counts;
    assert!(lost > 2_000 && near > 2_000 && far > 200, "{counts:?}");
}
