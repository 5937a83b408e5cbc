//! The thread that searches, so that the engine can listen meanwhile.
//!
//! It keeps one solver, and makes another only when the size of the table changes.

use std::sync::Arc;
use std::{io, thread};

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::shogi::Position;
use crate::solver::{
    Attacker, Limits, STACK_BYTES, SearchControl, Solver, SolverResult, TableError, TableSize,
};

/// What is asked about a position: does the side to move mate?
pub(super) struct Question {
    pub(super) position: Position,
    pub(super) limits: Limits,
    pub(super) table: TableSize,
    pub(super) control: Arc<SearchControl>,
}

enum Task {
    Prepare(TableSize),
    Solve(Box<Question>),
}

/// The answer to a question, or why there could be no search.
pub(super) type SearchAnswer = Result<SolverResult, TableError>;

pub(super) struct Searcher {
    tasks: Sender<Task>,
    prepared: Receiver<Result<(), TableError>>,
    answers: Receiver<SearchAnswer>,
}

/// No answer will come: the thread ends only by a defect of ours.
pub(super) const GONE: &str = "the search thread has ended";

impl Searcher {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Self> {
        let (tasks, given) = unbounded();
        let (prepare, prepared) = unbounded();
        let (answer, answers) = unbounded();
        thread::Builder::new()
            .name("search".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || Worker::default().work(&given, &prepare, &answer))?;
        Ok(Self { tasks, prepared, answers })
    }

    /// Waits until there is a table of this size, or the reason why not.
    pub(super) fn prepare(&self, table: TableSize) -> anyhow::Result<Result<(), TableError>> {
        self.tasks.send(Task::Prepare(table)).ok().context(GONE)?;
        self.prepared.recv().context(GONE)
    }

    /// Begins a search; it ends with one of [`Self::answers`].
    pub(super) fn ask(&self, question: Question) -> anyhow::Result<()> {
        self.tasks.send(Task::Solve(Box::new(question))).ok().context(GONE)
    }

    /// Where answers arrive; broken if the thread has ended.
    pub(super) fn answers(&self) -> &Receiver<SearchAnswer> {
        &self.answers
    }
}

/// What the thread keeps between tasks.
#[derive(Default)]
struct Worker {
    solver: Option<(TableSize, Solver)>,
}

impl Worker {
    fn work(
        &mut self,
        tasks: &Receiver<Task>,
        prepared: &Sender<Result<(), TableError>>,
        answers: &Sender<SearchAnswer>,
    ) {
        for task in tasks {
            let is_heard = match task {
                Task::Prepare(table) => prepared.send(self.solver_with(table).map(|_| ())).is_ok(),
                Task::Solve(question) => answers.send(self.answer(&question)).is_ok(),
            };
            if !is_heard {
                break;
            }
        }
    }

    fn answer(&mut self, question: &Question) -> SearchAnswer {
        let Question { position, limits, table, control } = question;
        let solver = self.solver_with(*table)?;
        Ok(solver.solve_observed(position, Attacker::SideToMove, limits, &**control))
    }

    fn solver_with(&mut self, table: TableSize) -> Result<&mut Solver, TableError> {
        // An old table goes before the new one comes: there may not be room for both.
        let kept = self.solver.take().filter(|(size, _)| *size == table);
        let solver = match kept {
            Some((_, solver)) => solver,
            None => Solver::try_new(table)?,
        };
        Ok(&mut self.solver.insert((table, solver)).1)
    }
}
