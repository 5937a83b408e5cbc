//! Searches of one tree with devices that evaluate batches of its leaves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kyokumen_mcts::{Devices, LeafSearch, MateLimits, MctsSettings, Puct, RootNoise, Tree};
use kyokumen_network::{Batch, Evaluator, Hashed, Input2, NetworkError};
use kyokumen_shogi::{Position, PositionHistory};

fn tree() -> Tree {
    let none = MateLimits::NONE;
    let settings = MctsSettings { leaf_mate: none, root_mate: none, ..MctsSettings::default() };
    let start = Position::start();
    let mut history = PositionHistory::default();
    history.push(&start);
    Tree::new(settings, start, history, 1)
}

fn devices(number: usize, batch: usize) -> Devices {
    let devices = (0..number).map(|_| Box::new(Hashed::default()) as Box<dyn Evaluator>);
    Devices::start(devices.collect(), batch).unwrap()
}

#[test]
fn a_search_has_the_requested_visits_and_no_leaf_waits() {
    for (number, batch) in [(1, 1), (1, 7), (3, 16)] {
        let (mut tree, mut mates) = (tree(), LeafSearch::try_new(1).unwrap());
        let mut devices = devices(number, batch);
        for most in [1, 50, 1000] {
            devices.search(&mut tree, &mut mates, most, |_| true).unwrap();
            let root = tree.root();
            assert_eq!(root.visits, most);
            assert_eq!(root.moves.iter().map(|m| m.visits).sum::<u32>(), most);
            // All values are backed up: the mean of the root is the mean of its children.
            let sum = |m: &kyokumen_mcts::RootMove| {
                f64::from(m.visits) * f64::from(m.value.unwrap_or(0.0))
            };
            let mean = root.moves.iter().map(sum).sum::<f64>() / f64::from(most);
            assert!((mean - f64::from(root.value)).abs() < 1e-4, "{mean} {}", root.value);
        }
    }
}

#[test]
fn noise_visits_are_counted_and_taken_back_with_their_simulations() {
    let mut tree = tree();
    let settings = *tree.settings();
    let puct = Puct { root_noise: RootNoise::PerMille(300), ..settings.puct };
    let (root, history) = (tree.position().clone(), tree.history().clone());
    tree = Tree::new(MctsSettings { puct, ..settings }, root, history, 1);
    // Walks collide in these batches. Simulations that are given up must not remain counted.
    devices(2, 16).search(&mut tree, &mut LeafSearch::try_new(1).unwrap(), 500, |_| true).unwrap();
    let moves = tree.root().moves;
    assert!(moves.iter().all(|m| m.noise_visits <= m.visits));
    let noise: u32 = moves.iter().map(|m| m.noise_visits).sum();
    assert!((50..=500).contains(&noise), "{noise}");
}

#[test]
fn a_search_with_one_device_is_deterministic() {
    let search = || {
        let (mut tree, mut mates) = (tree(), LeafSearch::try_new(1).unwrap());
        devices(1, 8).search(&mut tree, &mut mates, 2000, |_| true).unwrap();
        (tree.root(), tree.node_count())
    };
    assert_eq!(search(), search());
}

#[test]
fn a_search_ends_when_it_may_not_continue() {
    let (mut tree, mut mates) = (tree(), LeafSearch::try_new(1).unwrap());
    devices(2, 4).search(&mut tree, &mut mates, u32::MAX, |tree| tree.node_count() < 500).unwrap();
    assert!((500..600).contains(&tree.node_count()), "{}", tree.node_count());
}

/// A device that evaluates a number of batches and then fails.
struct Failing(u32, fn() -> Result<(), NetworkError>);

impl Evaluator for Failing {
    fn planes(&self) -> Option<Input2> {
        None
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        match self.0.checked_sub(1) {
            Some(left) => self.0 = left,
            None => return self.1(),
        }
        Hashed::default().evaluate(batch, cancel)
    }
}

#[test]
fn devices_that_fail_or_panic_end_the_search() {
    let failures: [fn() -> Result<(), NetworkError>; 2] =
        [|| Err(NetworkError::Runtime("out of order".into())), || panic!("out of order")];
    for fails in failures {
        let (mut tree, mut mates) = (tree(), LeafSearch::try_new(1).unwrap());
        let sound = Box::new(Hashed::default());
        let mut devices = Devices::start(vec![sound, Box::new(Failing(20, fails))], 4).unwrap();
        assert!(devices.search(&mut tree, &mut mates, 1_000_000, |_| true).is_err());
    }
}

/// A device that evaluates a number of batches and then hangs until it is cancelled.
struct Hanging(u32);

impl Evaluator for Hanging {
    fn planes(&self) -> Option<Input2> {
        None
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        if self.0 > 0 {
            self.0 -= 1;
            return Hashed::default().evaluate(batch, cancel);
        }
        while !cancel.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(NetworkError::Cancelled)
    }
}

#[test]
fn a_search_with_a_hanging_device_ends() {
    for answers in [0, 2] {
        let (mut tree, mut mates) = (tree(), LeafSearch::try_new(1).unwrap());
        let mut devices = Devices::start(vec![Box::new(Hanging(answers))], 4).unwrap();
        // No batch is left for the second search.
        for _ in 0..2 {
            let until = Instant::now() + Duration::from_millis(50);
            let may_continue = |_: &Tree| Instant::now() < until;
            devices.search(&mut tree, &mut mates, u32::MAX, may_continue).unwrap();
            // Leaves that were given up do not count as visits.
            let root = tree.root();
            assert_eq!(root.moves.iter().map(|m| m.visits).sum::<u32>(), root.visits);
            assert!(root.visits <= 4 * answers, "{}", root.visits);
        }
    }
}
