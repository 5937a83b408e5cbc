//! Leaves out records that say what an earlier one said. The first stays, and so does the order.
//!
//! Records are compared by 128 bits of XXH3: of 10 billion different ones two are taken for equal with a
//! probability of 10⁻¹⁸. First all are laid into partitions by their hashes, which tells the numbers of the
//! repeated ones; then the inputs are read once more, without those.

mod hashing;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use self::hashing::{COMPARED_BYTES, HashedBlock, hashing_worker};
use super::account::{FinishedOperation, OperationManifest};
use super::items::BlockUnits;
use super::numbers::RecordNumbers;
use super::partitioned::significant_bits;
use super::partitions::{MemoryShare, PartitionWriter};
use super::pass::{Checksums, RunControl, read, unit_worker};
use super::plan::RearrangePlan;
use super::process_partitions::process_partitions;
use super::sorted_partition::SortedPartition;
use crate::engine::progress::Progress;
use crate::engine::run::CompletedPass;
use crate::format::Field;
use crate::ops::error::OperationError;
use crate::ops::rearrange::dedup_key::DedupKey;
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Condition;
use crate::records::plan_error::PlanError;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::stream::Stream;

/// More records than any archive has.
const MAX_RECORDS: u64 = 1 << 40;

/// Leaves out repeated records. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`OperationError`]; whatever had been written is removed.
pub fn dedup(
    plan: &RearrangePlan,
    key: DedupKey,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, OperationError> {
    check(plan, key)?;
    plan.resources.check_folder()?;
    let started = Instant::now();
    let mut control = RunControl { progress, cancel };
    let before = plan.identities();
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    control.progress.begin("comparing", plan.records);
    let mut compared =
        PartitionWriter::new(&plan.resources, Some(COMPARED_BYTES), MemoryShare::MOST);
    let mut omitted = OmittedNumbers::new(plan);
    let take = |_: &mut _, hashed: HashedBlock| {
        omitted.bad.add(&hashed.bad)?;
        omitted.repeated.add(&hashed.repeated)?;
        compared.add(hashed.partitioned)
    };
    let CompletedPass { mut counts, parts_read } =
        read(plan, &mut side, Checksums::Wanted, hashing_worker(plan, key), take, &mut control)?;
    control.progress.begin("sorting", Some(compared.items()));
    let take = |ComparedPartition { items, repeated }| {
        omitted.repeated.add(&repeated)?;
        Ok(items)
    };
    process_partitions(compared.seal()?, &plan.resources, repeated, take, &mut control)?;
    control.progress.begin("writing", Some(counts.input));
    let repeated = write(plan, omitted, &mut sinks, &mut control)?;
    plan.check_same(&before)?;
    counts.kept -= repeated;
    if repeated > 0 {
        counts.filtered.insert(Condition::Duplicate, repeated);
    }
    let finished = sinks.finish()?.and(side.finish()?);
    let settings = vec![("key", key.name().into())];
    FinishedOperation { command: "dedup", settings, counts, parts_read, finished, started }
        .commit(plan, control.progress)
}

/// Numbers of records that are not written.
struct OmittedNumbers {
    /// They cannot be read.
    bad: RecordNumbers,
    /// They say what an earlier one said.
    repeated: RecordNumbers,
}

impl OmittedNumbers {
    fn new(plan: &RearrangePlan) -> Self {
        // If they have not been counted yet, an upper bound.
        let end = plan.records.unwrap_or(MAX_RECORDS);
        Self {
            bad: RecordNumbers::new(&plan.resources, end, MemoryShare::LAST),
            repeated: RecordNumbers::new(&plan.resources, end, MemoryShare::REST),
        }
    }
}

/// Checks that the inputs have what is to be compared, and can be read twice.
fn check(plan: &RearrangePlan, key: DedupKey) -> Result<(), PlanError> {
    let format = plan.format();
    if key != DedupKey::Bytes && !format.has_single_records() {
        return Err(PlanError::OnlyBytes { format });
    }
    if key == DedupKey::PositionAndMove && !format.fields().contains(Field::BestMove) {
        let input = plan.parts[0].input.name.clone();
        let (filter, field) = ("key position+move", Field::BestMove);
        return Err(PlanError::FilterOnMissingField {
            filter,
            input,
            format: format.name(),
            field,
        });
    }
    plan.check_twice("records are compared in one reading and written in another")
}

/// What was found out about a partition.
struct ComparedPartition {
    /// Records in it.
    items: u64,
    /// The numbers of those that an earlier one repeats.
    repeated: Vec<u64>,
}

fn repeated(partition: &SortedPartition) -> ComparedPartition {
    let SortedPartition { items, order, .. } = partition;
    let (words, _) = items.bytes.as_chunks::<8>();
    let word = |place: usize| u64::from_le_bytes(words[place]);
    let mut repeated = Vec::new();
    // Of the records whose keys begin alike, which as a rule are equal, those that are the first ones.
    let mut firsts: Vec<(u64, u64)> = Vec::new();
    let mut alike = None;
    for &item in order {
        let item = item as usize;
        let (key, low, number) = (items.keys[item], word(2 * item), word(2 * item + 1));
        if alike.replace(significant_bits(key)) != Some(significant_bits(key)) {
            firsts.clear();
        }
        if firsts.contains(&(key, low)) {
            repeated.push(number);
        } else {
            firsts.push((key, low));
        }
    }
    ComparedPartition { items: items.keys.len() as u64, repeated }
}

/// Reads everything again and writes what is not left out; how many repeated records that were.
fn write(
    plan: &RearrangePlan,
    omitted: OmittedNumbers,
    sinks: &mut Sinks,
    control: &mut RunControl<'_>,
) -> Result<u64, OperationError> {
    let mut bad = omitted.bad.ascending()?;
    let mut repeated = omitted.repeated.ascending()?;
    let mut repeated_records = 0;
    // What is bad was dealt with in the first reading.
    let worker = unit_worker(plan, BadPolicy::Skip);
    let take = |processed: &mut ProcessedBlock, units: BlockUnits| {
        let mut omitted = Vec::new();
        let mut unit = 0;
        while unit < units.len() {
            let number = units.get(unit).number;
            let (next_repeated, next_bad) = (repeated.from(number)?, bad.from(number)?);
            let Some(next) = [next_repeated, next_bad].into_iter().flatten().min() else { break };
            unit = units.position(unit, next);
            if unit < units.len() && units.get(unit).number == next {
                if next_repeated == Some(next) {
                    repeated_records += units.get(unit).records;
                }
                omitted.push(unit);
                unit += 1;
            }
        }
        *processed.encoded_mut(Stream::Kept) = units.without(&omitted);
        Ok(())
    };
    read(plan, sinks, Checksums::Known, worker, take, control)?;
    Ok(repeated_records)
}
