//! Chooses the moves of a simulation.

use kyokumen_shogi::Move;

use crate::node::{Child, Node, Nodes};
use crate::settings::{FirstPlay, Puct};

/// The move that a simulation takes at a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chosen {
    /// A move that was visited: its index among the children.
    Child(u16),
    /// A move that was not visited: its index among the unvisited moves.
    Unvisited(usize),
}

/// The move that a simulation takes at a node, and whether noise decided it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    pub(crate) chosen: Chosen,
    /// Whether another move would have been chosen without noise.
    pub(crate) by_noise: bool,
}

/// The terms of the formula that do not depend on the move.
struct Terms {
    /// c(N)
    c: f32,
    sqrt_visits: f32,
    first_q: f32,
    first_u: f32,
    least_prior: f32,
}

impl Terms {
    fn new(puct: &Puct, node: &Node, is_root: bool) -> Self {
        let sqrt_visits = (node.visits as f32).sqrt();
        let (first_q, first_u) = match puct.first_play {
            FirstPlay::Constant(q) => (q, 1.0),
            FirstPlay::Reduced { .. } if node.visits == 0 => (0.0, 1.0),
            FirstPlay::Reduced { root, tree } => {
                let k = if is_root { root } else { tree };
                let q = (node.value_sum / f64::from(node.visits)) as f32;
                ((q - k * node.selected_prior.sqrt()).max(0.0), sqrt_visits)
            }
        };
        let exploration = if is_root { puct.root_exploration } else { puct.exploration };
        let c = exploration.at(node.visits);
        Self { c, sqrt_visits, first_q, first_u, least_prior: puct.least_prior }
    }

    fn score_child(&self, child: &Child, prior: f32) -> f32 {
        // The child was visited, but all its simulations were given up.
        if child.visits == 0 {
            return self.score_unvisited(prior);
        }
        let q = (child.value_sum / f64::from(child.visits)) as f32;
        let u = self.sqrt_visits / (1 + child.visits) as f32;
        q + self.c * u * prior.max(self.least_prior)
    }

    fn score_unvisited(&self, prior: f32) -> f32 {
        self.first_q + self.c * self.first_u * prior.max(self.least_prior)
    }
}

/// The move that a simulation takes. `None` if all moves were visited and lose.
pub(crate) fn choose(puct: &Puct, nodes: &Nodes, node: u32, is_root: bool) -> Option<Chosen> {
    let terms = Terms::new(puct, nodes.get(node), is_root);
    let mut best = (f32::NEG_INFINITY, None);
    for (child_index, child) in nodes.children(node).iter().enumerate() {
        let score = terms.score_child(child, child.prior);
        if !child.loses && score > best.0 {
            best = (score, Some(Chosen::Child(child_index as u16)));
        }
    }
    // The first unvisited move is the most probable one.
    match nodes.unvisited(node).1.first() {
        Some(&prior) if best.1.is_none() || terms.score_unvisited(prior) > best.0 => {
            Some(Chosen::Unvisited(0))
        }
        _ => best.1,
    }
}

/// Like [`choose`] at the root, whose noise gives the moves other probabilities.
pub(crate) fn choose_with_noise(
    puct: &Puct,
    nodes: &Nodes,
    root: u32,
    noisy: impl Fn(Move, f32) -> f32,
) -> Option<Choice> {
    let chosen = choose_with_priors(puct, nodes, root, noisy)?;
    let without_noise = choose_with_priors(puct, nodes, root, |_, prior| prior)?;
    Some(Choice { chosen, by_noise: chosen != without_noise })
}

/// The move that the root takes if its moves have the probabilities given by `probability`. Of equal moves, the more
/// probable one comes first, then the one with the smaller code.
fn choose_with_priors(
    puct: &Puct,
    nodes: &Nodes,
    root: u32,
    probability: impl Fn(Move, f32) -> f32,
) -> Option<Chosen> {
    let terms = Terms::new(puct, nodes.get(root), true);
    let children = nodes.children(root).iter().enumerate().filter(|(_, child)| !child.loses);
    let children = children.map(|(child_index, child)| {
        let score = terms.score_child(child, probability(child.m, child.prior));
        (score, child.prior, child.m, Chosen::Child(child_index as u16))
    });
    let (moves, priors) = nodes.unvisited(root);
    let unvisited = moves.iter().zip(priors).enumerate().map(|(i, (&m, &prior))| {
        (terms.score_unvisited(probability(m, prior)), prior, m, Chosen::Unvisited(i))
    });
    let order = |a: &(f32, f32, Move, Chosen), b: &(f32, f32, Move, Chosen)| {
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(b.2.cmp(&a.2))
    };
    children.chain(unvisited).max_by(order).map(|(_, _, _, chosen)| chosen)
}
