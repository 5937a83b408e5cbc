//! Noise of the root and searches by Gumbel scores.

use std::collections::BTreeMap;

use kyokumen_mcts::{
    DirichletNoise, GumbelResult, GumbelRoot, LeafSearch, MateLimits, MctsSettings, Puct, Root,
    RootNoise, Tree,
};
use kyokumen_network::Hashed;
use kyokumen_shogi::{Move, Position, PositionHistory};

use super::search;

const GUMBEL: GumbelRoot = GumbelRoot { moves: 16, visits: 50.0, scale: 1.0 };

fn searched(settings: MctsSettings, seed: u64, simulations: u32) -> Tree {
    let settings = MctsSettings { leaf_mate: MateLimits::NONE, ..settings };
    let start = Position::start();
    let mut history = PositionHistory::default();
    history.push(&start);
    let mut tree = Tree::new(settings, start, history, seed);
    tree.plan(simulations);
    search(&mut tree, &mut LeafSearch::try_new(1).unwrap(), &mut Hashed { seed: 3 }, simulations);
    tree
}

fn by_gumbel(gumbel: GumbelRoot, seed: u64, simulations: u32) -> (Root, GumbelResult) {
    let settings = MctsSettings { gumbel: Some(gumbel), ..MctsSettings::default() };
    let tree = searched(settings, seed, simulations);
    (tree.root(), tree.gumbel_result().unwrap())
}

#[test]
fn sequential_halving_divides_the_visits() {
    for seed in 0..20 {
        let (root, result) = by_gumbel(GUMBEL, seed, 200);
        assert_eq!(root.visits, 200);
        let visits: Vec<u32> = root.moves.iter().map(|m| m.visits).take_while(|&n| n > 0).collect();
        // 3 × 16, 6 × 8, 12 × 4 and 25 × 2 visits, and 6 more for two moves.
        let expected = [49, 49, 21, 21, 9, 9, 9, 9, 3, 3, 3, 3, 3, 3, 3, 3];
        assert_eq!(visits, expected, "{seed}");
        assert!(root.moves[..2].iter().any(|m| m.m == result.best));
    }
}

/// The paper's theorem: with any increasing function of the values, the improved policy has a larger mean value.
#[test]
fn the_improved_policy_is_an_improvement() {
    for seed in 0..20 {
        let (root, result) = by_gumbel(GUMBEL, seed, 100);
        let policy: BTreeMap<Move, f32> = result.policy.iter().copied().collect();
        assert_eq!(policy.len(), root.moves.len());
        assert!((policy.values().sum::<f32>() - 1.0).abs() < 1e-4);
        let visited = root.moves.iter().filter_map(|m| Some((m.prior, policy[&m.m], m.value?)));
        let mean = |pairs: Vec<(f32, f32)>| {
            let weights: f32 = pairs.iter().map(|pair| pair.0).sum();
            pairs.iter().map(|(weight, value)| weight * value).sum::<f32>() / weights
        };
        let before = mean(visited.clone().map(|(prior, _, value)| (prior, value)).collect());
        let after = mean(visited.map(|(_, improved, value)| (improved, value)).collect());
        assert!(after > before, "{after} {before}");
    }
}

/// If values do not count, the move to play is drawn from the policy (the "Gumbel-max trick").
#[test]
fn without_values_moves_are_drawn_from_the_policy() {
    const SEARCHES: u32 = 6_000;
    let mut played = BTreeMap::<Move, u32>::new();
    let mut priors = BTreeMap::new();
    for seed in 0..u64::from(SEARCHES) {
        let (root, result) = by_gumbel(GumbelRoot { scale: 0.0, moves: 4, ..GUMBEL }, seed, 4);
        *played.entry(result.best).or_default() += 1;
        priors = root.moves.iter().map(|m| (m.m, f64::from(m.prior))).collect();
    }
    // Pearson's χ² for 29 degrees of freedom is below 58 in 99.9 % of all cases.
    let difference = |m: &Move, prior: f64| {
        let expected = prior * f64::from(SEARCHES);
        let actual = f64::from(played.get(m).copied().unwrap_or(0));
        (actual - expected) * (actual - expected) / expected
    };
    let chi_squared: f64 = priors.iter().map(|(m, &prior)| difference(m, prior)).sum();
    assert_eq!(priors.len(), 30);
    assert!(chi_squared < 58.0, "{chi_squared}");
}

#[test]
fn a_search_without_noise_does_not_depend_on_the_seed() {
    let best = |seed| {
        let settings = MctsSettings {
            gumbel: Some(GUMBEL),
            leaf_mate: MateLimits::NONE,
            ..MctsSettings::default()
        };
        let start = Position::start();
        let mut history = PositionHistory::default();
        history.push(&start);
        let mut tree = Tree::new(settings, start, history, seed);
        tree.plan(50);
        tree.disable_noise();
        search(&mut tree, &mut LeafSearch::try_new(1).unwrap(), &mut Hashed { seed: 3 }, 50);
        tree.root()
    };
    assert_eq!(best(1), best(2));
    assert_ne!(by_gumbel(GUMBEL, 1, 50).0, by_gumbel(GUMBEL, 2, 50).0);
}

#[test]
fn dirichlet_noise_changes_visits_and_marks_them() {
    let root = |weight, seed| {
        let noise = RootNoise::Dirichlet(DirichletNoise { concentration: 10.83, weight });
        let puct = Puct { root_noise: noise, ..Puct::DLSHOGI };
        searched(MctsSettings { puct, ..MctsSettings::default() }, seed, 200).root()
    };
    let noise_visits = |root: &Root| root.moves.iter().map(|m| m.noise_visits).sum::<u32>();
    assert_eq!(noise_visits(&root(0.0, 1)), 0);
    assert_eq!(root(0.0, 1), root(0.0, 2));
    assert_ne!(root(0.25, 1), root(0.25, 2));
    assert!(noise_visits(&root(0.25, 1)) > 0);
}
