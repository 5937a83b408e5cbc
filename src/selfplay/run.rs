//! A run of self-play: games in the order of their numbers, written as they come, in a state from which another process
//! can go on whenever this one ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kyokumen_network::{Evaluator, is_reproducible};
use kyokumen_selfplay::{FinishedGame, Games, GamesError, Openings, StartPosition};

use super::encoded::encoded;
use super::error::{Kept, SelfPlayError};
use super::evaluators::Model;
use super::openings::RunOpenings;
use super::plan::SelfPlayPlan;
use super::snapshot::{GamesDone, SelfPlaySnapshot};
use super::start::{Start, begin, find_start, io_error};
use super::totals;
use crate::engine::metrics::Metrics;
use crate::engine::progress::ProgressDisplay;
use crate::jobs::checkpoint::CheckpointContent;
use crate::jobs::error::JobError;
use crate::jobs::identity::Identity;
use crate::jobs::selfplay_checkpoint::SelfPlayCheckpoint;
use crate::jobs::selfplay_manifest::SelfPlayManifest;
use crate::records::account::output_entry;
use crate::records::sink::{Sinks, partial_path};
use crate::records::stream::Stream;
use crate::storage::lock::Lock;
use crate::storage::{files, platform};

/// The result of a run.
#[derive(Clone, Debug)]
pub struct SelfPlayed {
    /// Its account.
    pub manifest: SelfPlayManifest,
    /// Whether it had been brought to its end before, so that nothing was left to do.
    pub was_done: bool,
}

/// How often somebody is asked whether to stop, and shown how it goes.
const PAUSE: Duration = Duration::from_millis(100);

/// Plays what is planned. Sets nothing under a final name unless all went well.
///
/// # Errors
/// [`SelfPlayError`]; finished games are kept for a process that resumes.
pub fn selfplay(
    plan: SelfPlayPlan,
    display: Option<Box<dyn ProgressDisplay<SelfPlaySnapshot>>>,
    cancel: &AtomicBool,
) -> Result<SelfPlayed, SelfPlayError> {
    files::create_folder(&plan.folder)
        .map_err(|source| io_error("create", &plan.folder, source))?;
    let lock = Lock::take(&plan.lock, plan.shard.map(|shard| shard.to_string()), cancel)?;
    let checkpoint = match find_start(&plan)? {
        Start::Done(manifest) => return Ok(SelfPlayed { manifest: *manifest, was_done: true }),
        Start::At(checkpoint) => checkpoint.map(|checkpoint| *checkpoint),
    };
    let (networks, reproducible) = match start(&plan, cancel) {
        Err(_) if cancel.load(Ordering::Relaxed) => {
            let games = checkpoint.map_or(0, |checkpoint| checkpoint.games.played);
            return Err(SelfPlayError::Interrupted { kept: kept(&plan, games) });
        }
        started => started?,
    };
    let mut progress = SelfPlayProgress::new(&plan, display);
    let mut run = Run::begin(plan, lock, checkpoint, reproducible)?;
    run.play(networks, &mut progress, cancel)?;
    run.finish()
}

/// Who is told how it goes.
struct SelfPlayProgress {
    display: Option<Box<dyn ProgressDisplay<SelfPlaySnapshot>>>,
    shown: Instant,
    metrics: Option<Metrics>,
    last: Option<SelfPlaySnapshot>,
}

impl SelfPlayProgress {
    fn new(
        plan: &SelfPlayPlan,
        display: Option<Box<dyn ProgressDisplay<SelfPlaySnapshot>>>,
    ) -> Self {
        let shard = plan.shard.map(|shard| shard.to_string());
        let metrics = plan.metrics.clone();
        let metrics = metrics.map(|path| Metrics::new(path, &plan.stem, shard.as_deref()));
        Self { display, shown: Instant::now(), metrics, last: None }
    }

    fn update(&mut self, snapshot: SelfPlaySnapshot) {
        if let Some(metrics) = &mut self.metrics
            && metrics.is_due()
        {
            metrics.write(true, |text| snapshot.add_metrics(text));
        }
        if let Some(display) = &mut self.display
            && self.shown.elapsed() >= display.pause()
        {
            display.show(&snapshot);
            self.shown = Instant::now();
        }
        self.last = Some(snapshot);
    }
}

impl Drop for SelfPlayProgress {
    /// A failed run leaves nothing half drawn behind, and does not seem to go on.
    fn drop(&mut self) {
        if let (Some(metrics), Some(last)) = (&mut self.metrics, &self.last) {
            metrics.write(false, |text| last.add_metrics(text));
        }
        if let Some(display) = &mut self.display {
            match &self.last {
                Some(last) => display.finish(last),
                None => display.clear(),
            }
        }
    }
}

type Networks = Vec<Vec<Box<dyn Evaluator>>>;

/// Loads the networks, and tests whether all devices give the same bits for a position anywhere in a batch.
fn start(plan: &SelfPlayPlan, cancel: &AtomicBool) -> Result<(Networks, bool), SelfPlayError> {
    let mut networks = load(plan, cancel)?;
    let mut all = true;
    for (device, model) in networks.iter_mut().flatten().zip(&plan.models) {
        let checked = is_reproducible(device.as_mut(), plan.run.batch, cancel);
        all &= checked
            .map_err(|source| SelfPlayError::Evaluation { network: model.to_string(), source })?;
    }
    Ok((networks, all))
}

/// The devices of each network: equal models are devices of one.
fn load(plan: &SelfPlayPlan, cancel: &AtomicBool) -> Result<Networks, SelfPlayError> {
    let mut names: Vec<&Model> = Vec::new();
    let mut networks: Networks = Vec::new();
    for model in &plan.models {
        let network = names.iter().position(|name| *name == model).unwrap_or_else(|| {
            names.push(model);
            networks.push(Vec::new());
            names.len() - 1
        });
        networks[network].push(model.load(plan.policy_temperature, cancel)?);
    }
    Ok(networks)
}

/// What a later process can resume the run from.
fn kept(plan: &SelfPlayPlan, games: u64) -> Kept {
    match plan.checkpoint {
        Some(_) => Kept::Games(games),
        None => Kept::Nothing,
    }
}

/// A run under way.
struct Run {
    plan: SelfPlayPlan,
    lock: Lock,
    sinks: Sinks,
    state: SelfPlayCheckpoint,
    started: Instant,
    saved: Instant,
    /// What earlier processes took.
    elapsed_before_s: f64,
}

impl Run {
    fn begin(
        plan: SelfPlayPlan,
        lock: Lock,
        checkpoint: Option<SelfPlayCheckpoint>,
        reproducible: bool,
    ) -> Result<Self, SelfPlayError> {
        let outputs = std::slice::from_ref(&plan.output);
        let mut state = checkpoint.map_or_else(|| begin(&plan), Ok)?;
        state.reproducible &= reproducible;
        let sinks = if state.is_beginning() {
            Sinks::create_with(outputs, true)?
        } else {
            state.resumed_from.push(state.done);
            Sinks::resume(outputs, state.outputs.clone())?
        };
        let now = Instant::now();
        let elapsed_before_s = state.elapsed_s;
        Ok(Self { plan, lock, sinks, state, started: now, saved: now, elapsed_before_s })
    }

    fn play(
        &mut self,
        networks: Networks,
        progress: &mut SelfPlayProgress,
        cancel: &AtomicBool,
    ) -> Result<(), SelfPlayError> {
        let plan = &mut self.plan;
        let openings: Box<dyn Openings> = match plan.openings.take() {
            Some(positions) => {
                let filter = plan.openings_filter.as_ref();
                Box::new(RunOpenings::new(positions, plan.seed, filter)?)
            }
            None => Box::new(StartPosition),
        };
        let total = plan.numbers.end - plan.numbers.start;
        let numbers = plan.numbers.start + self.state.done..plan.numbers.end;
        let games = Games::play(plan.game, plan.run, plan.seed, numbers, openings, networks);
        let mut games = games.map_err(|source| self.failed(source))?;
        let done_before = self.state.done;
        while !games.is_done() {
            let next = games.next_within(PAUSE);
            self.state.games.mated_openings += games.take_unplayed();
            match next {
                Ok(Some(game)) => self.write(&game)?,
                Ok(None) => {}
                Err(source) => {
                    self.save()?;
                    // Ctrl-C at a terminal also ends the programs, so their errors are expected.
                    return Err(if cancel.load(Ordering::Relaxed) {
                        SelfPlayError::Interrupted { kept: self.kept() }
                    } else {
                        self.failed(source)
                    });
                }
            }
            self.state.done = done_before + games.yielded();
            let done = GamesDone { done: self.state.done, before: done_before, total };
            let groups = self.plan.run.groups;
            let elapsed = self.started.elapsed();
            progress.update(SelfPlaySnapshot::of(done, &games.figures(), groups, elapsed));
            self.lock.heartbeat();
            if cancel.load(Ordering::Relaxed) {
                self.save()?;
                return Err(SelfPlayError::Interrupted { kept: self.kept() });
            }
            if self.saved.elapsed() >= self.plan.checkpoint_every {
                self.save()?;
            }
        }
        Ok(())
    }

    fn failed(&self, source: GamesError) -> SelfPlayError {
        SelfPlayError::Games { kept: self.kept(), source }
    }

    fn kept(&self) -> Kept {
        kept(&self.plan, self.state.games.played)
    }

    fn write(&mut self, game: &FinishedGame) -> Result<(), SelfPlayError> {
        if game.dropped.is_none() {
            let records = encoded(self.plan.format, game)
                .map_err(|source| SelfPlayError::Encode { number: game.number, source })?;
            self.sinks.write(Stream::Kept, &records)?;
        }
        totals::count(&mut self.state.games, game);
        Ok(())
    }

    /// Brings everything to disk, the checkpoint last, if anybody could go on there.
    fn save(&mut self) -> Result<(), SelfPlayError> {
        let Some(checkpoint) = &self.plan.checkpoint else { return Ok(()) };
        self.state.outputs = self.sinks.sync()?;
        self.state.elapsed_s = self.elapsed_s();
        let written = self.state.write(checkpoint);
        // It may have its name although that could not be brought to disk, and then it needs its files.
        if written.is_ok() || checkpoint.exists() {
            self.sinks.keep();
        }
        written?;
        self.saved = Instant::now();
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        self.elapsed_before_s + self.started.elapsed().as_secs_f64()
    }

    /// Everything on disk, and then the names, the manifest's last.
    fn finish(mut self) -> Result<SelfPlayed, SelfPlayError> {
        // Whatever happens from here on, the next process goes on.
        self.save()?;
        let elapsed_s = self.elapsed_s();
        let Self { plan, sinks, state, lock, .. } = self;
        let finished = sinks.finish()?;
        let Identity { run, inputs } = state.identity;
        let manifest = SelfPlayManifest {
            run,
            inputs,
            openings_origin: plan.openings_origin,
            networks: plan.networks,
            reproducible: state.reproducible,
            outputs: finished.written().map(output_entry).collect(),
            games: state.games,
            ended_unix_s: platform::now_unix_s(),
            elapsed_s,
            resumed_from: state.resumed_from,
            parents: Vec::new(),
        };
        manifest.check_balance().map_err(JobError::from)?;
        let Some(checkpoint) = &plan.checkpoint else {
            finished.commit_with(&plan.manifest, &manifest.to_json())?;
            return Ok(SelfPlayed { manifest, was_done: false });
        };
        let named = finished.resumable().commit_with(&plan.manifest, &manifest.to_json());
        named.map_err(JobError::Unnamed)?;
        for path in [checkpoint, &partial_path(checkpoint)] {
            if let Err(error) = platform::remove_if_there(path) {
                tracing::warn!("cannot remove {}: {error}", path.display());
            }
        }
        drop(lock);
        Ok(SelfPlayed { manifest, was_done: false })
    }
}
