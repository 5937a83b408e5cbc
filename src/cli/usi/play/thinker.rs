//! The thread that searches for the best move, so that the engine can listen meanwhile.
//!
//! It keeps the networks, loaded when they are first needed, and the solver that looks for a mate beside the search.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, unbounded};
use kyokumen_mcts::{Devices, LeafSearch, MateLimits, Puct, SearchSettings, Tree};

use super::info::Info;
use crate::cli::usi::command::GamePosition;
use crate::cli::usi::searcher::{Question, SearchAnswer, Searcher};
use crate::selfplay::evaluators::Model;
use crate::shogi::Move;
use crate::solver::{Limits, SearchControl, TableSize, Threads, Verdict, WhenHopeless};

/// How often a search says how far it is.
const INFO_EVERY: Duration = Duration::from_secs(1);

/// Table of the mate search at the root.
const ROOT_MATE_TABLE: TableSize = TableSize::from_mib(64);
/// Table of those at the leaves, in MiB.
const LEAF_MATE_TABLE_MIB: usize = 16;
const LEAF_MATE: MateLimits = MateLimits { depth: 7, nodes: 30 };

/// What is to be asked, and how.
#[derive(Clone, Debug)]
pub(super) struct Networks {
    /// One a device.
    pub(super) models: Vec<Model>,
    pub(super) policy_temperature: f32,
    pub(super) batch: usize,
}

/// A search that is asked for.
pub(super) struct Thought {
    pub(super) of: GamePosition,
    /// Simulations after which it ends.
    pub(super) most_visits: u32,
    /// Positions that there is memory for.
    pub(super) most_positions: usize,
    pub(super) multi_pv: usize,
    pub(super) draw_value: f32,
    pub(super) root_mate_nodes: u64,
    /// Value below which the game is given up.
    pub(super) resign: f32,
    pub(super) control: Arc<Control>,
}

/// What ends a search from outside.
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

/// What the thread says.
pub(super) enum Event {
    /// The networks are there, or why not.
    Ready(anyhow::Result<()>),
    Info(Vec<Info>),
    Decided(anyhow::Result<Decision>),
}

/// What is to be done, and the answer that is expected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decision {
    Move { best: Move, ponder: Option<Move> },
    Resign,
    Declare,
}

enum Task {
    Prepare,
    Think(Box<Thought>),
}

pub(super) struct Thinker {
    tasks: Sender<Task>,
    events: Receiver<Event>,
}

impl Thinker {
    /// Starts the thread.
    pub(super) fn start(networks: Networks) -> io::Result<Self> {
        let (tasks, given) = unbounded();
        let (event, events) = unbounded();
        let searcher = Searcher::start()?;
        let mates = LeafSearch::try_new(LEAF_MATE_TABLE_MIB).map_err(io::Error::other)?;
        thread::Builder::new().name("thinker".to_owned()).spawn(move || {
            let mut worker = Worker { networks, devices: None, mates, searcher, events: event };
            for task in given {
                let event = match task {
                    Task::Prepare => Event::Ready(worker.devices().map(drop)),
                    Task::Think(thought) => Event::Decided(worker.think(&thought)),
                };
                if worker.events.send(event).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { tasks, events })
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

struct Worker {
    networks: Networks,
    devices: Option<Devices>,
    mates: LeafSearch,
    searcher: Searcher,
    events: Sender<Event>,
}

impl Worker {
    /// Loads the networks, if that was not done before.
    fn devices(&mut self) -> anyhow::Result<&mut Devices> {
        let devices = if let Some(devices) = self.devices.take() {
            devices
        } else {
            let Networks { models, policy_temperature, batch } = &self.networks;
            let loaded = models.iter().map(|model| model.load(*policy_temperature));
            Devices::start(loaded.collect::<Result<_, _>>()?, *batch)?
        };
        Ok(self.devices.insert(devices))
    }

    fn think(&mut self, thought: &Thought) -> anyhow::Result<Decision> {
        let position = &thought.of.position;
        if !position.has_legal_move() {
            return Ok(Decision::Resign);
        }
        if position.can_declare() {
            return Ok(Decision::Declare);
        }
        self.devices()?;
        let mut mate = RootMate::begin(thought, &self.searcher)?;
        let settings = SearchSettings {
            puct: Puct::DLSHOGI_GAMES,
            draw_value: thought.draw_value,
            leaf_mate: LEAF_MATE,
            root_mate: MateLimits::NONE,
        };
        let history = thought.of.history.clone();
        let mut tree = Tree::new(settings, position.clone(), history, 0);
        let mut watch = Watch::begin(thought);
        let (devices, mates) =
            (self.devices.as_mut().context("they were loaded")?, &mut self.mates);
        let searched = devices.search(&mut tree, mates, thought.most_visits, |tree| {
            if watch.is_time_for_info() {
                let infos = Info::of(tree, thought.multi_pv, watch.started.elapsed());
                // Nobody who listens is no reason to stop.
                drop(self.events.send(Event::Info(infos)));
            }
            !mate.is_found() && watch.goes_on(tree)
        });
        // Before anything else: its answer must not be there when the next position is searched.
        let mate = mate.end()?;
        if let Err(error) = searched {
            // They are of no use any more.
            self.devices = None;
            return Err(error.into());
        }
        let elapsed = watch.started.elapsed();
        if let Some(line) = mate {
            let info = Info::of_mate(&tree, &line, elapsed);
            drop(self.events.send(Event::Info(vec![info])));
            return Ok(Decision::Move { best: line[0], ponder: line.get(1).copied() });
        }
        drop(self.events.send(Event::Info(Info::of(&tree, thought.multi_pv, elapsed))));
        let root = tree.root();
        let line = tree.principal_variation();
        // A search that could not begin has no opinion; any legal move is better than none.
        let best =
            root.best().map(|best| best.m).or_else(|| position.legal_moves().first().copied());
        let best = best.context("there is a legal move")?;
        let is_lost = root.proven == Some(false) || root.value < thought.resign;
        if is_lost && thought.resign > 0.0 {
            return Ok(Decision::Resign);
        }
        Ok(Decision::Move { best, ponder: line.get(1).copied() })
    }
}

/// When a search looks up, and why it ends.
struct Watch<'a> {
    thought: &'a Thought,
    started: Instant,
    next_info: Instant,
}

impl<'a> Watch<'a> {
    fn begin(thought: &'a Thought) -> Self {
        let started = Instant::now();
        Self { thought, started, next_info: started + INFO_EVERY }
    }

    fn is_time_for_info(&mut self) -> bool {
        let now = Instant::now();
        let is_time = now >= self.next_info;
        if is_time {
            self.next_info = now + INFO_EVERY;
        }
        is_time
    }

    fn goes_on(&self, tree: &Tree) -> bool {
        let control = &self.thought.control;
        if tree.visits() == 0 {
            // Without a visit nothing is known at all.
            return true;
        }
        if control.stop.load(Ordering::Relaxed) || tree.len() >= self.thought.most_positions {
            return false;
        }
        let Some(deadline) = control.deadline() else { return true };
        let now = Instant::now();
        now < deadline && !self.is_settled(tree, deadline.duration_since(now))
    }

    /// Whether the second move cannot catch up any more in the time that is left.
    fn is_settled(&self, tree: &Tree, left: Duration) -> bool {
        let per_second = f64::from(tree.visits()) / self.started.elapsed().as_secs_f64();
        let [first, second] = tree.leading_visits();
        f64::from(first - second) > per_second * left.as_secs_f64()
    }
}

/// The search for a mate beside the other search.
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

    fn take(&mut self, answer: SearchAnswer) {
        self.is_under_way = false;
        // Without memory for the table there is no mate search, and the game goes on.
        if let Ok(found) = answer
            && found.result.verdict == Verdict::Proven
            && !found.result.line.is_empty()
        {
            self.line = Some(found.result.line);
        }
    }

    /// Stops it; the mate, if one was found.
    fn end(mut self) -> anyhow::Result<Option<Vec<Move>>> {
        if self.is_under_way {
            self.control.stop();
            let answer = self.searcher.answers().recv().context("the mate search has ended")?;
            self.take(answer);
        }
        Ok(self.line)
    }
}
