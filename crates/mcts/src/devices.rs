//! The search of one position: one thread walks the tree, devices evaluate its leaves meanwhile.
//!
//! A batch is filled, a simulation after the other, with nothing synchronised; two batches go round for each device, so
//! that it evaluates one while the other is filled. A leaf that is met twice in a batch is dropped, and the batch is
//! smaller. The design is Yamaoka's of 2018.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::{io, thread};

use kyokumen_network::{Batch, EvaluationError, Evaluator};

use crate::leaf_search::LeafSearch;
use crate::tree::{Leaf, Simulation, Tree};

/// What evaluates the leaves of one tree: a thread for each evaluator.
pub struct Devices {
    requests: Vec<Sender<Request>>,
    answers: Receiver<(usize, Result<Request, EvaluationError>)>,
    idle: Vec<(usize, Request)>,
}

/// A batch and the leaves whose positions are in it.
struct Request {
    batch: Batch,
    leaves: Vec<Leaf>,
}

/// Batches of each device: one is evaluated while the other is filled.
const BATCHES: usize = 2;

impl Devices {
    /// Devices that evaluate batches of so many positions.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn start(evaluators: Vec<Box<dyn Evaluator>>, batch: usize) -> io::Result<Self> {
        let (answer, answers) = channel();
        let (mut requests, mut idle) = (Vec::new(), Vec::new());
        for (number, evaluator) in evaluators.into_iter().enumerate() {
            for _ in 0..BATCHES {
                let batch = Batch::new(batch, evaluator.planes());
                idle.push((number, Request { batch, leaves: Vec::new() }));
            }
            let (request, asked) = channel();
            requests.push(request);
            let last_words = LastWords { number, answer: answer.clone() };
            thread::Builder::new()
                .name("device".to_owned())
                .spawn(move || work(evaluator, &asked, &last_words))?;
        }
        // The first devices before their second batches.
        idle.sort_by_key(|&(number, _)| std::cmp::Reverse(number));
        Ok(Self { requests, answers, idle })
    }

    /// Searches until the root is proven or has so many visits, or `goes_on`, which is asked between batches, says no.
    ///
    /// # Errors
    ///
    /// The first of a device; neither the tree nor the devices are of any use then.
    pub fn search(
        &mut self,
        tree: &mut Tree,
        mates: &mut LeafSearch,
        most_visits: u32,
        mut goes_on: impl FnMut(&Tree) -> bool,
    ) -> Result<(), EvaluationError> {
        let mut failed = None;
        loop {
            let is_full = |tree: &Tree| tree.is_proven() || tree.visits() >= most_visits;
            let mut ends = failed.is_some() || is_full(tree) || !goes_on(tree);
            while let Some((device, mut request)) = self.idle.pop_if(|_| !ends) {
                request.fill(tree, mates, most_visits);
                if request.batch.is_empty() {
                    self.idle.push((device, request));
                    break;
                }
                if let Err(unsent) = self.requests[device].send(request) {
                    unsent.0.give_up(tree);
                    self.idle.push((device, unsent.0));
                    failed = Some(gone());
                    ends = true;
                }
            }
            let waiting = self.requests.len() * BATCHES - self.idle.len();
            match (waiting, ends) {
                (0, true) => return failed.map_or(Ok(()), Err),
                (0, false) => continue,
                _ => {}
            }
            match self.answers.recv() {
                Ok((device, Ok(request))) => {
                    request.expand(tree);
                    self.idle.push((device, request));
                }
                // What it was asked about is lost, and with it the tree; nobody goes on with either.
                Ok((_, Err(error))) => return Err(error),
                Err(_) => return Err(gone()),
            }
        }
    }
}

fn gone() -> EvaluationError {
    EvaluationError::Runtime("the thread of a device has ended".into())
}

/// Speaks for a thread that panics: whoever waits for its answer waits for ever.
struct LastWords {
    number: usize,
    answer: Sender<(usize, Result<Request, EvaluationError>)>,
}

impl Drop for LastWords {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(self.answer.send((self.number, Err(gone()))));
        }
    }
}

fn work(mut evaluator: Box<dyn Evaluator>, asked: &Receiver<Request>, to: &LastWords) {
    for mut request in asked {
        let evaluated = evaluator.evaluate(&mut request.batch).map(|()| request);
        if to.answer.send((to.number, evaluated)).is_err() {
            break;
        }
    }
}

impl Request {
    fn fill(&mut self, tree: &mut Tree, mates: &mut LeafSearch, most_visits: u32) {
        self.batch.clear();
        let most = self.batch.capacity();
        // A quarter of the walks may be in vain: where all lead to leaves that wait, it is time to evaluate them. Those
        // whose end is known cost no evaluation, and are bounded so that somebody looks at the clock.
        let (mut collisions, mut known) = (0, 0);
        while self.batch.len() < most && collisions <= most / 4 && known <= 4 * most {
            if tree.visits() >= most_visits {
                break;
            }
            let used = self.batch.len();
            if self.leaves.len() == used {
                self.leaves.push(Leaf::default());
            }
            let leaf = &mut self.leaves[used];
            match tree.simulate(leaf, mates) {
                Simulation::Leaf => self.batch.push(leaf.position(), leaf.moves()),
                Simulation::Known => known += 1,
                Simulation::Collision => collisions += 1,
                Simulation::Proven => break,
            }
        }
    }

    fn expand(&self, tree: &mut Tree) {
        for (slot, leaf) in self.leaves[..self.batch.len()].iter().enumerate() {
            tree.expand(leaf, self.batch.policy(slot), self.batch.value(slot));
        }
    }

    fn give_up(&self, tree: &mut Tree) {
        for leaf in &self.leaves[..self.batch.len()] {
            tree.give_up(leaf);
        }
    }
}
