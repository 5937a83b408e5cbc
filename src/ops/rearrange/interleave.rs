//! Mixes several archives into one by repeatedly drawing an input and taking its next chunk. The chunks of each input
//! keep their order.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::Operation;
use super::chunks::{BlockChunks, process_chunks};
use super::pass::{InputCounts, RunControl, count};
use super::plan::RearrangePlan;
use crate::engine::prefetch::Prefetch;
use crate::engine::progress::Progress;
use crate::engine::run::CompletedPass;
use crate::error::Error;
use crate::jobs::operation_totals::OperationManifest;
use crate::random::SplitMix64;
use crate::records::counts::Counts;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::processing::ProcessedBlock;
use crate::records::sink::Sinks;
use crate::records::source::{DeliveredBlocks, InputRange, RangeRead, Source};
use crate::storage::checksum::Sha256Sum;
use crate::storage::quantity::quantity;
use crate::storage::value_error::ParseValueError;

/// Minimum and maximum number of records per block. The memory limit determines the actual number.
const BLOCK_RECORDS: RangeInclusive<u64> = 1 << 6..=1 << 12;

/// Number of blocks to read ahead of each input.
const BLOCKS_AHEAD: usize = 2;

/// Memory per record of a block, including the blocks read ahead and the reader's buffers.
const BYTES_PER_RECORD: u64 = 1 << 10;

const WRITTEN_CHUNKS: usize = 1 << 12;

/// Relative frequency with which each input is drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weights(Vec<u32>);

impl FromStr for Weights {
    type Err = ParseValueError;

    fn from_str(text: &str) -> Result<Self, ParseValueError> {
        let weights =
            text.split(',').map(|weight| weight.parse().ok().filter(|&weight| weight > 0));
        let weights: Option<Vec<u32>> = weights.collect();
        weights.map(Self).ok_or_else(|| {
            ParseValueError::new(text, "not a list of weights", "whole numbers from 1, as in 95,5")
        })
    }
}

impl Weights {
    /// Number of weights.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one")]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn values(&self) -> &[u32] {
        &self.0
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&weights.join(","))
    }
}

/// When the interleaving ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Until {
    /// When all inputs are exhausted.
    #[default]
    All,
    /// When an exhausted input is drawn. So with weights, the mixing ratio stays the same to the end.
    First,
}

impl Until {
    /// The name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::First => "first",
        }
    }
}

/// Checks that each input has a weight or, without weights, that the inputs can be counted.
fn check(plan: &RearrangePlan, weights: Option<&Weights>) -> Result<(), Error> {
    let inputs = plan.ranges.len();
    if plan.filters.uses_numbers() {
        plan.check_twice(
            "--every and --sample number the records, so interleave counts them first",
        )?;
    }
    match weights {
        None => plan.check_twice("without --weights, interleave counts the records first"),
        Some(Weights(weights)) if weights.len() == inputs => Ok(()),
        Some(Weights(weights)) => Err(Error::usage(format!(
            "{} given for {}; --weights needs one weight per input",
            quantity(weights.len(), "weight"),
            quantity(inputs, "input")
        ))),
    }
}

/// Interleaves the inputs. Without weights, each input is drawn with a probability proportional to its remaining
/// records, so all interleavings are equally likely. The outputs get their final names only if the whole operation
/// succeeds.
///
/// # Errors
/// [`Error`] if the operation fails. Unfinished outputs are removed.
pub fn interleave(
    plan: &RearrangePlan,
    weights: Option<&Weights>,
    until: Until,
    seed: u64,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, Error> {
    check(plan, weights)?;
    let operation = Operation::begin("interleave", plan)?;
    let outputs: Vec<_> = plan.outputs.iter().chain(&plan.side_outputs).cloned().collect();
    let sinks = Sinks::create_with(&outputs, true)?;
    let counted = if weights.is_some() && !plan.filters.uses_numbers() {
        vec![InputCounts::default(); plan.ranges.len()]
    } else {
        count(plan, &mut RunControl { progress, cancel })?
    };
    let written: Vec<u64> = counted.iter().map(|input| input.written).collect();
    progress.begin("writing", weights.is_none().then(|| written.iter().sum()));
    let draws = weights
        .map_or(written, |Weights(weights)| weights.iter().map(|&weight| weight.into()).collect());
    let mut next_number = 0;
    let readers = plan.ranges.iter().zip(&counted).map(|(range, input)| {
        let first_number = next_number;
        next_number += input.all;
        InputReader::start(range, plan, first_number)
    });
    let mut interleaver = Interleaver {
        readers: readers.collect::<Result<_, _>>()?,
        draws: WeightedDraw::new(&draws, seed),
        are_counted: weights.is_none(),
        until,
        sinks,
        counts: Counts::default(),
    };
    interleaver.run(progress, cancel)?;
    let Interleaver { readers, sinks, counts, .. } = interleaver;
    let ranges_read =
        (0..).zip(&readers).map(|(input, reader)| RangeRead { input, ..reader.read }).collect();
    let finished = sinks.finish()?;
    let settings = vec![
        ("weights", weights.map(ToString::to_string).into()),
        ("until", until.name().into()),
        ("seed", seed.into()),
    ];
    operation.commit(settings, CompletedPass { counts, ranges_read }, None, finished, progress)
}

struct Interleaver {
    readers: Vec<InputReader>,
    draws: WeightedDraw,
    /// Whether the weights are numbers of remaining records.
    are_counted: bool,
    until: Until,
    sinks: Sinks,
    counts: Counts,
}

impl Interleaver {
    fn run(&mut self, progress: &mut Progress, cancel: &AtomicBool) -> Result<(), Error> {
        let mut has_more = true;
        while has_more {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::interrupted());
            }
            let mut encoded = EncodedRecords::default();
            for _ in 0..WRITTEN_CHUNKS {
                has_more = self.take_chunk(&mut encoded, cancel)?;
                if !has_more {
                    break;
                }
            }
            self.counts.kept += encoded.len();
            self.sinks.write(OutputKind::Kept, &encoded)?;
            progress.update(&self.counts);
        }
        self.readers.iter_mut().for_each(|reader| reader.uncount_unused(&mut self.counts));
        Ok(())
    }

    /// Takes a chunk from one of the inputs. Returns false at the end.
    fn take_chunk(
        &mut self,
        encoded: &mut EncodedRecords,
        cancel: &AtomicBool,
    ) -> Result<bool, Error> {
        // Games without moves have no records and thus no weight. They may remain when all weights are 0.
        let drawn =
            self.draws.draw().or_else(|| self.readers.iter().position(|reader| !reader.at_end));
        let Some(drawn) = drawn else { return Ok(false) };
        let reader = &mut self.readers[drawn];
        if reader.next >= reader.chunks.len()
            && !reader.refill(&mut self.sinks, &mut self.counts, cancel)?
        {
            self.draws.close(drawn);
            return Ok(self.until == Until::All);
        }
        let item = reader.chunks.get(reader.next);
        reader.next += 1;
        item.append_to(encoded);
        if self.are_counted {
            self.draws.lessen(drawn, item.records);
        }
        Ok(true)
    }
}

/// An input, read on its own thread.
struct InputReader {
    blocks: Prefetch<ReadBlock>,
    chunks: BlockChunks,
    /// Index of the next chunk.
    next: usize,
    at_end: bool,
    read: RangeRead,
}

type ReadBlock = Result<(ProcessedBlock, BlockChunks, RangeRead), Error>;

impl InputReader {
    /// `first_number` is the number of the first record over all inputs. It matters only for filters by number.
    fn start(range: &InputRange, plan: &RearrangePlan, first_number: u64) -> Result<Self, Error> {
        let (range, reading) = (range.clone(), plan.reading(plan.on_error));
        let share = plan.resources.memory.bytes() / (plan.ranges.len() as u64 * BYTES_PER_RECORD);
        let block_records = share.clamp(*BLOCK_RECORDS.start(), *BLOCK_RECORDS.end());
        let name = range.input.name.clone();
        let source = Source::new(vec![range], block_records).numbered_from(first_number);
        let blocks = DeliveredBlocks::new(source, true, None, Vec::new()).map(move |block| {
            let block = block?;
            let (processed, chunks) = process_chunks(&block, &name, &reading);
            Ok((processed, chunks, block.read()))
        });
        let blocks = Prefetch::start(blocks, BLOCKS_AHEAD).map_err(Error::threads)?;
        let sha256 = Some(Sha256Sum::of(b""));
        let read = RangeRead { input: 0, records: 0, offset: 0, bytes: 0, sha256 };
        Ok(Self { blocks, chunks: BlockChunks::default(), next: 0, at_end: false, read })
    }

    /// Takes the next block that has chunks. Returns false at the end of the input.
    fn refill(
        &mut self,
        sinks: &mut Sinks,
        counts: &mut Counts,
        cancel: &AtomicBool,
    ) -> Result<bool, Error> {
        while !self.at_end {
            let Some(block) = self.blocks.next_unless(cancel)? else {
                self.at_end = true;
                break;
            };
            let (processed, chunks, read) = block?;
            self.read = read;
            for kind in [OutputKind::Quarantine, OutputKind::QuarantineLines] {
                sinks.write(kind, processed.encoded(kind))?;
            }
            let mut processed = processed.with_tallies();
            if let Some(bad) = processed.stopped_by.take() {
                return Err(Error::from(bad));
            }
            // Kept records are counted when they are written.
            counts.add(&Counts { kept: 0, ..processed.counts });
            (self.chunks, self.next) = (chunks, 0);
            if self.chunks.len() > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Subtracts the chunks that were read but not taken.
    fn uncount_unused(&mut self, counts: &mut Counts) {
        if self.at_end {
            return;
        }
        for chunk in self.next..self.chunks.len() {
            let item = self.chunks.get(chunk);
            counts.input -= item.records;
            self.read.records -= item.records;
            // A chunk with an added terminator is longer than the bytes that were read.
            self.read.bytes = self.read.bytes.saturating_sub(item.bytes.len() as u64);
        }
        self.read.sha256 = None;
    }
}

/// Draws inputs with probabilities proportional to their weights.
///
/// The weights are stored in a tree of sums (Fenwick, Software: Practice and Experience 24, 1994), so drawing from a
/// thousand inputs is not the bottleneck.
struct WeightedDraw {
    sums: Vec<u64>,
    weights: Vec<u64>,
    total: u64,
    random: SplitMix64,
}

impl WeightedDraw {
    fn new(weights: &[u64], seed: u64) -> Self {
        let mut draws = Self {
            sums: vec![0; weights.len() + 1],
            weights: vec![0; weights.len()],
            total: 0,
            random: SplitMix64::new(seed),
        };
        for (input, &weight) in weights.iter().enumerate() {
            draws.weights[input] = weight;
            draws.change(input, |sum| sum + weight);
        }
        draws
    }

    /// Changes every sum that includes the weight of `input`.
    fn change(&mut self, input: usize, change: impl Fn(u64) -> u64) {
        self.total = change(self.total);
        let mut node = input + 1;
        while node < self.sums.len() {
            self.sums[node] = change(self.sums[node]);
            node += node & node.wrapping_neg();
        }
    }

    fn lessen(&mut self, input: usize, by: u64) {
        // An input may have grown since it was counted. This is detected when it has been read to its end.
        let by = by.min(self.weights[input]);
        self.weights[input] -= by;
        self.change(input, |sum| sum - by);
    }

    fn close(&mut self, input: usize) {
        self.lessen(input, self.weights[input]);
    }

    /// Draws an input. `None` if all weights are 0.
    fn draw(&mut self) -> Option<usize> {
        if self.total == 0 {
            return None;
        }
        let mut left =
            ((u128::from(self.random.next_bits()) * u128::from(self.total)) >> 64) as u64;
        let mut node = 0;
        let mut step = self.sums.len().next_power_of_two() / 2;
        while step > 0 {
            if let Some(&sum) = self.sums.get(node + step)
                && sum <= left
            {
                node += step;
                left -= sum;
            }
            step /= 2;
        }
        Some(node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_drawn_in_proportion_to_their_weights() {
        let weights = [5, 0, 3, 1, 0, 7];
        let mut draws = WeightedDraw::new(&weights, 1);
        let mut drawn = [0_u64; 6];
        for _ in 0..160_000 {
            drawn[draws.draw().unwrap()] += 1;
        }
        for (drawn, weight) in drawn.into_iter().zip(weights) {
            assert!(drawn.abs_diff(weight * 10_000) < 500, "{drawn} for {weight}");
        }
        draws.close(5);
        draws.lessen(0, 4);
        let rest: Vec<usize> = (0..1000).map(|_| draws.draw().unwrap()).collect();
        assert!(rest.iter().all(|input| [0, 2, 3].contains(input)));
        for input in [0, 2, 3] {
            draws.close(input);
        }
        assert_eq!(draws.draw(), None);
    }
}
