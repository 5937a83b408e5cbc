//! Deals the units of an archive out to several files.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::account::{Account, Moved};
use super::items::{ItemBatch, Units};
use super::pass::{Checksums, Watch, desk_of_units, read};
use super::plan::RearrangePlan;
use crate::pipeline::memory::Memory;
use crate::pipeline::plan::PlanError;
use crate::pipeline::progress::Progress;
use crate::pipeline::run::{Passed, RunError};
use crate::pipeline::shard::Shard;
use crate::pipeline::sink::{FRAME_RECORDS, Finished, Sinks};
use crate::pipeline::source::{Compression, count_records};
use crate::pipeline::stream::Stream;

/// Which part a unit goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitBy {
    /// The first unit to the first part, the second to the second, and so on, again and again.
    #[default]
    RoundRobin,
    /// Parts are stretches of the input, as long as each other but for one record: those of `--shard`.
    /// A game goes where its first record does.
    Ranges,
}

impl SplitBy {
    /// Its name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Ranges => "ranges",
        }
    }
}

/// Bytes of a record where its format does not say it.
const TEXT_RECORD_BYTES: u64 = 100;

/// Checks that the parts can be written.
fn check(plan: &RearrangePlan, by: SplitBy) -> Result<(), PlanError> {
    match by {
        SplitBy::Ranges => plan.check_twice("ranges need the number of all records before"),
        SplitBy::RoundRobin if plan.to.compression == Compression::None => Ok(()),
        SplitBy::RoundRobin => {
            // Of each file, one frame is in memory.
            let record = plan.format().record_len().map_or(TEXT_RECORD_BYTES, |len| len as u64);
            let (parts, memory): (_, Memory) = (plan.outputs.len() as u64, plan.means.memory);
            if parts * record * FRAME_RECORDS <= memory.bytes() {
                return Ok(());
            }
            let parts = u32::try_from(parts).unwrap_or(u32::MAX);
            Err(PlanError::TooManyParts { parts, memory })
        }
    }
}

/// Splits. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`RunError`]; whatever had been written is removed.
pub fn split(
    plan: &RearrangePlan,
    by: SplitBy,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Account, RunError> {
    check(plan, by)?;
    let started = Instant::now();
    plan.create_folder()?;
    let before = plan.identities();
    let mut parts = Parts::create(plan, by)?;
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let take = |_: &mut _, units: Units| parts.deal(&units);
    let desk = desk_of_units(plan, plan.on_error);
    let mut watch = Watch { progress, cancel };
    let Passed { counts, parts_read } =
        read(plan, &mut side, Checksums::Wanted, desk, take, &mut watch)?;
    plan.check_same(&before)?;
    let finished = parts.finish()?.and(side.finish()?);
    let settings = vec![("parts", plan.outputs.len().into()), ("by", by.name().into())];
    Moved { command: "split", settings, counts, parts_read, finished, started }.commit(plan)
}

/// The parts, and which one comes next.
struct Parts {
    open: Vec<Sinks>,
    dealer: Dealer,
}

enum Dealer {
    /// Units that were dealt out.
    RoundRobin(u64),
    /// Number of the record behind each part.
    Ranges(Vec<u64>),
}

impl Parts {
    fn create(plan: &RearrangePlan, by: SplitBy) -> Result<Self, RunError> {
        let open = plan.outputs.iter();
        let open = open.map(|output| Sinks::create_with(std::slice::from_ref(output), true));
        let open = open.collect::<Result<_, _>>()?;
        let dealer = match by {
            SplitBy::RoundRobin => Dealer::RoundRobin(0),
            SplitBy::Ranges => Dealer::Ranges(ends(plan)?),
        };
        Ok(Self { open, dealer })
    }

    fn deal(&mut self, units: &Units) -> Result<(), RunError> {
        let parts = self.open.len();
        let mut batches: Vec<ItemBatch> = Vec::new();
        batches.resize_with(parts, ItemBatch::default);
        for item in units.iter() {
            let part = match &mut self.dealer {
                Dealer::RoundRobin(dealt) => {
                    *dealt += 1;
                    ((*dealt - 1) % parts as u64) as usize
                }
                Dealer::Ranges(ends) => ends.partition_point(|&end| end <= item.number),
            };
            // More records than were counted before: the last part has them, and the sums will tell.
            batches[part.min(parts - 1)].push(item.bytes, item.records);
        }
        for (sinks, batch) in self.open.iter_mut().zip(batches) {
            sinks.write(Stream::Kept, &batch.into_batch())?;
        }
        Ok(())
    }

    fn finish(self) -> Result<Finished, RunError> {
        let mut finished = Finished::default();
        for sinks in self.open {
            finished = finished.and(sinks.finish()?);
        }
        Ok(finished)
    }
}

/// Number of the record behind each part, if parts are ranges of all records.
fn ends(plan: &RearrangePlan) -> Result<Vec<u64>, RunError> {
    let counts = plan.parts.iter().map(|part| count_records(&part.input));
    let total = counts.sum::<Result<u64, _>>()?;
    let parts = plan.outputs.len() as u32;
    let shards = (1..=parts).filter_map(|index| Shard::new(index, parts));
    Ok(shards.map(|shard| shard.range(total).end).collect())
}
