//! Searches one position: one thread walks the tree while devices evaluate its leaves.
//!
//! One simulation after another fills a batch, without synchronisation. Each device has two batches: it evaluates one
//! while the other is filled. A leaf that is met twice in a batch is dropped, and the batch is smaller. The design is
//! by Yamaoka (2018).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use std::{io, thread};

use kyokumen_network::{Batch, Evaluator, NetworkError};

use crate::leaf_search::LeafSearch;
use crate::tree::{Leaf, Simulation, Tree};

/// Evaluates the leaves of one tree, with one thread for each evaluator. Dropping it cancels the evaluations.
pub struct Devices {
    requests: Vec<Sender<Request>>,
    answers: Receiver<Result<Request, NetworkError>>,
    /// The leaves of each batch, in the order of the devices.
    leaves: Vec<Leaves>,
    idle: Vec<Request>,
    cancel: Arc<AtomicBool>,
}

/// A batch, either filled here or evaluated by its device.
struct Request {
    number: usize,
    batch: Batch,
}

/// The leaves whose positions are in a batch.
#[derive(Default)]
struct Leaves {
    all: Vec<Leaf>,
    /// Number of leaves that wait for an evaluation. It is 0 after a search has ended without waiting.
    waiting: usize,
}

/// Batches of each device: one is evaluated while the other is filled.
const BATCHES: usize = 2;

/// Interval at which a search that waits for a device checks whether to continue.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Maximum time that a stopped search waits for batches in evaluation.
const STOP_TIMEOUT: Duration = Duration::from_millis(250);

/// Maximum time for devices to end after their evaluations were cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

impl Devices {
    /// Starts devices that evaluate batches of at most `batch` positions.
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
            let (request, requests) = channel();
            devices.requests.push(request);
            let panic_report = PanicReport { answer: answer.clone() };
            let cancel = Arc::clone(&devices.cancel);
            thread::Builder::new()
                .name("device".to_owned())
                .spawn(move || work(evaluator, &requests, &panic_report, &cancel))?;
        }
        // Batches are taken from the end: every device gets its first batch before any gets its second.
        let order = |request: &Request| (request.number % BATCHES, request.number / BATCHES);
        devices.idle.sort_by_key(|request| std::cmp::Reverse(order(request)));
        Ok(devices)
    }

    /// Searches until the root is proven, or it has `most_visits` visits, or `may_continue` returns `false`. That
    /// function is called between batches and while a device evaluates. After it has returned `false`, batches that
    /// take too long are given up.
    ///
    /// # Errors
    ///
    /// The first error of a device. The tree and the devices cannot be used any more.
    pub fn search(
        &mut self,
        tree: &mut Tree,
        mates: &mut LeafSearch,
        most_visits: u32,
        mut may_continue: impl FnMut(&Tree) -> bool,
    ) -> Result<(), NetworkError> {
        let mut stopped = None;
        loop {
            if stopped.is_none() && !may_continue(tree) {
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
                self.requests[request.number / BATCHES]
                    .send(request)
                    .map_err(|_| device_ended())?;
            }
            let is_waiting = self.leaves.iter().any(|leaves| leaves.waiting > 0);
            if ends && !is_waiting {
                return Ok(());
            }
            // A device may still have a batch of an earlier search.
            if !is_waiting && !self.idle.is_empty() {
                continue;
            }
            match self.answers.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(request)) => {
                    self.leaves[request.number].expand(&request.batch, tree);
                    self.idle.push(request);
                }
                // The leaves of the batch are lost, so neither the tree nor the devices can be used any more.
                Ok(Err(error)) => return Err(error),
                Err(RecvTimeoutError::Disconnected) => return Err(device_ended()),
                Err(RecvTimeoutError::Timeout) => {
                    if stopped.is_some_and(|stopped| stopped.elapsed() >= STOP_TIMEOUT) {
                        self.leaves.iter_mut().for_each(|leaves| leaves.discard(tree));
                        return Ok(());
                    }
                }
            }
        }
    }
}

impl Drop for Devices {
    /// Cancels evaluations and waits for a limited time until the evaluators are dropped.
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.requests.clear();
        let until = Instant::now() + CANCEL_TIMEOUT;
        let left = || until.saturating_duration_since(Instant::now());
        while self.answers.recv_timeout(left()).is_ok() {}
    }
}

fn device_ended() -> NetworkError {
    NetworkError::Runtime("the thread of a device has ended".into())
}

/// Reports the panic of a thread. Otherwise the receiver would wait for ever.
struct PanicReport {
    answer: Sender<Result<Request, NetworkError>>,
}

impl Drop for PanicReport {
    fn drop(&mut self) {
        if thread::panicking() {
            drop(self.answer.send(Err(device_ended())));
        }
    }
}

fn work(
    mut evaluator: Box<dyn Evaluator>,
    requests: &Receiver<Request>,
    to: &PanicReport,
    cancel: &AtomicBool,
) {
    for mut request in requests {
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
        // A quarter of the walks may collide. If all walks lead to leaves that wait, it is time to evaluate them. Walks
        // to known values need no evaluation. Their number is limited so that the caller can check the time.
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

    /// Adds the evaluations to the tree, unless the search has given up the leaves.
    fn expand(&mut self, batch: &Batch, tree: &mut Tree) {
        for (slot, leaf) in self.all[..self.waiting].iter().enumerate() {
            tree.expand(leaf, batch.policy(slot), batch.value(slot));
        }
        self.waiting = 0;
    }

    fn discard(&mut self, tree: &mut Tree) {
        for leaf in &self.all[..self.waiting] {
            tree.discard(leaf);
        }
        self.waiting = 0;
    }
}
