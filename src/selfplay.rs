//! Self-play of networks, written as training data (feature `network`).
//!
//! [`kyokumen_selfplay`] plays the games. This module adds openings, networks, outputs, checkpoints and a manifest. A
//! run writes games in the order of their numbers. Another process can resume it at any time.

mod engine_player;
pub mod evaluators;
mod finished;
pub(crate) mod openings;
pub mod plan;
pub mod snapshot;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kyokumen_network::{Evaluator, is_reproducible};
use kyokumen_selfplay::{
    FinishedGame, Games, GamesError, Networks, Openings, Opponent, Opponents, Player, StartPosition,
};

use crate::engine::metrics::Metrics;
use crate::engine::progress::ProgressDisplay;
use crate::error::{Error, ErrorKind, Remedy};
use crate::jobs::game_totals::{GameManifest, GameProgress, GameTotals, GamesDisplayed};
use crate::jobs::run::{Completed, Opened, Run};
use crate::jobs::run_files::RunFiles;
use crate::records::output_kind::OutputKind;
use crate::records::sink::Sinks;
use crate::shogi::Color;
use crate::storage::platform;
use engine_player::{EngineGames, EnginePlayer, OpponentEngine, PairedOpenings};
use evaluators::Model;
use finished::{count, count_match, encoded};
use openings::RunOpenings;
use plan::{Players, SelfPlayPlan};
use snapshot::{GamesDone, SelfPlaySnapshot};

/// A completed self-play run.
pub type SelfPlayed = Completed<GameTotals>;

/// Interval of checks for cancellation and of progress updates.
const PAUSE: Duration = Duration::from_millis(100);

/// Plays the games of a plan. The outputs get their final names only if the whole run succeeds.
///
/// # Errors
/// [`Error`] if the run fails or is interrupted. If the run has a checkpoint, finished games are kept and the run can
/// be resumed.
pub fn selfplay(
    plan: SelfPlayPlan,
    display: Option<Box<dyn ProgressDisplay<SelfPlaySnapshot>>>,
    cancel: &AtomicBool,
) -> Result<SelfPlayed, Error> {
    let planned = plan.numbers.end - plan.numbers.start;
    let mut progress = SelfPlayProgress::new(&plan, display)?;
    let (identity, check) = (plan.identity.clone(), |_: &GameManifest| Ok(()));
    let opened = Run::<GameProgress>::open(&plan.files, identity, Some(planned), check, cancel)?;
    let run = match opened {
        Opened::Run(run) => *run,
        Opened::Done(completed) => return Ok(completed),
    };
    let (players, reproducible) = match start(&plan, cancel) {
        Err(_) if cancel.load(Ordering::Relaxed) => {
            let games = run.progress().games.played;
            run.abandon();
            return Err(interrupted(&plan, games));
        }
        Err(error) => {
            run.abandon();
            return Err(error);
        }
        Ok(started) => started,
    };
    let (run, sinks) = run.with_sinks(&plan.files)?;
    let mut play = Play { plan, run, sinks, started: Instant::now() };
    play.run.progress_mut().reproducible &= reproducible;
    play.play(players, &mut progress, cancel)?;
    play.finish(cancel)
}

/// Progress display and metrics.
struct SelfPlayProgress {
    display: Option<Box<dyn ProgressDisplay<SelfPlaySnapshot>>>,
    last_shown: Instant,
    metrics: Option<Metrics>,
    last_snapshot: Option<SelfPlaySnapshot>,
}

impl SelfPlayProgress {
    fn new(
        plan: &SelfPlayPlan,
        display: Option<Box<dyn ProgressDisplay<SelfPlaySnapshot>>>,
    ) -> Result<Self, Error> {
        let RunFiles { metrics, stem, .. } = &plan.files;
        let metrics = Metrics::start(metrics.clone(), stem, plan.files.shard_name().as_deref())?;
        Ok(Self { display, last_shown: Instant::now(), metrics, last_snapshot: None })
    }

    fn update(&mut self, snapshot: SelfPlaySnapshot) {
        if let Some(metrics) = &mut self.metrics
            && metrics.is_due()
        {
            metrics.write(true, |text| snapshot.add_metrics(text));
        }
        if let Some(display) = &mut self.display
            && self.last_shown.elapsed() >= display.pause()
        {
            display.show(&snapshot);
            self.last_shown = Instant::now();
        }
        self.last_snapshot = Some(snapshot);
    }
}

impl Drop for SelfPlayProgress {
    /// Ends the display and marks the run as ended in the metrics, even if it failed.
    fn drop(&mut self) {
        if let (Some(metrics), Some(last)) = (&mut self.metrics, &self.last_snapshot) {
            metrics.write(false, |text| last.add_metrics(text));
        }
        if let Some(display) = &mut self.display {
            match &self.last_snapshot {
                Some(last) => display.finish(last),
                None => display.clear(),
            }
        }
    }
}

type Devices = Vec<Box<dyn Evaluator>>;

/// The players, ready to play.
enum Started {
    Networks(Networks),
    Engines(Vec<Box<dyn Player>>),
}

/// Loads the networks, or prepares the engines. Also returns whether another run would play the same games: the
/// evaluations of all devices are bit-identical regardless of the place of a position in a batch.
fn start(plan: &SelfPlayPlan, cancel: &AtomicBool) -> Result<(Started, bool), Error> {
    let (models, policy_temperature) = match &plan.players {
        Players::Networks { models, policy_temperature, .. } => (models, *policy_temperature),
        Players::Engines { engines, threads } => {
            let games = Arc::new(EngineGames {
                engines: engines.clone(),
                game: plan.game,
                seed: plan.seed,
                mate_table_mib: plan.run.mate_table_mib,
            });
            let player =
                |_| EnginePlayer::new(Arc::clone(&games)).map(|player| Box::new(player) as _);
            let players =
                (0..*threads).map(player).collect::<Result<_, _>>().map_err(|source| {
                    Error::new(ErrorKind::Resources, "cannot start a mate search")
                        .with_source(source)
                })?;
            return Ok((Started::Engines(players), false));
        }
    };
    let mut networks = load(plan, models, policy_temperature, cancel)?;
    let mut all_reproducible = true;
    for (model, devices) in &mut networks {
        for device in devices {
            let checked = is_reproducible(device.as_mut(), plan.run.batch, cancel);
            all_reproducible &= checked.map_err(|source| {
                Error::evaluation(format!("the network {model} failed")).with_source(source)
            })?;
        }
    }
    let networks = networks.into_iter().map(|(_, devices)| devices).collect();
    let networks = Networks { devices: networks, opponents: opponents(plan) };
    let is_reproducible = all_reproducible && networks.opponents.players.is_empty();
    Ok((Started::Networks(networks), is_reproducible))
}

/// The opponents of the networks: one process for each of the games that usually wait for one, but at most one per
/// core.
fn opponents(plan: &SelfPlayPlan) -> Opponents {
    let Players::Networks { models, opponent: Some((engine, share)), .. } = &plan.players else {
        return Opponents::default();
    };
    let games = models.len() * plan.run.groups * plan.run.batch;
    #[expect(clippy::cast_sign_loss, reason = "a share is not negative")]
    let waiting = (games as f32 * share).ceil() as usize;
    let count = waiting.clamp(1, platform::threads(0));
    let player = || Box::new(OpponentEngine::new(engine.clone())) as Box<dyn Opponent>;
    Opponents { share: *share, players: (0..count).map(|_| player()).collect() }
}

/// Loads the networks, grouped by model: a model given several times is one network on several devices.
fn load<'a>(
    plan: &SelfPlayPlan,
    models: &'a [Model],
    policy_temperature: f32,
    cancel: &AtomicBool,
) -> Result<Vec<(&'a Model, Devices)>, Error> {
    let mut networks: Vec<(&Model, Devices)> = Vec::new();
    for model in models {
        let device = model.load(policy_temperature, plan.run.batch, cancel)?;
        match networks.iter_mut().find(|(name, _)| *name == model) {
            Some((_, devices)) => devices.push(device),
            None => networks.push((model, vec![device])),
        }
    }
    Ok(networks)
}

/// The error of a run that stopped after `games` games. Its message states how many games are kept.
fn stopped(kind: ErrorKind, reason: &str, plan: &SelfPlayPlan, games: u64) -> Error {
    if plan.files.checkpoint.is_none() {
        return Error::new(kind, format!("{reason}; unfinished outputs were removed"));
    }
    let kept = match games {
        1 => "1 finished game is kept".to_owned(),
        games => format!("{games} finished games are kept"),
    };
    Error::new(kind, format!("{reason}; {kept}")).with_remedy(Remedy::Resume)
}

fn interrupted(plan: &SelfPlayPlan, games: u64) -> Error {
    stopped(ErrorKind::Interrupted, "interrupted", plan, games)
}

struct Play {
    plan: SelfPlayPlan,
    run: Run<GameProgress>,
    sinks: Sinks,
    started: Instant,
}

impl Play {
    fn play(
        &mut self,
        players: Started,
        progress: &mut SelfPlayProgress,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        let plan = &mut self.plan;
        let (positions, forks) = (plan.openings.take(), plan.forks.take());
        let openings: Box<dyn Openings> = if positions.is_some() || forks.is_some() {
            let filter = plan.openings_filter.as_ref();
            Box::new(RunOpenings::new(positions, forks, plan.seed, filter)?)
        } else {
            Box::new(StartPosition)
        };
        let total = plan.numbers.end - plan.numbers.start;
        let before = self.run.progress().done;
        let numbers = plan.numbers.start + before..plan.numbers.end;
        let openings: Box<dyn Openings> =
            if plan.players.is_match() { Box::new(PairedOpenings(openings)) } else { openings };
        let games = match players {
            Started::Networks(networks) => {
                Games::play(plan.game, plan.run, plan.seed, numbers, openings, networks)
            }
            Started::Engines(players) => Games::by_players(numbers, openings, players),
        };
        let mut games = games.map_err(|source| self.failed(source))?;
        while !games.is_done() {
            let next = games.next_within(PAUSE);
            self.run.progress_mut().games.mated_openings += games.take_unplayed();
            match next {
                Ok(Some(game)) => self.write(&game)?,
                Ok(None) => {}
                Err(source) => {
                    self.run.save(&mut self.sinks)?;
                    self.run.send_last_checkpoint();
                    // Ctrl-C in a terminal also ends the evaluating programs, so their errors are expected.
                    return Err(if cancel.load(Ordering::Relaxed) {
                        self.interrupted()
                    } else {
                        self.failed(source)
                    });
                }
            }
            self.run.progress_mut().done = before + games.yielded();
            let done = GamesDone { done: before + games.ended(), total };
            let groups = self.plan.run.groups;
            let elapsed = self.started.elapsed();
            let snapshot = SelfPlaySnapshot::new(done, &games.figures(), groups, elapsed);
            let SelfPlaySnapshot { games: ended, positions_per_s, .. } = snapshot;
            self.run.progress_mut().displayed =
                snapshot.eta_s.map(|eta_s| GamesDisplayed { games: ended, positions_per_s, eta_s });
            progress.update(snapshot);
            let is_cancelled = cancel.load(Ordering::Relaxed);
            if self.run.heartbeat() || is_cancelled {
                self.run.save(&mut self.sinks)?;
            }
            if is_cancelled {
                self.run.send_last_checkpoint();
                return Err(self.interrupted());
            }
        }
        Ok(())
    }

    fn failed(&self, source: GamesError) -> Error {
        let kind = match source {
            GamesError::Opening { .. } => ErrorKind::Invalid,
            GamesError::Thread(_) | GamesError::Table(_) => ErrorKind::Resources,
            _ => ErrorKind::Evaluation,
        };
        let games = self.run.progress().games.played;
        stopped(kind, "cannot continue the games", &self.plan, games).with_source(source)
    }

    fn interrupted(&self) -> Error {
        interrupted(&self.plan, self.run.progress().games.played)
    }

    fn write(&mut self, game: &FinishedGame) -> Result<(), Error> {
        if game.dropped.is_none() {
            let records = encoded(self.plan.format, game).map_err(|source| {
                Error::internal(format!("cannot write game {}", game.number)).with_source(source)
            })?;
            self.sinks.write(OutputKind::Kept, &records)?;
        }
        let is_match = self.plan.players.is_match();
        let counts = &mut self.run.progress_mut().games;
        count(counts, game);
        // The side of the first engine, or of a network with an opponent.
        let side = match game.game.opponent {
            Some(side) => Some(!side),
            None if is_match && game.number.is_multiple_of(2) => Some(Color::Black),
            None => is_match.then_some(Color::White),
        };
        if let Some(side) = side {
            count_match(counts, game, side);
        }
        Ok(())
    }

    fn finish(mut self, cancel: &AtomicBool) -> Result<SelfPlayed, Error> {
        // Save now, so that the run can be resumed if any of the following steps fails.
        self.run.save(&mut self.sinks)?;
        let Self { plan, sinks, run, .. } = self;
        let GameProgress { games, reproducible, .. } = run.progress().clone();
        let totals = GameTotals {
            inputs: plan.identity.inputs,
            openings_origin: plan.openings_origin,
            networks: plan.networks,
            engines: plan.engines,
            reproducible,
            games,
        };
        let finished = sinks.finish()?;
        run.commit(&plan.files, finished, totals, Vec::new(), |_| Ok(()), cancel)
    }
}
