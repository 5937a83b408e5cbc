//! Figures about the records of files: what they say, where the games stand, how often positions come again.
//!
//! All files are read as one sequence. Records that cannot be read are counted and say nothing else.

mod distinct;
mod eval_scale;
mod histogram;
mod outcomes;
mod report;
mod squares;
mod tally;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use self::distinct::Distinct;
use self::tally::Tally;
use crate::engine::job::{BlockFunction, Job};
use crate::engine::progress::Progress;
use crate::engine::run::{CompletedPass, pass};
use crate::error::Error;
use crate::format::PositionKey;
use crate::format::move16::Dialect;
use crate::records::bad_record::BadPolicy;
use crate::records::claims::FileClaims;
use crate::records::counts::Disposition;
use crate::records::filters::RecordFilters;
use crate::records::format_name::FormatName;
use crate::records::opening::{self, Unreadable, check_filters};
use crate::records::output_kind::OutputKind;
use crate::records::processing::{AfterRecord, ProcessedBlock, process_block};
use crate::records::selection::{Selection, select_records};
use crate::records::sink::{OutputPlan, Sinks};
use crate::records::source::{Block, InputRange};
use crate::shogi::Position;
use crate::storage::memory::Memory;

pub use distinct::DistinctPositions;
pub use eval_scale::{EvalScale, NoScale};
pub use histogram::{Bin, Distribution, Percentiles};
pub use outcomes::{Outcomes, WinRate};
pub use report::{
    EvalBin, MovesReport, PhaseReport, PiecesReport, ResultsReport, SidesReport, StatsReport,
};
pub use squares::SquaresReport;
pub use tally::{ENDGAME_FROM, MIDDLEGAME_FROM};

/// Records per block. Many, because the tables of every block are added up.
const BLOCK_RECORDS: u64 = 1 << 12;

/// What the user asked for, not yet checked.
#[derive(Clone, Debug)]
pub struct StatsRequest {
    /// Files of positions, read as one sequence; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Format of the inputs, where their extensions do not say it.
    pub from: Option<FormatName>,
    /// How packed moves are encoded, whatever the records show; as they show it if nothing is said.
    pub dialect: Option<Dialect>,
    /// Which records are looked at.
    pub filters: RecordFilters,
    /// Records after which reading stops, over all inputs.
    pub limit: Option<u64>,
    /// Memory in which positions are told apart; what goes beyond it is estimated.
    pub memory: Memory,
    /// File for a page of the report; `-` is standard output.
    pub page: Option<PathBuf>,
    /// Whether a page that is there may be replaced.
    pub force: bool,
    /// Threads, 0 for as many as the machine runs at once.
    pub threads: usize,
}

/// A reading that can begin.
#[derive(Clone, Debug)]
pub struct StatsPlan {
    /// What is read, in order.
    pub ranges: Vec<InputRange>,
    /// Records that will be read, where that is known before.
    pub records: Option<u64>,
    /// Where a page of the report goes.
    pub page: Option<OutputPlan>,
    filters: RecordFilters,
    limit: Option<u64>,
    memory: Memory,
    threads: usize,
}

impl StatsPlan {
    /// Checks a request. Reads inputs only to count their records.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn new(request: StatsRequest) -> Result<Self, Error> {
        let StatsRequest { inputs, from, dialect, filters, limit, memory, page, force, threads } =
            request;
        let inputs = opening::inputs(&inputs, from, dialect, Unreadable::Refused)?;
        inputs.iter().try_for_each(|input| check_filters(input, &filters))?;
        let mut claims = FileClaims::reading(&inputs)?;
        let page =
            page.map(|path| claims.lone_output(OutputKind::Kept, &path, force)).transpose()?;
        let Selection { ranges, records, .. } = select_records(inputs, None, limit, None)?;
        Ok(Self { ranges, records, page, filters, limit, memory, threads })
    }
}

#[derive(Default)]
struct BlockStats {
    tally: Tally,
    positions: Vec<PositionKey>,
}

/// Reads everything and adds it up.
///
/// # Errors
/// [`Error`] if an input cannot be read or the run was interrupted.
pub fn stats(
    plan: StatsPlan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<StatsReport, Error> {
    let plan = Arc::new(plan);
    let job = Job { limit: plan.limit, ..Job::new(&plan.ranges, plan.threads, BLOCK_RECORDS) };
    let worker_plan = Arc::clone(&plan);
    let worker: BlockFunction<_> = Arc::new(move |block, stop| look_at(&worker_plan, block, stop));
    let mut tally = Tally::default();
    let mut distinct = Distinct::within(plan.memory);
    let take = |_: &mut ProcessedBlock, found: BlockStats| {
        tally.add(&found.tally);
        found.positions.iter().for_each(|position| distinct.insert(position));
        Ok(())
    };
    let CompletedPass { counts, ranges_read } =
        pass(&job, &mut Sinks::create(&[])?, worker, take, progress, cancel)?;
    let report = StatsReport::new(&plan.ranges, &ranges_read, &counts, &tally, distinct.count());
    report.check_balance().map_err(Error::fault)?;
    progress.finish(&counts);
    Ok(report)
}

fn look_at(
    plan: &StatsPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, BlockStats)> {
    let file = &plan.ranges[block.input].input.name;
    let mut found = BlockStats::default();
    let filters = &plan.filters;
    let processed = process_block(block, file, BadPolicy::Skip, cancel, |item, processed| {
        if let Some(condition) = filters.failed_by_fields(item.number, &item.record)? {
            return Ok(AfterRecord::Filtered(condition));
        }
        let content = item.record.record()?;
        if filters.ask_rules() {
            let position = Position::try_from(&content.setup).ok();
            let best_move = item.record.best_move()?;
            if let Some(condition) = filters.failed_by_rules(position.as_ref(), best_move) {
                return Ok(AfterRecord::Filtered(condition));
            }
        }
        found.tally.take(&item.record, &content)?;
        found.positions.push(PositionKey::of(&content.setup));
        processed.counts.count_disposition(Disposition::Kept);
        Ok(AfterRecord::Continue)
    });
    Some((processed?, found))
}
