//! The command `match`.

use std::fmt;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::{Usage, milliseconds, report_text, whole_number, word};
use crate::matches::{Exact, Fraction, Tally, exact, play};
use crate::{Player, Solution};

#[derive(Args)]
pub struct MatchArgs {
    /// Players of ○ and of ×: two of ai1, ai2, ai14s and ai_gt6
    #[arg(long, value_delimiter = ',', num_args = 1, required = true, value_name = "O,X",
          value_parser = word::<Player>)]
    players: Vec<Player>,

    #[command(flatten)]
    games: GamesArgs,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Number and seed of random games.
#[derive(Args, Clone, Copy)]
pub(super) struct GamesArgs {
    /// Number of games [default: 1000000]
    #[arg(long, default_value_t = 1_000_000, hide_default_value = true, value_name = "N",
          value_parser = whole_number::<u64, 1, { u64::MAX }>)]
    pub(super) games: u64,

    /// Random seed [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true,
          value_parser = whole_number::<u64, 0, { u64::MAX }>)]
    pub(super) seed: u64,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    players: [Player; 2],
    games: u64,
    seed: u64,
    #[serde(flatten)]
    played: Tally,
    percent: Percent,
    exact: Exact,
    exact_percent: Percent,
    bound_percent: Percent,
    agrees: bool,
    games_per_s: f64,
    elapsed_ms: f64,
}

#[derive(Serialize)]
struct Percent {
    o: f64,
    x: f64,
    draw: f64,
}

impl Percent {
    fn new(shares: [f64; 3]) -> Self {
        // Four decimals: more digits are noise up to a thousand million games.
        let [o, x, draw] = shares.map(|share| (share * 1e6).round() / 1e4);
        Self { o, x, draw }
    }
}

pub(super) fn run(args: &MatchArgs) -> anyhow::Result<String> {
    let &[o, x] = &args.players[..] else {
        let found = args.players.len();
        return Err(Usage(format!("--players takes two players, not {found}")).into());
    };
    let GamesArgs { games, seed } = args.games;
    let solution = Solution::new();
    let exact = exact([o, x], &solution);
    let started = Instant::now();
    let played = play([o, x], games, seed, &solution);
    let elapsed = started.elapsed();
    let share = |count: u64| count as f64 / games as f64;
    let report = Report {
        players: [o, x],
        games,
        seed,
        played,
        percent: Percent::new(played.counts().map(share)),
        exact,
        exact_percent: Percent::new(exact.shares().map(Fraction::value)),
        bound_percent: Percent::new(exact.bounds(games)),
        agrees: exact.agrees_with(played),
        games_per_s: (games as f64 / elapsed.as_secs_f64()).round(),
        elapsed_ms: milliseconds(elapsed),
    };
    report_text(&report, args.json)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { players: [o, x], games, seed, played, percent, .. } = self;
        let noun = if *games == 1 { "game" } else { "games" };
        writeln!(f, "{o} (o) against {x} (x), {games} {noun}, seed {seed}")?;
        writeln!(f, "           games     share      exactly                within")?;
        let Self { exact, exact_percent, bound_percent, .. } = self;
        for (name, games, share, fraction, exactly, bound) in [
            ("o wins", played.o, percent.o, exact.o, exact_percent.o, bound_percent.o),
            ("x wins", played.x, percent.x, exact.x, exact_percent.x, bound_percent.x),
            ("draw", played.draw, percent.draw, exact.draw, exact_percent.draw, bound_percent.draw),
        ] {
            let fraction = fraction.to_string();
            writeln!(
                f,
                "{name:<6} {games:>9}  {share:>7.4} %  {fraction:>12} = {exactly:>7.4} %  ± {bound:.4} %"
            )?;
        }
        let agrees = if self.agrees { "within" } else { "NOT within" };
        writeln!(f, "{agrees} the bounds; {:.0} games/s", self.games_per_s)
    }
}
