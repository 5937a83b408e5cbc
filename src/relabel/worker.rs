//! Relabels blocks of records on a worker thread. The positions of a block are evaluated together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;

use super::evaluator::{Evaluated, PositionEvaluator};
use super::{games, records};
use crate::engine::job::BlockWorker;
use crate::error::Error;
use crate::format::{EncodeError, Field, Fields, Format, GameResult, Reevaluation};
use crate::jobs::plan::{JobPlan, Product};
use crate::jobs::record_run::BlockSummary;
use crate::jobs::settings::RelabelSettings;
use crate::mate::judge::MemoHits;
use crate::records::processing::ProcessedBlock;
use crate::records::reading::RecordError;
use crate::records::source::Block;
use crate::shogi::{Color, Position};

/// Evaluates blocks of records. The evaluator is created when it is first needed.
pub(super) struct RelabelWorker<E, F> {
    plan: Arc<JobPlan>,
    make_evaluator: Arc<F>,
    evaluator: Option<E>,
    /// Dropped with the evaluator. The run waits until all senders are dropped, so that all evaluators have ended.
    _alive: Sender<()>,
}

impl<E, F> RelabelWorker<E, F> {
    pub(super) const fn new(plan: Arc<JobPlan>, make_evaluator: Arc<F>, alive: Sender<()>) -> Self {
        Self { plan, make_evaluator, evaluator: None, _alive: alive }
    }
}

impl<E: PositionEvaluator, F: Fn(&AtomicBool) -> Result<E, Error>> RelabelWorker<E, F> {
    /// Evaluates positions. Positions without a legal move are losses and are not passed to the evaluator, because
    /// engines answer them inconsistently.
    fn evaluate(
        &mut self,
        positions: &[Position],
        cancel: &AtomicBool,
    ) -> Result<Vec<Evaluated>, Error> {
        // Open positions have a legal move.
        let is_open: Vec<bool> = positions.iter().map(Position::has_legal_move).collect();
        let open = positions.iter().zip(&is_open).filter(|(_, is_open)| **is_open);
        let open: Vec<Position> = open.map(|(position, _)| position.clone()).collect();
        let mut evaluated = Vec::new();
        if !open.is_empty() {
            let evaluator = match &mut self.evaluator {
                Some(evaluator) => evaluator,
                none => none.insert((self.make_evaluator)(cancel)?),
            };
            evaluated = evaluator.evaluate(&open, cancel)?;
        }
        let mut evaluated = evaluated.into_iter();
        let next = |&is_open: &bool| {
            if is_open {
                evaluated.next().expect("one evaluation per position")
            } else {
                Evaluated::mate(false, 0, None)
            }
        };
        Ok(is_open.iter().map(next).collect())
    }

    fn process(&mut self, block: &Block, cancel: &AtomicBool) -> Result<ProcessedBlock, Error> {
        let plan = Arc::clone(&self.plan);
        let relabelling = Relabelling::new(&plan);
        let mut evaluate = |positions: &[Position]| {
            self.evaluate(positions, cancel).map_err(|error| {
                // Ctrl-C in a terminal also ends the evaluators, so their errors are expected.
                let is_cancelled = cancel.load(Ordering::Relaxed);
                if is_cancelled { Error::evaluation_interrupted() } else { error }
            })
        };
        if block.format.holds_games() && relabelling.to.holds_games() {
            games::relabel_block(&relabelling, block, cancel, &mut evaluate)
        } else {
            records::relabel_block(&relabelling, block, cancel, &mut evaluate)
        }
    }
}

impl<E: PositionEvaluator, F: Fn(&AtomicBool) -> Result<E, Error>> BlockWorker
    for RelabelWorker<E, F>
{
    type Summary = BlockSummary;

    fn process(
        &mut self,
        block: &Block,
        stop: &AtomicBool,
    ) -> Option<(ProcessedBlock, BlockSummary)> {
        match self.process(block, stop) {
            Ok(processed) => Some((processed, Ok(MemoHits::default()))),
            Err(error) if error.is_interruption() => None,
            Err(error) => Some((
                ProcessedBlock::default(),
                Err(Error::evaluation("cannot evaluate records").with_source(error)),
            )),
        }
    }
}

/// Evaluates all positions of a block in one call.
pub(super) type Evaluate<'a> = dyn FnMut(&[Position]) -> Result<Vec<Evaluated>, Error> + 'a;

pub(super) struct Relabelling<'a> {
    pub(super) plan: &'a JobPlan,
    pub(super) settings: &'a RelabelSettings,
    pub(super) to: Format,
}

impl<'a> Relabelling<'a> {
    pub(super) fn new(plan: &'a JobPlan) -> Self {
        let (Some(settings), Product::Evaluated(to)) = (&plan.settings.relabel, plan.product)
        else {
            unreachable!("the plan has relabel settings");
        };
        Self { plan, settings, to: to.format }
    }

    /// The new fields of a record. A missing `result` is taken from the fill settings.
    pub(super) fn reevaluation(
        &self,
        evaluated: Evaluated,
        mover: Color,
        result: Option<GameResult>,
    ) -> Result<Reevaluation, RecordError> {
        let result = result.or(self.plan.settings.fill.result);
        evaluated.mixed(self.settings, mover, result).map_err(|_| {
            let fields = Fields::of(Field::Result);
            EncodeError::Missing { fields }.into()
        })
    }
}
