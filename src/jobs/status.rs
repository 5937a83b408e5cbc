//! Progress of the runs in a folder and their shards, which may run on several machines.

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
use crate::storage::platform;

/// The state of a shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ShardState {
    /// It has a valid manifest.
    Done,
    /// Its manifest is damaged or contradicts itself.
    Damaged,
    /// A process is writing it.
    Running,
    /// Its process has ended early. It can be resumed.
    Interrupted,
    /// It has not been started.
    Missing,
}

impl ShardState {
    /// All states, in the order of the report.
    pub const ALL: [Self; 5] =
        [Self::Done, Self::Damaged, Self::Running, Self::Interrupted, Self::Missing];

    /// The name in reports.
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

/// The status of a shard, of consecutive missing shards, or of a run without shards.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ShardStatus {
    /// The shard, as in `3/10`, or consecutive missing shards, as in `3-7/10`. `None` for a run without shards.
    pub shard: Option<String>,
    /// Number of shards described.
    pub shards: u32,
    /// The state.
    pub state: ShardState,
    /// Records or games processed, according to the manifest or the last checkpoint.
    pub done: u64,
    /// Records or games of the shard, if known.
    pub records: Option<u64>,
    /// Processed positions or openings that are mated positions: a mate by or against the side to move is proven.
    pub mated: u64,
    /// Processed positions that the search could not decide.
    pub unknown: u64,
    /// Bad records among the processed ones.
    pub bad: u64,
    /// Average speed. Self-play counts positions.
    pub records_per_s: Option<f64>,
    /// Estimated remaining time, if the shard is running.
    pub eta_s: Option<f64>,
    /// The process that is writing the shard.
    #[serde(rename = "holder")]
    pub owner: Option<LockOwner>,
}

/// The unit of the progress of a run.
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
    /// The singular noun.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Records => "record",
            Self::Games => "game",
        }
    }

    /// The singular noun of the unit of speeds.
    pub const fn name_in_speeds(self) -> &'static str {
        match self {
            Self::Records => "record",
            Self::Games => "position",
        }
    }
}

/// The status of a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunStatus {
    /// Base name of its files.
    pub name: String,
    /// The unit of the numbers.
    pub unit: RunUnit,
    /// Records or games processed.
    pub done: u64,
    /// Records or games of the run. Shards of unknown size count with the average of the others.
    pub records: Option<u64>,
    /// Whether the size of a shard is unknown, so that `records` is an estimate.
    pub is_estimate: bool,
    /// Total speed of the running processes. Self-play counts positions.
    pub records_per_s: f64,
    /// Estimated time in which the running processes finish the run.
    pub eta_s: Option<f64>,
    /// Its shards in order.
    pub shards: Vec<ShardStatus>,
    /// Damaged manifests and contradictions between manifests.
    pub problems: Vec<String>,
}

/// Reads the status of all runs in a folder. Unreadable files of a shard count as missing.
///
/// # Errors
/// [`Error`] if the folder cannot be read.
pub fn status(folder: &Path) -> Result<Vec<RunStatus>, Error> {
    let failed = |source| Error::io("read the folder", folder, source);
    let mut runs: BTreeMap<(String, u32), FoundRun> = BTreeMap::new();
    for name in files::names_in(folder).map_err(failed)? {
        let suffixes = [MANIFEST_SUFFIX, CHECKPOINT_SUFFIX, LOCK_SUFFIX];
        let run_name = suffixes.iter().find_map(|suffix| RunName::from_file_name(&name, suffix));
        let is_operation = || is_operation_manifest(&folder.join(path_of(&name)));
        let Some(name) = run_name.filter(|_| !is_operation()) else {
            continue;
        };
        let name = stated_run(folder, name);
        let run = runs.entry((name.stem.clone(), name.count)).or_default();
        if !run.shards.contains_key(&name.index) {
            run.add_shard(folder, &name);
        }
    }
    let status = |((stem, count), run): (_, FoundRun)| run.status(folder, stem, count);
    Ok(runs.into_iter().map(status).collect())
}

/// The files found of a run.
#[derive(Default)]
struct FoundRun {
    shards: BTreeMap<u32, ShardStatus>,
    manifests: BTreeMap<u32, RunManifest>,
    problems: Vec<String>,
    unit: RunUnit,
}

/// Whether a file is the manifest of a command without shards, such as `split`.
fn is_operation_manifest(path: &Path) -> bool {
    ManifestHead::read(path).is_ok_and(|head| !head.can_have_shards())
}

impl FoundRun {
    fn add_shard(&mut self, folder: &Path, name: &RunName) {
        let path = |suffix| folder.join(path_of(&name.file(suffix)));
        let shard = name.shard().map(|shard| shard.to_string());
        let owner = LockOwner::read(&path(LOCK_SUFFIX));
        let manifest = path(MANIFEST_SUFFIX);
        let checkpoint = FoundCheckpoint::read(&path(CHECKPOINT_SUFFIX), &manifest);
        if checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.unit == RunUnit::Games) {
            self.unit = RunUnit::Games;
        }
        if owner.is_some() || checkpoint.as_ref().is_some_and(|checkpoint| checkpoint.replaces) {
            return self.insert(name, unfinished(shard, owner, checkpoint.as_ref()));
        }
        let status = match RunManifest::read(&manifest) {
            Ok(manifest) => {
                let (counts, records_per_s) = match &manifest.totals {
                    AnyTotals::Records(totals) => {
                        (ShardCounts::from(&totals.counts), totals.records_per_s)
                    }
                    AnyTotals::Games(totals) => {
                        self.unit = RunUnit::Games;
                        let speed = per_s(totals.games.moves, manifest.elapsed_s);
                        (ShardCounts::from(&totals.games), speed)
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
        let disagreements =
            ShardSet::from_manifests(folder, &stem, count, manifests).disagreements();
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

/// The progress of an unfinished run.
struct FoundCheckpoint {
    unit: RunUnit,
    counts: ShardCounts,
    /// Records or games of the shard.
    records: Option<u64>,
    speed: Option<f64>,
    eta_s: Option<f64>,
    /// Whether the existing manifest belongs to an older run that this one replaces.
    replaces: bool,
    /// Whether it is a copy at a URL, and so recent that its process probably runs.
    is_recent_copy: bool,
}

/// Age of the copy of a checkpoint at a URL above which its process counts as killed, in seconds. There are no locks at
/// a URL. Copies are usually a minute apart.
const RECENT_S: u64 = 600;

impl FoundCheckpoint {
    /// The checkpoint in a file. `None` if it cannot be read.
    fn read(path: &Path, manifest: &Path) -> Option<Self> {
        let checkpoint = Checkpoint::<AnyProgress>::read(path).ok()??;
        let Checkpoint { planned: records, elapsed_s, .. } = checkpoint;
        let (unit, counts, speed, eta_s) = match &checkpoint.progress {
            AnyProgress::Records(progress) => {
                let counts = ShardCounts::from(&progress.resume_point.counts);
                let speed = (elapsed_s > 0.0).then_some(counts.done as f64 / elapsed_s);
                let left = records.map(|records| records.saturating_sub(counts.done) as f64);
                let eta_s = left.zip(speed.filter(|&speed| speed > 0.0));
                (RunUnit::Records, counts, speed, eta_s.map(|(left, speed)| left / speed))
            }
            AnyProgress::Games(progress) => {
                let counts = ShardCounts::from(&progress.games);
                let displayed = progress.displayed;
                let done = displayed.map_or(counts.done, |displayed| displayed.games);
                let speed = displayed.map(|displayed| displayed.positions_per_s);
                let eta_s = displayed.map(|displayed| displayed.eta_s);
                (RunUnit::Games, ShardCounts { done, ..counts }, speed, eta_s)
            }
        };
        let replaces = checkpoint.will_replace(manifest).unwrap_or(false);
        let age_s = platform::now_unix_s().saturating_sub(checkpoint.written_unix_s);
        let is_recent_copy = files::is_object(path) && !checkpoint.is_last && age_s < RECENT_S;
        Some(Self { unit, counts, records, speed, eta_s, replaces, is_recent_copy })
    }
}

/// Counts of the processed records or games.
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
    owner: Option<LockOwner>,
    checkpoint: Option<&FoundCheckpoint>,
) -> ShardStatus {
    let state = match (&owner, checkpoint) {
        (Some(_), _) => ShardState::Running,
        (None, Some(checkpoint)) if checkpoint.is_recent_copy => ShardState::Running,
        (None, Some(_)) => ShardState::Interrupted,
        (None, None) => ShardState::Missing,
    };
    let Some(&FoundCheckpoint { counts, records, speed, eta_s, .. }) = checkpoint else {
        return ShardStatus {
            owner,
            ..ShardStatus::new(shard, state, ShardCounts::default(), None, None)
        };
    };
    let eta_s = eta_s.filter(|_| state == ShardState::Running);
    ShardStatus { eta_s, owner, ..ShardStatus::new(shard, state, counts, records, speed) }
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
            owner: None,
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
    // Records or games a second. The speed of self-play counts positions.
    let pace = running().filter_map(|shard| {
        let left = shard.records?.saturating_sub(shard.done) as f64;
        shard.eta_s.filter(|&eta_s| eta_s > 0.0).map(|eta_s| left / eta_s)
    });
    let pace: f64 = pace.sum();
    let together = records.map(|records| records.saturating_sub(done) as f64 / pace);
    let longest = running().filter_map(|shard| shard.eta_s).fold(0.0, f64::max);
    let eta_s = together.filter(|eta| eta.is_finite()).map(|eta| eta.max(longest));
    let is_estimate = number < all;
    RunStatus { name, unit, done, records, is_estimate, records_per_s, eta_s, shards, problems }
}
