//! Leaves out records that say what an earlier one said. The first stays, and so does the order.
//!
//! Records are compared by 128 bits of XXH3: of 10 billion different ones two are taken for equal with a probability of
//! 10⁻¹⁸. First all are laid into partitions by their hashes, which tells the numbers of the repeated ones; then the
//! inputs are read once more, without those. Records of references stand before all others, and are not written.
//!
//! Where the mean of equal records is wanted, what they say goes with the hashes, and the first is written with it.

mod averages;
mod hashing;
mod mean;
mod summing;

use std::sync::atomic::AtomicBool;

use self::averages::{Averages, averaged};
use self::hashing::{
    COMPARED_BYTES, ComparedPartition, HashedBlock, MAX_RECORDS, OF_REFERENCE, Role, hashing_worker,
};
use self::summing::{SUMMED_BYTES, summing_worker};
use super::Operation;
use super::items::BlockChunks;
use super::numbers::RecordNumbers;
use super::partitioned::significant_bits;
use super::partitions::{MemoryShare, PartitionWriter};
use super::pass::{Checksums, RunControl, chunk_worker, read};
use super::plan::RearrangePlan;
use super::sorted_partition::{SortedPartition, process_partitions};
use crate::engine::job::BlockFunction;
use crate::engine::progress::Progress;
use crate::engine::run::CompletedPass;
use crate::error::Error;
use crate::format::Field;
use crate::jobs::operation_totals::{AverageCounts, OperationManifest};
use crate::ops::rearrange::dedup_key::DedupKey;
use crate::records::account::{InputEntry, input_entry};
use crate::records::bad_record::BadPolicy;
use crate::records::filters::Condition;
use crate::records::output_kind::OutputKind;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::{Input, InputRange};
use crate::storage::quantity::quantity;

/// Which records are equal, and what becomes of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DedupSettings {
    /// What is compared.
    pub key: DedupKey,
    /// Whether the record that is written has the mean evaluation and result of its copies, and their most frequent
    /// move. If not, it is the first of them as it is.
    pub average: bool,
}

impl DedupSettings {
    const fn compared_bytes(self) -> usize {
        if self.average { SUMMED_BYTES } else { COMPARED_BYTES }
    }

    fn worker(self, plan: &RearrangePlan, role: Role) -> BlockFunction<HashedBlock> {
        if self.average {
            summing_worker(plan, self.key, role)
        } else {
            hashing_worker(plan, self.key, role)
        }
    }
}

/// Leaves out repeated records. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`Error`]. Unfinished outputs are removed.
pub fn dedup(
    plan: &RearrangePlan,
    settings: DedupSettings,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    check(plan, settings)?;
    let operation = Operation::begin("dedup", plan)?;
    plan.resources.check_folder()?;
    let mut control = RunControl { progress, cancel };
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    let mut compared =
        PartitionWriter::new(&plan.resources, Some(settings.compared_bytes()), MemoryShare::MOST);
    let mut omitted = OmittedNumbers::new(plan, settings);
    let references = read_references(plan, settings, &mut compared, &mut control)?;
    control.progress.begin("comparing", plan.records);
    let take = |_: &mut _, hashed: HashedBlock| {
        omitted.bad.add(&hashed.bad)?;
        omitted.repeated.add(&hashed.repeated)?;
        compared.add(hashed.partitioned)
    };
    let CompletedPass { mut counts, ranges_read } = read(
        plan,
        &mut side,
        Checksums::Wanted,
        settings.worker(plan, Role::Input),
        take,
        &mut control,
    )?;
    control.progress.begin("sorting", Some(compared.items()));
    let mut averages = settings.average.then(|| Averages::new(plan));
    let take = |found: ComparedPartition| {
        omitted.repeated.add(&found.repeated)?;
        if let Some(averages) = &mut averages {
            averages.add(&found)?;
        }
        Ok(found.items)
    };
    let work = if settings.average { averaged } else { repeated };
    process_partitions(compared.seal()?, &plan.resources, work, take, &mut control)?;
    control.progress.begin("writing", Some(counts.input));
    let (repeated, averaged) = write(plan, omitted, averages, &mut sinks, &mut control)?;
    counts.kept -= repeated;
    if repeated > 0 {
        counts.filtered.insert(Condition::Duplicate, repeated);
    }
    let finished = sinks.finish()?.and(side.finish()?);
    let mut said = vec![("key", settings.key.name().into())];
    if settings.average {
        said.push(("average", true.into()));
    }
    if !references.is_empty() {
        said.push(("reference", serde_json::to_value(references).unwrap_or_default()));
    }
    let pass = CompletedPass { counts, ranges_read };
    operation.commit(said, pass, averaged, finished, control.progress)
}

/// Adds the records of the references to the partitions, before all others. Returns their entries for the manifest.
fn read_references(
    plan: &RearrangePlan,
    settings: DedupSettings,
    compared: &mut PartitionWriter,
    control: &mut RunControl<'_>,
) -> Result<Vec<InputEntry>, Error> {
    if plan.references.is_empty() {
        return Ok(Vec::new());
    }
    control.progress.begin("reading references", None);
    // What cannot be read there cannot be met again.
    let of_references = RearrangePlan {
        ranges: plan.references.clone(),
        on_error: BadPolicy::Skip,
        ..plan.clone()
    };
    let worker = settings.worker(&of_references, Role::Reference);
    let take = |_: &mut _, hashed: HashedBlock| compared.add(hashed.partitioned);
    let none = &mut Sinks::create(&[])?;
    let CompletedPass { counts, ranges_read } =
        read(&of_references, none, Checksums::Wanted, worker, take, control)?;
    if counts.kept == 0 {
        return Err(Error::usage(
            "there is no record in the references: nothing would be left out",
        ));
    }
    if counts.bad.all() > 0 {
        tracing::warn!(
            "of the references {} cannot be read: nothing is equal to what they hold",
            quantity(counts.bad.all(), "record")
        );
    }
    let entries = ranges_read.iter().map(|read| input_entry(&plan.references[read.input], read));
    Ok(entries.collect())
}

/// Numbers of records that are not written.
struct OmittedNumbers {
    bad: RecordNumbers,
    repeated: RecordNumbers,
}

impl OmittedNumbers {
    fn new(plan: &RearrangePlan, settings: DedupSettings) -> Self {
        // If they have not been counted yet, an upper bound.
        let end = plan.records.unwrap_or(MAX_RECORDS);
        // Means take a share of their own.
        let rest = if settings.average { MemoryShare::LAST } else { MemoryShare::REST };
        Self {
            bad: RecordNumbers::new(&plan.resources, end, MemoryShare::LAST),
            repeated: RecordNumbers::new(&plan.resources, end, rest),
        }
    }
}

/// Checks that the inputs have the compared fields and can be read twice.
fn check(plan: &RearrangePlan, settings: DedupSettings) -> Result<(), Error> {
    let (format, key) = (plan.format(), settings.key);
    if settings.average {
        check_average(plan, key)?;
    }
    if key != DedupKey::Bytes && !format.has_single_records() {
        return Err(Error::usage(format!(
            "the records of {format} stand in games or groups that are moved as wholes: --key bytes compares those"
        )));
    }
    let inputs = || plan.ranges.iter().chain(&plan.references).map(|part| &part.input);
    let lacks_move = |input: &&Input| !input.format.fields().contains(Field::BestMove);
    if let Some(input) = inputs().find(lacks_move).filter(|_| key == DedupKey::PositionAndMove) {
        let (filter, field) = ("key position+move", Field::BestMove);
        return Err(Error::filter_on_missing_field(
            filter,
            input.name.clone(),
            input.format.name(),
            field,
        ));
    }
    let is_other = |part: &&InputRange| !format.takes_chunks_of(part.input.format);
    if let Some(other) = plan.references.iter().find(is_other).filter(|_| key == DedupKey::Bytes) {
        let (first, second) = (plan.ranges[0].input.name.clone(), other.input.name.clone());
        return Err(Error::different_formats(first, second));
    }
    plan.check_twice("records are compared in one reading and written in another")
}

/// Checks that equal records may differ in their labels, and that the format stores evaluations.
fn check_average(plan: &RearrangePlan, key: DedupKey) -> Result<(), Error> {
    let format = plan.format();
    if format.has_single_records() && matches!(key, DedupKey::Content | DedupKey::Bytes) {
        return Err(Error::usage(format!(
            "records that are equal by --key {} say the same, and --average has nothing to do; compare by position or \
         position+move",
            key.name()
        )));
    }
    if !format.has_single_records() || !format.fields().contains(Field::EvalCp) {
        return Err(Error::usage(format!(
            "--average cannot be asked of {}: {format} holds {}",
            plan.ranges[0].input.name,
            if format.has_single_records() {
                "no evaluations; without it the first of equal records is written"
            } else {
                "games or groups that are moved as wholes; `kyokumen convert` makes records of them, as psv or hcpe"
            }
        )));
    }
    Ok(())
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
    ComparedPartition { items: items.keys.len() as u64, repeated, ..Default::default() }
}

/// Reads the inputs again and writes the remaining records. Returns the number of repeated records and the counts of
/// averaged ones.
fn write(
    plan: &RearrangePlan,
    omitted: OmittedNumbers,
    averages: Option<Averages>,
    sinks: &mut Sinks,
    control: &mut RunControl<'_>,
) -> Result<(u64, Option<AverageCounts>), Error> {
    let mut relabelling = averages.map(|averages| averages.seal(plan)).transpose()?;
    let mut bad = omitted.bad.ascending()?;
    let mut repeated = omitted.repeated.ascending()?;
    let mut repeated_records = 0;
    // What is bad was dealt with in the first reading.
    let worker = chunk_worker(plan, BadPolicy::Skip);
    let take = |processed: &mut ProcessedBlock, mut chunks: BlockChunks| {
        if let Some(relabelling) = &mut relabelling {
            relabelling.relabel(plan, &mut chunks)?;
        }
        let mut omitted = Vec::new();
        let mut chunk = 0;
        while chunk < chunks.len() {
            let number = chunks.get(chunk).number;
            let (next_repeated, next_bad) = (repeated.from(number)?, bad.from(number)?);
            let Some(next) = [next_repeated, next_bad].into_iter().flatten().min() else { break };
            chunk = chunks.position(chunk, next);
            if chunk < chunks.len() && chunks.get(chunk).number == next {
                if next_repeated == Some(next) {
                    repeated_records += chunks.get(chunk).records;
                }
                omitted.push(chunk);
                chunk += 1;
            }
        }
        *processed.encoded_mut(OutputKind::Kept) = chunks.without(&omitted);
        Ok(())
    };
    read(plan, sinks, Checksums::Known, worker, take, control)?;
    Ok((repeated_records, relabelling.map(|relabelling| relabelling.counts)))
}
