//! What the visits say about the position that is searched.

use std::cmp::Ordering;

use kyokumen_shogi::Move;

use crate::tree::{ROOT, Tree};

/// A legal move and what the search found out about it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RootMove {
    /// The move.
    pub m: Move,
    /// Its probability as the network sees it.
    pub prior: f32,
    /// Simulations that took it.
    pub visits: u32,
    /// Of these, the simulations that would have taken another move without noise at the root.
    pub noise_visits: u32,
    /// Mean of their values, to the side to move; `None` without visits.
    pub value: Option<f32>,
    /// Whether it is proven to win or to lose.
    pub proven: Option<bool>,
}

/// The position that is searched, so far.
#[derive(Clone, PartialEq, Debug)]
pub struct Root {
    /// Simulations that went on from it.
    pub visits: u32,
    /// How probable it is that the side to move wins: the mean of the simulations, before them the evaluation.
    pub value: f32,
    /// Whether the side to move is proven to win or to lose.
    pub proven: Option<bool>,
    /// All legal moves: those that win, then by visits, by probability, and by code; those that lose last.
    pub moves: Vec<RootMove>,
}

impl Root {
    /// The move to be played; `None` if there is no legal one, or nothing was searched.
    pub fn best(&self) -> Option<RootMove> {
        self.moves.first().copied()
    }
}

impl RootMove {
    /// Orders the moves of a position: what wins first, what loses last, else by visits, probability and code.
    fn order(&self, other: &Self) -> Ordering {
        let rank = |of: &Self| match of.proven {
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
    /// What is known of the root.
    pub fn root(&self) -> Root {
        self.look(ROOT)
    }

    /// Simulations that went on from the root.
    pub fn visits(&self) -> u32 {
        self.nodes.get(ROOT).visits
    }

    /// Whether the side to move is proven to win or to lose: nothing is left to search.
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

    /// What is known of the position after some moves; `None` if no simulation has made them.
    pub fn after(&self, moves: &[Move]) -> Option<Root> {
        self.node_after(moves).map(|node| self.look(node))
    }

    fn node_after(&self, moves: &[Move]) -> Option<u32> {
        let mut node = ROOT;
        for &m in moves {
            node = self.nodes.children(node).iter().find(|child| child.m == m)?.node;
        }
        Some(node)
    }

    /// The moves that are expected: from the root on the best ones, as far as they were visited.
    pub fn principal_variation(&self) -> Vec<Move> {
        self.line_through(&[])
    }

    /// These moves, and behind them those that are expected then.
    pub fn line_through(&self, moves: &[Move]) -> Vec<Move> {
        let mut line = moves.to_vec();
        let Some(mut node) = self.node_after(moves) else { return line };
        while let Some(best) = self.look(node).best().filter(|best| best.visits > 0) {
            line.push(best.m);
            let child = self.nodes.children(node).iter().find(|child| child.m == best.m);
            node = child.expect("what was visited is a child").node;
        }
        line
    }

    fn look(&self, number: u32) -> Root {
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
