//! Snapshots of a run under way, in figures and in words.

use std::time::Duration;

use kyokumen_selfplay::Figures;
use serde::Serialize;

use crate::engine::metrics::MetricsText;
use crate::storage::quantity::{duration, rounded, separated, separated_quantity};

/// How far a run has come, and how it is going.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SelfPlaySnapshot {
    /// Games that are written, those of earlier processes included, and numbers passed over.
    pub games: u64,
    /// Games of the run.
    pub total: u64,
    /// Positions searched by this process, those of unfinished games included.
    pub positions: u64,
    /// Simulations of this process.
    pub simulations: u64,
    /// Positions a second that were searched and a move of which was played.
    pub positions_per_s: f64,
    /// Simulations a second.
    pub simulations_per_s: f64,
    /// Which part of the batches is filled, from 0 to 1.
    pub batch_fill: f64,
    /// Which part of the time devices evaluate, from 0 to 1.
    pub devices_busy: f64,
    /// Which part of their time threads wait for a device that another one has, from 0 to 1.
    pub waiting: f64,
    /// Seconds since this process began.
    pub elapsed_s: f64,
    /// Seconds that are left at this rate; none before the first game.
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
    pub(super) fn of(
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
            // Each device has so many threads.
            devices_busy: share(figures.evaluating.as_secs_f64() * groups as f64, running).min(1.0),
            waiting: share(figures.waiting.as_secs_f64(), running),
            elapsed_s,
            eta_s: (new > 0.0).then(|| left * elapsed_s / new),
        }
    }

    /// A line of text.
    pub fn line(&self) -> String {
        let (games, total) = (separated(self.games), separated_quantity(self.total, "game"));
        format!("{games} of {total}, {}", self.rates())
    }

    /// Speeds, devices and what is left.
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
        text.gauge("selfplay_games_planned", "Games that there are to play.", self.total as f64);
        text.counter("selfplay_positions_total", "Positions searched.", self.positions);
        text.counter("selfplay_simulations_total", "Simulations.", self.simulations);
        text.gauge("selfplay_batch_fill", "Which part of the batches is filled.", self.batch_fill);
        let help = "Which part of the time devices evaluate.";
        text.gauge("selfplay_devices_busy", help, self.devices_busy);
        let help = "Which part of their time threads wait for a device.";
        text.gauge("selfplay_waiting", help, self.waiting);
        text.gauge("elapsed_seconds", "How long it has run.", self.elapsed_s);
        if let Some(eta_s) = self.eta_s {
            text.gauge("eta_seconds", "How long the rest will take.", eta_s);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_it_goes() {
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
        let snapshot = SelfPlaySnapshot::of(games, &figures, 2, Duration::from_secs(10));
        let line = "30 of 50 games, 10.0 positions/s, 800 sims/s, batches 75 % full, devices 90 % busy, \
                    10 % waiting, 10 s left";
        assert_eq!(snapshot.line(), line);
        let none = Figures::default();
        let snapshot = SelfPlaySnapshot::of(games, &none, 2, Duration::ZERO);
        assert!(snapshot.line().starts_with("30 of 50 games, 0.0 positions/s"));
    }
}
