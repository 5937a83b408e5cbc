//! Estimates the duration of a run and the size of its outputs from a sample of its records.
//!
//! The sample is spread evenly over the records, because archives keep the positions of a game together. It grows until
//! the estimate is precise enough. Small samples are imprecise, because a run spends most of its time on few positions.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::classify;
use super::plan::JobPlan;
use crate::engine::in_order::{Parallelism, process_in_order};
use crate::error::Error;
use crate::mate::judge::PositionJudge;
use crate::records::archive::Archive;
use crate::records::processing::ProcessedBlock;
use crate::records::sink::OutputPlan;
use crate::records::source::{self, Block, InputRange, Source};
use crate::search::TableError;
use crate::storage::compression::{Compression, ZSTD_LEVEL};
use crate::storage::platform;

/// The sample is sufficient when half the width of the 95 % interval is at most this fraction of the mean duration.
const PRECISION: f64 = 0.1;

/// Half the width of a 95 % interval, in standard deviations.
const DEVIATIONS: f64 = 1.96;

/// Minimum size and duration of a sample. The variance of a smaller sample is unreliable.
const MIN_RECORDS: u64 = 200;
const MIN_TIME: Duration = Duration::from_secs(1);

/// Maximum duration of a sample.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Maximum number of records collected in a pass over inputs without random access.
const COLLECTED_RECORDS: u64 = 1 << 13;

/// Collecting stops at this size. Games can be long, and damaged data even longer.
const COLLECTED_BYTES: usize = 1 << 28;

/// Records in flight per thread: enough that one hard position does not leave the other threads idle.
const RECORDS_PER_THREAD: usize = 64;

/// The estimate for a run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// Number of records of the run.
    pub records: u64,
    /// Number of records in the sample.
    pub sampled: u64,
    /// Number of threads of the run.
    pub threads: usize,
    /// Duration of the run with this number of threads, in seconds.
    pub seconds: Interval,
    /// Size of all outputs, in bytes.
    pub bytes: Interval,
}

/// An estimated value with its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Interval {
    /// The estimate.
    pub expected: f64,
    /// Lower bound of the interval.
    pub low: f64,
    /// Upper bound of the interval.
    pub high: f64,
}

/// Searches a sample of the records, with as many threads as the run will have. If `cancel` is set, returns early with
/// the estimate so far.
///
/// `None` if the number of records is unknown, or if counting them would consume, decompress or download an input.
///
/// # Errors
/// [`Error`] if an input cannot be read or if there is not enough memory for a judge.
pub fn estimate<J: PositionJudge + 'static>(
    plan: &JobPlan,
    make_judge: impl Fn() -> Result<J, TableError> + Send + Sync + 'static,
    cancel: &AtomicBool,
) -> Result<Option<Estimate>, Error> {
    let is_countable = plan.ranges.iter().all(|range| source::is_cheap_to_count(&range.input));
    let (Some(records), true) = (plan.records, is_countable) else { return Ok(None) };
    let threads = platform::threads(plan.settings.threads);
    let archives = plan.ranges.iter().map(|range| Archive::from_input(&range.input).ok()).collect();
    let collected = collect(plan, records)?;
    let source = Arc::new(SampleSource { plan: plan.clone(), archives, collected });
    let order = (0..).map_while(order(records)).filter(move |&record| record < records);
    let is_over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&is_over);
    let work = move |judge: &mut J, record| source.judge(record, judge, &stop);
    let (mut sample, started) = (SampleStats::default(), Instant::now());
    let parallelism = Parallelism::new(threads, threads * RECORDS_PER_THREAD);
    let ended = process_in_order(order, parallelism, make_judge, work, |judged| {
        if let Some(Some(judged)) = judged.transpose()? {
            sample.add(plan, &judged);
        }
        let is_over = cancel.load(Ordering::Relaxed) || sample.is_sufficient(records, started);
        if is_over { Err(StopReason::Enough) } else { Ok(()) }
    });
    is_over.store(true, Ordering::Relaxed);
    match ended {
        Err(StopReason::Failed(error)) => Err(error),
        Ok(()) | Err(StopReason::Enough) => Ok(Some(sample.estimate(records, threads))),
    }
}

/// Why sampling ends.
enum StopReason {
    Enough,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for StopReason {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// The order of the records in a sample: a function from the place in the sample to the record number. For any n, the
/// first n places are spread evenly over the records. A result can be `records` or more; the caller skips it. `None`
/// after the last place.
fn order(records: u64) -> impl Fn(u64) -> Option<u64> {
    let bits = records.next_power_of_two().trailing_zeros();
    move |place| {
        if bits == 0 {
            return (place == 0 && records > 0).then_some(0);
        }
        // The binary digits reversed: a half, a quarter, three quarters, an eighth, … (van der Corput 1935).
        (place >> bits == 0).then(|| place.reverse_bits() >> (u64::BITS - bits))
    }
}

/// Collects records for the sample in one pass over the inputs. Empty if all inputs have random access.
fn collect(plan: &JobPlan, records: u64) -> Result<HashMap<u64, Block>, Error> {
    let mut collected = HashMap::new();
    if plan.ranges.iter().all(|range| source::has_random_access(&range.input)) {
        return Ok(collected);
    }
    let order = order(records);
    let wanted = (0..COLLECTED_RECORDS).filter_map(order).filter(|&record| record < records);
    let mut wanted: Vec<u64> = wanted.collect();
    wanted.sort_unstable();
    let mut wanted = wanted.into_iter().peekable();
    let mut bytes = 0;
    for block in Source::new(plan.ranges.clone(), 1) {
        let block = block?;
        let end = block.first_number + (block.wanted.end - block.wanted.start);
        if let Some(record) = wanted.next_if(|&record| record < end) {
            // The block may contain further wanted records. They are skipped.
            while wanted.next_if(|&record| record < end).is_some() {}
            bytes += block.bytes().len();
            collected.insert(record, block);
        }
        if wanted.peek().is_none() || bytes >= COLLECTED_BYTES {
            break;
        }
    }
    Ok(collected)
}

/// The source of the sampled records.
struct SampleSource {
    plan: JobPlan,
    /// The inputs that can be opened for random access.
    archives: Vec<Option<Archive>>,
    collected: HashMap<u64, Block>,
}

/// A block after its search.
struct SampledBlock {
    seconds: f64,
    processed: ProcessedBlock,
}

impl SampleSource {
    /// Processes the block that contains this record. `None` if the record was not collected, or if `stop` was set
    /// meanwhile.
    fn judge(
        &self,
        record: u64,
        judge: &mut dyn PositionJudge,
        stop: &AtomicBool,
    ) -> Result<Option<SampledBlock>, Error> {
        let read = if self.collected.is_empty() { self.read(record)? } else { None };
        let Some(block) = read.as_ref().or_else(|| self.collected.get(&record)) else {
            return Ok(None);
        };
        let before = Instant::now();
        let processed = classify::classify_block(&self.plan, block, judge, stop);
        Ok(processed
            .map(|processed| SampledBlock { seconds: before.elapsed().as_secs_f64(), processed }))
    }

    fn read(&self, record: u64) -> Result<Option<Block>, Error> {
        let Some((range, index)) = range_at(&self.plan, record) else { return Ok(None) };
        let number = self.plan.first_number + record;
        if let Some(archive) = &self.archives[range] {
            return Ok(Some(archive.block(range, index, number)?));
        }
        let InputRange { input, mark, .. } = self.plan.ranges[range].clone();
        let wanted = InputRange { mark, ..InputRange::range(input, index, Some(index + 1)) };
        Source::new(vec![wanted], 1).numbered_from(number).next().transpose()
    }
}

/// The measurements of a sample.
#[derive(Default)]
struct SampleStats {
    seconds: RunningVariance,
    bytes: RunningVariance,
    /// A sample of the output bytes that the run will compress.
    compressible: Vec<u8>,
    incompressible_bytes: u64,
}

impl SampleStats {
    fn add(&mut self, plan: &JobPlan, SampledBlock { seconds, processed }: &SampledBlock) {
        let number = processed.counts.input.max(1) as f64;
        self.seconds.add(seconds / number);
        let mut written = 0;
        for output in &plan.files.outputs {
            let bytes = processed.encoded(output.kind).bytes();
            self.keep(output, bytes);
            written += bytes.len();
        }
        self.bytes.add(written as f64 / number);
    }

    fn is_sufficient(&self, records: u64, started: Instant) -> bool {
        let elapsed = started.elapsed();
        let is_precise = self.seconds.number >= MIN_RECORDS
            && elapsed >= MIN_TIME
            && self.seconds.precision(records) <= PRECISION;
        is_precise || elapsed >= MAX_TIME
    }

    fn keep(&mut self, output: &OutputPlan, bytes: &[u8]) {
        match output.compression {
            // A column file is estimated as large as its compressed rows. Columns compress better, but rows hold more
            // bytes.
            _ if output.deferred_table.is_some() => self.compressible.extend_from_slice(bytes),
            Compression::None => self.incompressible_bytes += bytes.len() as u64,
            _ if output.kind.holds_records() => self.compressible.extend_from_slice(bytes),
            _ => {}
        }
    }

    /// Size of the outputs after compression, as a fraction of their size before.
    fn ratio(&self) -> f64 {
        let before = self.compressible.len() as f64 + self.incompressible_bytes as f64;
        let compressed = zstd::bulk::compress(&self.compressible, ZSTD_LEVEL);
        match compressed {
            Ok(compressed) if !self.compressible.is_empty() => {
                (compressed.len() as f64 + self.incompressible_bytes as f64) / before
            }
            _ => 1.0,
        }
    }

    fn estimate(&self, records: u64, threads: usize) -> Estimate {
        let (sampled, ratio) = (self.seconds.number, self.ratio());
        let seconds = self.seconds.total(records, 1.0 / threads as f64);
        let bytes = self.bytes.total(records, ratio);
        Estimate { records, sampled, threads, seconds, bytes }
    }
}

/// Mean and variance of the values added, by Welford's method.
#[derive(Default)]
struct RunningVariance {
    number: u64,
    mean: f64,
    /// Sum of the squares of the distances from the mean.
    squares: f64,
}

impl RunningVariance {
    fn add(&mut self, value: f64) {
        self.number += 1;
        let before = value - self.mean;
        self.mean += before / self.number as f64;
        self.squares += before * (value - self.mean);
    }

    /// Half the width of the 95 % interval of the mean over `population` values. The added values are a sample of them.
    fn margin(&self, population: u64) -> f64 {
        if self.number < 2 {
            return self.mean;
        }
        let number = self.number as f64;
        let left = 1.0 - number / (population as f64).max(number);
        DEVIATIONS * (self.squares / (number - 1.0) / number * left).sqrt()
    }

    fn precision(&self, population: u64) -> f64 {
        if self.mean > 0.0 { self.margin(population) / self.mean } else { 0.0 }
    }

    /// The estimated sum over `population` values, times `scale`.
    fn total(&self, population: u64, scale: f64) -> Interval {
        let (margin, scale) = (self.margin(population), scale * population as f64);
        let low = (self.mean - margin).max(0.0);
        Interval {
            expected: self.mean * scale,
            low: low * scale,
            high: (self.mean + margin) * scale,
        }
    }
}

/// The index of the input range that contains record number `record` of the plan, and the number of this record in its
/// input.
fn range_at(plan: &JobPlan, mut record: u64) -> Option<(usize, u64)> {
    for (number, range) in plan.ranges.iter().enumerate() {
        let len = range.end()? - range.from;
        if record < len {
            return Some((number, range.from + record));
        }
        record -= len;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_record_occurs_once_and_the_first_ones_are_spread_evenly() {
        for records in [0, 1, 2, 3, 64, 100, 1000] {
            let order = order(records);
            let all: Vec<u64> = (0..).map_while(order).filter(|&place| place < records).collect();
            assert_eq!(all.len() as u64, records);
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len() as u64, records);
        }
        let order = order(1 << 20);
        let mut first: Vec<u64> = (0..8).filter_map(order).collect();
        first.sort_unstable();
        assert_eq!(first, (0..8).map(|eighth| eighth << 17).collect::<Vec<_>>());
    }

    #[test]
    fn margin_and_total_of_a_sample() {
        let mut spread = RunningVariance::default();
        for value in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            spread.add(value);
        }
        assert!((spread.mean - 5.0).abs() < 1e-9 && (spread.squares - 32.0).abs() < 1e-9);
        // A sample of all values has no margin.
        let sum = spread.total(8, 1.0);
        assert!((sum.low - 40.0).abs() < 1e-9 && (sum.high - 40.0).abs() < 1e-9);
        let margin = spread.margin(u64::MAX);
        assert!((margin - 1.96 * (32.0 / 7.0 / 8.0_f64).sqrt()).abs() < 1e-9, "{margin}");
    }
}
