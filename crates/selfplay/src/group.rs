//! The games of one thread: advances each game to its next leaf, and has the batch evaluated.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use kyokumen_format::PositionKey;
use kyokumen_mcts::LeafSearch;
use kyokumen_network::{Batch, NetworkError};

use crate::cache::EvaluationCache;
use crate::device::Device;
use crate::error::GamesError;
use crate::figures::Counters;
use crate::game::{SelfPlayGame, Step};
use crate::groups::{RunSettings, Shared, Worker};
use crate::opponents::{OpponentQueue, opponents_side};
use crate::settings::GameSettings;

/// The games of one thread.
pub(crate) struct Group {
    pub(crate) worker: Worker,
    pub(crate) settings: GameSettings,
    pub(crate) run: RunSettings,
    pub(crate) seed: u64,
    pub(crate) device_number: usize,
    pub(crate) device: Device,
    pub(crate) games: Vec<SelfPlayGame>,
    pub(crate) batch: Batch,
    pub(crate) mates: LeafSearch,
    pub(crate) cache: Option<Arc<EvaluationCache>>,
    /// The positions of the batch, if there is a cache.
    pub(crate) keys: Vec<PositionKey>,
    /// The game of each position of the batch.
    pub(crate) slots: Vec<usize>,
    pub(crate) opponents: Option<OpponentQueue>,
}

impl Group {
    /// Plays games until all have been started and the last one has ended.
    pub(crate) fn play(&mut self) -> Result<(), GamesError> {
        let shared = Arc::clone(&self.worker.shared);
        let mut last = Instant::now();
        while !shared.stop.load(Ordering::Relaxed) {
            self.search()?;
            if self.batch.is_empty() {
                if !self.games.is_empty() {
                    self.receive_moves(true);
                    continue;
                }
                if self.worker.is_out_of_games() {
                    break;
                }
                // Too many games wait for an earlier game of another group.
                thread::yield_now();
                continue;
            }
            if !self.evaluate()? {
                shared.stop.store(true, Ordering::Relaxed);
                break;
            }
            Counters::add(&shared.counters.simulations, self.batch.len() as u64);
            for (slot, &game) in self.slots.iter().enumerate() {
                self.games[game].answer(self.batch.policy(slot), self.batch.value(slot));
            }
            if let Some(cache) = &self.cache {
                for (slot, key) in self.keys.drain(..).enumerate() {
                    cache.insert(key, self.batch.policy(slot), self.batch.value(slot));
                }
            }
            Counters::add_time(&shared.counters.running_ns, last.elapsed());
            last = Instant::now();
        }
        Ok(())
    }

    /// Advances every game to its next leaf, and starts new games in place of ended ones.
    fn search(&mut self) -> Result<(), GamesError> {
        let shared = Arc::clone(&self.worker.shared);
        let counters = &shared.counters;
        self.batch.clear();
        self.slots.clear();
        self.receive_moves(false);
        let share = self.opponents.as_ref().map_or(0.0, |opponents| opponents.share);
        let mut i = 0;
        while i < self.run.batch {
            if i == self.games.len() {
                let Some((number, opening)) = self.worker.begin()? else { break };
                let game = SelfPlayGame::new(self.settings, self.seed, number, &opening);
                self.games.push(game.against(opponents_side(share, self.seed, number)));
            }
            let before = self.games[i].counts();
            let step = self.games[i].step(&mut self.mates);
            let after = self.games[i].counts();
            Counters::add(&counters.simulations, after.simulations - before.simulations);
            Counters::add(&counters.positions, after.positions - before.positions);
            Counters::add(&counters.moves, after.moves - before.moves);
            match step {
                Step::Evaluate => {
                    if self.answer_from_cache(i) {
                        Counters::add(&counters.simulations, 1);
                        Counters::add(&counters.cached, 1);
                        continue;
                    }
                    self.games[i].push(&mut self.batch);
                    self.slots.push(i);
                    i += 1;
                }
                Step::Opponent => {
                    if let (Some(turn), Some(opponents)) =
                        (self.games[i].take_turn(), &self.opponents)
                    {
                        opponents.send(turn);
                    }
                    i += 1;
                }
                Step::Ended => {
                    let finished = self.games.swap_remove(i).finish();
                    self.worker.deliver_game(finished);
                }
            }
        }
        Ok(())
    }

    /// Passes the moves of opponents to their games.
    fn receive_moves(&mut self, waits: bool) {
        let Some(opponents) = &self.opponents else { return };
        for (number, answer) in opponents.answers(waits) {
            let game = self.games.iter_mut().find(|game| game.number() == number);
            game.expect("a game waits for its answer").answer_opponent(answer);
        }
    }

    /// Answers a waiting game if its position is in the cache.
    fn answer_from_cache(&mut self, game: usize) -> bool {
        let Some(cache) = &self.cache else { return false };
        let game = &mut self.games[game];
        let key = EvaluationCache::key(game.waiting());
        let Some(evaluation) = cache.get(&key) else {
            self.keys.push(key);
            return false;
        };
        let (policy, value) = evaluation.policy_and_value();
        game.answer_from_cache(policy, value);
        true
    }

    /// Evaluates the batch. Returns `false` if the device's thread has panicked or the games are being stopped.
    fn evaluate(&mut self) -> Result<bool, GamesError> {
        let Shared { counters, stop, .. } = &*self.worker.shared;
        let times = match self.device.evaluate(&mut self.batch, stop) {
            Ok(times) => times,
            Err(NetworkError::Cancelled) => return Ok(false),
            Err(source) => {
                return Err(GamesError::Evaluation { device: self.device_number, source });
            }
        };
        Counters::add_time(&counters.waiting_ns, times.waiting);
        Counters::add_time(&counters.evaluating_ns, times.evaluating);
        Counters::add(&counters.batches, 1);
        Counters::add(&counters.evaluations, self.batch.len() as u64);
        Counters::add(&counters.slots, self.batch.capacity() as u64);
        Ok(true)
    }
}
