//! df-pn on small random graphs whose whole truth is known.
//!
//! Graphs are what trees are not: positions are met again by other ways, with other hands, and on their
//! own path. Here every verdict is compared with a fixpoint over all positions (retrograde analysis,
//! Ströhlein 1970), so that repetition, depth limits and dominance have nowhere to hide.

mod random_graph;

use std::collections::HashMap;
use std::num::NonZero;
use std::sync::atomic::AtomicBool;

use kyokumen_game::{Game, NodeKind};
use kyokumen_search::{DfPn, Limits, Proof, Stop, TableSize, Threads, Verdict, WhenHopeless};
use proptest::prelude::*;

use random_graph::{Counts, Graph, State};

/// Numbers in cycles grow beyond all measure, and the truth is wanted all the same.
fn to_the_end(depth_plies: u16, nodes: u64) -> Limits {
    Limits { when_hopeless: WhenHopeless::GoOn, ..Limits::new(depth_plies, nodes) }
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

/// A fault on any of the threads is told, and the others do not search on for ever.
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

/// Nine positions and no goal, which no number of nodes decided while steps beyond a number were steps of
/// one: the proof numbers of a cycle grow by one another up to their cap.
#[test]
fn numbers_that_feed_each_other() {
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
