//! df-pn on small random graphs, compared with retrograde analysis.
//!
//! In a graph, unlike in a tree, a position is reached by different paths, with different hands, and again on its own
//! path. Every verdict is compared with a fixpoint over all positions (retrograde analysis, Ströhlein 1970). This tests
//! repetition, depth limits and dominance.

mod random_graph;

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::AtomicBool;

use kyokumen_game::{Game, NodeKind};
use kyokumen_search::{DfPn, Limits, Proof, Stop, TableSize, Threads, Verdict, WhenHopeless};
use proptest::prelude::*;

use random_graph::{Counts, Graph, State};

/// Limits without giving up. In cycles the numbers can grow without bound, so a search would often give up.
fn to_the_end(depth_plies: u16, nodes: u64) -> Limits {
    Limits { when_hopeless: WhenHopeless::GoOn, ..Limits::new(depth_plies, nodes) }
}

/// A search with a table of this size. One third of the seeds use the methods for long searches and for cycles from the
/// beginning, one third those for long searches after 20 nodes.
fn solver<'a>(hash_mb: usize, seed: u64) -> DfPn<State<'a>> {
    let mut solver = DfPn::new(TableSize::from_mib(hash_mb));
    match seed % 3 {
        0 => {
            solver.long_after(0);
            solver.cycles_from(1);
        }
        1 => solver.long_after(20),
        _ => {}
    }
    solver
}

/// Enough nodes for every position of these graphs.
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
                    prop_assert!(!within, "missed within the depth limit: {}", what);
                    prop_assert!(
                        limits.depth_plies < 1_000,
                        "the depth cannot be reached: {}",
                        what
                    );
                }
                Verdict::Unknown(stop) => {
                    prop_assert!(may_stop.contains(&stop), "stop reason {}: {}", stop, what);
                }
            }
        }
    }
    Ok(())
}

/// Plies to the goal from every position if the attacker plays only moves of the proof.
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
        // Each pass finds the positions that take one ply more.
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

    /// Without limits every position is decided correctly. With a depth limit no verdict is wrong.
    #[test]
    fn verdicts_are_true(seed: u64, size in 2usize..40, edges in 1usize..6, depth in 1u16..9) {
        let graph = Graph::random(seed, size, edges);
        let mut solver = solver(1, seed);
        for depth_plies in [5_000, depth] {
            check_all(&graph, &mut solver, to_the_end(depth_plies, AMPLE), &[])?;
        }
    }

    /// With few nodes fewer positions are decided, but none wrongly.
    #[test]
    fn node_limits_give_no_wrong_verdict(seed: u64, size in 2usize..60, nodes in 0u64..60) {
        let graph = Graph::random(seed, size, 5);
        let mut solver = solver(1, seed);
        for depth_plies in [5_000, 6] {
            check_all(&graph, &mut solver, to_the_end(depth_plies, nodes), &[Stop::Nodes])?;
        }
    }

    /// Two games with the same keys in turn, like searches for both attackers. Table entries of one search must not be
    /// used by the next.
    #[test]
    fn results_do_not_depend_on_earlier_searches(seed: u64, size in 2usize..30) {
        let graphs = [seed, !seed].map(|seed| Graph::random(seed, size, 4));
        let limits = to_the_end(5_000, AMPLE);
        let mut used = solver(1, seed);
        for _ in 0..2 {
            for graph in &graphs {
                check_all(graph, &mut used, limits, &[])?;
                let root = State { graph, node: 0, hand: graph.nodes[0].held };
                let again = used.solve(&mut root.clone(), limits, &AtomicBool::new(false));
                let fresh = solver(1, seed).solve(&mut root.clone(), limits, &AtomicBool::new(false));
                prop_assert_eq!(again, fresh);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A proof that is reported as shortest has the true length, under any limits.
    #[test]
    fn shortest_proofs_are_the_shortest(seed: u64, size in 2usize..40, edges in 1usize..6, nodes in 1u64..200) {
        let graph = Graph::random(seed, size, edges);
        for (nodes, hash_mb) in [(AMPLE, 1), (nodes, 0)] {
            let mut solver = solver(hash_mb, seed);
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

    /// Within a proof, no other attack ends sooner than its line, and no other defence later.
    #[test]
    fn lines_are_the_best_of_their_proofs(
        seed: u64, size in 2usize..80, edges in 1usize..6, nodes in 1u64..200,
    ) {
        let graph = Graph::random(seed, size, edges);
        for (nodes, hash_mb) in [(AMPLE, 1), (nodes, 0)] {
            let mut solver = solver(hash_mb, seed);
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

    /// The table has fewer entries than the graph has positions, so it loses parts of proofs.
    #[test]
    fn a_tiny_table_gives_no_wrong_verdict(seed: u64, depth in 1u16..12) {
        let graph = Graph::random(seed, 1_000, 5);
        let mut solver = solver(0, seed);
        let stops = [Stop::Nodes, Stop::Memory];
        for depth_plies in [5_000, depth] {
            check_some(&graph, &mut solver, Threads::ONE, to_the_end(depth_plies, 20_000), &stops, 97)?;
        }
    }
}

/// Threads that all start at once.
fn at_once(count: usize) -> Threads {
    Threads { nodes_alone: 0, ..Threads::new(NonZero::new(count).unwrap()) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With and without a depth limit.
    #[test]
    fn verdicts_of_many_threads_are_true(
        seed: u64, size in 2usize..40, edges in 1usize..6, depth in 1u16..9,
    ) {
        let graph = Graph::random(seed, size, edges);
        let mut solver = solver(1, seed);
        for threads in [2, 4, 8] {
            for depth_plies in [5_000, depth] {
                let limits = to_the_end(depth_plies, AMPLE);
                check_some(&graph, &mut solver, at_once(threads), limits, &[], 3)?;
            }
        }
    }

    /// Graphs that take some thousand nodes, with a table that grows during the search, a table that is too small, and
    /// few nodes.
    #[test]
    fn contending_threads_give_no_wrong_verdict(
        seed: u64, depth in 1u16..12, nodes in 1u64..5_000,
    ) {
        let graph = Graph::random(seed, 1_000, 5);
        let stops = [Stop::Nodes, Stop::Memory];
        for (threads, hash_mb) in [(2, 0), (4, 1), (8, 1)] {
            let mut solver = solver(hash_mb, seed);
            for limits in [to_the_end(5_000, 200_000), to_the_end(depth, 20_000), to_the_end(5_000, nodes)] {
                check_some(&graph, &mut solver, at_once(threads), limits, &stops, 199)?;
            }
        }
    }

    /// As `shortest_proofs_are_the_shortest`, on several threads.
    #[test]
    fn threads_find_the_shortest_proofs(seed: u64, size in 2usize..40, edges in 1usize..6) {
        let graph = Graph::random(seed, size, edges);
        let mut solver = solver(1, seed);
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

/// The panic of a thread is passed on, and the other threads stop.
#[test]
#[should_panic(expected = "index out of bounds")]
fn a_panic_ends_the_search_of_all_threads() {
    use NodeKind::{And, Or};
    let graph = Graph::plain(&[(Or, &[1, 2]), (And, &[3]), (And, &[0]), (Or, &[1, 99])]);
    let mut root = State { graph: &graph, node: 0, hand: Counts::default() };
    let limits = to_the_end(5_000, AMPLE);
    let solver = &mut DfPn::new(TableSize::from_mib(1));
    solver.solve_on(at_once(4), &mut root, limits, &AtomicBool::new(false));
}

/// Nine positions without a goal. Their proof numbers raise each other in a cycle up to the cap. With thresholds only
/// one above a number, no node limit was enough.
#[test]
fn numbers_in_a_cycle_do_not_stall_the_search() {
    use NodeKind::{And, Or};
    let mut graph = Graph::plain(&[
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
    for seed in 0..3 {
        check_all(&graph, &mut solver(1, seed), limits, &[]).unwrap();
    }
}

/// A graph with very many paths through its cycles. If each path needs its own disproof, a million nodes leave up to 38
/// of its 422 positions undecided.
#[test]
fn positions_in_many_cycles_are_decided() {
    let graph = Graph::random(4_002_768_238_863_840_737, 33, 5);
    for seed in 0..3 {
        check_all(&graph, &mut solver(1, seed), to_the_end(5_000, AMPLE), &[]).unwrap();
    }
}

/// The search takes 147 nodes here; without raised thresholds it goes round in circles and takes 979.
#[test]
fn the_search_leaves_circles() {
    let graph = Graph::random(9_515_255_611_234_195_162, 40, 5);
    let mut root = State { graph: &graph, node: 20, hand: Counts::default() };
    let solved = solver(1, 1).solve(&mut root, to_the_end(5_000, 300), &AtomicBool::new(false));
    assert_eq!(solved.verdict, Verdict::Disproven);
}

/// Adds a tree with `attacks` rounds of three attacks and some defences. Returns its root. Only the last attack of each
/// node is good, and only if the tree is a mate.
fn add_tree(
    nodes: &mut Vec<(NodeKind, Vec<usize>)>,
    attacks: usize,
    defences: usize,
    is_mate: bool,
) -> usize {
    let attack = |nodes: &mut Vec<(NodeKind, Vec<usize>)>, index| {
        let is_mate = is_mate && index == 2;
        let replies = match attacks {
            0 => Vec::from_iter((!is_mate).then(|| add(nodes, NodeKind::Or, Vec::new()))),
            _ => (0..defences).map(|_| add_tree(nodes, attacks - 1, defences, is_mate)).collect(),
        };
        add(nodes, NodeKind::And, replies)
    };
    let moves = (0..3).map(|index| attack(nodes, index)).collect();
    add(nodes, NodeKind::Or, moves)
}

fn add(nodes: &mut Vec<(NodeKind, Vec<usize>)>, kind: NodeKind, moves: Vec<usize>) -> usize {
    nodes.push((kind, moves));
    nodes.len() - 1
}

/// All eight defences against the good attack lead to the same tree. A sum counts this tree eight times, so the search
/// would spend more nodes on the bad attack.
#[test]
fn a_position_below_several_defences_counts_once() {
    let nodes = &mut vec![(NodeKind::Or, Vec::new())];
    let tree = add_tree(nodes, 3, 2, true);
    let common = add(nodes, NodeKind::And, vec![tree]);
    let defences = (0..8).map(|_| add(nodes, NodeKind::Or, vec![common])).collect();
    let good = add(nodes, NodeKind::And, defences);
    let large = add_tree(nodes, 4, 4, false);
    let bad = add(nodes, NodeKind::And, vec![large]);
    nodes[0].1 = vec![bad, good];
    let graph =
        Graph::plain(&nodes.iter().map(|(kind, moves)| (*kind, &moves[..])).collect::<Vec<_>>());
    let nodes_searched = |long_after| {
        let mut solver = DfPn::new(TableSize::from_mib(1));
        solver.long_after(long_after);
        let mut root = State { graph: &graph, node: 0, hand: Counts::default() };
        let solved = solver.solve(&mut root, to_the_end(100, AMPLE), &AtomicBool::new(false));
        assert_eq!(solved.verdict, Verdict::Proven);
        solved.stats.nodes
    };
    let [long, short] = [0, AMPLE].map(nodes_searched);
    assert!(long < short / 3 * 2, "{long} instead of {short} nodes");
}

/// Random graphs must have won and lost positions, some of them deep enough for the depth limits.
#[test]
fn random_graphs_are_varied() {
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
