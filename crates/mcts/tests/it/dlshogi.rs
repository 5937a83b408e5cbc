//! Compares the tree with dlshogi's choice of moves, implemented again from its source.
//!
//! The sources are `selfplay/self_play.cpp`, `usi/UctSearch.cpp`, `usi/fastmath.h` and the defaults of their options
//! (May 2026). Sums of values have 64 bits, as in its engine. Positions where the game ends within the search are
//! skipped, because the tree knows more about proofs and repetitions.

use std::sync::atomic::AtomicBool;

use kyokumen_mcts::{LeafSearch, MateLimits, MctsSettings, Puct, RootNoise, Tree};
use kyokumen_network::{Batch, Evaluator, Hashed};
use kyokumen_shogi::random_play::RandomPlay;
use kyokumen_shogi::{Move, Position, PositionHistory, plain};

use super::search;

struct Constants {
    init: f32,
    base: f32,
    init_root: f32,
    base_root: f32,
    reduction: f32,
    reduction_root: f32,
}

const SELF_PLAY: Constants = Constants {
    init: 1.49,
    base: 39_470.0,
    init_root: 1.49,
    base_root: 39_470.0,
    reduction: 20.0,
    reduction_root: 0.0,
};

const GAMES: Constants = Constants {
    init: 1.44,
    base: 28_288.0,
    init_root: 1.16,
    base_root: 25_617.0,
    reduction: 0.27,
    reduction_root: 0.0,
};

struct Node {
    edges: Vec<Edge>,
    count: u32,
    win: f64,
    selected: f32,
    value: f32,
}

struct Edge {
    m: Move,
    rate: f32,
    count: u32,
    win: f64,
    below: Option<Node>,
}

/// Natural logarithm: log₂ of 2^e · (1 + f) is about e + f · (1.3465552 − 0.34655523 · f).
fn fast_log(mut x: f32) -> f32 {
    let mut exponent = 127.0;
    while x >= 2.0 {
        x /= 2.0;
        exponent += 1.0;
    }
    let f = x - 1.0;
    std::f32::consts::LN_2 * (f * (1.346_555_2 - 0.346_555_23 * f) - 127.0 + exponent)
}

/// A node with its evaluation. `None` if the game ends there, or if the position is in `line`.
fn expand(position: &Position, line: &[Position], seed: u64) -> Option<Node> {
    let same = |before: &Position| {
        before.board() == position.board() && before.side_to_move() == position.side_to_move()
    };
    let mut moves = plain::legal_moves(position);
    if moves.is_empty() || line.iter().any(same) || position.can_declare() {
        return None;
    }
    moves.sort_unstable();
    let mut batch = Batch::new(1, None);
    batch.push(position, &moves);
    Hashed { seed }.evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
    let edge = |(&m, &rate)| Edge { m, rate, count: 0, win: 0.0, below: None };
    let mut edges: Vec<Edge> = moves.iter().zip(batch.policy(0)).map(edge).collect();
    // Of equal moves, dlshogi takes the first in the order of its generator; the tree takes the most probable one.
    edges.sort_by(|a, b| b.rate.total_cmp(&a.rate).then(a.m.cmp(&b.m)));
    Some(Node { edges, count: 0, win: 0.0, selected: 0.0, value: batch.value(0) })
}

fn select(node: &mut Node, is_root: bool, constants: &Constants) -> usize {
    let Constants { init, base, init_root, base_root, reduction, reduction_root } = *constants;
    let (init, base) = if is_root { (init_root, base_root) } else { (init, base) };
    let sum = node.count as f32;
    let c = fast_log((sum + base + 1.0) / base) + init;
    let reduction = if is_root { reduction_root } else { reduction } * node.selected.sqrt();
    let parent_q = if node.win > 0.0 {
        ((node.win / f64::from(node.count)) as f32 - reduction).max(0.0)
    } else {
        0.0
    };
    let mut best = (0, f32::MIN);
    for (i, edge) in node.edges.iter().enumerate() {
        let (q, u) = match edge.count {
            0 if node.count == 0 => (parent_q, 1.0),
            0 => (parent_q, sum.sqrt()),
            n => ((edge.win / f64::from(n)) as f32, sum.sqrt() / (1 + n) as f32),
        };
        let score = q + c * u * edge.rate;
        if score > best.1 {
            best = (i, score);
        }
    }
    node.selected += node.edges[best.0].rate;
    best.0
}

/// One simulation. Returns the value for the side to move, or `None` if it reaches the end of the game.
fn simulate(
    node: &mut Node,
    line: &mut Vec<Position>,
    seed: u64,
    constants: &Constants,
) -> Option<f32> {
    let i = select(node, line.len() == 1, constants);
    let edge = &mut node.edges[i];
    let mut position = line.last()?.clone();
    position.make(edge.m);
    let value = match &mut edge.below {
        Some(below) => {
            line.push(position);
            let value = simulate(below, line, seed, constants);
            line.pop();
            value?
        }
        None => edge.below.insert(expand(&position, line, seed)?).value,
    };
    edge.win += f64::from(1.0 - value);
    edge.count += 1;
    node.win += f64::from(1.0 - value);
    node.count += 1;
    Some(1.0 - value)
}

/// Checks that every node has the same visits in the tree. Returns the sum of their depths.
fn compare(node: &Node, tree: &Tree, moves: &mut Vec<Move>) -> usize {
    let found = tree.after(moves).expect("a position that both visited");
    let mut depths = moves.len();
    for edge in &node.edges {
        let actual =
            found.moves.iter().find(|root_move| root_move.m == edge.m).expect("a legal move");
        assert_eq!(actual.visits, edge.count, "{moves:?} {}", edge.m);
        if let Some(below) = &edge.below {
            moves.push(edge.m);
            depths += compare(below, tree, moves);
            moves.pop();
        }
    }
    depths
}

/// Searches a position in both ways. Returns the sum of the depths of all nodes, or `None` if the game ends at one.
fn check(
    root: &Position,
    puct: Puct,
    constants: &Constants,
    visits: u32,
    seed: u64,
) -> Option<usize> {
    let mut node = expand(root, &[], seed)?;
    for _ in 0..visits {
        simulate(&mut node, &mut vec![root.clone()], seed, constants)?;
    }
    let settings = MctsSettings {
        puct: Puct { root_noise: RootNoise::None, ..puct },
        leaf_mate: MateLimits::NONE,
        ..MctsSettings::default()
    };
    let mut history = PositionHistory::default();
    history.push(root);
    let mut tree = Tree::new(settings, root.clone(), history, 0);
    search(&mut tree, &mut LeafSearch::try_new(1).unwrap(), &mut Hashed { seed }, visits);
    assert_eq!(tree.root().visits, visits);
    Some(compare(&node, &tree, &mut Vec::new()))
}

fn positions() -> Vec<Position> {
    let games = RandomPlay::new(11, 60).take(12).enumerate().map(|(i, game)| {
        let mut position = Position::start();
        for &m in game.moves.iter().take(4 * i) {
            position.make(m);
        }
        position
    });
    games.collect()
}

/// Sum of the depths of nodes, and number of searches compared, with `visits` simulations each.
fn compared(puct: Puct, constants: &Constants, visits: u32) -> (usize, usize) {
    let depths =
        (0..).zip(positions()).filter_map(|(i, at)| check(&at, puct, constants, visits, i));
    depths.fold((0, 0), |(sum, searches), depth| (sum + depth, searches + 1))
}

#[test]
fn every_node_has_the_same_visits_as_in_dlshogi() {
    for visits in [1, 2, 17, 100, 400, 1500] {
        for (puct, constants) in [(Puct::DLSHOGI, SELF_PLAY), (Puct::DLSHOGI_GAMES, GAMES)] {
            let (_, searches) = compared(puct, &constants, visits);
            assert!(searches >= 6, "{searches} of 12 with {visits}");
        }
    }
}

#[test]
fn parent_values_make_the_tree_less_deep() {
    let constants = Constants { reduction: 0.0, ..SELF_PLAY };
    let [deep, flat] = [(Puct::DLSHOGI, SELF_PLAY), (Puct::PARENT_VALUE, constants)]
        .map(|(puct, constants)| compared(puct, &constants, 400));
    let mean = |(depths, searches): (usize, usize)| depths as f64 / (400 * searches) as f64;
    assert!(mean(deep) > 1.5 * mean(flat), "{} {}", mean(deep), mean(flat));
}
