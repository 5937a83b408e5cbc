//! A simple PUCT search without arenas, next candidates and keys. Every node of a search is compared with it.

use std::sync::atomic::AtomicBool;

use kyokumen_game::random::SplitMix64;
use kyokumen_mcts::{
    Exploration, FirstPlay, LeafSearch, MateLimits, MctsSettings, Puct, RootNoise, Tree,
};
use kyokumen_network::{Batch, Evaluator, Hashed};
use kyokumen_shogi::random_play::RandomPlay;
use kyokumen_shogi::{EnteringKing, Move, Position, PositionHistory, plain};

use super::search;

/// A node of the simple tree, with all its moves from the start.
struct Node {
    position: Position,
    /// Its value for the side to move, if the rules or a proof decide it.
    known: Option<f64>,
    /// Whether the value holds only on this path.
    repeated: bool,
    value: f64,
    sum: f64,
    selected_prior: f32,
    edges: Vec<Edge>,
}

struct Edge {
    m: Move,
    prior: f32,
    visits: u32,
    noise_visits: u32,
    sum: f64,
    node: Option<Node>,
}

struct Plain {
    settings: MctsSettings,
    evaluator: Hashed,
    noise_seed: u64,
    game_len: usize,
    simulations: u64,
}

impl Plain {
    /// Evaluates a position, or finds its known value. `line` are the positions before it, beginning with the game.
    fn enter(&mut self, position: Position, line: &[Position]) -> Node {
        let repeated = self.repeated(&position, line);
        let mut moves = plain::legal_moves(&position);
        moves.sort_unstable();
        let decided = if moves.is_empty() { Some(0.0) } else { declares(&position).then_some(1.0) };
        let known = repeated.or(decided);
        let (mut edges, mut value) = (Vec::new(), known.unwrap_or_default());
        if known.is_none() {
            let mut batch = Batch::new(1, None);
            batch.push(&position, &moves);
            self.evaluator.evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
            value = f64::from(batch.value(0));
            let edge =
                |(&m, &prior)| Edge { m, prior, visits: 0, noise_visits: 0, sum: 0.0, node: None };
            edges = moves.iter().zip(batch.policy(0)).map(edge).collect();
            edges.sort_by(|a: &Edge, b| b.prior.total_cmp(&a.prior).then(a.m.cmp(&b.m)));
        }
        let repeated = repeated.is_some();
        Node { position, known, repeated, value, sum: 0.0, selected_prior: 0.0, edges }
    }

    fn repeated(&self, position: &Position, line: &[Position]) -> Option<f64> {
        // The root itself is not a repetition.
        if line.len() < self.game_len {
            return None;
        }
        let all: Vec<&Position> = line.iter().chain([position]).collect();
        let last = all.len() - 1;
        let mover = position.side_to_move();
        let hand = position.hand(mover);
        let same_board =
            |&i: &usize| all[i].board() == position.board() && all[i].side_to_move() == mover;
        let mut earlier = (0..last).rev().filter(same_board);
        if let Some(i) = earlier.clone().find(|&i| all[i].hand(mover) == hand) {
            let checks =
                |from: usize| all[from..=last].iter().step_by(2).all(|p| plain::in_check(p));
            return Some(match (checks(i), checks(i + 1)) {
                (true, _) => 1.0,
                (_, true) => 0.0,
                _ => f64::from(self.settings.draw_value),
            });
        }
        let gained = |i: usize| hand.dominates(all[i].hand(mover));
        earlier.next().map(|i| if gained(i) { 1.0 } else { 0.0 })
    }

    /// Chooses a move, with noise if `noisy` is set.
    fn choose(&self, node: &Node, is_root: bool, noisy: bool) -> usize {
        let puct = &self.settings.puct;
        let visits: u32 = node.edges.iter().map(|edge| edge.visits).sum();
        let root_of_visits = (visits as f32).sqrt();
        let c = match if is_root { puct.root_exploration } else { puct.exploration } {
            Exploration::Constant(c) => c,
            Exploration::Logarithmic { init, base } => {
                // The approximation of the logarithm for values below 2.
                let part = (visits as f32 + base + 1.0) / base - 1.0;
                assert!(part < 1.0);
                let log2 = part * (1.346_555_2 - 0.346_555_23 * part) - 127.0 + 127.0;
                std::f32::consts::LN_2 * log2 + init
            }
        };
        let (first_q, first_u) = match puct.first_play {
            FirstPlay::Constant(q) => (q, 1.0),
            FirstPlay::Reduced { .. } if visits == 0 => (0.0, 1.0),
            FirstPlay::Reduced { root, tree } => {
                let k = if is_root { root } else { tree };
                let q = (node.sum / f64::from(visits)) as f32 - k * node.selected_prior.sqrt();
                (q.max(0.0), root_of_visits)
            }
        };
        let noise = SplitMix64::nth_bits(self.noise_seed, self.simulations);
        let score = |edge: &Edge| {
            let bits = SplitMix64::nth_bits(noise, u64::from(edge.m.code().get()));
            let drawn = (u128::from(bits) * 1000) >> 64;
            let per_mille = match puct.root_noise {
                RootNoise::PerMille(per_mille) if noisy => per_mille,
                _ => 0,
            };
            let is_raised = drawn < u128::from(per_mille);
            let prior = if is_raised { f32::midpoint(edge.prior, 1.0) } else { edge.prior };
            let prior = prior.max(puct.least_prior);
            if edge.visits == 0 {
                first_q + c * first_u * prior
            } else {
                let u = root_of_visits / (1 + edge.visits) as f32;
                (edge.sum / f64::from(edge.visits)) as f32 + c * u * prior
            }
        };
        let open = (0..node.edges.len()).filter(|&i| node.edges[i].proven() != Some(1.0));
        let better = |a: usize, b: usize| {
            if score(&node.edges[b]) > score(&node.edges[a]) { b } else { a }
        };
        open.reduce(better).expect("a move that may not lose")
    }

    /// One simulation below a node, the last of `line`. Returns its value for the side to move of the node.
    fn simulate(&mut self, node: &mut Node, line: &mut Vec<Position>) -> f64 {
        if let Some(value) = node.known {
            return value;
        }
        let is_root = line.len() == self.game_len;
        let i = self.choose(node, is_root, is_root);
        let by_noise = i != self.choose(node, is_root, false);
        let edge = &mut node.edges[i];
        edge.noise_visits += u32::from(by_noise);
        node.selected_prior += edge.prior;
        let value = if let Some(below) = &mut edge.node {
            line.push(below.position.clone());
            let value = self.simulate(below, line);
            line.pop();
            value
        } else {
            let mut position = node.position.clone();
            position.make(edge.m);
            edge.node.insert(self.enter(position, line)).value
        };
        edge.visits += 1;
        if node.edges.iter().any(|edge| edge.proven() == Some(0.0)) {
            node.known = Some(1.0);
        } else if node.edges.iter().all(|edge| edge.proven() == Some(1.0)) {
            node.known = Some(0.0);
        }
        let value = node.known.unwrap_or(1.0 - value);
        node.edges[i].sum += value;
        node.sum += value;
        value
    }
}

impl Edge {
    /// The proven value of the position after it, for the side to move there.
    fn proven(&self) -> Option<f64> {
        self.node.as_ref().filter(|node| !node.repeated)?.known
    }
}

fn declares(position: &Position) -> bool {
    let state = EnteringKing::new(position, position.side_to_move());
    state.king_in_camp
        && state.pieces >= 10
        && state.points >= state.points_needed
        && !plain::in_check(position)
}

/// Checks that every node of the simple tree is in the other tree, with the same figures. Returns the number of nodes.
fn compare(plain: &Node, tree: &Tree, moves: &mut Vec<Move>) -> usize {
    let other = tree.after(moves).expect("a position that both visited");
    let proven = plain.known.filter(|_| !plain.repeated).map(|value| value > 0.5);
    assert_eq!(other.proven, proven, "{moves:?}");
    let visits: u32 = plain.edges.iter().map(|edge| edge.visits).sum();
    assert_eq!(other.visits, visits, "{moves:?}");
    assert_eq!(other.moves.len(), plain.edges.len(), "{moves:?}");
    let mut nodes = 1;
    for edge in &plain.edges {
        let found =
            other.moves.iter().find(|root_move| root_move.m == edge.m).expect("a legal move");
        let actual = (found.prior, found.visits, found.noise_visits);
        let expected = (edge.prior, edge.visits, edge.noise_visits);
        assert_eq!(actual, expected, "{moves:?} {}", edge.m);
        let mean = (edge.visits > 0).then(|| (edge.sum / f64::from(edge.visits)) as f32);
        assert_eq!(found.value, mean, "{moves:?} {}", edge.m);
        if let Some(below) = &edge.node {
            moves.push(edge.m);
            nodes += compare(below, tree, moves);
            moves.pop();
        }
    }
    nodes
}

/// Searches the last position of a game in both ways. Returns the number of positions that both visited.
fn check(game: &[Position], puct: Puct, simulations: u32, seed: u64) -> usize {
    let settings = MctsSettings { puct, leaf_mate: MateLimits::NONE, ..MctsSettings::default() };
    let (before, root) = (&game[..game.len() - 1], game.last().expect("a game has a position"));
    let mut evaluator = Hashed { seed };
    let mut plain =
        Plain { settings, evaluator, noise_seed: seed, game_len: game.len(), simulations: 0 };
    let mut plain_root = plain.enter(root.clone(), before);
    // The first simulation evaluates the root.
    for i in 1..simulations {
        plain.simulations = u64::from(i);
        plain.simulate(&mut plain_root, &mut game.to_vec());
    }
    let mut history = PositionHistory::default();
    for position in game {
        history.push(position);
    }
    let mut tree = Tree::new(settings, root.clone(), history, seed);
    search(&mut tree, &mut LeafSearch::try_new(1).unwrap(), &mut evaluator, simulations - 1);
    compare(&plain_root, &tree, &mut Vec::new())
}

fn positions(moves: &[Move]) -> Vec<Position> {
    let mut position = Position::start();
    let mut positions = vec![position.clone()];
    positions.extend(moves.iter().map(|&m| {
        position.make(m);
        position.clone()
    }));
    positions
}

#[test]
fn every_node_equals_a_simple_search() {
    let mut nodes = 0;
    for (i, game) in (0..).zip(RandomPlay::new(3, 120).take(12)) {
        let all = positions(&game.moves);
        // Games that end with a mate contain short mates near the end.
        for back in [1, 2, 4, 30] {
            let game = &all[..all.len().saturating_sub(back).max(1)];
            let reduced = FirstPlay::Reduced { root: 0.1, tree: 0.05 };
            let reduced = Puct { first_play: reduced, ..Puct::DLSHOGI };
            let noisy = Puct { root_noise: RootNoise::PerMille(100), ..Puct::DLSHOGI };
            for puct in [Puct::DLSHOGI_2018, Puct::DLSHOGI, Puct::PARENT_VALUE, reduced, noisy] {
                nodes += check(game, puct, 120, i);
            }
        }
    }
    assert!(nodes > 10_000, "{nodes}");
}

#[test]
fn every_node_equals_a_simple_search_with_repetitions() {
    let mut nodes = 0;
    for sfen in [
        "4k4/9/9/9/9/9/9/9/R3K4 b - 1",
        "4k4/R8/9/9/9/9/9/9/4K4 b - 1",
        "K8/9/9/9/9/9/9/9/8k b - 1",
        "k8/9/1P7/9/9/9/9/9/8K b - 1",
    ] {
        let mut position: Position = sfen.parse().unwrap();
        let mut game = vec![position.clone()];
        let mut random = SplitMix64::new(5);
        for _ in 0..6 {
            let Some(m) = random.pick(&position.legal_moves()) else { break };
            position.make(m);
            game.push(position.clone());
        }
        nodes += check(&game, Puct::DLSHOGI_GAMES, 3000, 1);
        nodes += check(&game[..1], Puct::DLSHOGI_2018, 3000, 2);
    }
    assert!(nodes > 5000, "{nodes}");
}
