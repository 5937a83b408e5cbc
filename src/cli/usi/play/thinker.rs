//! The thread that searches for the best move, so that the engine can read commands during the search.
//!
//! It owns the networks, which are loaded when they are first needed, and the solver that searches for a mate at the
//! same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, never, select, unbounded};
use kyokumen_mcts::{Devices, LeafSearch, MateLimits, MctsSettings, Puct, Tree};

use super::info::Info;
use crate::cli::usi::command::GamePosition;
use crate::cli::usi::searcher::{MateQuery, SearchReply, Searcher};
use crate::cli::usi::session::{Decision, Event};
use crate::selfplay::evaluators::Model;
use crate::shogi::Move;
use crate::solver::{Limits, SearchControl, TableSize, Threads, Verdict, WhenHopeless};

/// Interval of `info` lines.
const INFO_EVERY: Duration = Duration::from_secs(1);

/// Interval at which a search that waits for its networks checks whether it must end.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// How long a search that must end waits for its first evaluation, if it has none yet.
const FIRST_EVALUATION_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait for threads and their child processes to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

const ROOT_MATE_TABLE: TableSize = TableSize::from_mib(64);
const LEAF_MATE_TABLE_MIB: usize = 16;
const LEAF_MATE: MateLimits = MateLimits { depth: 7, nodes: 30 };

#[derive(Clone, Debug)]
pub(super) struct Networks {
    /// One per device.
    pub(super) models: Vec<Model>,
    pub(super) policy_temperature: f32,
    pub(super) batch: usize,
}

impl Networks {
    fn load(&self, cancel: &AtomicBool) -> Loaded {
        let load = |model: &Model| model.load(self.policy_temperature, self.batch, cancel);
        let loaded = self.models.iter().map(load);
        Ok(Devices::start(loaded.collect::<Result<_, _>>()?, self.batch)?)
    }
}

/// A request for a search.
pub(super) struct SearchRequest {
    pub(super) game: GamePosition,
    /// Maximum number of simulations.
    pub(super) most_visits: u32,
    /// Maximum number of positions in the tree.
    pub(super) most_positions: usize,
    pub(super) multi_pv: usize,
    pub(super) draw_value: f32,
    pub(super) root_mate_nodes: u64,
    /// Value below which the player resigns.
    pub(super) resign: f32,
    pub(super) control: Arc<Control>,
}

/// Stops a search from another thread.
#[derive(Default)]
pub(super) struct Control {
    stop: AtomicBool,
    deadline: Mutex<Option<Instant>>,
}

impl Control {
    pub(super) fn until(deadline: Option<Instant>) -> Self {
        Self { stop: AtomicBool::new(false), deadline: Mutex::new(deadline) }
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_deadline(&self, deadline: Option<Instant>) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Task {
    Prepare,
    Think(Box<SearchRequest>),
}

pub(super) struct Thinker {
    tasks: Sender<Task>,
    events: Receiver<Event>,
    cancel: Arc<AtomicBool>,
}

impl Thinker {
    pub(super) fn start(networks: Networks) -> io::Result<Self> {
        let (tasks, received) = unbounded();
        let (event, events) = unbounded();
        let cancel = Arc::<AtomicBool>::default();
        let searcher = Searcher::start()?;
        let mates = LeafSearch::try_new(LEAF_MATE_TABLE_MIB).map_err(io::Error::other)?;
        let cancel_loading = Arc::clone(&cancel);
        thread::Builder::new().name("thinker".to_owned()).spawn(move || {
            let worker = Worker {
                networks,
                devices: None,
                loading: None,
                ready_requests: 0,
                mates,
                searcher,
                cancel: cancel_loading,
                events: event,
            };
            worker.work(&received);
        })?;
        Ok(Self { tasks, events, cancel })
    }

    pub(super) fn prepare(&self) {
        // If the thread has ended, the receiver of events reports it.
        drop(self.tasks.send(Task::Prepare));
    }

    pub(super) fn think(&self, request: SearchRequest) {
        drop(self.tasks.send(Task::Think(Box::new(request))));
    }

    pub(super) const fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}

impl Drop for Thinker {
    /// Ends the threads, so that no child process outlives this one.
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.tasks = unbounded().0;
        let until = Instant::now() + SHUTDOWN_TIMEOUT;
        while self.events.recv_deadline(until).is_ok() {}
    }
}

const LOADER_ENDED: &str = "the thread that loads the networks has ended";

type Loaded = anyhow::Result<Devices>;

struct Worker {
    networks: Networks,
    devices: Option<Devices>,
    /// Receives the networks once they are loaded. Loading may take minutes, or never end.
    loading: Option<Receiver<Loaded>>,
    /// The number of callers that wait for `Event::Ready`.
    ready_requests: usize,
    mates: LeafSearch,
    searcher: Searcher,
    cancel: Arc<AtomicBool>,
    /// The last field to be dropped: the disconnected channel shows that this thread has ended.
    events: Sender<Event>,
}

impl Worker {
    fn work(mut self, tasks: &Receiver<Task>) {
        loop {
            let loading = self.loading.clone().unwrap_or_else(never);
            select! {
                recv(tasks) -> task => match task {
                    Ok(Task::Prepare) => self.prepare(),
                    Ok(Task::Think(request)) => {
                        let decided = self.think(&request);
                        drop(self.events.send(Event::Decided(decided)));
                    }
                    Err(_) => return,
                },
                recv(loading) -> loaded => {
                    let loaded = loaded.unwrap_or_else(|_| Err(anyhow!(LOADER_ENDED)));
                    self.finish_loading(loaded);
                }
            }
        }
    }

    fn prepare(&mut self) {
        self.ready_requests += 1;
        match self.load() {
            Ok(Some(_)) => {}
            Ok(None) => self.send_ready(Ok(())),
            Err(error) => self.send_ready(Err(error)),
        }
    }

    /// Answers all callers that wait for `Event::Ready`. Only the first one gets an error.
    fn send_ready(&mut self, mut ready: anyhow::Result<()>) {
        for _ in 0..std::mem::take(&mut self.ready_requests) {
            let result = std::mem::replace(&mut ready, Ok(()));
            drop(self.events.send(Event::Ready(result)));
        }
    }

    /// Starts to load the networks if this has not been done. Returns the channel that delivers them, or `None` if they
    /// are loaded.
    fn load(&mut self) -> anyhow::Result<Option<Receiver<Loaded>>> {
        if self.devices.is_some() || self.loading.is_some() {
            return Ok(self.loading.clone());
        }
        let (sender, loading) = bounded(1);
        let (networks, cancel) = (self.networks.clone(), Arc::clone(&self.cancel));
        // Keeps the channel connected while the loader runs, so that `Drop` waits for it.
        let alive = self.events.clone();
        thread::Builder::new().name("loader".to_owned()).spawn(move || {
            drop(sender.send(networks.load(&cancel)));
            drop(alive);
        })?;
        self.loading = Some(loading);
        Ok(self.loading.clone())
    }

    /// Stores loaded networks and answers all callers that wait for them.
    fn finish_loading(&mut self, loaded: Loaded) {
        self.loading = None;
        let ready = loaded.map(|devices| self.devices = Some(devices));
        self.send_ready(ready);
    }

    /// Waits until the networks are loaded, or until `keep_waiting` returns false.
    fn wait_for_devices(&mut self, mut keep_waiting: impl FnMut() -> bool) -> anyhow::Result<()> {
        while let Some(loading) = self.load()? {
            match loading.recv_timeout(CHECK_INTERVAL) {
                Ok(Ok(devices)) => self.finish_loading(Ok(devices)),
                Ok(Err(error)) => {
                    self.loading = None;
                    self.send_ready(Ok(()));
                    return Err(error);
                }
                Err(RecvTimeoutError::Timeout) if keep_waiting() => {}
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    self.loading = None;
                    self.send_ready(Ok(()));
                    return Err(anyhow!(LOADER_ENDED));
                }
            }
        }
        Ok(())
    }

    fn think(&mut self, request: &SearchRequest) -> anyhow::Result<Decision> {
        let position = &request.game.position;
        if !position.has_legal_move() {
            return Ok(Decision::Resign);
        }
        if position.can_declare() {
            return Ok(Decision::Declare);
        }
        let searched = self.search(request);
        // After an error the devices cannot be used again.
        searched.inspect_err(|_| self.devices = None)
    }

    fn search(&mut self, request: &SearchRequest) -> anyhow::Result<Decision> {
        let position = &request.game.position;
        let mut watch = Watch::begin(request);
        self.wait_for_devices(|| !watch.must_end(0))?;
        let mut mate = RootMate::begin(request, &self.searcher)?;
        let settings = MctsSettings {
            puct: Puct::DLSHOGI_GAMES,
            gumbel: None,
            draw_value: request.draw_value,
            leaf_mate: LEAF_MATE,
            root_mate: MateLimits::NONE,
        };
        let history = request.game.history.clone();
        let mut tree = Tree::new(settings, position.clone(), history, 0);
        let searched = self.devices.as_mut().map_or(Ok(()), |devices| {
            devices.search(&mut tree, &mut self.mates, request.most_visits, |tree| {
                if watch.is_time_for_info() {
                    let infos = Info::best_lines(tree, request.multi_pv, watch.started.elapsed());
                    // A closed channel does not stop the search.
                    drop(self.events.send(report(&infos)));
                }
                !mate.is_found() && watch.should_continue(tree)
            })
        });
        // This comes first, also after an error: a late result must not be mistaken for a result of the next position.
        let mate = mate.end()?;
        searched?;
        let elapsed = watch.started.elapsed();
        if let Some(line) = mate {
            drop(self.events.send(report(&[Info::mate(&tree, &line, elapsed)])));
            return Ok(Decision::Move { best: line[0], ponder: line.get(1).copied() });
        }
        let root = tree.root();
        if root.moves.is_empty() {
            let complaint = "the network did not answer in time; playing an arbitrary legal move";
            drop(self.events.send(Event::Complaint(complaint)));
            let best = position.legal_moves().first().copied().context("there is a legal move")?;
            return Ok(Decision::Move { best, ponder: None });
        }
        drop(self.events.send(report(&Info::best_lines(&tree, request.multi_pv, elapsed))));
        let line = tree.principal_variation();
        let best = root.best().context("there is a legal move")?.m;
        let is_lost = root.proven == Some(false) || root.value < request.resign;
        if is_lost && request.resign > 0.0 {
            return Ok(Decision::Resign);
        }
        Ok(Decision::Move { best, ponder: line.get(1).copied() })
    }
}

fn report(infos: &[Info]) -> Event {
    let visits = infos.iter().map(Info::visits).max().unwrap_or(0);
    Event::Info { lines: infos.iter().map(ToString::to_string).collect(), visits }
}

/// Decides when a search reports and when it ends.
struct Watch<'a> {
    request: &'a SearchRequest,
    started: Instant,
    next_info: Instant,
    /// Since when the search has had to end.
    must_end_since: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn begin(request: &'a SearchRequest) -> Self {
        let started = Instant::now();
        Self { request, started, next_info: started + INFO_EVERY, must_end_since: None }
    }

    fn is_time_for_info(&mut self) -> bool {
        let now = Instant::now();
        let is_time = now >= self.next_info;
        if is_time {
            self.next_info = now + INFO_EVERY;
        }
        is_time
    }

    /// Whether the search was stopped or its time is up. Without a visit there is no best move, so the search waits up
    /// to [`FIRST_EVALUATION_TIMEOUT`] for the first evaluation.
    fn must_end(&mut self, visits: u32) -> bool {
        let (control, now) = (&self.request.control, Instant::now());
        let is_late = control.deadline().is_some_and(|deadline| deadline <= now);
        if !is_late && !control.stop.load(Ordering::Relaxed) {
            self.must_end_since = None;
            return false;
        }
        let since = *self.must_end_since.get_or_insert(now);
        visits > 0 || now.duration_since(since) >= FIRST_EVALUATION_TIMEOUT
    }

    fn should_continue(&mut self, tree: &Tree) -> bool {
        if self.must_end(tree.visits()) {
            return false;
        }
        if tree.visits() == 0 {
            return true;
        }
        if tree.node_count() >= self.request.most_positions {
            return false;
        }
        let Some(deadline) = self.request.control.deadline() else { return true };
        !self.is_settled(tree, deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the second move can no longer catch up in the remaining time.
    fn is_settled(&self, tree: &Tree, left: Duration) -> bool {
        let per_second = f64::from(tree.visits()) / self.started.elapsed().as_secs_f64();
        let [first, second] = tree.leading_visits();
        f64::from(first - second) > per_second * left.as_secs_f64()
    }
}

/// The mate search that runs in parallel with the tree search.
struct RootMate<'a> {
    searcher: &'a Searcher,
    control: Arc<SearchControl>,
    is_running: bool,
    line: Option<Vec<Move>>,
}

impl<'a> RootMate<'a> {
    fn begin(request: &SearchRequest, searcher: &'a Searcher) -> anyhow::Result<Self> {
        let control = Arc::new(SearchControl::new());
        let opponent = !request.game.position.side_to_move();
        let is_running =
            request.root_mate_nodes > 0 && request.game.position.king(opponent).is_some();
        if is_running {
            let limits = Limits {
                nodes: request.root_mate_nodes,
                when_hopeless: WhenHopeless::GoOn,
                ..Limits::NONE
            };
            let position = request.game.position.clone();
            let (table, control) = (ROOT_MATE_TABLE, Arc::clone(&control));
            // The other cores evaluate the network.
            let threads = Threads::ONE;
            searcher.start_search(MateQuery {
                position,
                limits,
                table,
                threads,
                moves: 1,
                control,
            })?;
        }
        Ok(Self { searcher, control, is_running, line: None })
    }

    fn is_found(&mut self) -> bool {
        if self.is_running
            && let Ok(reply) = self.searcher.replies().try_recv()
        {
            self.take(reply);
        }
        self.line.is_some()
    }

    fn take(&mut self, reply: SearchReply) {
        self.is_running = false;
        // If there is no memory for the table, the game continues without a mate search.
        if let Ok(outcome) = reply
            && outcome.result.verdict == Verdict::Proven
            && !outcome.result.line.is_empty()
        {
            self.line = Some(outcome.result.line);
        }
    }

    /// Stops the mate search. Returns the mating line, if one was found.
    fn end(mut self) -> anyhow::Result<Option<Vec<Move>>> {
        if self.is_running {
            self.control.stop();
            let reply =
                self.searcher.replies().recv().context("the mate search thread has ended")?;
            self.take(reply);
        }
        Ok(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_is_sent_even_if_the_loader_panicked() {
        let (event, events) = unbounded();
        let networks = Networks { models: Vec::new(), policy_temperature: 1.0, batch: 1 };
        let mut worker = Worker {
            networks,
            devices: None,
            loading: Some(bounded(1).1),
            ready_requests: 1,
            mates: LeafSearch::try_new(1).unwrap(),
            searcher: Searcher::start().unwrap(),
            cancel: Arc::default(),
            events: event,
        };
        let error = worker.wait_for_devices(|| true).unwrap_err();
        assert_eq!(error.to_string(), LOADER_ENDED);
        assert!(matches!(events.try_recv(), Ok(Event::Ready(Ok(())))));
    }
}
