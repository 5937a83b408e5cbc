//! Simulations per second with a trivial evaluator: `search_speed [PLAYOUTS] [GAMES] [LEAF_MATE_NODES]`.
//!
//! Measures tree, input planes and batches as in self-play: one batch contains one leaf of each game. The positions are
//! from random games.

use std::error::Error;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use kyokumen_mcts::{Leaf, LeafSearch, MateLimits, MctsSettings, Simulation, Tree};
use kyokumen_network::{Batch, Evaluator, Input2, Uniform};
use kyokumen_shogi::random_play::RandomPlay;
use kyokumen_shogi::{Position, PositionHistory};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: u64| match arguments.next() {
        Some(text) => text.parse::<u64>(),
        None => Ok(default),
    };
    let (playouts, games, nodes) = (next(800)?, next(128)?, next(0)?);
    for planes in [None, Some(Input2::Hands)] {
        let mut evaluator = Uniform { planes };
        let settings =
            MctsSettings { leaf_mate: MateLimits { depth: 7, nodes }, ..MctsSettings::default() };
        let mut trees: Vec<Tree> = roots(games as usize)
            .map(|position| {
                let mut history = PositionHistory::default();
                history.push(&position);
                Tree::new(settings, position, history, 1)
            })
            .collect();
        let mut leaves = vec![Leaf::default(); trees.len()];
        let mut batch = Batch::new(trees.len(), planes);
        let mut mates = LeafSearch::try_new(1).unwrap();
        let start = Instant::now();
        let mut waiting = Vec::new();
        for _ in 0..playouts {
            batch.clear();
            waiting.clear();
            for (i, (tree, leaf)) in trees.iter_mut().zip(&mut leaves).enumerate() {
                if tree.simulate(leaf, &mut mates) == Simulation::Leaf {
                    batch.push(leaf.position(), leaf.moves());
                    waiting.push(i);
                }
            }
            evaluator.evaluate(&mut batch, &AtomicBool::new(false))?;
            for (slot, &i) in waiting.iter().enumerate() {
                trees[i].expand(&leaves[i], batch.policy(slot), batch.value(slot));
            }
        }
        let rate = (playouts * games) as f64 / start.elapsed().as_secs_f64();
        let planes = planes.map_or(0, Input2::planes);
        println!("{rate:.0} simulations/s, input2 of {planes} planes");
    }
    Ok(())
}

/// The middle position of each of some random games.
fn roots(games: usize) -> impl Iterator<Item = Position> {
    RandomPlay::new(18, 200).take(games).map(|game| {
        let mut position = Position::start();
        game.moves[..game.moves.len() / 2].iter().for_each(|&m| {
            position.make(m);
        });
        position
    })
}
