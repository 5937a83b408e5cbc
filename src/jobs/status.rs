//! Progress of the runs in a folder, shard by shard, on any machine.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::checkpoint::{Checkpoint, CheckpointContent};
use super::manifest::{Manifest, ManifestHead};
use super::run_name::{CHECKPOINT_SUFFIX, LOCK_SUFFIX, RunName};
use super::shard_set::{ShardSet, ShardSetError};
use crate::records::account_file::{MANIFEST_SUFFIX, ManifestError};
use crate::records::counts::Counts;
use crate::records::shard::missing;
use crate::storage::files;
use crate::storage::lock::Holder;

/// What has become of a shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ShardState {
    /// Its manifest is there.
    Done,
    /// Its manifest is there, and cannot be right.
    Damaged,
    /// A process writes it.
    Running,
    /// A process has ended before it was done, and another can go on.
    Interrupted,
    /// Nobody has begun it.
    Missing,
}

impl ShardState {
    /// In the order in which they are told.
    pub const ALL: [Self; 5] =
        [Self::Done, Self::Damaged, Self::Running, Self::Interrupted, Self::Missing];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Damaged => "damaged",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Missing => "missing",
        }
    }
}

/// A shard, or missing ones in a row, or a run without shards.
#[derive(Clone, Debug, Serialize)]
pub struct ShardStatus {
    /// As in `3/10`, or `3-7/10`; none for a run without shards.
    pub shard: Option<String>,
    /// How many shards this is about.
    pub shards: u32,
    /// What has become of it.
    pub state: ShardState,
    /// Records dealt with, as far as that is written down.
    pub done: u64,
    /// Records of the shard, where that is known.
    pub records: Option<u64>,
    /// Proven mates among those that were dealt with.
    pub mated: u64,
    /// Positions among them that the search did not decide.
    pub unknown: u64,
    /// Records among them that could not be used.
    pub bad: u64,
    /// Speed so far.
    pub records_per_s: Option<f64>,
    /// How long it will take, while it is running.
    pub eta_s: Option<f64>,
    /// Who is writing it.
    pub holder: Option<Holder>,
}

/// A run with its shards.
#[derive(Clone, Debug, Serialize)]
pub struct RunStatus {
    /// What the names of its files begin with.
    pub name: String,
    /// Records dealt with.
    pub done: u64,
    /// Records of the run: those of unknown shards taken for as many as the others have.
    pub records: Option<u64>,
    /// Speed of the processes that are running.
    pub records_per_s: f64,
    /// How long the rest will take them.
    pub eta_s: Option<f64>,
    /// Its shards in order.
    pub shards: Vec<ShardStatus>,
    /// What is wrong with its manifests, and in what they do not belong together.
    pub problems: Vec<String>,
}

/// The runs in a folder.
///
/// # Errors
/// [`ShardSetError`] if the folder cannot be read. What cannot be read of a shard is as if it were not there.
pub fn status(folder: &Path) -> Result<Vec<RunStatus>, ShardSetError> {
    let failed = |source| ShardSetError::Folder { folder: folder.to_owned(), source };
    let mut runs: BTreeMap<(String, u32), FoundRun> = BTreeMap::new();
    for name in files::names_in(folder).map_err(failed)? {
        let suffixes = [MANIFEST_SUFFIX, CHECKPOINT_SUFFIX, LOCK_SUFFIX];
        let found = suffixes.iter().find_map(|suffix| RunName::of_file(&name, suffix));
        let Some(name) = found.filter(|_| !is_of_another(&folder.join(&name))) else { continue };
        let run = runs.entry((name.stem.clone(), name.count)).or_default();
        if !run.shards.contains_key(&name.index) {
            run.look_at(folder, &name);
        }
    }
    let status = |((stem, count), run): (_, FoundRun)| run.status(folder, stem, count);
    Ok(runs.into_iter().map(status).collect())
}

/// What there is of a run.
#[derive(Default)]
struct FoundRun {
    shards: BTreeMap<u32, ShardStatus>,
    manifests: BTreeMap<u32, Manifest>,
    problems: Vec<String>,
}

/// Whether a file is the manifest of a command that has no shards, `split` for instance.
fn is_of_another(path: &Path) -> bool {
    ManifestHead::read(path).is_ok_and(|head| !head.is_of_search())
}

impl FoundRun {
    fn look_at(&mut self, folder: &Path, name: &RunName) {
        let path = |suffix| folder.join(name.file(suffix));
        let shard = name.shard().map(|shard| shard.to_string());
        let holder = Holder::of(&path(LOCK_SUFFIX));
        let (manifest, checkpoint) = (path(MANIFEST_SUFFIX), path(CHECKPOINT_SUFFIX));
        let checkpoint = Checkpoint::read(&checkpoint).ok().flatten();
        let is_replaced =
            |checkpoint: &Checkpoint| checkpoint.is_to_replace(&manifest).unwrap_or(false);
        if holder.is_some() || checkpoint.as_ref().is_some_and(is_replaced) {
            return self.insert(name, unfinished(shard, holder, checkpoint));
        }
        let status = match Manifest::read(&manifest) {
            Ok(manifest) => {
                let (counts, speed) = (&manifest.counts, Some(manifest.records_per_s));
                let records = Some(counts.input);
                let status = ShardStatus::new(shard, ShardState::Done, counts, records, speed);
                self.manifests.insert(name.index, manifest);
                status
            }
            Err(ManifestError::Io { .. }) => unfinished(shard, None, checkpoint),
            Err(error) => {
                self.problems.push(error.to_string());
                ShardStatus::new(shard, ShardState::Damaged, &Counts::default(), None, None)
            }
        };
        self.insert(name, status);
    }

    fn insert(&mut self, name: &RunName, status: ShardStatus) {
        self.shards.insert(name.index, status);
    }

    fn status(self, folder: &Path, stem: String, count: u32) -> RunStatus {
        let Self { mut shards, manifests, mut problems } = self;
        let disagreements = ShardSet::of_manifests(folder, &stem, count, manifests).disagreements();
        problems.extend(disagreements.iter().map(ToString::to_string));
        if !shards.contains_key(&0) {
            for (first, last) in missing(shards.keys().copied(), count) {
                let is_one = first.index() == last.index();
                let row = format!("{}-{last}", first.index());
                let shard = if is_one { first.to_string() } else { row };
                let row = ShardStatus::new(
                    Some(shard),
                    ShardState::Missing,
                    &Counts::default(),
                    None,
                    None,
                );
                let number = last.index() - first.index() + 1;
                shards.insert(first.index(), ShardStatus { shards: number, ..row });
            }
        }
        run_status(stem, shards.into_values().collect(), problems)
    }
}

/// A shard without a manifest.
fn unfinished(
    shard: Option<String>,
    holder: Option<Holder>,
    checkpoint: Option<Checkpoint>,
) -> ShardStatus {
    let state = match (&holder, &checkpoint) {
        (Some(_), _) => ShardState::Running,
        (None, Some(_)) => ShardState::Interrupted,
        (None, None) => ShardState::Missing,
    };
    let Some(Checkpoint { place, records, elapsed_s, .. }) = checkpoint else {
        return ShardStatus {
            holder,
            ..ShardStatus::new(shard, state, &Counts::default(), None, None)
        };
    };
    let done = place.counts.input;
    let speed = (elapsed_s > 0.0).then_some(done as f64 / elapsed_s);
    let left = records.map(|records| records.saturating_sub(done) as f64);
    let eta_s = match (state, left, speed) {
        (ShardState::Running, Some(left), Some(speed)) if speed > 0.0 => Some(left / speed),
        _ => None,
    };
    ShardStatus { eta_s, holder, ..ShardStatus::new(shard, state, &place.counts, records, speed) }
}

impl ShardStatus {
    fn new(
        shard: Option<String>,
        state: ShardState,
        counts: &Counts,
        records: Option<u64>,
        records_per_s: Option<f64>,
    ) -> Self {
        Self {
            shard,
            shards: 1,
            state,
            done: counts.input,
            records,
            mated: counts.mates(),
            unknown: counts.verdicts.unknown.values().sum(),
            bad: counts.bad_records(),
            records_per_s,
            eta_s: None,
            holder: None,
        }
    }
}

fn run_status(name: String, shards: Vec<ShardStatus>, problems: Vec<String>) -> RunStatus {
    let known = || shards.iter().filter_map(|shard| shard.records);
    let (sum, number) = (known().map(u128::from).sum::<u128>(), known().count() as u128);
    let all: u128 = shards.iter().map(|shard| u128::from(shard.shards)).sum();
    let records = (number > 0).then(|| sum + sum / number * (all - number));
    let records = records.map(|records| u64::try_from(records).unwrap_or(u64::MAX));
    let done = shards.iter().fold(0, |sum: u64, shard| sum.saturating_add(shard.done));
    let running = || shards.iter().filter(|shard| shard.state == ShardState::Running);
    let records_per_s =
        running().filter_map(|shard| shard.records_per_s).fold(0.0, |sum, speed| sum + speed);
    let together = records.map(|records| records.saturating_sub(done) as f64 / records_per_s);
    let longest = running().filter_map(|shard| shard.eta_s).fold(0.0, f64::max);
    let eta_s = together.filter(|eta| eta.is_finite()).map(|eta| eta.max(longest));
    RunStatus { name, done, records, records_per_s, eta_s, shards, problems }
}
