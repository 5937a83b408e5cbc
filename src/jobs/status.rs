//! Progress of the runs in a folder, shard by shard, on any machine.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::any_totals::{AnyProgress, AnyTotals};
use super::checkpoint::Checkpoint;
use super::game_totals::GameCounts;
use super::manifest::{ManifestHead, RunManifest, per_s};
use super::run_name::{CHECKPOINT_SUFFIX, LOCK_SUFFIX, RunName};
use super::shard_set::{ShardSet, stated_run};
use crate::error::{Error, ErrorKind};
use crate::records::account::MANIFEST_SUFFIX;
use crate::records::counts::Counts;
use crate::records::shard::missing;
use crate::storage::files;
use crate::storage::lock::LockOwner;
use crate::storage::path_text::path_of;

/// What has become of a shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ShardStatus {
    /// As in `3/10`, or `3-7/10`; none for a run without shards.
    pub shard: Option<String>,
    /// How many shards this is about.
    pub shards: u32,
    /// What has become of it.
    pub state: ShardState,
    /// Records dealt with, or games, as far as that is written down.
    pub done: u64,
    /// Records or games of the shard, where that is known.
    pub records: Option<u64>,
    /// Proven mates among the positions or openings that were dealt with.
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
    pub holder: Option<LockOwner>,
}

/// What the progress of a run is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum RunUnit {
    /// Records of an archive.
    #[default]
    Records,
    /// Games of self-play.
    Games,
}

impl RunUnit {
    /// The word for one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Records => "record",
            Self::Games => "game",
        }
    }
}

/// A run with its shards.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunStatus {
    /// What the names of its files begin with.
    pub name: String,
    /// What is counted.
    pub unit: RunUnit,
    /// Records or games dealt with.
    pub done: u64,
    /// Records or games of the run: those of unknown shards taken for as many as the others have.
    pub records: Option<u64>,
    /// Whether there are such shards.
    pub is_estimate: bool,
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
/// [`Error`] if the folder cannot be read. What cannot be read of a shard is as if it were not there.
pub fn status(folder: &Path) -> Result<Vec<RunStatus>, Error> {
    let failed = |source| Error::io("read the folder", folder, source);
    let mut runs: BTreeMap<(String, u32), FoundRun> = BTreeMap::new();
    for name in files::names_in(folder).map_err(failed)? {
        let suffixes = [MANIFEST_SUFFIX, CHECKPOINT_SUFFIX, LOCK_SUFFIX];
        let found = suffixes.iter().find_map(|suffix| RunName::of_file(&name, suffix));
        let Some(name) = found.filter(|_| !is_of_another(&folder.join(path_of(&name)))) else {
            continue;
        };
        let name = stated_run(folder, name);
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
    manifests: BTreeMap<u32, RunManifest>,
    problems: Vec<String>,
    unit: RunUnit,
}

/// Whether a file is the manifest of a command that has no shards, `split` for instance.
fn is_of_another(path: &Path) -> bool {
    ManifestHead::read(path).is_ok_and(|head| !head.is_of_run())
}

impl FoundRun {
    fn look_at(&mut self, folder: &Path, name: &RunName) {
        let path = |suffix| folder.join(path_of(&name.file(suffix)));
        let shard = name.shard().map(|shard| shard.to_string());
        let holder = LockOwner::of(&path(LOCK_SUFFIX));
        let manifest = path(MANIFEST_SUFFIX);
        let checkpoint = FoundCheckpoint::read(&path(CHECKPOINT_SUFFIX), &manifest);
        if checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.unit == RunUnit::Games) {
            self.unit = RunUnit::Games;
        }
        if holder.is_some() || checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.replaces) {
            return self.insert(name, unfinished(shard, holder, checkpoint.as_ref()));
        }
        let status = match RunManifest::read(&manifest) {
            Ok(manifest) => {
                let (counts, records_per_s) = match &manifest.totals {
                    AnyTotals::Records(of) => (ShardCounts::from(&of.counts), of.records_per_s),
                    AnyTotals::Games(of) => {
                        self.unit = RunUnit::Games;
                        let speed = per_s(of.games.done(), manifest.elapsed_s);
                        (ShardCounts::from(&of.games), speed)
                    }
                    AnyTotals::Operation(_) => return,
                };
                self.manifests.insert(name.index, manifest);
                let (records, speed) = (Some(counts.done), Some(records_per_s));
                ShardStatus::new(shard, ShardState::Done, counts, records, speed)
            }
            Err(error) if matches!(error.kind(), ErrorKind::Io) => {
                unfinished(shard, None, checkpoint.as_ref())
            }
            Err(error) => {
                self.problems.push(error.to_string());
                ShardStatus::new(shard, ShardState::Damaged, ShardCounts::default(), None, None)
            }
        };
        self.insert(name, status);
    }

    fn insert(&mut self, name: &RunName, status: ShardStatus) {
        self.shards.insert(name.index, status);
    }

    fn status(self, folder: &Path, stem: String, count: u32) -> RunStatus {
        let Self { mut shards, manifests, mut problems, unit } = self;
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
                    ShardCounts::default(),
                    None,
                    None,
                );
                let number = last.index() - first.index() + 1;
                shards.insert(first.index(), ShardStatus { shards: number, ..row });
            }
        }
        run_status(stem, unit, shards.into_values().collect(), problems)
    }
}

/// How far an unfinished run has come.
struct FoundCheckpoint {
    unit: RunUnit,
    counts: ShardCounts,
    /// Records or games of the shard.
    records: Option<u64>,
    elapsed_s: f64,
    /// Whether the run replaces one whose manifest is there.
    replaces: bool,
}

impl FoundCheckpoint {
    /// The checkpoint in a file. `None` if it cannot be read.
    fn read(path: &Path, manifest: &Path) -> Option<Self> {
        let checkpoint = Checkpoint::<AnyProgress>::read(path).ok()??;
        let (unit, counts) = match &checkpoint.progress {
            AnyProgress::Records(progress) => {
                (RunUnit::Records, ShardCounts::from(&progress.place.counts))
            }
            AnyProgress::Games(progress) => (RunUnit::Games, ShardCounts::from(&progress.games)),
        };
        let replaces = checkpoint.is_to_replace(manifest).unwrap_or(false);
        let Checkpoint { planned: records, elapsed_s, .. } = checkpoint;
        Some(Self { unit, counts, records, elapsed_s, replaces })
    }
}

/// What became of the records or games that were dealt with.
#[derive(Clone, Copy, Default)]
struct ShardCounts {
    done: u64,
    mated: u64,
    unknown: u64,
    bad: u64,
}

impl From<&Counts> for ShardCounts {
    fn from(counts: &Counts) -> Self {
        Self {
            done: counts.input,
            mated: counts.mates(),
            unknown: counts.verdicts.unknown.values().sum(),
            bad: counts.bad_records(),
        }
    }
}

impl From<&GameCounts> for ShardCounts {
    fn from(games: &GameCounts) -> Self {
        Self { done: games.done(), mated: games.mated_openings, unknown: 0, bad: 0 }
    }
}

/// A shard without a manifest.
fn unfinished(
    shard: Option<String>,
    holder: Option<LockOwner>,
    checkpoint: Option<&FoundCheckpoint>,
) -> ShardStatus {
    let state = match (&holder, checkpoint) {
        (Some(_), _) => ShardState::Running,
        (None, Some(_)) => ShardState::Interrupted,
        (None, None) => ShardState::Missing,
    };
    let Some(&FoundCheckpoint { counts, records, elapsed_s, .. }) = checkpoint else {
        return ShardStatus {
            holder,
            ..ShardStatus::new(shard, state, ShardCounts::default(), None, None)
        };
    };
    let done = counts.done;
    let speed = (elapsed_s > 0.0).then_some(done as f64 / elapsed_s);
    let left = records.map(|records| records.saturating_sub(done) as f64);
    let eta_s = match (state, left, speed) {
        (ShardState::Running, Some(left), Some(speed)) if speed > 0.0 => Some(left / speed),
        _ => None,
    };
    ShardStatus { eta_s, holder, ..ShardStatus::new(shard, state, counts, records, speed) }
}

impl ShardStatus {
    fn new(
        shard: Option<String>,
        state: ShardState,
        counts: ShardCounts,
        records: Option<u64>,
        records_per_s: Option<f64>,
    ) -> Self {
        let ShardCounts { done, mated, unknown, bad } = counts;
        Self {
            shard,
            shards: 1,
            state,
            done,
            records,
            mated,
            unknown,
            bad,
            records_per_s,
            eta_s: None,
            holder: None,
        }
    }
}

fn run_status(
    name: String,
    unit: RunUnit,
    shards: Vec<ShardStatus>,
    problems: Vec<String>,
) -> RunStatus {
    let known = || shards.iter().filter_map(|shard| shard.records);
    let (sum, number) = (known().map(u128::from).sum::<u128>(), known().count() as u128);
    let all: u128 = shards.iter().map(|shard| u128::from(shard.shards)).sum();
    let records = (number > 0).then(|| sum * all / number);
    let records = records.map(|records| u64::try_from(records).unwrap_or(u64::MAX));
    let done = shards.iter().fold(0, |sum: u64, shard| sum.saturating_add(shard.done));
    let running = || shards.iter().filter(|shard| shard.state == ShardState::Running);
    let records_per_s =
        running().filter_map(|shard| shard.records_per_s).fold(0.0, |sum, speed| sum + speed);
    let together = records.map(|records| records.saturating_sub(done) as f64 / records_per_s);
    let longest = running().filter_map(|shard| shard.eta_s).fold(0.0, f64::max);
    let eta_s = together.filter(|eta| eta.is_finite()).map(|eta| eta.max(longest));
    let is_estimate = number < all;
    RunStatus { name, unit, done, records, is_estimate, records_per_s, eta_s, shards, problems }
}
