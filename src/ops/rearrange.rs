//! Operations that move records without changing them: shuffle, dedup, split, sample, interleave.
//!
//! The operations move chunks: a record, or a game in formats that hold games. No operation loads a whole archive into
//! memory. Records are rewritten only by `dedup --average`. The output depends on the inputs, settings and seed, but
//! not on memory, threads or temporary files.

mod chunks;
mod copying;
mod dedup;
pub(super) mod dedup_key;
mod interleave;
mod numbers;
mod partitioned;
mod partitions;
mod pass;
mod plan;
mod sample;
mod shuffle;
mod sorted_partition;
mod spill;
mod split;

use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::engine::progress::Progress;
use crate::engine::run::CompletedPass;
use crate::error::Error;
use crate::jobs::identity::RunDescription;
use crate::jobs::manifest::{Manifest, per_s};
use crate::jobs::operation_totals::OperationTotals;
use crate::records::account::{InputIdentity, OutputEntry, input_entry, output_entry};
use crate::records::output_kind::OutputKind;
use crate::records::sink::{FinishedOutputs, WrittenOutput};
use crate::records::source::RangeRead;
use crate::storage::files::NewFolders;
use crate::storage::platform;

pub use crate::jobs::operation_totals::{AverageCounts, OperationCounts, OperationManifest};
pub use crate::ops::rearrange::dedup_key::DedupKey;
pub use dedup::{DedupSettings, dedup};
pub use interleave::{Until, Weights, interleave};
pub use plan::{MAX_PARTS, RearrangePlan, RearrangeRequest, Resources};
pub use sample::{SampleSize, sample};
pub use shuffle::shuffle;
pub use split::{PartLimit, SplitBy, SplitSettings, split, split_up_to};

/// An operation in progress. Its end checks the counts and gives the outputs their final names.
struct Operation<'a> {
    plan: &'a RearrangePlan,
    command: &'static str,
    started: Instant,
    before: Vec<InputIdentity>,
    /// Whether the groups of records in the outputs are games, so that the manifest counts them.
    counts_games: bool,
    _folders: NewFolders,
}

impl<'a> Operation<'a> {
    /// Creates the folder of the outputs. The operation must outlive its outputs, because dropping it removes the
    /// folder if the folder is empty.
    fn begin(command: &'static str, plan: &'a RearrangePlan) -> Result<Self, Error> {
        let folder = plan.manifest.as_deref().map_or(Path::new("."), platform::folder_of);
        let folders = NewFolders::create(folder)
            .map_err(|source| Error::io("create the folder", folder, source))?;
        let before = plan.identities();
        Ok(Self {
            plan,
            command,
            started: Instant::now(),
            before,
            counts_games: plan.format().holds_games(),
            _folders: folders,
        })
    }

    fn counting_games(self, also: bool) -> Self {
        Self { counts_games: self.counts_games || also, ..self }
    }

    const fn plan(&self) -> &'a RearrangePlan {
        self.plan
    }

    /// Replaces the plan. The new plan must have the same inputs and folder.
    fn with_plan(self, plan: &'a RearrangePlan) -> Self {
        Self { plan, ..self }
    }

    /// Checks that the inputs have not changed and that the counts add up. Then gives the outputs their final names,
    /// the manifest last. `settings` are the command's own settings, without the common ones.
    fn commit(
        self,
        settings: Vec<(&'static str, Value)>,
        pass: CompletedPass,
        averaged: Option<AverageCounts>,
        finished: FinishedOutputs,
        progress: &mut Progress,
    ) -> Result<OperationManifest, Error> {
        let Self { plan, command, started, before, counts_games, .. } = &self;
        let changed = before.iter().zip(plan.identities()).find(|(before, now)| *before != now);
        if let Some((before, _)) = changed {
            return Err(Error::changed_while_read(&before.file));
        }
        let elapsed_s = started.elapsed().as_secs_f64();
        let CompletedPass { counts, ranges_read } = pass;
        let final_counts = counts.clone();
        let common = [
            ("to", plan.to.to_string().into()),
            ("on-error", serde_json::to_value(plan.on_error).unwrap_or_default()),
            ("memory", plan.resources.memory.to_string().into()),
            ("threads", plan.resources.threads.into()),
        ];
        let settings = settings.into_iter().chain(common);
        let settings = settings.map(|(name, value)| (name.to_owned(), value));
        // A seed of the command is also the seed of its filters.
        let settings = plan.filters.given().chain(settings).collect();
        let entry = |read: &RangeRead| input_entry(&plan.ranges[read.input], read);
        let written_entry = |written: &WrittenOutput| {
            let has_games = *counts_games && written.kind == OutputKind::Kept;
            OutputEntry { games: has_games.then_some(written.groups), ..output_entry(written) }
        };
        let manifest = Manifest {
            run: RunDescription::new(command, settings, None),
            totals: OperationTotals {
                inputs: ranges_read.iter().map(entry).collect(),
                records_per_s: per_s(counts.input, elapsed_s),
                counts: OperationCounts {
                    input: counts.input,
                    written: counts.kept,
                    filtered: counts.filtered,
                    bad: counts.bad,
                    averaged,
                },
            },
            outputs: finished.written().map(written_entry).collect(),
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            resumed_from: Vec::new(),
            parents: Vec::new(),
        };
        manifest.check_balance().map_err(Error::fault)?;
        match &plan.manifest {
            Some(path) => finished.commit_with(path, &manifest.to_json())?,
            None => finished.commit()?,
        }
        progress.finish(&final_counts);
        Ok(manifest)
    }
}
