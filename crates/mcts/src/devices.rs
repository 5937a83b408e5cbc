//! The search of one position: one thread walks the tree, devices evaluate its leaves meanwhile.
//!
//! A batch is filled, a simulation after the other, with nothing synchronised; two batches go round for each device, so
//! that it evaluates one while the other is filled. A leaf that is met twice in a batch is dropped, and the batch is
//! smaller. The design is Yamaoka's of 2018.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use kyokumen_network::{Batch, Evaluator, NetworkError};

use crate::leaf_search::LeafSearch;
use crate::tree::{Leaf, Simulation, Tree};

/// What evaluates the leaves of one tree: a thread for each evaluator. Evaluations are cancelled when this is dropped.
pub struct Devices {
    requests: Vec<Sender<Request>>,
    answers: Receiver<Result<Request, NetworkError>>,
    /// Those of each batch, in the order of the devices.
    leaves: Vec<Leaves>,
    idle: Vec<Request>,
    cancel: Arc<AtomicBool>,
}

/// A batch, here or at its device.
struct Request {
    number: usize,
    batch: Batch,
}

/// The leaves whose positions are in a batch.
#[derive(Default)]
struct Leaves {
    all: Vec<Leaf>,
    /// So many of them wait for an answer. None does once a search has ended without waiting for it.
    waiting: usize,
}

/// Batches of each device: one is evaluated while the other is filled.
const BATCHES: usize = 2;

/// How often a search that waits for a device asks whether it goes on.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a search that does not go on waits for batches that are being evaluated.
const LAST_PATIENCE: Duration = Duration::from_millis(250);

/// How long devices may take to end when their evaluations are cancelled.
const END_PATIENCE: Duration = Duration::from_secs(1);

impl Devices {
    /// Devices that evaluate batches of so many positions.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn start(evaluators: Vec<Box<dyn Evaluator>>, batch: usize) -> io::Result<Self> {
        let (answer, answers) = channel();
        let (cancel, number) = (Arc::<AtomicBool>::default(), evaluators.len() * BATCHES);
        let leaves = std::iter::repeat_with(Leaves::default).take(number).collect();
        let (requests, idle) = (Vec::new(), Vec::new());
        let mut devices = Self { requests, answers, leaves, idle, cancel };
        for (device, evaluator) in evaluators.into_iter().enumerate() {
            for number in device * BATCHES..(device + 1) * BATCHES {
                let batch = Batch::new(batch, evaluator.planes());
                devices.idle.push(Request { number, batch });
            }
            let (request, asked) = channel();
            devices.requests.push(request);
            let last_words = LastWords { answer: answer.clone() };
            let cancel = Arc::clone(&devices.cancel);
            thread::Builder::new()
                .name("device".to_owned())
                .spawn(move || work(evaluator, &asked, &last_words, &cancel))?;
        }
        // The first devices before their second batches.
        devices.idle.sort_by_key(|request| std::cmp::Reverse(request.number / BATCHES));
        Ok(devices)
    }

    /// Searches until the root is proven or has so many visits, or `goes_on`, which is asked between batches and while
    /// a device evaluates, says no. In that case a batch whose device is too slow is not waited for.
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
    ) -> Result<(), NetworkError> {
        let mut stopped = None;
        loop {
            if stopped.is_none() && !goes_on(tree) {
                stopped = Some(Instant::now());
            }
            let is_full = tree.is_proven() || tree.visits() >= most_visits;
            let ends = stopped.is_some() || is_full;
            while let Some(mut request) = self.idle.pop_if(|_| !ends) {
                let leaves = &mut self.leaves[request.number];
                leaves.fill(&mut request.batch, tree, mates, most_visits);
                if request.batch.is_empty() {
                    self.idle.push(request);
                    break;
                }
                self.requests[request.number / BATCHES].send(request).map_err(|_| gone())?;
            }
            let is_waiting = self.leaves.iter().any(|leaves| leaves.waiting > 0);
            if ends && !is_waiting {
                return Ok(());
            }
            // A device may have a batch of an earlier search.
            if !is_waiting && !self.idle.is_empty() {
                continue;
            }
            match self.answers.recv_timeout(LOOK_EVERY) {
                Ok(Ok(request)) => {
                    self.leaves[request.number].expand(&request.batch, tree);
                    self.idle.push(request);
                }
                // What it was asked about is lost, and with it the tree; nobody goes on with either.
                Ok(Err(error)) => return Err(error),
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                Err(RecvTimeoutError::Timeout) => {
                    if stopped.is_some_and(|stopped| stopped.elapsed() >= LAST_PATIENCE) {
                        self.leaves.iter_mut().for_each(|leaves| leaves.give_up(tree));
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Drop for Devices {
    /// Cancels evaluations, and waits a little for what evaluates to be dropped.
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.requests.clear();
        let until = Instant::now() + END_PATIENCE;
        let left = || until.saturating_duration_since(Instant::now());
        while self.answers.recv_timeout(left()).is_ok() {}
    }
}

fn gone() -> NetworkError {
    NetworkError::Runtime("the thread of a device has ended".into())
}

/// Speaks for a thread that panics: whoever waits for its answer waits for ever.
struct LastWords {
    answer: Sender<Result<Request, NetworkError>>,
}

impl Drop for LastWords {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(self.answer.send(Err(gone())));
        }
    }
}

fn work(
    mut evaluator: Box<dyn Evaluator>,
    asked: &Receiver<Request>,
    to: &LastWords,
    cancel: &AtomicBool,
) {
    for mut request in asked {
        let evaluated = evaluator.evaluate(&mut request.batch, cancel).map(|()| request);
        if to.answer.send(evaluated).is_err() {
            break;
        }
    }
}

impl Leaves {
    fn fill(
        &mut self,
        batch: &mut Batch,
        tree: &mut Tree,
        mates: &mut LeafSearch,
        most_visits: u32,
    ) {
        batch.clear();
        let most = batch.capacity();
        // A quarter of the walks may be in vain: where all lead to leaves that wait, it is time to evaluate them. Those
        // whose end is known cost no evaluation, and are bounded so that somebody looks at the clock.
        let (mut collisions, mut known) = (0, 0);
        while batch.len() < most && collisions <= most / 4 && known <= 4 * most {
            if tree.visits() >= most_visits {
                break;
            }
            let used = batch.len();
            if self.all.len() == used {
                self.all.push(Leaf::default());
            }
            let leaf = &mut self.all[used];
            match tree.simulate(leaf, mates) {
                Simulation::Leaf => batch.push(leaf.position(), leaf.moves()),
                Simulation::Known => known += 1,
                Simulation::Collision => collisions += 1,
                Simulation::Proven => break,
            }
        }
        self.waiting = batch.len();
    }

    /// Takes the answers, unless nobody waits for them any more.
    fn expand(&mut self, batch: &Batch, tree: &mut Tree) {
        for (slot, leaf) in self.all[..self.waiting].iter().enumerate() {
            tree.expand(leaf, batch.policy(slot), batch.value(slot));
        }
        self.waiting = 0;
    }

    fn give_up(&mut self, tree: &mut Tree) {
        for leaf in &self.all[..self.waiting] {
            tree.give_up(leaf);
        }
        self.waiting = 0;
    }
}
