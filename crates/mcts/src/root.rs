//! The result of a search.

use std::cmp::Ordering;

use kyokumen_shogi::Move;

use crate::node::State;
use crate::tree::{ROOT, Tree};

/// A legal move and its search result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootMove {
    /// The move.
    pub m: Move,
    /// Its probability according to the network.
    pub prior: f32,
    /// Number of simulations that took it.
    pub visits: u32,
    /// Number of these simulations that would have taken another move without noise at the root.
    pub noise_visits: u32,
    /// Mean of their values for the side to move; `None` without visits.
    pub value: Option<f32>,
    /// `true` if it is proven to win, `false` if it is proven to lose.
    pub proven: Option<bool>,
}

/// The search result of the root, or of another position in the tree.
#[derive(Clone, PartialEq, Debug)]
pub struct Root {
    /// Number of simulations below the position.
    pub visits: u32,
    /// Probability that the side to move wins: the mean of the simulations, or the evaluation if there were none.
    pub value: f32,
    /// `true` if the side to move is proven to win, `false` if it is proven to lose.
    pub proven: Option<bool>,
    /// All legal moves. Proven wins come first and proven losses last; the others are sorted by visits, probability and
    /// code.
    pub moves: Vec<RootMove>,
}

impl Root {
    /// The best move. `None` if there is no legal move, or before the search.
    pub fn best(&self) -> Option<RootMove> {
        self.moves.first().copied()
    }
}

impl RootMove {
    /// Order of the moves: proven wins first, proven losses last, otherwise by visits, probability and code.
    fn order(&self, other: &Self) -> Ordering {
        let rank = |root_move: &Self| match root_move.proven {
            Some(true) => 0,
            None => 1,
            Some(false) => 2,
        };
        rank(self)
            .cmp(&rank(other))
            .then(other.visits.cmp(&self.visits))
            .then(other.prior.total_cmp(&self.prior))
            .then(self.m.cmp(&other.m))
    }
}

impl Tree {
    /// The search result of the root.
    pub fn root(&self) -> Root {
        self.result_at(ROOT)
    }

    /// Number of simulations below the root.
    pub fn visits(&self) -> u32 {
        self.nodes.get(ROOT).visits
    }

    /// Whether the position has its evaluation, or needs none.
    pub fn is_evaluated(&self) -> bool {
        self.nodes.get(ROOT).state != State::Waiting
    }

    /// Whether the side to move is proven to win or to lose, so that there is nothing left to search.
    pub fn is_proven(&self) -> bool {
        self.nodes.get(ROOT).wins().is_some()
    }

    /// The visits of the two most visited moves of the root.
    pub fn leading_visits(&self) -> [u32; 2] {
        let mut leading = [0; 2];
        for child in self.nodes.children(ROOT) {
            if child.visits > leading[0] {
                leading = [child.visits, leading[0]];
            } else if child.visits > leading[1] {
                leading[1] = child.visits;
            }
        }
        leading
    }

    /// The search result of the position after some moves; `None` if no simulation has made them.
    pub fn after(&self, moves: &[Move]) -> Option<Root> {
        self.node_after(moves).map(|node| self.result_at(node))
    }

    fn node_after(&self, moves: &[Move]) -> Option<u32> {
        let mut node = ROOT;
        for &m in moves {
            node = self.nodes.children(node).iter().find(|child| child.m == m)?.node;
        }
        Some(node)
    }

    /// The best moves from the root, as long as they have visits.
    pub fn principal_variation(&self) -> Vec<Move> {
        self.line_through(&[])
    }

    /// These moves, followed by the best moves after them.
    pub fn line_through(&self, moves: &[Move]) -> Vec<Move> {
        let mut line = moves.to_vec();
        let Some(mut node) = self.node_after(moves) else { return line };
        while let Some(best) = self.result_at(node).best().filter(|best| best.visits > 0) {
            line.push(best.m);
            let child = self.nodes.children(node).iter().find(|child| child.m == best.m);
            node = child.expect("a visited move is a child").node;
        }
        line
    }

    fn result_at(&self, number: u32) -> Root {
        let node = self.nodes.get(number);
        let noise_visits = if number == ROOT { &self.noise_visits[..] } else { &[] };
        let noise_visits = noise_visits.iter().copied().chain(std::iter::repeat(0));
        let children = self.nodes.children(number).iter().zip(noise_visits);
        let children = children.map(|(child, noise_visits)| RootMove {
            m: child.m,
            prior: child.prior,
            visits: child.visits,
            noise_visits,
            value: (child.visits > 0).then(|| (child.value_sum / f64::from(child.visits)) as f32),
            proven: self.nodes.get(child.node).wins().map(|wins| !wins),
        });
        let (moves, priors) = self.nodes.unvisited(number);
        let unvisited = moves.iter().zip(priors).map(|(&m, &prior)| RootMove {
            m,
            prior,
            visits: 0,
            noise_visits: 0,
            value: None,
            proven: None,
        });
        let mut moves: Vec<RootMove> = children.chain(unvisited).collect();
        moves.sort_unstable_by(RootMove::order);
        let value = match node.wins() {
            Some(true) => 1.0,
            Some(false) => 0.0,
            None if node.visits > 0 => (node.value_sum / f64::from(node.visits)) as f32,
            None => node.value,
        };
        Root { visits: node.visits, value, proven: node.wins(), moves }
    }
}
