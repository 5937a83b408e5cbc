//! Distributes the chunks of an archive to several files.

mod open_parts;
mod part_limit;

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::open_parts::{OpenParts, PartEnds};
pub use self::part_limit::PartLimit;
use self::part_limit::{PartFill, count_parts};
use super::Operation;
use super::items::BlockChunks;
use super::pass::{Checksums, RunControl, chunk_worker, count, read};
use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::operation_totals::OperationManifest;
use crate::records::shard::Shard;
use crate::records::sink::Sinks;
use crate::storage::compression::{Compression, FRAME_RECORDS};
use crate::storage::files;
use crate::storage::memory::Memory;
use crate::storage::open_files::allow_outputs;
use crate::storage::quantity::quantity;

/// Which part a chunk goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SplitBy {
    /// The first chunk to the first part, the second to the second, and so on, again and again.
    #[default]
    RoundRobin,
    /// Parts are stretches of the input, as long as each other but for one record: those of `--shard`.
    /// A game goes where its first record does.
    Ranges,
}

impl SplitBy {
    /// Its name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Ranges => "ranges",
        }
    }
}

/// Assumed size of a record in formats without a fixed one.
const TEXT_RECORD_BYTES: u64 = 100;

/// Checks that the process may open all parts at once.
fn check_files(plan: &RearrangePlan, files_of_each: u64) -> Result<(), Error> {
    let outputs = plan.outputs.iter().chain(&plan.side_outputs);
    let files = outputs.filter(|output| !files::is_object(&output.path)).count() as u64;
    let parts = plan.outputs.len();
    let too_many = |most| {
        Error::usage(format!(
            "{parts} parts are more than the {} files that this process may write at once; take larger ones, or raise the \
         limit of the system (`ulimit -Hn`)",
            most / files_of_each
        ))
    };
    allow_outputs(files * files_of_each).map_err(too_many)
}

fn check(plan: &RearrangePlan, by: SplitBy) -> Result<(), Error> {
    // A file that is being written is open twice: what was written goes to disk meanwhile.
    check_files(plan, if by == SplitBy::RoundRobin { 2 } else { 1 })?;
    match by {
        SplitBy::Ranges => plan.check_twice("ranges need the number of all records before"),
        SplitBy::RoundRobin if plan.to.compression == Compression::None => Ok(()),
        SplitBy::RoundRobin => {
            // Of each file, one frame is in memory.
            let record = plan.format().record_len().map_or(TEXT_RECORD_BYTES, |len| len as u64);
            let (parts, memory): (_, Memory) = (plan.outputs.len() as u64, plan.resources.memory);
            if parts * record * FRAME_RECORDS <= memory.bytes() {
                return Ok(());
            }
            let parts = u32::try_from(parts).unwrap_or(u32::MAX);
            Err(Error::usage(format!(
                "{} at once would take more than {memory} of --memory; allow more, or take ranges (--by ranges)",
                quantity(parts, "part")
            )))
        }
    }
}

/// Splits into the parts of the plan. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed.
pub fn split(
    plan: &RearrangePlan,
    by: SplitBy,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    check(plan, by)?;
    let operation = Operation::begin("split", plan)?;
    let mut control = RunControl { progress, cancel };
    let parts = match by {
        SplitBy::RoundRobin => OpenParts::round_robin(&plan.outputs)?,
        SplitBy::Ranges => {
            let ends = PartEnds::Numbers(ends(plan, &mut control)?);
            OpenParts::in_turn(&plan.outputs, ends)?
        }
    };
    let settings = vec![("parts", plan.outputs.len().into()), ("by", by.name().into())];
    write(operation, parts, settings, &mut control)
}

/// Splits into as many parts as the limit makes of the inputs, which are read twice: the plan has no parts yet. Each
/// but the last is so full that the next record or game has no room in it.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed.
pub fn split_up_to(
    plan: &RearrangePlan,
    limit: PartLimit,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    plan.check_twice("how many parts there are shows when all records have been measured")?;
    let operation = Operation::begin("split", plan)?;
    let mut control = RunControl { progress, cancel };
    let parts = count_parts(plan, limit, &mut control)?;
    let plan = &plan.clone().with_parts(u32::try_from(parts).unwrap_or(u32::MAX))?;
    check_files(plan, 1)?;
    let operation = operation.with_plan(plan);
    let ends = PartEnds::Full(PartFill::new(plan, limit));
    let parts = OpenParts::in_turn(&plan.outputs, ends)?;
    let settings =
        vec![("parts", plan.outputs.len().into()), (limit.option(), limit.value().into())];
    write(operation, parts, settings, &mut control)
}

fn write(
    operation: Operation<'_>,
    mut parts: OpenParts,
    settings: Vec<(&'static str, Value)>,
    control: &mut RunControl<'_>,
) -> Result<OperationManifest, Error> {
    let plan = operation.plan();
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let take = |_: &mut _, chunks: BlockChunks| parts.distribute(&chunks);
    let worker = chunk_worker(plan, plan.on_error);
    control.progress.begin("writing", plan.records);
    let pass = read(plan, &mut side, Checksums::Wanted, worker, take, control)?;
    let finished = parts.finish()?.and(side.finish()?);
    operation.commit(settings, pass, None, finished, control.progress)
}

/// Number of the first record after each part, for parts that are ranges.
fn ends(plan: &RearrangePlan, control: &mut RunControl<'_>) -> Result<VecDeque<u64>, Error> {
    let total = count(plan, control)?.iter().map(|input| input.all).sum();
    let parts = plan.outputs.len() as u32;
    let shards = (1..=parts).filter_map(|index| Shard::new(index, parts));
    Ok(shards.map(|shard| shard.range(total).end).collect())
}
