//! Removes records that are equal to an earlier record. Keeps the first record and the order of the rest.
//!
//! Records are compared by 128-bit XXH3 hashes. The probability that two of 10 billion different records have equal
//! hashes is 10⁻¹⁸. The first pass distributes the hashes to partitions, which yields the numbers of the duplicates.
//! The second pass reads the inputs again and writes all other records. Reference records come before all input records
//! and are not written.
//!
//! With averaging, the partitions also contain the labels of the records, and the first record of each group is written
//! with the mean.

mod averages;
mod hashing;
mod mean;
mod summing;

use std::sync::atomic::AtomicBool;

use self::averages::{Averages, averaged};
use self::hashing::{
    COMPARED_BYTES, ComparedPartition, HashedBlock, MAX_RECORDS, REFERENCE_NUMBER, Role,
    hashing_worker,
};
use self::summing::{SUMMED_BYTES, summing_worker};
use super::Operation;
use super::chunks::BlockChunks;
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
use crate::records::filters::{Condition, RecordFilters};
use crate::records::output_kind::OutputKind;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::{Input, InputRange};
use crate::storage::quantity::quantity;

/// Settings of deduplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DedupSettings {
    /// The content to compare.
    pub key: DedupKey,
    /// Write the first record of each group with the mean evaluation, the mean result and the most frequent move of the
    /// group. Otherwise the first record is written unchanged.
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

/// Removes duplicates. The outputs get their final names only if the whole operation succeeds.
///
/// # Errors
/// [`Error`] if the operation fails. Unfinished outputs are removed.
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
    let mut side_sinks = Sinks::create_with(&plan.side_outputs, true)?;
    let mut sinks = Sinks::create_with(&plan.outputs, true)?;
    let mut compared =
        PartitionWriter::new(&plan.resources, Some(settings.compared_bytes()), MemoryShare::MOST);
    let mut omitted = OmittedNumbers::new(plan, settings);
    let references = read_references(plan, settings, &mut compared, &mut control)?;
    control.progress.begin("comparing", plan.records);
    let add_block = |_: &mut _, hashed: HashedBlock| {
        omitted.bad.add(&hashed.bad)?;
        omitted.repeated.add(&hashed.repeated)?;
        compared.add(hashed.partitioned)
    };
    let CompletedPass { mut counts, ranges_read } = read(
        plan,
        &mut side_sinks,
        Checksums::Wanted,
        settings.worker(plan, Role::Input),
        add_block,
        &mut control,
    )?;
    control.progress.begin("sorting", Some(compared.items()));
    let mut averages = settings.average.then(|| Averages::new(plan));
    let add_partition = |partition: ComparedPartition| {
        omitted.repeated.add(&partition.repeated)?;
        if let Some(averages) = &mut averages {
            averages.add(&partition)?;
        }
        Ok(partition.items)
    };
    let compare = if settings.average { averaged } else { repeated };
    process_partitions(compared.seal()?, &plan.resources, compare, add_partition, &mut control)?;
    control.progress.begin("writing", Some(counts.input));
    let (repeated, averaged) = write(plan, omitted, averages, &mut sinks, &mut control)?;
    counts.kept -= repeated;
    if repeated > 0 {
        counts.filtered.insert(Condition::Duplicate, repeated);
    }
    let finished = sinks.finish()?.and(side_sinks.finish()?);
    let mut manifest_settings = vec![("key", settings.key.name().into())];
    if settings.average {
        manifest_settings.push(("average", true.into()));
    }
    if !references.is_empty() {
        manifest_settings.push(("reference", serde_json::to_value(references).unwrap_or_default()));
    }
    let pass = CompletedPass { counts, ranges_read };
    operation.commit(manifest_settings, pass, averaged, finished, control.progress)
}

/// Adds the reference records to the partitions, before all other records. Returns the entries of the references for
/// the manifest.
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
    // Bad reference records are skipped because no input record can be equal to them.
    let reference_plan = RearrangePlan {
        ranges: plan.references.clone(),
        filters: RecordFilters::default(),
        on_error: BadPolicy::Skip,
        ..plan.clone()
    };
    let worker = settings.worker(&reference_plan, Role::Reference);
    let add_block = |_: &mut _, hashed: HashedBlock| compared.add(hashed.partitioned);
    let no_sinks = &mut Sinks::create(&[])?;
    let CompletedPass { counts, ranges_read } =
        read(&reference_plan, no_sinks, Checksums::Wanted, worker, add_block, control)?;
    if counts.kept == 0 {
        return Err(Error::usage("the reference files contain no records"));
    }
    if counts.bad.all() > 0 {
        tracing::warn!(
            "skipped {} of the reference files",
            quantity(counts.bad.all(), "unreadable record")
        );
    }
    let entries = ranges_read.iter().map(|read| input_entry(&plan.references[read.input], read));
    Ok(entries.collect())
}

/// Numbers of the records that are not written.
struct OmittedNumbers {
    bad: RecordNumbers,
    repeated: RecordNumbers,
}

impl OmittedNumbers {
    fn new(plan: &RearrangePlan, settings: DedupSettings) -> Self {
        // Use an upper bound if the records have not been counted.
        let end = plan.records.unwrap_or(MAX_RECORDS);
        // Averages need a separate share of the memory.
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
            "--key {} cannot be used with {format}: it holds {}, which are compared as a whole; use --key bytes",
            key.name(),
            if format.holds_games() { "games" } else { "groups of records" }
        )));
    }
    let inputs = || plan.ranges.iter().chain(&plan.references).map(|range| &range.input);
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
    let is_other = |range: &&InputRange| !format.takes_chunks_of(range.input.format);
    if let Some(other) = plan.references.iter().find(is_other).filter(|_| key == DedupKey::Bytes) {
        let (first, second) = (plan.ranges[0].input.name.clone(), other.input.name.clone());
        return Err(Error::different_formats(first, second));
    }
    plan.check_twice("dedup reads its inputs twice")
}

/// Checks that equal records may differ in their labels, and that the format stores evaluations.
fn check_average(plan: &RearrangePlan, key: DedupKey) -> Result<(), Error> {
    let format = plan.format();
    if format.has_single_records() && matches!(key, DedupKey::Content | DedupKey::Bytes) {
        return Err(Error::usage(format!(
            "--average has no effect with --key {}, because equal records have equal labels; use --key position or \
         --key position+move",
            key.name()
        )));
    }
    if !format.has_single_records() || !format.fields().contains(Field::EvalCp) {
        return Err(Error::usage(format!(
            "--average cannot be used with {}: {format} {}",
            plan.ranges[0].input.display_name(),
            if format.has_single_records() {
                "records have no evaluations; remove --average to keep the first of equal records"
            } else {
                "contains games or groups, not single records; convert them with `kyokumen convert`, for example to psv \
                 or hcpe"
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
    // The distinct hashes among the current keys with equal significant bits. Such keys are usually equal.
    let mut firsts: Vec<(u64, u64)> = Vec::new();
    let mut current_bits = None;
    for &item in order {
        let item = item as usize;
        let (key, low, number) = (items.keys[item], word(2 * item), word(2 * item + 1));
        if current_bits.replace(significant_bits(key)) != Some(significant_bits(key)) {
            firsts.clear();
        }
        if firsts.contains(&(key, low)) {
            if number != REFERENCE_NUMBER {
                repeated.push(number);
            }
        } else {
            firsts.push((key, low));
        }
    }
    ComparedPartition { items: items.keys.len() as u64, repeated, ..Default::default() }
}

/// Reads the inputs again and writes the remaining records. Returns the number of duplicates and the counts of averaged
/// records.
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
    // Bad records were already handled in the first pass.
    let worker = chunk_worker(plan, BadPolicy::Skip);
    let omit_chunks = |processed: &mut ProcessedBlock, mut chunks: BlockChunks| {
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
    read(plan, sinks, Checksums::Known, worker, omit_chunks, control)?;
    Ok((repeated_records, relabelling.map(|relabelling| relabelling.counts)))
}
