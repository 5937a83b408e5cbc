//! An older design of self-play, only for comparison: a thread for each game, a queue of positions, and a thread that
//! evaluates full batches.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kyokumen_mcts::LeafSearch;
use kyokumen_network::{Batch, Evaluator};
use kyokumen_selfplay::{GameSettings, SelfPlayGame, Step};

use kyokumen::shogi::Position;

/// The probabilities of the moves, and the probability of a win.
type Answer = (Vec<f32>, f32);

/// The method of waiting for an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// The thread polls.
    Busy,
    /// The thread sleeps until it is woken.
    Asleep,
}

impl Wait {
    fn answer(self, answers: &Receiver<Answer>) -> Option<Answer> {
        match self {
            Self::Asleep => answers.recv().ok(),
            Self::Busy => loop {
                match answers.try_recv() {
                    Err(TryRecvError::Empty) => thread::yield_now(),
                    answer => return answer.ok(),
                }
            },
        }
    }
}

/// Games with a thread each. There are twice as many games as positions in a batch, so that some games search while the
/// others wait.
pub(crate) struct QueuedGames {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    queue: Mutex<Queue>,
    is_full: Condvar,
    simulations: AtomicU64,
    stop: AtomicBool,
    seed: AtomicU64,
}

/// The next batch, and the channels of the games that wait for its results.
struct Queue {
    batch: Batch,
    recipients: Vec<Sender<Answer>>,
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Plays games until stopped.
    fn play(&self, settings: GameSettings, wait: Wait) {
        let mut mates = LeafSearch::try_new(1).unwrap();
        let (sender, answers) = channel();
        while !self.is_stopped() {
            let number = self.seed.fetch_add(1, Ordering::Relaxed);
            let mut game = SelfPlayGame::new(settings, 1, number, &Position::start());
            while game.step(&mut mates) == Step::Evaluate {
                {
                    let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                    while queue.recipients.len() == queue.batch.capacity() && !self.is_stopped() {
                        // The device has not taken the previous batch yet.
                        drop(queue);
                        thread::yield_now();
                        queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                    }
                    if self.is_stopped() {
                        return;
                    }
                    game.push(&mut queue.batch);
                    queue.recipients.push(sender.clone());
                    if queue.recipients.len() == queue.batch.capacity() {
                        self.is_full.notify_one();
                    }
                }
                let Some((policy, value)) = wait.answer(&answers) else { return };
                if self.is_stopped() {
                    return;
                }
                game.answer(&policy, value);
                self.simulations.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Evaluates full batches, one after another.
    fn evaluate(&self, mut device: Box<dyn Evaluator>, mut batch: Batch) {
        while !self.is_stopped() {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            while queue.recipients.len() < queue.batch.capacity() && !self.is_stopped() {
                let pause = Duration::from_millis(100);
                let waited = self.is_full.wait_timeout(queue, pause);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            mem::swap(&mut queue.batch, &mut batch);
            let recipients = mem::take(&mut queue.recipients);
            drop(queue);
            // Simulated devices do not fail.
            let _ = device.evaluate(&mut batch, &self.stop);
            for (slot, recipient) in recipients.iter().enumerate() {
                let _ = recipient.send((batch.policy(slot).to_vec(), batch.value(slot)));
            }
            batch.clear();
        }
    }
}

impl QueuedGames {
    /// Starts games with one device.
    pub(crate) fn play(
        settings: GameSettings,
        batch: usize,
        device: Box<dyn Evaluator>,
        wait: Wait,
    ) -> anyhow::Result<Self> {
        let planes = device.planes();
        let queue = Queue { batch: Batch::new(batch, planes), recipients: Vec::new() };
        let shared = Arc::new(Shared {
            queue: Mutex::new(queue),
            is_full: Condvar::new(),
            simulations: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            seed: AtomicU64::new(0),
        });
        let mut games = Self { shared: Arc::clone(&shared), threads: Vec::new() };
        for _ in 0..2 * batch {
            let shared = Arc::clone(&shared);
            games.threads.push(thread::Builder::new().spawn(move || shared.play(settings, wait))?);
        }
        let second = Batch::new(batch, planes);
        let evaluate = move || shared.evaluate(device, second);
        games.threads.push(thread::Builder::new().spawn(evaluate)?);
        Ok(games)
    }

    /// Number of simulations in all games.
    pub(crate) fn simulations(&self) -> u64 {
        self.shared.simulations.load(Ordering::Relaxed)
    }
}

impl Drop for QueuedGames {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.is_full.notify_all();
        // The device's thread is the last one and ends first. After that, the games get no more evaluations.
        for thread in std::mem::take(&mut self.threads).into_iter().rev() {
            self.wake();
            let _ = thread.join();
        }
    }
}

impl QueuedGames {
    /// Sends an empty answer to all waiting games.
    fn wake(&self) {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        for recipient in queue.recipients.drain(..) {
            let _ = recipient.send((Vec::new(), 0.0));
        }
    }
}
