//! Splits archives into several files.

mod games;
mod hashed;
mod open_parts;
mod part_limit;

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::hashed::{HashedParts, hashing_worker};
use self::open_parts::{OpenParts, PartEnds};
pub use self::part_limit::PartLimit;
use self::part_limit::{PartFill, count_parts};
use super::Operation;
use super::interleave::Weights;
use super::pass::{Checksums, RunControl, chunk_worker, count, read};
use super::plan::RearrangePlan;
use crate::engine::job::BlockFunction;
use crate::engine::progress::Progress;
use crate::error::Error;
use crate::jobs::operation_totals::OperationManifest;
use crate::records::output_kind::OutputKind;
use crate::records::shard::Shard;
use crate::records::sink::{FinishedOutputs, Sinks};
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
    /// Each part is a contiguous range of the input, the same as with `--shard`. The numbers of records differ by at
    /// most one. In formats that hold games they differ more, because a game belongs to the part of its first record.
    Ranges,
    /// The part of a game depends only on its bytes before filtering, the weights and the seed. In formats of single
    /// records, consecutive records form a game if their move numbers increase and their results are equal. Without
    /// move numbers, a game also ends at the initial position, and where the move does not lead to the next record and
    /// the board comes nearer to the initial position.
    Game,
    /// The part of a record depends only on its position, the weights and the seed.
    Position,
}

/// How the chunks are distributed to a known number of parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SplitSettings {
    /// The way of distribution.
    pub by: SplitBy,
    /// Relative sizes of the parts, for games and positions. `None`: equal sizes.
    pub weights: Option<Weights>,
    /// Seed of the distribution of games and positions.
    pub seed: u64,
}

impl From<SplitBy> for SplitSettings {
    fn from(by: SplitBy) -> Self {
        Self { by, weights: None, seed: 1 }
    }
}

impl SplitBy {
    /// The name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Ranges => "ranges",
            Self::Game => "game",
            Self::Position => "position",
        }
    }

    const fn is_by_hash(self) -> bool {
        matches!(self, Self::Game | Self::Position)
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

fn check(plan: &RearrangePlan, settings: &SplitSettings) -> Result<(), Error> {
    let SplitSettings { by, weights, .. } = settings;
    let parts = plan.outputs.len();
    match weights {
        Some(_) if !by.is_by_hash() => {
            return Err(Error::usage("--weights needs --by game or --by position"));
        }
        Some(weights) if weights.len() != parts => {
            return Err(Error::usage(format!(
                "{} given for {}; --weights needs one weight per part",
                quantity(weights.len(), "weight"),
                quantity(parts, "part")
            )));
        }
        _ => {}
    }
    if by.is_by_hash() {
        hashed::check(plan, *by)?;
    }
    // Each open part needs a second file handle to flush written data to disk in the background.
    check_files(plan, if *by == SplitBy::Ranges { 1 } else { 2 })?;
    match by {
        SplitBy::Ranges => plan.check_twice("--by ranges counts all records first"),
        _ if plan.to.compression == Compression::None => Ok(()),
        SplitBy::RoundRobin | SplitBy::Game | SplitBy::Position => {
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
    settings: &SplitSettings,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    check(plan, settings)?;
    let operation = Operation::begin("split", plan)?;
    let mut control = RunControl { progress, cancel };
    let SplitSettings { by, weights, seed } = settings;
    let mut entries = vec![("parts", plan.outputs.len().into()), ("by", by.name().into())];
    let parts = match by {
        SplitBy::RoundRobin => OpenParts::round_robin(&plan.outputs)?,
        SplitBy::Ranges => {
            let ends = PartEnds::Numbers(ends(plan, &mut control)?);
            OpenParts::in_turn(&plan.outputs, ends)?
        }
        SplitBy::Game | SplitBy::Position => {
            entries.push(("weights", weights.as_ref().map(ToString::to_string).into()));
            entries.push(("seed", (*seed).into()));
            let parts = HashedParts::new(plan, settings)?;
            let worker = hashing_worker(plan, *by);
            let forms_games = *by == SplitBy::Game && plan.format().has_single_records();
            let operation = operation.counting_games(forms_games);
            let manifest = write(operation, parts, worker, entries, &mut control)?;
            warn_of_empty_parts(&manifest);
            return Ok(manifest);
        }
    };
    write(operation, parts, chunk_worker(plan, plan.on_error), entries, &mut control)
}

fn warn_of_empty_parts(manifest: &OperationManifest) {
    let kept = manifest.outputs.iter().filter(|output| output.kind == OutputKind::Kept);
    for empty in kept.filter(|output| output.records == 0) {
        tracing::warn!("{} is empty: no game or position belongs to this part", empty.file);
    }
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
    write(operation, parts, chunk_worker(plan, plan.on_error), settings, &mut control)
}

/// The open parts of an operation.
trait Parts<T> {
    /// Distributes the chunks of the next block. Blocks must come in input order.
    fn distribute(&mut self, block: T) -> Result<(), Error>;

    /// Finishes all parts. Parts without chunks are created as empty archives.
    fn finish(self) -> Result<FinishedOutputs, Error>;
}

fn write<T: Send + 'static>(
    operation: Operation<'_>,
    mut parts: impl Parts<T>,
    worker: BlockFunction<T>,
    settings: Vec<(&'static str, Value)>,
    control: &mut RunControl<'_>,
) -> Result<OperationManifest, Error> {
    let plan = operation.plan();
    let mut side_sinks = Sinks::create_with(&plan.side_outputs, true)?;
    let distribute = |_: &mut _, block: T| parts.distribute(block);
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
