//! The thread that searches for mates, so that the engine can read commands during the search.
//!
//! It keeps one solver and replaces it only when the table size changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, thread};

use anyhow::Context;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::session::POLL_INTERVAL;
use crate::search::alternatives::{self, AlternativesSearch, MoveFinding};
use crate::shogi::{Move, Position};
use crate::solver::{
    Attacker, Limits, STACK_BYTES, SearchControl, Solver, SolverResult, TableError, TableSize,
    Threads, Verdict,
};

/// A search for a mate by the side to move.
pub(super) struct MateQuery {
    pub(super) position: Position,
    pub(super) limits: Limits,
    pub(super) table: TableSize,
    pub(super) threads: Threads,
    /// Number of mating first moves to find.
    pub(super) moves: usize,
    pub(super) control: Arc<SearchControl>,
}

enum Task {
    Prepare(TableSize),
    Solve(Box<MateQuery>),
}

pub(super) struct SearchOutcome {
    pub(super) result: SolverResult,
    /// Mates by other first moves, the shortest first.
    pub(super) other_mates: Vec<Vec<Move>>,
    /// Whether the side to move mates and more than one mate was requested.
    pub(super) is_ranked: bool,
}

pub(super) type SearchReply = Result<SearchOutcome, TableError>;

pub(super) struct Searcher {
    tasks: Sender<Task>,
    prepared: Receiver<Result<(), TableError>>,
    replies: Receiver<SearchReply>,
}

/// The search thread ends early only because of a bug.
pub(super) const SEARCH_THREAD_ENDED: &str = "the search thread has ended";

impl Searcher {
    pub(super) fn start() -> io::Result<Self> {
        let (tasks, received) = unbounded();
        let (prepare, prepared) = unbounded();
        let (reply, replies) = unbounded();
        thread::Builder::new()
            .name("search".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || Worker::default().work(&received, &prepare, &reply))?;
        Ok(Self { tasks, prepared, replies })
    }

    /// Creates a table of this size, and waits for it.
    pub(super) fn prepare(
        &self,
        table: TableSize,
        cancel: &AtomicBool,
    ) -> anyhow::Result<Result<(), TableError>> {
        self.tasks.send(Task::Prepare(table)).ok().context(SEARCH_THREAD_ENDED)?;
        loop {
            match self.prepared.recv_timeout(POLL_INTERVAL) {
                Ok(prepared) => return Ok(prepared),
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                    return Ok(Ok(()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!(SEARCH_THREAD_ENDED),
            }
        }
    }

    /// Starts a search. Its result arrives in [`Self::replies`].
    pub(super) fn start_search(&self, query: MateQuery) -> anyhow::Result<()> {
        self.tasks.send(Task::Solve(Box::new(query))).ok().context(SEARCH_THREAD_ENDED)
    }

    /// Disconnected if the thread has ended.
    pub(super) fn replies(&self) -> &Receiver<SearchReply> {
        &self.replies
    }
}

/// State of the thread between tasks.
#[derive(Default)]
struct Worker {
    solver: Option<(TableSize, Solver)>,
}

impl Worker {
    fn work(
        &mut self,
        tasks: &Receiver<Task>,
        prepared: &Sender<Result<(), TableError>>,
        replies: &Sender<SearchReply>,
    ) {
        for task in tasks {
            let is_received = match task {
                Task::Prepare(table) => prepared.send(self.solver_with(table).map(|_| ())).is_ok(),
                Task::Solve(query) => replies.send(self.solve(&query)).is_ok(),
            };
            if !is_received {
                break;
            }
        }
    }

    fn solve(&mut self, query: &MateQuery) -> SearchReply {
        let MateQuery { position, limits, table, threads, control, .. } = query;
        let solver = self.solver_with(*table)?;
        solver.set_threads(*threads);
        let result = solver.solve_observed(position, Attacker::SideToMove, limits, &**control);
        let is_ranked = query.moves > 1 && result.verdict == Verdict::Proven;
        let other_mates = if is_ranked { self.other_mates(query, &result)? } else { Vec::new() };
        Ok(SearchOutcome { result, other_mates, is_ranked })
    }

    /// Finds mates by other first moves, within a multiple of the nodes of the first mate.
    fn other_mates(
        &mut self,
        query: &MateQuery,
        found: &SolverResult,
    ) -> Result<Vec<Vec<Move>>, TableError> {
        let MateQuery { position, limits, table, moves, control, .. } = query;
        // There may not be enough memory for two tables.
        self.solver = None;
        let mut search = AlternativesSearch::try_new(*table)?;
        let nodes = alternatives::default_nodes_a_position(found.stats.nodes).min(limits.nodes);
        let alternatives = alternatives::Question {
            known: found.line.clone(),
            ..alternatives::Question::new(*limits, nodes)
        };
        let checks = search.first_moves(position, &alternatives, &**control).checks;
        let mates = checks.into_iter().map(|check| check.finding).filter(MoveFinding::mates);
        let others = mates.filter(|mate| found.line.first() != Some(&mate.m));
        let mut lines: Vec<Vec<Move>> = others.map(|mate| mate.line).collect();
        lines.sort_by_key(Vec::len);
        lines.truncate(moves - 1);
        Ok(lines)
    }

    fn solver_with(&mut self, table: TableSize) -> Result<&mut Solver, TableError> {
        // The old table is freed first, because there may not be enough memory for both.
        let kept = self.solver.take().filter(|(size, _)| *size == table);
        let solver = match kept {
            Some((_, solver)) => solver,
            None => Solver::try_new(table)?,
        };
        Ok(&mut self.solver.insert((table, solver)).1)
    }
}
