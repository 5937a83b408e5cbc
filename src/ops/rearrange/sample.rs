//! Takes a random sample of archives. The chunks keep their order.
//!
//! Each chunk gets a random key computed from the seed and its number. A sample of a given size consists of the chunks
//! with the smallest keys, so all sets of that size are equally likely. A sample of a given rate consists of the chunks
//! with keys below the rate. A small sample of archives with random access is taken without reading the other records.

mod random_access;

use std::sync::atomic::AtomicBool;

use super::Operation;
use super::chunks::{BlockChunks, process_chunks};
use super::partitioned::{KeyedItems, PartitionedItems};
use super::partitions::{MemoryShare, PartitionWriter};
use super::pass::{Checksums, RunControl, block_worker, chunk_worker, read};
use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::engine::run::CompletedPass;
use crate::error::Error;
use crate::jobs::operation_totals::OperationManifest;
use crate::random::SplitMix64;
use crate::records::bad_record::BadPolicy;
use crate::records::filters::{Condition, Probability, Sample};
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;

/// Size of a sample.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum SampleSize {
    /// This number of chunks, or all if there are fewer.
    Count(u64),
    /// Each chunk with this probability, like `convert --sample` for records.
    Rate(Probability),
}

fn check(plan: &RearrangePlan, size: SampleSize) -> Result<(), Error> {
    match size {
        SampleSize::Count(_) => plan.check_twice("--count reads the inputs twice"),
        SampleSize::Rate(_) => Ok(()),
    }
}

/// Takes a sample. The outputs get their final names only if the whole operation succeeds.
///
/// # Errors
/// [`Error`] if the operation fails. Unfinished outputs are removed.
pub fn sample(
    plan: &RearrangePlan,
    size: SampleSize,
    seed: u64,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    check(plan, size)?;
    let operation = Operation::begin("sample", plan)?;
    let mut control = RunControl { progress, cancel };
    let outputs: Vec<_> = plan.outputs.iter().chain(&plan.side_outputs).cloned().collect();
    let mut sinks = Sinks::create_with(&outputs, true)?;
    let archives = match size {
        SampleSize::Count(count) if !plan.filters.drops_any() => {
            random_access::archives(plan, count).zip(Some(count))
        }
        SampleSize::Count(_) | SampleSize::Rate(_) => None,
    };
    let pass = match archives {
        Some((archives, count)) => {
            random_access::write(plan, &archives, count, seed, &mut sinks, &mut control)?
        }
        None => read_all(plan, size, seed, &mut sinks, &mut control)?,
    };
    let finished = sinks.finish()?;
    let size = match size {
        SampleSize::Count(count) => ("count", count.into()),
        SampleSize::Rate(probability) => {
            ("rate", serde_json::to_value(probability).unwrap_or_default())
        }
    };
    let settings = vec![size, ("seed", seed.into())];
    operation.commit(settings, pass, None, finished, control.progress)
}

fn read_all(
    plan: &RearrangePlan,
    size: SampleSize,
    seed: u64,
    sinks: &mut Sinks,
    control: &mut RunControl<'_>,
) -> Result<CompletedPass, Error> {
    let choice = match size {
        SampleSize::Rate(probability) => SampleChoice::Rate(Sample { probability, seed }),
        SampleSize::Count(count) => SampleChoice::smallest(plan, count, seed, control)?,
    };
    let mut next_chunk = 0..;
    let sample_block = |processed: &mut ProcessedBlock, chunks: BlockChunks| {
        let mut taken = EncodedRecords::default();
        for (item, chunk) in chunks.iter().zip(&mut next_chunk) {
            if choice.takes(chunk, item.number) {
                item.append_to(&mut taken);
            } else {
                processed.counts.kept -= item.records;
                *processed.counts.filtered.entry(Condition::Sample).or_default() += item.records;
            }
        }
        *processed.encoded_mut(OutputKind::Kept) = taken;
        Ok(())
    };
    control.progress.begin("writing", plan.records);
    let worker = chunk_worker(plan, plan.on_error);
    read(plan, sinks, Checksums::Wanted, worker, sample_block, control)
}

enum SampleChoice {
    Rate(Sample),
    /// Chunks with keys up to `key`.
    UpTo {
        seed: u64,
        key: u64,
    },
    None,
}

impl SampleChoice {
    /// Whether a chunk is taken. `chunk` is its number, `number` the number of its first record, both counted over all
    /// inputs.
    fn takes(&self, chunk: u64, number: u64) -> bool {
        match self {
            Self::Rate(sample) => sample.takes(number),
            Self::UpTo { seed, key } => SplitMix64::nth_bits(*seed, chunk) <= *key,
            Self::None => false,
        }
    }

    /// Chooses the `count` chunks with the smallest keys.
    fn smallest(
        plan: &RearrangePlan,
        count: u64,
        seed: u64,
        control: &mut RunControl<'_>,
    ) -> Result<Self, Error> {
        control.progress.begin("counting", plan.records);
        // Bad records are quarantined later, when records are written. With `Stop` they already end this pass.
        let on_error = match plan.on_error {
            BadPolicy::Stop => BadPolicy::Stop,
            BadPolicy::Skip | BadPolicy::Quarantine => BadPolicy::Skip,
        };
        let reading = plan.reading(on_error);
        let worker = block_worker(plan, move |block, file, _| {
            let (processed, chunks) = process_chunks(block, file, &reading);
            Some((processed, chunks.len() as u64))
        });
        let mut next_chunk = 0;
        let mut partitions = PartitionWriter::new(&plan.resources, Some(0), MemoryShare::ALL);
        let add_keys = |_: &mut _, chunks: u64| {
            let numbers = next_chunk..next_chunk + chunks;
            next_chunk = numbers.end;
            let keys = numbers.map(|chunk| SplitMix64::nth_bits(seed, chunk)).collect();
            partitions.add(PartitionedItems::new(
                &KeyedItems { keys, ..KeyedItems::default() },
                Some(0),
                0,
            ))
        };
        let mut no_sinks = Sinks::create(&[])?;
        read(plan, &mut no_sinks, Checksums::Known, worker, add_keys, control)?;
        let mut left = count;
        if left == 0 {
            return Ok(Self::None);
        }
        for partition in partitions.seal()?.partitions() {
            let mut keys = partition?.keys()?;
            if (keys.len() as u64) < left {
                left -= keys.len() as u64;
                continue;
            }
            let (_, &mut key, _) = keys.select_nth_unstable(left as usize - 1);
            return Ok(Self::UpTo { seed, key });
        }
        Ok(Self::UpTo { seed, key: u64::MAX })
    }
}
