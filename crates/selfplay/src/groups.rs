//! Games on several threads, in groups that share a device.
//!
//! A group is a thread with one game for each position of a batch. It advances each game to its next leaf, has the
//! batch evaluated and passes the results to the games. A device evaluates for one group at a time, while the other
//! groups search.

use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use kyokumen_mcts::LeafSearch;
use kyokumen_network::{Batch, Evaluator};
use kyokumen_search::STACK_BYTES;
use kyokumen_shogi::Position;

use crate::cache::EvaluationCache;
use crate::device::Device;
use crate::error::GamesError;
use crate::figures::{Counters, Figures};
use crate::game::FinishedGame;
use crate::group::Group;
use crate::opponents::{OpponentQueue, Opponents, Request, choose_moves};
use crate::players::{self, Player};
use crate::settings::GameSettings;

/// Start positions of games.
pub trait Openings: Send + Sync {
    /// The start position of a game; `None` if the game is not played.
    ///
    /// # Errors
    ///
    /// If the start position cannot be read.
    fn opening(
        &self,
        number: u64,
    ) -> Result<Option<Position>, Box<dyn std::error::Error + Send + Sync>>;
}

/// Starts every game from the start position of an even game.
#[derive(Clone, Copy, Debug, Default)]
pub struct StartPosition;

impl Openings for StartPosition {
    fn opening(
        &self,
        _: u64,
    ) -> Result<Option<Position>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Some(Position::start()))
    }
}

/// The networks that play.
pub struct Networks {
    /// The devices of each network. Game n is played by network n mod the number of networks.
    pub devices: Vec<Vec<Box<dyn Evaluator>>>,
    /// Players of one side of a share of the games.
    pub opponents: Opponents,
}

impl From<Vec<Vec<Box<dyn Evaluator>>>> for Networks {
    /// Networks that play only against themselves, by their devices.
    fn from(devices: Vec<Vec<Box<dyn Evaluator>>>) -> Self {
        Self { devices, opponents: Opponents::default() }
    }
}

/// Distribution of the games. Only `mate_table_mib` influences the games themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunSettings {
    /// Games per group: positions per batch.
    pub batch: usize,
    /// Groups per device.
    pub groups: usize,
    /// Size of the table of each group's mate search, in MiB. Search results depend on it.
    pub mate_table_mib: usize,
    /// Size of each device's cache of evaluations, in MiB. 0: no cache.
    pub cache_mib: usize,
}

/// A message of a thread: a finished game, or the number of a game that is not played.
pub(crate) enum Delivery {
    Game(Box<FinishedGame>),
    Unplayed(u64),
}

/// Plays the games of a range of numbers and yields them in order. Skips numbers without a game.
pub struct Games {
    deliveries: Receiver<Result<Delivery, GamesError>>,
    /// Games that ended before an earlier one; `None` for games that are not played.
    waiting: BTreeMap<u64, Option<FinishedGame>>,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    start: u64,
    unplayed: u64,
    has_failed: bool,
}

/// State shared by all threads.
pub(crate) struct Shared {
    openings: Box<dyn Openings>,
    end: u64,
    /// The next game number of each network.
    next: Vec<AtomicU64>,
    /// The first game that was not yielded.
    wanted: AtomicU64,
    /// Number of games that are played at the same time.
    slots: u64,
    pub(crate) counters: Counters,
    pub(crate) stop: Arc<AtomicBool>,
}

/// A thread that takes numbers and delivers games.
#[derive(Clone)]
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    network: usize,
    sender: Sender<Result<Delivery, GamesError>>,
}

/// Limits the games ahead of the first unfinished one: this many times the games played at the same time.
const WAITING_FACTOR: u64 = 64;

impl Games {
    /// Starts to play the games of a range of numbers.
    ///
    /// # Errors
    ///
    /// [`GamesError::Thread`].
    ///
    /// # Panics
    ///
    /// If there is no network or no group, if a network has no device, or if a batch holds no position.
    pub fn play(
        settings: GameSettings,
        run: RunSettings,
        seed: u64,
        numbers: Range<u64>,
        openings: Box<dyn Openings>,
        networks: Networks,
    ) -> Result<Self, GamesError> {
        let Networks { devices: networks, opponents } = networks;
        let is_played = !networks.is_empty() && networks.iter().all(|devices| !devices.is_empty());
        assert!(
            is_played && run.groups > 0 && run.batch > 0,
            "there are devices, groups and positions in a batch"
        );
        let devices: usize = networks.iter().map(Vec::len).sum();
        let groups = devices * run.groups;
        // If there are few games, they are distributed over all groups.
        let count =
            usize::try_from(numbers.end.saturating_sub(numbers.start)).unwrap_or(usize::MAX);
        let run = RunSettings { batch: run.batch.min(count.div_ceil(groups).max(1)), ..run };
        let slots = (groups * run.batch) as u64;
        let (mut games, sender) = Self::begin(numbers, openings, networks.len(), slots);
        let share = opponents.share;
        let requests = games.start_opponents(opponents, &sender)?;
        let shared = Arc::clone(&games.shared);
        let devices = networks.into_iter().enumerate();
        let devices =
            devices.flat_map(|(network, devices)| devices.into_iter().map(move |d| (network, d)));
        for (device_number, (network, evaluator)) in devices.enumerate() {
            let planes = evaluator.planes();
            let (devices, thread) =
                Device::for_groups(evaluator, device_number, run.groups, &shared.stop)
                    .map_err(GamesError::Thread)?;
            games.threads.extend(thread);
            let cache =
                (run.cache_mib > 0).then(|| Arc::new(EvaluationCache::new(run.cache_mib << 20)));
            for device in devices {
                let worker =
                    Worker { shared: Arc::clone(&shared), network, sender: sender.clone() };
                let mut group = Group {
                    worker: worker.clone(),
                    settings,
                    run,
                    seed,
                    device_number,
                    device,
                    games: Vec::with_capacity(run.batch),
                    batch: Batch::new(run.batch, planes),
                    mates: LeafSearch::try_new(run.mate_table_mib)?,
                    cache: cache.clone(),
                    keys: Vec::new(),
                    slots: Vec::new(),
                    opponents: requests.clone().map(|all| OpponentQueue::new(share, all)),
                };
                games.start(format!("games-{device_number}"), worker, move |_| group.play())?;
            }
        }
        Ok(games)
    }

    /// Starts to play the games of a range of numbers, each by any of the players.
    ///
    /// # Errors
    ///
    /// [`GamesError::Thread`].
    pub fn by_players(
        numbers: Range<u64>,
        openings: Box<dyn Openings>,
        players: Vec<Box<dyn Player>>,
    ) -> Result<Self, GamesError> {
        let (mut games, sender) = Self::begin(numbers, openings, 1, players.len() as u64);
        for (number, mut player) in players.into_iter().enumerate() {
            let shared = Arc::clone(&games.shared);
            let worker = Worker { shared, network: 0, sender: sender.clone() };
            games.start(format!("player-{number}"), worker, move |worker| {
                players::play(worker, player.as_mut())
            })?;
        }
        Ok(games)
    }

    /// Starts a thread for each opponent. Returns the sender of their questions, if there are some.
    fn start_opponents(
        &mut self,
        opponents: Opponents,
        sender: &Sender<Result<Delivery, GamesError>>,
    ) -> Result<Option<Sender<Request>>, GamesError> {
        if opponents.players.is_empty() {
            return Ok(None);
        }
        let (requests, questions) = unbounded();
        for (number, mut player) in opponents.players.into_iter().enumerate() {
            let (shared, sender) = (Arc::clone(&self.shared), sender.clone());
            let worker = Worker { shared, network: 0, sender };
            let questions = questions.clone();
            self.start(format!("opponent-{number}"), worker, move |worker| {
                choose_moves(worker, player.as_mut(), &questions)
            })?;
        }
        Ok(Some(requests))
    }

    /// Starts a thread.
    fn start(
        &mut self,
        name: String,
        worker: Worker,
        play: impl FnOnce(&Worker) -> Result<(), GamesError> + Send + 'static,
    ) -> Result<(), GamesError> {
        let thread = thread::Builder::new().name(name).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || worker.run(play));
        self.threads.push(thread.map_err(GamesError::Thread)?);
        Ok(())
    }

    /// Prepares the games of a range of numbers, for threads that deliver to the sender.
    fn begin(
        numbers: Range<u64>,
        openings: Box<dyn Openings>,
        networks: usize,
        slots: u64,
    ) -> (Self, Sender<Result<Delivery, GamesError>>) {
        let first = |network| {
            let numbers = numbers.start..;
            numbers.into_iter().find(|n| n % networks as u64 == network as u64)
        };
        let next = (0..networks).map(|i| AtomicU64::new(first(i).expect("the range is unlimited")));
        let shared = Arc::new(Shared {
            openings,
            end: numbers.end,
            next: next.collect(),
            wanted: AtomicU64::new(numbers.start),
            slots,
            counters: Counters::default(),
            stop: Arc::default(),
        });
        let (sender, deliveries) = unbounded();
        let games = Self {
            deliveries,
            waiting: BTreeMap::new(),
            shared,
            threads: Vec::new(),
            start: numbers.start,
            unplayed: 0,
            has_failed: false,
        };
        (games, sender)
    }

    /// Progress figures of the run.
    pub fn figures(&self) -> Figures {
        self.shared.counters.figures()
    }

    /// Number of games skipped since the last call, because their openings are not played.
    pub const fn take_unplayed(&mut self) -> u64 {
        std::mem::replace(&mut self.unplayed, 0)
    }

    /// Number of games that were yielded or skipped.
    pub fn yielded(&self) -> u64 {
        self.shared.wanted.load(Ordering::Relaxed) - self.start
    }

    /// Number of games that have ended or were skipped, including games that wait for an earlier one.
    pub fn ended(&self) -> u64 {
        self.yielded() + self.waiting.len() as u64
    }

    /// The next game, if it ends within `time`. `Ok(None)` if it does not, or if all games were yielded.
    ///
    /// # Errors
    ///
    /// The errors of the iterator.
    pub fn next_within(
        &mut self,
        time: std::time::Duration,
    ) -> Result<Option<FinishedGame>, GamesError> {
        let until = Instant::now() + time;
        loop {
            if let Some(game) = self.take_waiting() {
                return Ok(Some(game));
            }
            match self.deliveries.recv_deadline(until) {
                Ok(delivery) => self.put(delivery)?,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return self.end().map(|()| None),
            }
        }
    }

    /// Whether all games were yielded or skipped.
    pub fn is_done(&self) -> bool {
        self.shared.wanted.load(Ordering::Relaxed) >= self.shared.end
    }

    /// The next game, if it has ended.
    fn take_waiting(&mut self) -> Option<FinishedGame> {
        loop {
            let wanted = self.shared.wanted.load(Ordering::Relaxed);
            let game = self.waiting.remove(&wanted)?;
            self.shared.wanted.store(wanted + 1, Ordering::Relaxed);
            match game {
                Some(game) => return Some(game),
                None => self.unplayed += 1,
            }
        }
    }

    fn put(&mut self, delivery: Result<Delivery, GamesError>) -> Result<(), GamesError> {
        match delivery {
            Ok(Delivery::Game(game)) => self.waiting.insert(game.number, Some(*game)),
            Ok(Delivery::Unplayed(number)) => self.waiting.insert(number, None),
            Err(error) => {
                self.has_failed = true;
                return Err(error);
            }
        };
        Ok(())
    }
}

impl Iterator for Games {
    type Item = Result<FinishedGame, GamesError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.has_failed {
            if let Some(game) = self.take_waiting() {
                return Some(Ok(game));
            }
            let Ok(delivery) = self.deliveries.recv() else {
                return self.end().err().map(Err);
            };
            if let Err(error) = self.put(delivery) {
                return Some(Err(error));
            }
        }
        None
    }
}

impl Drop for Games {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.join();
    }
}

impl Games {
    /// Called after all groups have ended: all games are played, or a group has failed or panicked.
    fn end(&mut self) -> Result<(), GamesError> {
        self.join();
        if self.has_failed || self.is_done() {
            return Ok(());
        }
        self.has_failed = true;
        Err(GamesError::Ended)
    }

    /// Waits for the groups. Resumes the panic of a group.
    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            if let Err(panic) = thread.join()
                && !thread::panicking()
            {
                resume_unwind(panic);
            }
        }
    }
}

impl Worker {
    /// Takes the number of the next game to start. `None` if all are played, or if too many games wait for an earlier
    /// one.
    fn take_number(&self) -> Option<u64> {
        let Shared { next: all, end, wanted, slots, .. } = &*self.shared;
        let next = all[self.network].load(Ordering::Relaxed);
        let wanted = wanted.load(Ordering::Relaxed);
        if next >= *end || next - wanted.min(next) > WAITING_FACTOR * slots {
            return None;
        }
        let number = all[self.network].fetch_add(all.len() as u64, Ordering::Relaxed);
        (number < *end).then_some(number)
    }

    /// Whether all games have been started.
    pub(crate) fn is_out_of_games(&self) -> bool {
        self.shared.next[self.network].load(Ordering::Relaxed) >= self.shared.end
    }

    /// Starts the next game that has an opening. `None` if [`Self::take_number`] gives none.
    pub(crate) fn begin(&self) -> Result<Option<(u64, Position)>, GamesError> {
        while let Some(number) = self.take_number() {
            let opening = self.shared.openings.opening(number);
            match opening.map_err(|source| GamesError::Opening { number, source })? {
                Some(opening) => {
                    Counters::add(&self.shared.counters.games, 1);
                    return Ok(Some((number, opening)));
                }
                None => self.deliver(Delivery::Unplayed(number)),
            }
        }
        Ok(None)
    }

    pub(crate) fn deliver_game(&self, game: FinishedGame) {
        Counters::add(&self.shared.counters.finished_games, 1);
        Counters::add(&self.shared.counters.finished_moves, game.counts.moves);
        self.deliver(Delivery::Game(Box::new(game)));
    }

    fn deliver(&self, delivery: Delivery) {
        if self.sender.send(Ok(delivery)).is_err() {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Plays games. An error or panic ends all threads; [`Games::join`] resumes the panic.
    fn run(&self, play: impl FnOnce(&Self) -> Result<(), GamesError>) {
        match catch_unwind(AssertUnwindSafe(|| play(self))) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                self.shared.stop.store(true, Ordering::Relaxed);
                // Fails if the receiver was dropped with the `Games`.
                let _ = self.sender.send(Err(error));
            }
            Err(panic) => {
                self.shared.stop.store(true, Ordering::Relaxed);
                resume_unwind(panic);
            }
        }
    }
}
