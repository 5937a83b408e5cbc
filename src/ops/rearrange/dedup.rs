//! Leaves out records that say what an earlier one said. The first stays, and so does the order.
//!
//! Records are compared by 128 bits of XXH3: of 10 billion different ones two are taken for equal with a
//! probability of 10⁻¹⁸. First all are laid into partitions by their hashes, which tells the numbers of the
//! repeated ones; then the inputs are read once more, without those. Records of references stand before all others, and are not
//! written.

mod hashing;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use self::hashing::{COMPARED_BYTES, HashedBlock, OF_REFERENCE, Role, hashing_worker};
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
use crate::records::account::{InputEntry, input_entry};
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Condition;
use crate::records::plan_error::PlanError;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::{Input, Part};
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
    let mut compared =
        PartitionWriter::new(&plan.resources, Some(COMPARED_BYTES), MemoryShare::MOST);
    let mut omitted = OmittedNumbers::new(plan);
    let references = read_references(plan, key, &mut compared, &mut control)?;
    control.progress.begin("comparing", plan.records);
    let take = |_: &mut _, hashed: HashedBlock| {
        omitted.bad.add(&hashed.bad)?;
        omitted.repeated.add(&hashed.repeated)?;
        compared.add(hashed.partitioned)
    };
    let CompletedPass { mut counts, parts_read } = read(
        plan,
        &mut side,
        Checksums::Wanted,
        hashing_worker(plan, key, Role::Input),
        take,
        &mut control,
    )?;
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
    let mut settings = vec![("key", key.name().into())];
    if !references.is_empty() {
        settings.push(("reference", serde_json::to_value(references).unwrap_or_default()));
    }
    FinishedOperation { command: "dedup", settings, counts, parts_read, finished, started }
        .commit(plan, control.progress)
}

/// Lays the records of references into the partitions, before all others. What they are, for the account.
fn read_references(
    plan: &RearrangePlan,
    key: DedupKey,
    compared: &mut PartitionWriter,
    control: &mut RunControl<'_>,
) -> Result<Vec<InputEntry>, OperationError> {
    if plan.references.is_empty() {
        return Ok(Vec::new());
    }
    control.progress.begin("reading references", None);
    // What cannot be read there cannot be met again.
    let of_references =
        RearrangePlan { parts: plan.references.clone(), on_error: BadPolicy::Skip, ..plan.clone() };
    let worker = hashing_worker(&of_references, key, Role::Reference);
    let take = |_: &mut _, hashed: HashedBlock| compared.add(hashed.partitioned);
    let none = &mut Sinks::create(&[])?;
    let CompletedPass { counts, parts_read } =
        read(&of_references, none, Checksums::Wanted, worker, take, control)?;
    if counts.kept == 0 {
        return Err(PlanError::EmptyReference.into());
    }
    if counts.bad.all() > 0 {
        let bad = counts.bad.all();
        tracing::warn!("{bad} records of the references cannot be read: nothing is equal to them");
    }
    let entries = parts_read.iter().map(|read| input_entry(&plan.references[read.part], read));
    Ok(entries.collect())
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
    let inputs = || plan.parts.iter().chain(&plan.references).map(|part| &part.input);
    let lacks_move = |input: &&Input| !input.format.fields().contains(Field::BestMove);
    if let Some(input) = inputs().find(lacks_move).filter(|_| key == DedupKey::PositionAndMove) {
        let (filter, field) = ("key position+move", Field::BestMove);
        return Err(PlanError::FilterOnMissingField {
            filter,
            input: input.name.clone(),
            format: input.format.name(),
            field,
        });
    }
    let is_other = |part: &&Part| part.input.format != format;
    if let Some(other) = plan.references.iter().find(is_other).filter(|_| key == DedupKey::Bytes) {
        let (first, second) = (plan.parts[0].input.name.clone(), other.input.name.clone());
        return Err(PlanError::DifferentFormats { first, second });
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
            if number != OF_REFERENCE {
                repeated.push(number);
            }
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
