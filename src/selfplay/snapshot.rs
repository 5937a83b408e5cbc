//! Snapshots of the progress of a run.

use std::time::Duration;

use kyokumen_selfplay::Figures;
use serde::Serialize;

use crate::engine::metrics::MetricsText;
use crate::storage::quantity::{left, rounded, separated, separated_quantity};

/// Progress and speed of a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SelfPlaySnapshot {
    /// Number of games that have ended, including games of earlier processes and games that were skipped. Some may not
    /// be written yet, because games are written in order.
    pub games: u64,
    /// Number of games of the run.
    pub total: u64,
    /// Number of positions searched by this process, including positions of unfinished games.
    pub positions: u64,
    /// Number of simulations of this process.
    pub simulations: u64,
    /// Searched positions per second. A position counts when its move has been played.
    pub positions_per_s: f64,
    /// Simulations per second.
    pub simulations_per_s: f64,
    /// Filled fraction of the batches, from 0 to 1.
    pub batch_fill: f64,
    /// Fraction of the evaluations that were in the cache, from 0 to 1.
    pub cache_hits: f64,
    /// Fraction of the time when devices evaluate, from 0 to 1.
    pub devices_busy: f64,
    /// Fraction of the time when threads wait for a busy device, from 0 to 1.
    pub waiting: f64,
    /// Seconds since this process started.
    pub elapsed_s: f64,
    /// Estimated seconds left, from the moves of all games, finished or not. `None` in the first seconds.
    pub eta_s: Option<f64>,
}

/// Numbers of games of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct GamesDone {
    /// Games that have ended or were skipped.
    pub(super) done: u64,
    pub(super) total: u64,
}

/// Length of a game in plies that is assumed until games of the run have ended.
const ASSUMED_PLIES: f64 = 120.0;

/// Number of ended games that the assumed length counts for.
const ASSUMED_GAMES: f64 = 8.0;

/// Least part of its length that is assumed to be left of a game in progress.
const LEAST_LEFT: f64 = 0.25;

/// Time until the speed is stable, in seconds.
const SETTLED_AFTER_S: f64 = 2.0;

impl GamesDone {
    /// Estimated seconds left, from the moves that are expected and the moves per second up to now.
    fn eta_s(self, figures: &Figures, elapsed_s: f64) -> Option<f64> {
        let Figures { games, moves, finished_games, finished_moves, .. } = *figures;
        if moves == 0 || elapsed_s < SETTLED_AFTER_S {
            return None;
        }
        let length = (ASSUMED_GAMES * ASSUMED_PLIES + finished_moves as f64)
            / (ASSUMED_GAMES + finished_games as f64);
        let in_progress = games.saturating_sub(finished_games);
        let not_begun = self.total.saturating_sub(self.done + in_progress) as f64;
        let expected = in_progress as f64 * length;
        let made = moves.saturating_sub(finished_moves) as f64;
        let moves_left = not_begun * length + (expected - made).max(expected * LEAST_LEFT);
        Some(moves_left * elapsed_s / moves as f64)
    }
}

impl SelfPlaySnapshot {
    pub(super) fn new(
        games: GamesDone,
        figures: &Figures,
        groups: usize,
        elapsed: Duration,
    ) -> Self {
        let GamesDone { done, total } = games;
        let elapsed_s = elapsed.as_secs_f64();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let running = figures.running.as_secs_f64();
        Self {
            games: done,
            total,
            positions: figures.positions,
            simulations: figures.simulations,
            positions_per_s: share(figures.positions as f64, elapsed_s),
            simulations_per_s: share(figures.simulations as f64, elapsed_s),
            batch_fill: share(figures.evaluations as f64, figures.slots as f64),
            cache_hits: share(figures.cached as f64, (figures.cached + figures.evaluations) as f64),
            // Each device has `groups` threads.
            devices_busy: share(figures.evaluating.as_secs_f64() * groups as f64, running).min(1.0),
            waiting: share(figures.waiting.as_secs_f64(), running),
            elapsed_s,
            eta_s: games.eta_s(figures, elapsed_s),
        }
    }

    /// The number of games that have ended, and of all games.
    pub fn counts(&self) -> String {
        format!("{} of {}", separated(self.games), separated_quantity(self.total, "game"))
    }

    /// Time left, if it is known, and speed.
    pub fn speed(&self) -> Vec<String> {
        let speed = format!("{} positions/s", rounded(self.positions_per_s));
        self.eta_s.map(left).into_iter().chain([speed]).collect()
    }

    /// Simulations and use of the devices.
    pub fn details(&self) -> Vec<String> {
        let percent = |share: f64| (100.0 * share).round();
        // Engines do not count simulations.
        if self.simulations == 0 {
            return Vec::new();
        }
        let mut details = vec![
            format!("{} sims/s", rounded(self.simulations_per_s)),
            format!("batches {} % full", percent(self.batch_fill)),
            format!("devices {} % busy", percent(self.devices_busy)),
            format!("{} % waiting", percent(self.waiting)),
        ];
        if self.cache_hits > 0.0 {
            details.push(format!("{} % cached", percent(self.cache_hits)));
        }
        details
    }

    pub(super) fn add_metrics(&self, text: &mut MetricsText) {
        text.counter("selfplay_games_total", "Games that have ended.", self.games);
        text.gauge("selfplay_games_planned", "Games to play.", self.total as f64);
        text.counter("selfplay_positions_total", "Positions searched.", self.positions);
        text.counter("selfplay_simulations_total", "Simulations.", self.simulations);
        text.gauge("selfplay_batch_fill", "Filled fraction of the batches.", self.batch_fill);
        let help = "Fraction of the evaluations that were in the cache.";
        text.gauge("selfplay_cache_hits", help, self.cache_hits);
        let help = "Fraction of the time when devices evaluate.";
        text.gauge("selfplay_devices_busy", help, self.devices_busy);
        let help = "Fraction of the time when threads wait for a device.";
        text.gauge("selfplay_waiting", help, self.waiting);
        text.gauge("elapsed_seconds", "Seconds since the start.", self.elapsed_s);
        if let Some(eta_s) = self.eta_s {
            text.gauge("eta_seconds", "Estimated seconds left.", eta_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: Figures = Figures {
        simulations: 8000,
        positions: 100,
        games: 30,
        moves: 1200,
        finished_games: 20,
        finished_moves: 800,
        batches: 300,
        evaluations: 7200,
        cached: 800,
        slots: 9600,
        evaluating: Duration::from_secs(9),
        waiting: Duration::from_secs(2),
        running: Duration::from_secs(20),
    };

    fn snapshot(done: u64, total: u64, figures: &Figures) -> SelfPlaySnapshot {
        SelfPlaySnapshot::new(GamesDone { done, total }, figures, 2, Duration::from_secs(10))
    }

    #[test]
    fn figures_include_the_use_of_the_devices() {
        let shown = snapshot(30, 50, &FIGURES);
        assert_eq!(shown.counts(), "30 of 50 games");
        assert_eq!(shown.speed(), [&*left(shown.eta_s.unwrap()), "10 positions/s"]);
        let details =
            ["800 sims/s", "batches 75 % full", "devices 90 % busy", "10 % waiting", "10 % cached"];
        assert_eq!(shown.details(), details);
        let games = GamesDone { done: 30, total: 50 };
        let at_start = SelfPlaySnapshot::new(games, &Figures::default(), 2, Duration::ZERO);
        assert_eq!(at_start.speed(), ["0 positions/s"]);
    }

    /// 120 moves a second.
    #[test]
    fn games_in_progress_count_for_the_time_left() {
        let eta_s = |done, total, figures| snapshot(done, total, &figures).eta_s.unwrap();
        // No game has ended: 10 games of the assumed 120 plies, of which 40 plies a game are made.
        let begun =
            Figures { games: 10, moves: 400, finished_games: 0, finished_moves: 0, ..FIGURES };
        assert!((eta_s(0, 10, begun) - 20.0).abs() < 1e-9);
        // (960 + 800) / 28 plies a game, 400 moves made in the 10 games in progress, 10 games not begun.
        let length = 1760.0 / 28.0;
        assert!((eta_s(20, 40, FIGURES) - (20.0 * length - 400.0) / 120.0).abs() < 1e-9);
        // Long games are not about to end at once.
        let long = Figures { moves: 4000, ..FIGURES };
        assert!((eta_s(20, 30, long) - 10.0 * length * 0.25 / 400.0).abs() < 1e-9);
        assert!((eta_s(20, 20, Figures { games: 20, moves: 800, ..FIGURES })).abs() < 1e-9);
    }
}
