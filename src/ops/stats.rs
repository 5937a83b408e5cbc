//! Statistics over records: fields, game phases and distinct positions.
//!
//! All inputs are read as one sequence. Unreadable records are only counted.

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

/// Records per block. Blocks are large because each one costs a merge of tables.
const BLOCK_RECORDS: u64 = 1 << 12;

/// The unchecked request of a `stats` run.
#[derive(Clone, Debug)]
pub struct StatsRequest {
    /// Position files, read as one sequence. `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Format of the inputs. `None`: detected by extension.
    pub from: Option<FormatName>,
    /// Encoding of 16-bit moves. `None`: detected from the records.
    pub dialect: Option<Dialect>,
    /// Filters that select the records.
    pub filters: RecordFilters,
    /// Maximum number of records to read, counted over all inputs.
    pub limit: Option<u64>,
    /// Memory for the exact count of distinct positions. The count is estimated if they do not fit.
    pub memory: Memory,
    /// File for the HTML page of the report. `-` is standard output.
    pub page: Option<PathBuf>,
    /// Replace an existing page.
    pub force: bool,
    /// Number of threads. 0: one per logical CPU.
    pub threads: usize,
}

/// A checked request.
#[derive(Clone, Debug)]
pub struct StatsPlan {
    /// The input ranges to read, in order.
    pub ranges: Vec<InputRange>,
    /// Number of records to read, if known.
    pub records: Option<u64>,
    /// Output plan of the HTML page.
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

/// Reads all records and computes the statistics.
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
    let worker: BlockFunction<_> =
        Arc::new(move |block, stop| block_stats(&worker_plan, block, stop));
    let mut tally = Tally::default();
    let mut distinct = Distinct::within(plan.memory);
    let add_block = |_: &mut ProcessedBlock, stats: BlockStats| {
        tally.add(&stats.tally);
        stats.positions.iter().for_each(|position| distinct.insert(position));
        Ok(())
    };
    let CompletedPass { counts, ranges_read } =
        pass(&job, &mut Sinks::create(&[])?, worker, add_block, progress, cancel)?;
    let report = StatsReport::new(&plan.ranges, &ranges_read, &counts, &tally, distinct.count());
    report.check_balance().map_err(Error::fault)?;
    progress.finish(&counts);
    Ok(report)
}

fn block_stats(
    plan: &StatsPlan,
    block: &Block,
    cancel: &AtomicBool,
) -> Option<(ProcessedBlock, BlockStats)> {
    let file = &plan.ranges[block.input].input.name;
    let mut stats = BlockStats::default();
    let filters = &plan.filters;
    // Whether no record of the current game has passed the filters.
    let mut is_new_game = false;
    let processed = process_block(block, file, BadPolicy::Skip, cancel, |item, processed| {
        is_new_game |= item.record.starts_game();
        if let Some(condition) = filters.failed_field_condition(item.number, &item.record)? {
            return Ok(AfterRecord::Filtered(condition));
        }
        let content = item.record.record()?;
        if filters.needs_position() {
            let position = Position::try_from(&content.setup).ok();
            let best_move = item.record.best_move()?;
            if let Some(condition) = filters.failed_position_condition(position.as_ref(), best_move)
            {
                return Ok(AfterRecord::Filtered(condition));
            }
        }
        stats.tally.add_record(&item.record, &content)?;
        stats.positions.push(PositionKey::of(&content.setup));
        stats.tally.games += u64::from(std::mem::take(&mut is_new_game));
        processed.counts.count_disposition(Disposition::Kept);
        Ok(AfterRecord::Continue)
    });
    Some((processed?, stats))
}
