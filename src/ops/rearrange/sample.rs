//! Takes a random part of an archive. The order stays.
//!
//! Each unit gets a random key from the seed and its number. A sample of a given size is those with the
//! smallest keys, which is every set of that size with the same probability; a sample of a given rate those
//! whose key lies below it.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::account::{Account, Moved};
use super::buckets::{Buckets, Share};
use super::items::{ItemBatch, Units, sort_units};
use super::laid::{Items, Laid};
use super::pass::{Checksums, Watch, desk_of, desk_of_units, read};
use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::engine::run::Passed;
use crate::ops::error::OperationError;
use crate::random::SplitMix64;
use crate::records::bad_record::BadPolicy;
use crate::records::counts::Condition;
use crate::records::filters::{Probability, Sample};
use crate::records::plan_error::PlanError;
use crate::records::sink::Sinks;
use crate::records::sorting::Sorted;
use crate::records::stream::Stream;

/// How much is taken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SampleSize {
    /// So many units, or all if there are fewer.
    Count(u64),
    /// Each unit with this probability, as `convert --sample` takes records.
    Rate(Probability),
}

/// Checks that the sample can be taken.
fn check(plan: &RearrangePlan, size: SampleSize) -> Result<(), PlanError> {
    match size {
        SampleSize::Count(_) => plan.check_twice("which units are taken shows when all are known"),
        SampleSize::Rate(_) => Ok(()),
    }
}

/// Takes a sample. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`OperationError`]; whatever had been written is removed.
pub fn sample(
    plan: &RearrangePlan,
    size: SampleSize,
    seed: u64,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Account, OperationError> {
    check(plan, size)?;
    let started = Instant::now();
    let mut watch = Watch { progress, cancel };
    let before = plan.identities();
    let outputs: Vec<_> = plan.outputs.iter().chain(&plan.side_outputs).cloned().collect();
    let mut sinks = Sinks::create_with(&outputs, true)?;
    let choice = match size {
        SampleSize::Rate(probability) => Choice::Rate(Sample { probability, seed }),
        SampleSize::Count(count) => Choice::below(plan, count, seed, &mut watch)?,
    };
    let mut next_unit = 0..;
    let take = |sorted: &mut Sorted, units: Units| {
        let mut taken = ItemBatch::default();
        for (item, unit) in units.iter().zip(&mut next_unit) {
            if choice.takes(unit, item.number) {
                taken.push(item.bytes, item.records);
            } else {
                sorted.counts.kept -= item.records;
                *sorted.counts.filtered.entry(Condition::Sample).or_default() += item.records;
            }
        }
        *sorted.batch_mut(Stream::Kept) = taken.into_batch();
        Ok(())
    };
    watch.progress.begin("writing", plan.records);
    let desk = desk_of_units(plan, plan.on_error);
    let Passed { counts, parts_read } =
        read(plan, &mut sinks, Checksums::Wanted, desk, take, &mut watch)?;
    plan.check_same(&before)?;
    let finished = sinks.finish()?;
    let size = match size {
        SampleSize::Count(count) => ("count", count.into()),
        SampleSize::Rate(probability) => {
            ("rate", serde_json::to_value(probability).unwrap_or_default())
        }
    };
    let settings = vec![size, ("seed", seed.into())];
    Moved { command: "sample", settings, counts, parts_read, finished, started }
        .commit(plan, watch.progress)
}

/// Which units are taken.
enum Choice {
    Rate(Sample),
    /// Those whose keys are not larger.
    UpTo {
        seed: u64,
        key: u64,
    },
    None,
}

impl Choice {
    /// Number among the units and, over all inputs, of the first record.
    fn takes(&self, unit: u64, number: u64) -> bool {
        match self {
            Self::Rate(sample) => sample.takes(number),
            Self::UpTo { seed, key } => SplitMix64::nth_bits(*seed, unit) <= *key,
            Self::None => false,
        }
    }

    /// The so many units with the smallest keys.
    fn below(
        plan: &RearrangePlan,
        count: u64,
        seed: u64,
        watch: &mut Watch<'_>,
    ) -> Result<Self, OperationError> {
        watch.progress.begin("counting", plan.records);
        // What is bad is set aside when records are written, unless it ends all.
        let on_error = match plan.on_error {
            BadPolicy::Stop => BadPolicy::Stop,
            BadPolicy::Skip | BadPolicy::Quarantine => BadPolicy::Skip,
        };
        let desk = desk_of(plan, move |block, file| {
            let (sorted, units) = sort_units(block, file, on_error);
            (sorted, units.len() as u64)
        });
        let mut next_unit = 0;
        let mut buckets = Buckets::new(&plan.means, Some(0), Share::ALL);
        let take = |_: &mut _, units: u64| {
            let numbers = next_unit..next_unit + units;
            next_unit = numbers.end;
            let keys = numbers.map(|unit| SplitMix64::nth_bits(seed, unit)).collect();
            buckets.add(Laid::new(&Items { keys, ..Items::default() }, Some(0), 0))
        };
        let mut nothing = Sinks::create(&[])?;
        read(plan, &mut nothing, Checksums::Known, desk, take, watch)?;
        let mut left = count;
        if left == 0 {
            return Ok(Self::None);
        }
        for bucket in buckets.seal()?.buckets() {
            let mut keys = bucket?.keys()?;
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
