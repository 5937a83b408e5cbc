//! Compares the tree with simple implementations, and tests searches whose outcome the rules decide.

mod devices;
mod dlshogi;
mod gumbel;
mod reference;
mod rules;

use std::sync::atomic::AtomicBool;

use kyokumen_mcts::{Leaf, LeafSearch, Simulation, Tree};
use kyokumen_network::{Batch, Evaluator};

/// Searches until the root has `most_visits` visits or is proven.
fn search(
    tree: &mut Tree,
    mates: &mut LeafSearch,
    evaluator: &mut impl Evaluator,
    most_visits: u32,
) {
    let mut leaf = Leaf::default();
    let mut batch = Batch::new(1, None);
    while tree.visits() < most_visits {
        match tree.simulate(&mut leaf, mates) {
            Simulation::Leaf => {
                batch.clear();
                batch.push(leaf.position(), leaf.moves());
                evaluator.evaluate(&mut batch, &AtomicBool::new(false)).unwrap();
                tree.expand(&leaf, batch.policy(0), batch.value(0));
            }
            Simulation::Known => {}
            Simulation::Proven => break,
            Simulation::Collision => panic!("one leaf at a time"),
        }
    }
}
