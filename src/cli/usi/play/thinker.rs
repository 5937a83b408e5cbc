//! The thread that searches for the best move, so that the engine can listen meanwhile.
//!
//! It keeps the networks, loaded when they are first needed, and the solver that looks for a mate beside the search.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::{Context, anyhow};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, never, select, unbounded};
use kyokumen_mcts::{Devices, LeafSearch, MateLimits, MctsSettings, Puct, Tree};

use super::info::Info;
use crate::cli::usi::command::GamePosition;
use crate::cli::usi::searcher::{Question, SearchReply, Searcher};
use crate::cli::usi::session::{Decision, Event};
use crate::selfplay::evaluators::Model;
use crate::shogi::Move;
use crate::solver::{Limits, SearchControl, TableSize, Threads, Verdict, WhenHopeless};

/// Interval of `info` lines.
const INFO_EVERY: Duration = Duration::from_secs(1);

/// Interval at which a search that waits for its networks checks whether it must end.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long a search that must end waits for its first evaluation, if it has none yet.
const FIRST_PATIENCE: Duration = Duration::from_secs(1);

/// How long to wait for threads and their programs to end.
const END_PATIENCE: Duration = Duration::from_secs(2);

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
        let loaded = self.models.iter().map(|model| model.load(self.policy_temperature, cancel));
        Ok(Devices::start(loaded.collect::<Result<_, _>>()?, self.batch)?)
    }
}

/// A request for a search.
pub(super) struct Thought {
    pub(super) of: GamePosition,
    /// Limit of simulations.
    pub(super) most_visits: u32,
    /// Limit of positions in the tree.
    pub(super) most_positions: usize,
    pub(super) multi_pv: usize,
    pub(super) draw_value: f32,
    pub(super) root_mate_nodes: u64,
    /// Value below which the player resigns.
    pub(super) resign: f32,
    pub(super) control: Arc<Control>,
}

/// Ends a search from another thread.
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
    Think(Box<Thought>),
}

pub(super) struct Thinker {
    tasks: Sender<Task>,
    events: Receiver<Event>,
    cancel: Arc<AtomicBool>,
}

impl Thinker {
    pub(super) fn start(networks: Networks) -> io::Result<Self> {
        let (tasks, given) = unbounded();
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
                ready_asked: 0,
                mates,
                searcher,
                cancel: cancel_loading,
                events: event,
            };
            worker.work(&given);
        })?;
        Ok(Self { tasks, events, cancel })
    }

    pub(super) fn prepare(&self) {
        // That it has ended shows where events are awaited.
        drop(self.tasks.send(Task::Prepare));
    }

    pub(super) fn think(&self, thought: Thought) {
        drop(self.tasks.send(Task::Think(Box::new(thought))));
    }

    pub(super) const fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}

impl Drop for Thinker {
    /// Ends the threads, so that no program outlives this one.
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        self.tasks = unbounded().0;
        let until = Instant::now() + END_PATIENCE;
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
    ready_asked: usize,
    mates: LeafSearch,
    searcher: Searcher,
    cancel: Arc<AtomicBool>,
    /// Dropped last: the disconnected channel shows that this thread has ended.
    events: Sender<Event>,
}

impl Worker {
    fn work(mut self, tasks: &Receiver<Task>) {
        loop {
            let loading = self.loading.clone().unwrap_or_else(never);
            select! {
                recv(tasks) -> task => match task {
                    Ok(Task::Prepare) => self.prepare(),
                    Ok(Task::Think(thought)) => {
                        let decided = self.think(&thought);
                        drop(self.events.send(Event::Decided(decided)));
                    }
                    Err(_) => return,
                },
                recv(loading) -> loaded => {
                    let loaded = loaded.unwrap_or_else(|_| Err(anyhow!(LOADER_ENDED)));
                    self.take(loaded);
                }
            }
        }
    }

    fn prepare(&mut self) {
        self.ready_asked += 1;
        match self.load() {
            Ok(Some(_)) => {}
            Ok(None) => self.tell_ready(Ok(())),
            Err(error) => self.tell_ready(Err(error)),
        }
    }

    fn tell_ready(&mut self, mut ready: anyhow::Result<()>) {
        for _ in 0..std::mem::take(&mut self.ready_asked) {
            let told = std::mem::replace(&mut ready, Ok(()));
            drop(self.events.send(Event::Ready(told)));
        }
    }

    /// Starts loading the networks unless that was done. Returns the channel that delivers them, or `None` if they are
    /// loaded.
    fn load(&mut self) -> anyhow::Result<Option<Receiver<Loaded>>> {
        if self.devices.is_some() || self.loading.is_some() {
            return Ok(self.loading.clone());
        }
        let (sender, loading) = bounded(1);
        let (networks, cancel) = (self.networks.clone(), Arc::clone(&self.cancel));
        let alive = self.events.clone();
        thread::Builder::new().name("loader".to_owned()).spawn(move || {
            drop(sender.send(networks.load(&cancel)));
            drop(alive);
        })?;
        self.loading = Some(loading);
        Ok(self.loading.clone())
    }

    /// Stores loaded networks and answers all callers that wait for them.
    fn take(&mut self, loaded: Loaded) {
        self.loading = None;
        let ready = loaded.map(|devices| self.devices = Some(devices));
        self.tell_ready(ready);
    }

    /// Waits until the networks are loaded, or until `goes_on` returns false.
    fn wait_for_devices(&mut self, mut goes_on: impl FnMut() -> bool) -> anyhow::Result<()> {
        while let Some(loading) = self.load()? {
            match loading.recv_timeout(LOOK_EVERY) {
                Ok(Ok(devices)) => self.take(Ok(devices)),
                Ok(Err(error)) => {
                    self.loading = None;
                    self.tell_ready(Ok(()));
                    return Err(error);
                }
                Err(RecvTimeoutError::Timeout) if goes_on() => {}
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => {
                    self.loading = None;
                    self.tell_ready(Ok(()));
                    return Err(anyhow!(LOADER_ENDED));
                }
            }
        }
        Ok(())
    }

    fn think(&mut self, thought: &Thought) -> anyhow::Result<Decision> {
        let position = &thought.of.position;
        if !position.has_legal_move() {
            return Ok(Decision::Resign);
        }
        if position.can_declare() {
            return Ok(Decision::Declare);
        }
        let searched = self.search(thought);
        // After an error the devices cannot be used again.
        searched.inspect_err(|_| self.devices = None)
    }

    fn search(&mut self, thought: &Thought) -> anyhow::Result<Decision> {
        let position = &thought.of.position;
        let mut watch = Watch::begin(thought);
        self.wait_for_devices(|| !watch.is_to_end(0))?;
        let mut mate = RootMate::begin(thought, &self.searcher)?;
        let settings = MctsSettings {
            puct: Puct::DLSHOGI_GAMES,
            draw_value: thought.draw_value,
            leaf_mate: LEAF_MATE,
            root_mate: MateLimits::NONE,
        };
        let history = thought.of.history.clone();
        let mut tree = Tree::new(settings, position.clone(), history, 0);
        let searched = self.devices.as_mut().map_or(Ok(()), |devices| {
            devices.search(&mut tree, &mut self.mates, thought.most_visits, |tree| {
                if watch.is_time_for_info() {
                    let infos = Info::of(tree, thought.multi_pv, watch.started.elapsed());
                    // A closed channel is no reason to stop the search.
                    drop(self.events.send(report(&infos)));
                }
                !mate.is_found() && watch.goes_on(tree)
            })
        });
        // Before anything else: its answer must not be there when the next position is searched.
        let mate = mate.end()?;
        searched?;
        let elapsed = watch.started.elapsed();
        if let Some(line) = mate {
            drop(self.events.send(report(&[Info::of_mate(&tree, &line, elapsed)])));
            return Ok(Decision::Move { best: line[0], ponder: line.get(1).copied() });
        }
        let root = tree.root();
        if root.moves.is_empty() {
            let complaint = "the network did not answer in time: any legal move is played";
            drop(self.events.send(Event::Complaint(complaint)));
            let best = position.legal_moves().first().copied().context("there is a legal move")?;
            return Ok(Decision::Move { best, ponder: None });
        }
        drop(self.events.send(report(&Info::of(&tree, thought.multi_pv, elapsed))));
        let line = tree.principal_variation();
        let best = root.best().context("there is a legal move")?.m;
        let is_lost = root.proven == Some(false) || root.value < thought.resign;
        if is_lost && thought.resign > 0.0 {
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
    thought: &'a Thought,
    started: Instant,
    next_info: Instant,
    /// When the search first had to end.
    told: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn begin(thought: &'a Thought) -> Self {
        let started = Instant::now();
        Self { thought, started, next_info: started + INFO_EVERY, told: None }
    }

    fn is_time_for_info(&mut self) -> bool {
        let now = Instant::now();
        let is_time = now >= self.next_info;
        if is_time {
            self.next_info = now + INFO_EVERY;
        }
        is_time
    }

    /// Whether the search was stopped or its time is up. Without a visit there is no best move yet, so the first
    /// evaluation gets [`FIRST_PATIENCE`].
    fn is_to_end(&mut self, visits: u32) -> bool {
        let (control, now) = (&self.thought.control, Instant::now());
        let is_late = control.deadline().is_some_and(|deadline| deadline <= now);
        if !is_late && !control.stop.load(Ordering::Relaxed) {
            self.told = None;
            return false;
        }
        let told = *self.told.get_or_insert(now);
        visits > 0 || now.duration_since(told) >= FIRST_PATIENCE
    }

    fn goes_on(&mut self, tree: &Tree) -> bool {
        if self.is_to_end(tree.visits()) {
            return false;
        }
        if tree.visits() == 0 {
            return true;
        }
        if tree.len() >= self.thought.most_positions {
            return false;
        }
        let Some(deadline) = self.thought.control.deadline() else { return true };
        !self.is_settled(tree, deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the second move can no longer catch up in the time that is left.
    fn is_settled(&self, tree: &Tree, left: Duration) -> bool {
        let per_second = f64::from(tree.visits()) / self.started.elapsed().as_secs_f64();
        let [first, second] = tree.leading_visits();
        f64::from(first - second) > per_second * left.as_secs_f64()
    }
}

/// The mate search that runs beside the tree search.
struct RootMate<'a> {
    searcher: &'a Searcher,
    control: Arc<SearchControl>,
    is_under_way: bool,
    line: Option<Vec<Move>>,
}

impl<'a> RootMate<'a> {
    fn begin(thought: &Thought, searcher: &'a Searcher) -> anyhow::Result<Self> {
        let control = Arc::new(SearchControl::new());
        let them = !thought.of.position.side_to_move();
        let is_asked = thought.root_mate_nodes > 0 && thought.of.position.king(them).is_some();
        if is_asked {
            let limits = Limits {
                nodes: thought.root_mate_nodes,
                when_hopeless: WhenHopeless::GoOn,
                ..Limits::NONE
            };
            let position = thought.of.position.clone();
            let (table, control) = (ROOT_MATE_TABLE, Arc::clone(&control));
            // Other cores ask the network.
            let threads = Threads::ONE;
            searcher.ask(Question { position, limits, table, threads, moves: 1, control })?;
        }
        Ok(Self { searcher, control, is_under_way: is_asked, line: None })
    }

    fn is_found(&mut self) -> bool {
        if self.is_under_way
            && let Ok(answer) = self.searcher.answers().try_recv()
        {
            self.take(answer);
        }
        self.line.is_some()
    }

    fn take(&mut self, answer: SearchReply) {
        self.is_under_way = false;
        // Without memory for the table there is no mate search, and the game goes on.
        if let Ok(found) = answer
            && found.result.verdict == Verdict::Proven
            && !found.result.line.is_empty()
        {
            self.line = Some(found.result.line);
        }
    }

    /// Stops the mate search. Returns the mating line, if one was found.
    fn end(mut self) -> anyhow::Result<Option<Vec<Move>>> {
        if self.is_under_way {
            self.control.stop();
            let answer = self.searcher.answers().recv().context("the mate search has ended")?;
            self.take(answer);
        }
        Ok(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readiness_is_told_although_the_loader_has_panicked() {
        let (event, events) = unbounded();
        let networks = Networks { models: Vec::new(), policy_temperature: 1.0, batch: 1 };
        let mut worker = Worker {
            networks,
            devices: None,
            loading: Some(bounded(1).1),
            ready_asked: 1,
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
