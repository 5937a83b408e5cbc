//! `kyokumen-bench selfplay`: simulations per second of self-play without a network, and with simulated devices of a
//! given speed.

mod queued;

use std::io::{self, Write};
use std::time::{Duration, Instant};

use clap::Args;
use kyokumen_mcts::{MateLimits, MctsSettings};
use kyokumen_network::{Delayed, Evaluator, Input2, Uniform};
use kyokumen_selfplay::{GameSettings, Games, RunSettings, StartPosition};
use serde::Serialize;

use crate::rounds::{json_line, median_of};
use queued::Wait;

/// Simulations per second of self-play, on one core without a network, and with simulated devices
///
/// Measures one and several devices, with one and two batches per device. `--queued` also measures the design with a
/// thread for each game.
#[derive(Args)]
pub(crate) struct SelfPlayArgs {
    /// Positions that a simulated device evaluates per second
    #[arg(long, value_name = "N", default_value_t = 9416)]
    device_speed: u32,

    /// Maximum number of simulated devices
    #[arg(long, value_name = "N", default_value_t = 4)]
    devices: usize,

    /// Positions in a batch
    #[arg(long, value_name = "N", default_value_t = 192, value_parser = clap::value_parser!(u16).range(1..=4096))]
    batch: u16,

    /// Also measure the older design: a thread for each game and a queue of positions
    #[arg(long)]
    queued: bool,

    /// Number of input planes to write for each position; 0 writes none
    #[arg(long, value_name = "0|57|119", default_value = "57")]
    planes: usize,

    /// Nodes of the mate search at each leaf
    #[arg(long, default_value_t = 0)]
    leaf_mate_nodes: u64,

    /// Seconds of each measurement in a round
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    seconds: u64,

    /// Number of rounds; the result is their median
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Print one JSON object per line for each figure
    #[arg(long)]
    json: bool,
}

/// A measured setup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Arrangement {
    /// On one core, without a network.
    NoNetwork,
    /// Simulated devices with `groups` batches each.
    Devices { devices: usize, groups: usize },
    /// Simulated devices, and a thread for each game.
    Queued { devices: usize, wait: Wait },
}

#[derive(Serialize)]
struct Figure {
    what: String,
    simulations_per_s: f64,
    /// Speed relative to one device with one batch.
    ratio: Option<f64>,
}

pub(crate) fn run(args: &SelfPlayArgs) -> anyhow::Result<()> {
    let one_by_one = Arrangement::Devices { devices: 1, groups: 1 };
    let mut arrangements = vec![Arrangement::NoNetwork, one_by_one];
    for devices in 1..=args.devices {
        arrangements.push(Arrangement::Devices { devices, groups: 2 });
        if args.queued {
            let queued = [Wait::Busy, Wait::Asleep];
            arrangements.extend(queued.map(|wait| Arrangement::Queued { devices, wait }));
        }
    }
    let mut rates = vec![Vec::new(); arrangements.len()];
    for _ in 0..args.rounds {
        for (arrangement, rates) in arrangements.iter().zip(&mut rates) {
            rates.push(args.measure(*arrangement)?);
        }
    }
    let rates: Vec<f64> = rates.into_iter().map(median_of).collect();
    let base = arrangements.iter().position(|&arrangement| arrangement == one_by_one);
    let base = base.map_or(f64::NAN, |i| rates[i]);
    let mut out = io::stdout().lock();
    for (arrangement, &rate) in arrangements.iter().zip(&rates) {
        let ratio = (*arrangement != Arrangement::NoNetwork).then_some(rate / base);
        let figure = Figure { what: arrangement.name(), simulations_per_s: rate, ratio };
        if args.json {
            json_line(&figure)?;
            continue;
        }
        let ratio = ratio.map_or(String::new(), |ratio| format!("  {ratio:.3} ×"));
        writeln!(out, "{:<46} {rate:>9.0} simulations/s{ratio}", figure.what)?;
    }
    Ok(())
}

impl Arrangement {
    fn name(self) -> String {
        match self {
            Self::NoNetwork => "one core, no network".to_owned(),
            Self::Devices { devices, groups: 1 } => {
                format!("{}, 1 batch each", device_count(devices))
            }
            Self::Devices { devices, groups } => {
                format!("{}, {groups} batches each", device_count(devices))
            }
            Self::Queued { devices, wait } => {
                let waiting = match wait {
                    Wait::Busy => "busy waiting",
                    Wait::Asleep => "sleeping",
                };
                format!("{}, a thread per game, {waiting}", device_count(devices))
            }
        }
    }
}

fn device_count(devices: usize) -> String {
    if devices == 1 { "1 device".to_owned() } else { format!("{devices} devices") }
}

impl SelfPlayArgs {
    fn settings(&self) -> GameSettings {
        let nodes = self.leaf_mate_nodes;
        GameSettings {
            search: MctsSettings {
                leaf_mate: MateLimits { depth: 7, nodes },
                root_mate: MateLimits::NONE,
                ..MctsSettings::default()
            },
            ..GameSettings::default()
        }
    }

    fn device(&self) -> Box<dyn Evaluator> {
        let time = Duration::from_secs(1) * u32::from(self.batch) / self.device_speed;
        Box::new(Delayed::new(self.no_network(), time))
    }

    fn no_network(&self) -> Uniform {
        Uniform { planes: Input2::from_planes(self.planes) }
    }

    /// Simulations per second, without the first second.
    fn measure(&self, arrangement: Arrangement) -> anyhow::Result<f64> {
        let settings = self.settings();
        let (devices, groups): (Vec<Box<dyn Evaluator>>, _) = match arrangement {
            Arrangement::NoNetwork => (vec![Box::new(self.no_network())], 1),
            Arrangement::Devices { devices, groups } => {
                ((0..devices).map(|_| self.device()).collect(), groups)
            }
            Arrangement::Queued { devices, wait } => {
                let queues = (0..devices).map(|_| {
                    queued::QueuedGames::play(settings, self.batch.into(), self.device(), wait)
                });
                let queues = queues.collect::<anyhow::Result<Vec<_>>>()?;
                let simulations = || queues.iter().map(queued::QueuedGames::simulations).sum();
                return Ok(self.rate(simulations));
            }
        };
        let run = RunSettings { batch: self.batch.into(), groups, mate_table_mib: 4, cache_mib: 0 };
        let openings = Box::new(StartPosition);
        let games = Games::play(settings, run, 1, 0..u64::MAX, openings, vec![devices].into())?;
        Ok(self.rate(|| games.figures().simulations))
    }

    fn rate(&self, simulations: impl Fn() -> u64) -> f64 {
        std::thread::sleep(Duration::from_secs(1));
        let (before, started) = (simulations(), Instant::now());
        std::thread::sleep(Duration::from_secs(self.seconds));
        (simulations() - before) as f64 / started.elapsed().as_secs_f64()
    }
}
