//! Distributes the units of an archive to several files.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::account::{FinishedOperation, OperationManifest};
use super::items::{BlockUnits, EncodedUnits};
use super::pass::{Checksums, RunControl, count, read, unit_worker};
use super::plan::RearrangePlan;
use crate::engine::progress::Progress;
use crate::engine::run::CompletedPass;
use crate::ops::error::OperationError;
use crate::records::plan_error::PlanError;
use crate::records::shard::Shard;
use crate::records::sink::{FinishedOutputs, Sinks};
use crate::records::stream::Stream;
use crate::storage::compression::{Compression, FRAME_RECORDS};
use crate::storage::memory::Memory;

/// Which part a unit goes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
            let (parts, memory): (_, Memory) = (plan.outputs.len() as u64, plan.resources.memory);
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
/// [`OperationError`]; whatever had been written is removed.
pub fn split(
    plan: &RearrangePlan,
    by: SplitBy,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<OperationManifest, OperationError> {
    check(plan, by)?;
    let started = Instant::now();
    // Dropped last, when outputs that are not whole are gone.
    let _folder = plan.create_folder()?;
    let before = plan.identities();
    let mut control = RunControl { progress, cancel };
    let ends = match by {
        SplitBy::RoundRobin => None,
        SplitBy::Ranges => Some(ends(plan, &mut control)?),
    };
    let mut parts = OpenParts::create(plan, ends)?;
    let mut side = Sinks::create_with(&plan.side_outputs, true)?;
    let take = |_: &mut _, units: BlockUnits| parts.distribute(&units);
    let worker = unit_worker(plan, plan.on_error);
    control.progress.begin("writing", plan.records);
    let CompletedPass { counts, parts_read } =
        read(plan, &mut side, Checksums::Wanted, worker, take, &mut control)?;
    plan.check_same(&before)?;
    let finished = parts.finish()?.and(side.finish()?);
    let settings = vec![("parts", plan.outputs.len().into()), ("by", by.name().into())];
    FinishedOperation { command: "split", settings, counts, parts_read, finished, started }
        .commit(plan, control.progress)
}

/// The parts, and which one comes next.
struct OpenParts {
    /// Those that are being written.
    open: VecDeque<Sinks>,
    /// Those that are whole.
    finished: FinishedOutputs,
    chooser: PartChooser,
}

enum PartChooser {
    /// Units that were dealt out.
    RoundRobin(usize),
    /// Number of the record behind each part that is open.
    Ranges(VecDeque<u64>),
}

impl OpenParts {
    fn create(plan: &RearrangePlan, ends: Option<VecDeque<u64>>) -> Result<Self, OperationError> {
        let open = plan.outputs.iter();
        let open = open.map(|output| Sinks::create_with(std::slice::from_ref(output), true));
        let open = open.collect::<Result<_, _>>()?;
        let chooser = ends.map_or(PartChooser::RoundRobin(0), PartChooser::Ranges);
        Ok(Self { open, finished: FinishedOutputs::default(), chooser })
    }

    fn distribute(&mut self, units: &BlockUnits) -> Result<(), OperationError> {
        if matches!(self.chooser, PartChooser::Ranges(_)) {
            return self.distribute_ranges(units);
        }
        let parts = self.open.len();
        let mut encoded: Vec<EncodedUnits> = Vec::new();
        encoded.resize_with(parts, EncodedUnits::default);
        if let PartChooser::RoundRobin(distributed) = &mut self.chooser {
            for item in units.iter() {
                encoded[*distributed % parts].push(item.bytes, item.records);
                *distributed += 1;
            }
        }
        for (sinks, encoded) in self.open.iter_mut().zip(encoded) {
            sinks.write(Stream::Kept, &encoded.into_records())?;
        }
        Ok(())
    }

    fn distribute_ranges(&mut self, units: &BlockUnits) -> Result<(), OperationError> {
        let mut from = 0;
        for unit in 0..units.len() {
            while self.is_behind_first(units.get(unit).number) {
                self.write_first(units, from..unit)?;
                from = unit;
                self.finish_first()?;
            }
        }
        self.write_first(units, from..units.len())
    }

    /// Whether a record belongs to a later part than the first one that is open. What there is more of than
    /// was counted goes to the last part.
    fn is_behind_first(&self, number: u64) -> bool {
        match &self.chooser {
            PartChooser::Ranges(ends) if self.open.len() > 1 => {
                ends.front().is_some_and(|&end| end <= number)
            }
            _ => false,
        }
    }

    fn write_first(
        &mut self,
        units: &BlockUnits,
        range: Range<usize>,
    ) -> Result<(), OperationError> {
        let mut encoded = EncodedUnits::default();
        encoded.push_all(units, range);
        match self.open.front_mut() {
            Some(sinks) => Ok(sinks.write(Stream::Kept, &encoded.into_records())?),
            None => Ok(()),
        }
    }

    /// The first part is whole: what is kept of it in memory goes to disk.
    fn finish_first(&mut self) -> Result<(), OperationError> {
        if let (Some(sinks), PartChooser::Ranges(ends)) = (self.open.pop_front(), &mut self.chooser)
        {
            ends.pop_front();
            self.finished = std::mem::take(&mut self.finished).and(sinks.finish()?);
        }
        Ok(())
    }

    fn finish(self) -> Result<FinishedOutputs, OperationError> {
        let mut finished = self.finished;
        for sinks in self.open {
            finished = finished.and(sinks.finish()?);
        }
        Ok(finished)
    }
}

/// Number of the record behind each part, if parts are ranges of all records.
fn ends(
    plan: &RearrangePlan,
    control: &mut RunControl<'_>,
) -> Result<VecDeque<u64>, OperationError> {
    let total = count(plan, control)?.iter().map(|input| input.all).sum();
    let parts = plan.outputs.len() as u32;
    let shards = (1..=parts).filter_map(|index| Shard::new(index, parts));
    Ok(shards.map(|shard| shard.range(total).end).collect())
}
