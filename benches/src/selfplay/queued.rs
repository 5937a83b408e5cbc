//! Self-play as programs did it before games took turns on one thread: a thread for each game, a queue of positions,
//! and a thread that evaluates what has gathered. Measured against, and used for nothing else.

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

/// Probabilities of the moves, and of a win.
type Answer = (Vec<f32>, f32);

/// How a thread waits for its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Asking again and again, as those programs did.
    Busy,
    /// Asleep until it is woken.
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

/// Games on threads of their own: twice as many as a batch has room for, so that some search while others wait.
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

/// Positions that wait, and who waits for the answers.
struct Queue {
    batch: Batch,
    waiting: Vec<Sender<Answer>>,
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Plays games until they are stopped.
    fn play(&self, settings: GameSettings, wait: Wait) {
        let mut mates = LeafSearch::try_new(1).unwrap();
        let (sender, answers) = channel();
        while !self.is_stopped() {
            let number = self.seed.fetch_add(1, Ordering::Relaxed);
            let mut game = SelfPlayGame::new(settings, 1, number, &Position::start());
            while game.step(&mut mates) == Step::Evaluate {
                {
                    let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                    while queue.waiting.len() == queue.batch.capacity() && !self.is_stopped() {
                        // The device has not taken the last ones yet.
                        drop(queue);
                        thread::yield_now();
                        queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                    }
                    if self.is_stopped() {
                        return;
                    }
                    game.push(&mut queue.batch);
                    queue.waiting.push(sender.clone());
                    if queue.waiting.len() == queue.batch.capacity() {
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

    /// Evaluates one full batch after the other.
    fn evaluate(&self, mut device: Box<dyn Evaluator>, mut batch: Batch) {
        while !self.is_stopped() {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            while queue.waiting.len() < queue.batch.capacity() && !self.is_stopped() {
                let pause = Duration::from_millis(100);
                let waited = self.is_full.wait_timeout(queue, pause);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            mem::swap(&mut queue.batch, &mut batch);
            let waiting = mem::take(&mut queue.waiting);
            drop(queue);
            // Simulated devices do not fail.
            let _ = device.evaluate(&mut batch, &self.stop);
            for (slot, waiting) in waiting.iter().enumerate() {
                let _ = waiting.send((batch.policy(slot).to_vec(), batch.value(slot)));
            }
            batch.clear();
        }
    }
}

impl QueuedGames {
    /// Begins to play with one device.
    pub(crate) fn play(
        settings: GameSettings,
        batch: usize,
        device: Box<dyn Evaluator>,
        wait: Wait,
    ) -> anyhow::Result<Self> {
        let planes = device.planes();
        let queue = Queue { batch: Batch::new(batch, planes), waiting: Vec::new() };
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

    /// Simulations of all games.
    pub(crate) fn simulations(&self) -> u64 {
        self.shared.simulations.load(Ordering::Relaxed)
    }
}

impl Drop for QueuedGames {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.is_full.notify_all();
        // The device, which is the last one, answers nobody any more.
        for thread in std::mem::take(&mut self.threads).into_iter().rev() {
            self.wake();
            let _ = thread.join();
        }
    }
}

impl QueuedGames {
    /// Answers whoever waits.
    fn wake(&self) {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        for waiting in queue.waiting.drain(..) {
            let _ = waiting.send((Vec::new(), 0.0));
        }
    }
}
