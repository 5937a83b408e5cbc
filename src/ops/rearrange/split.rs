//! Splits archives into several files.

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
use super::chunks::BlockChunks;
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

/// How chunks are distributed to parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SplitBy {
    /// The first chunk to the first part, the second chunk to the second part, and so on, cyclically.
    #[default]
    RoundRobin,
    /// Each part is a contiguous range of the input, the same as with `--shard`. Sizes differ by at most one record. A
    /// game belongs to the part of its first record.
    Ranges,
}

impl SplitBy {
    /// The name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Ranges => "ranges",
        }
    }
}

/// Assumed size of a record in formats with variable-length records.
const TEXT_RECORD_BYTES: u64 = 100;

/// Checks that the process may open all parts at once.
fn check_files(plan: &RearrangePlan, files_per_part: u64) -> Result<(), Error> {
    let outputs = plan.outputs.iter().chain(&plan.side_outputs);
    let files = outputs.filter(|output| !files::is_object(&output.path)).count() as u64;
    let parts = plan.outputs.len();
    let too_many = |most| {
        Error::usage(format!(
            "cannot write {parts} parts: this process may write at most {} files at the same time; use fewer parts or raise the \
         system limit (`ulimit -Hn`)",
            most / files_per_part
        ))
    };
    allow_outputs(files * files_per_part).map_err(too_many)
}

fn check(plan: &RearrangePlan, by: SplitBy) -> Result<(), Error> {
    // Each open part needs a second file handle to flush written data to disk in the background.
    check_files(plan, if by == SplitBy::RoundRobin { 2 } else { 1 })?;
    match by {
        SplitBy::Ranges => plan.check_twice("--by ranges counts all records first"),
        SplitBy::RoundRobin if plan.to.compression == Compression::None => Ok(()),
        SplitBy::RoundRobin => {
            // One frame of each part is in memory.
            let record = plan.format().record_len().map_or(TEXT_RECORD_BYTES, |len| len as u64);
            let (parts, memory): (_, Memory) = (plan.outputs.len() as u64, plan.resources.memory);
            if parts * record * FRAME_RECORDS <= memory.bytes() {
                return Ok(());
            }
            let parts = u32::try_from(parts).unwrap_or(u32::MAX);
            Err(Error::usage(format!(
                "writing {} at the same time needs more than --memory {memory}; increase --memory or use --by ranges",
                quantity(parts, "part")
            )))
        }
    }
}

/// Splits the inputs into the parts of the plan. The outputs get their final names only if the whole operation
/// succeeds.
///
/// # Errors
/// [`Error`] if the operation fails. Unfinished outputs are removed.
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

/// Splits the inputs into parts of at most `limit`. Every part except the last is filled until the next record or game
/// does not fit. The inputs are read twice. The plan must not have parts yet.
///
/// # Errors
/// [`Error`] if the operation fails. Unfinished outputs are removed.
pub fn split_up_to(
    plan: &RearrangePlan,
    limit: PartLimit,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    plan.check_twice("the number of parts is known only after reading all records")?;
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
    let mut side_sinks = Sinks::create_with(&plan.side_outputs, true)?;
    let distribute = |_: &mut _, chunks: BlockChunks| parts.distribute(&chunks);
    let worker = chunk_worker(plan, plan.on_error);
    control.progress.begin("writing", plan.records);
    let pass = read(plan, &mut side_sinks, Checksums::Wanted, worker, distribute, control)?;
    let finished = parts.finish()?.and(side_sinks.finish()?);
    operation.commit(settings, pass, None, finished, control.progress)
}

/// For parts that are ranges: the number of the first record after each part.
fn ends(plan: &RearrangePlan, control: &mut RunControl<'_>) -> Result<VecDeque<u64>, Error> {
    let total = count(plan, control)?.iter().map(|input| input.all).sum();
    let parts = plan.outputs.len() as u32;
    let shards = (1..=parts).filter_map(|index| Shard::new(index, parts));
    Ok(shards.map(|shard| shard.range(total).end).collect())
}
