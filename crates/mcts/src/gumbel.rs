//! Choice of the root's moves by sequential halving of Gumbel scores.

use kyokumen_shogi::Move;

use crate::node::Nodes;
use crate::noise::gumbel;
use crate::puct::Chosen;
use crate::settings::GumbelRoot;

/// The search result of a root whose moves were chosen by Gumbel scores.
#[derive(Clone, PartialEq, Debug)]
pub struct GumbelResult {
    /// The move to play: of the moves with the most visits, the one with the best score.
    pub best: Move,
    /// The improved policy: the probabilities of all moves that are not proven to lose, in descending order.
    pub policy: Vec<(Move, f32)>,
}

/// The plan of a root's simulations, and its random numbers.
#[derive(Clone, Debug)]
pub(crate) struct GumbelSearch {
    settings: GumbelRoot,
    /// Selects the random numbers. `None`: all are 0.
    seed: Option<u64>,
    /// For each simulation, the number of visits that its move has before it.
    visits: Vec<u32>,
}

/// A move of the root that is not proven to lose.
struct Scored {
    chosen: Chosen,
    m: Move,
    prior: f32,
    visits: u32,
    /// Logit and value, without the random number.
    improved: f64,
    score: f64,
}

impl GumbelSearch {
    /// Plans a number of simulations of a root with `legal` moves.
    pub(crate) fn new(
        settings: GumbelRoot,
        seed: Option<u64>,
        legal: usize,
        simulations: u32,
    ) -> Self {
        let moves = usize::from(settings.moves).min(legal).max(1);
        Self { settings, seed, visits: planned_visits(moves, simulations) }
    }

    /// The move that the next simulation takes. `None` if all moves were visited and lose.
    ///
    /// The number of moves that have exactly the planned visits shrinks when moves are proven to lose. Then moves with
    /// the nearest numbers of visits take their place.
    pub(crate) fn choose(&self, nodes: &Nodes, root: u32) -> Option<Chosen> {
        let simulation = nodes.get(root).visits as usize;
        let planned = self.visits.get(simulation).copied().unwrap_or(u32::MAX);
        let scored = self.scored(nodes, root).into_iter();
        let order = |a: &Scored, b: &Scored| {
            let distance = |scored: &Scored| scored.visits.abs_diff(planned);
            distance(b).cmp(&distance(a)).then_with(|| a.order(b))
        };
        scored.max_by(order).map(|scored| scored.chosen)
    }

    /// The result of the search. `None` if all moves lose.
    pub(crate) fn result(&self, nodes: &Nodes, root: u32) -> Option<GumbelResult> {
        let scored = self.scored(nodes, root);
        let order = |a: &&Scored, b: &&Scored| a.visits.cmp(&b.visits).then_with(|| a.order(b));
        let best = scored.iter().max_by(order)?.m;
        let largest = scored.iter().map(|scored| scored.improved).fold(f64::MIN, f64::max);
        let weights: Vec<f64> =
            scored.iter().map(|scored| libm::exp(scored.improved - largest)).collect();
        let sum: f64 = weights.iter().sum();
        let mut policy: Vec<(Move, f32)> = scored
            .iter()
            .zip(weights)
            .map(|(scored, weight)| (scored.m, (weight / sum) as f32))
            .collect();
        policy.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Some(GumbelResult { best, policy })
    }

    fn scored(&self, nodes: &Nodes, root: u32) -> Vec<Scored> {
        let children = nodes.children(root);
        let unvisited_value = mixed_value(nodes, root);
        let most = children.iter().map(|child| child.visits).max().unwrap_or(0);
        let GumbelRoot { visits, scale, .. } = self.settings;
        let weight = (f64::from(visits) + f64::from(most)) * f64::from(scale);
        let scored = |chosen, m, prior: f32, visits, value| {
            // A move that the network gives no probability at all is still legal.
            let logit = libm::log(f64::from(prior).max(1e-20));
            let improved = logit + weight * value;
            let noise = self.seed.map_or(0.0, |seed| gumbel(seed, m));
            Scored { chosen, m, prior, visits, improved, score: improved + noise }
        };
        let visited = children.iter().enumerate().filter(|(_, child)| !child.loses);
        let visited = visited.map(|(child_index, child)| {
            let value = match child.visits {
                0 => unvisited_value,
                visits => child.value_sum / f64::from(visits),
            };
            scored(Chosen::Child(child_index as u16), child.m, child.prior, child.visits, value)
        });
        let (moves, priors) = nodes.unvisited(root);
        let unvisited = moves.iter().zip(priors).enumerate();
        let unvisited = unvisited
            .map(|(i, (&m, &prior))| scored(Chosen::Unvisited(i), m, prior, 0, unvisited_value));
        visited.chain(unvisited).collect()
    }
}

impl Scored {
    /// The better move is greater. Of equal scores, the more probable move comes first, then the one with the smaller
    /// code.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.prior.total_cmp(&other.prior))
            .then(other.m.cmp(&self.m))
    }
}

/// The value of moves without visits: the mean of the root's evaluation and of the values of visited moves, weighted by
/// their probabilities (appendix D of the paper).
fn mixed_value(nodes: &Nodes, root: u32) -> f64 {
    let evaluation = f64::from(nodes.get(root).value);
    let (mut visits, mut priors, mut values) = (0.0, 0.0, 0.0);
    for child in nodes.children(root).iter().filter(|child| child.visits > 0) {
        let count = f64::from(child.visits);
        visits += count;
        priors += f64::from(child.prior);
        values += f64::from(child.prior) * child.value_sum / count;
    }
    if priors > 0.0 { (evaluation + visits * values / priors) / (1.0 + visits) } else { evaluation }
}

/// For each simulation, the number of visits that its move has before it: in each round, all remaining moves get the
/// same number of visits. Then the better half remains, but at least two moves.
fn planned_visits(moves: usize, simulations: u32) -> Vec<u32> {
    let simulations = simulations as usize;
    let rounds = moves.next_power_of_two().ilog2().max(1) as usize;
    let mut planned = Vec::with_capacity(simulations);
    let (mut remaining, mut visits) = (moves, 0);
    while planned.len() < simulations {
        for _ in 0..(simulations / (rounds * remaining)).max(1) {
            planned.extend(std::iter::repeat_n(visits, remaining));
            visits += 1;
        }
        remaining = (remaining / 2).clamp(2.min(moves), remaining);
    }
    planned.truncate(simulations);
    planned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 200 simulations of 16 moves: 4 rounds with 3 × 16, 6 × 8, 12 × 4 and 25 × 2 visits, and 6 more visits.
    #[test]
    fn visits_are_planned_by_sequential_halving() {
        let planned = planned_visits(16, 200);
        assert_eq!(planned.len(), 200);
        let count = |visits| planned.iter().filter(|&&planned| planned == visits).count();
        assert_eq!([0, 2, 3, 8, 9, 20, 21, 45, 48].map(count), [16, 16, 8, 8, 4, 4, 2, 2, 2]);
        assert_eq!(planned_visits(1, 3), [0, 1, 2]);
        assert_eq!(planned_visits(2, 5), [0, 0, 1, 1, 2]);
        assert_eq!(planned_visits(3, 4), [0, 0, 0, 1]);
        // Fewer simulations than moves.
        assert_eq!(planned_visits(16, 5), [0; 5]);
    }
}
