//! Snapshots of the progress of a run.

use std::time::Duration;

use kyokumen_selfplay::Figures;
use serde::Serialize;

use crate::engine::metrics::MetricsText;
use crate::storage::quantity::{duration, rounded, separated, separated_quantity};

/// Progress and speed of a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SelfPlaySnapshot {
    /// Number of games done, including games of earlier processes and games that were skipped.
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
    /// Fraction of the time when devices evaluate, from 0 to 1.
    pub devices_busy: f64,
    /// Fraction of the time when threads wait for a busy device, from 0 to 1.
    pub waiting: f64,
    /// Seconds since this process started.
    pub elapsed_s: f64,
    /// Estimated seconds left. `None` before the first game of this process.
    pub eta_s: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct GamesDone {
    pub(super) done: u64,
    /// Games of earlier processes.
    pub(super) before: u64,
    pub(super) total: u64,
}

impl SelfPlaySnapshot {
    pub(super) fn new(
        games: GamesDone,
        figures: &Figures,
        groups: usize,
        elapsed: Duration,
    ) -> Self {
        let GamesDone { done, before, total } = games;
        let elapsed_s = elapsed.as_secs_f64();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let running = figures.running.as_secs_f64();
        let new = done.saturating_sub(before) as f64;
        let left = total.saturating_sub(done) as f64;
        Self {
            games: done,
            total,
            positions: figures.positions,
            simulations: figures.simulations,
            positions_per_s: share(figures.positions as f64, elapsed_s),
            simulations_per_s: share(figures.simulations as f64, elapsed_s),
            batch_fill: share(figures.evaluations as f64, figures.slots as f64),
            // Each device has `groups` threads.
            devices_busy: share(figures.evaluating.as_secs_f64() * groups as f64, running).min(1.0),
            waiting: share(figures.waiting.as_secs_f64(), running),
            elapsed_s,
            eta_s: (new > 0.0).then(|| left * elapsed_s / new),
        }
    }

    /// The snapshot as a line of text.
    pub fn line(&self) -> String {
        let (games, total) = (separated(self.games), separated_quantity(self.total, "game"));
        format!("{games} of {total}, {}", self.rates())
    }

    /// Speeds, use of the devices and time left, as text.
    pub fn rates(&self) -> String {
        let percent = |share: f64| (100.0 * share).round();
        let eta = self.eta_s.map_or(String::new(), |eta_s| format!(", {} left", duration(eta_s)));
        format!(
            "{:.1} positions/s, {} sims/s, batches {} % full, devices {} % busy, {} % waiting{eta}",
            self.positions_per_s,
            rounded(self.simulations_per_s),
            percent(self.batch_fill),
            percent(self.devices_busy),
            percent(self.waiting),
        )
    }

    pub(super) fn add_metrics(&self, text: &mut MetricsText) {
        text.counter("selfplay_games_total", "Games written.", self.games);
        text.gauge("selfplay_games_planned", "Games to play.", self.total as f64);
        text.counter("selfplay_positions_total", "Positions searched.", self.positions);
        text.counter("selfplay_simulations_total", "Simulations.", self.simulations);
        text.gauge("selfplay_batch_fill", "Filled fraction of the batches.", self.batch_fill);
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

    #[test]
    fn line_contains_speeds_and_time_left() {
        let figures = Figures {
            simulations: 8000,
            positions: 100,
            batches: 300,
            evaluations: 7200,
            slots: 9600,
            evaluating: Duration::from_secs(9),
            waiting: Duration::from_secs(2),
            running: Duration::from_secs(20),
        };
        let games = GamesDone { done: 30, before: 10, total: 50 };
        let snapshot = SelfPlaySnapshot::new(games, &figures, 2, Duration::from_secs(10));
        let line = "30 of 50 games, 10.0 positions/s, 800 sims/s, batches 75 % full, devices 90 % busy, \
                    10 % waiting, 10 s left";
        assert_eq!(snapshot.line(), line);
        let none = Figures::default();
        let snapshot = SelfPlaySnapshot::new(games, &none, 2, Duration::ZERO);
        assert!(snapshot.line().starts_with("30 of 50 games, 0.0 positions/s"));
    }
}
