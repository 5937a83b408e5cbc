//! `kyokumen marubatsu check`.

use std::io::{self, Write};
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::super::option::word;
use super::super::report::{json_line, milliseconds};
use crate::marubatsu::check::{
    Method, PositionScope, StrongCheck, WrongPosition, strongly_solved, weakly_solved,
};
use crate::marubatsu::{Mark, Player, Solution, Squares};

/// Say whether a player is unbeatable, and in how many positions it may go wrong
///
/// Weakly solved: whatever the other side does from the start, the player never loses. Strongly: in how many of the
/// positions in which moves differ in value all its candidates are best moves.
#[derive(Args)]
pub(super) struct CheckArgs {
    /// Player: ai1, ai2, ai14s or ai_gt6
    #[arg(long, value_parser = word::<Player>)]
    player: Player,

    /// Positions gone through: plain (all), pruned (until a lost game is found), visited (each once, too)
    /// [default: visited]
    #[arg(long, default_value = "visited", hide_default_value = true,
          value_parser = word::<Method>)]
    method: Method,

    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    player: Player,
    method: Method,
    weakly_solved: bool,
    calls: Calls,
    strongly: Shares,
    wrong: Vec<WrongBoard>,
    elapsed_ms: f64,
}

#[derive(Serialize)]
struct Calls {
    o: u64,
    x: u64,
    total: u64,
}

/// Pairs of the number of right positions and the number of all positions.
#[derive(Serialize)]
struct Shares {
    symmetric: [usize; 2],
    all: [usize; 2],
}

#[derive(Serialize)]
struct WrongBoard {
    board: String,
    candidates: Squares,
    best_moves: Squares,
}

impl From<&WrongPosition> for WrongBoard {
    fn from(wrong: &WrongPosition) -> Self {
        let WrongPosition { board, candidates, best_moves } = *wrong;
        Self { board: board.to_string(), candidates, best_moves }
    }
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<()> {
    let (player, method) = (args.player, args.method);
    let solution = Solution::new();
    let started = Instant::now();
    let [o, x] = Mark::ALL.map(|side| weakly_solved(player, side, method, &solution));
    let symmetric = strongly_solved(player, PositionScope::UpToSymmetry, &solution);
    let all = strongly_solved(player, PositionScope::All, &solution);
    let share = |strongly: &StrongCheck| [strongly.right, strongly.positions];
    let report = Report {
        player,
        method,
        weakly_solved: o.never_loses && x.never_loses,
        calls: Calls { o: o.calls, x: x.calls, total: o.calls + x.calls },
        strongly: Shares { symmetric: share(&symmetric), all: share(&all) },
        wrong: symmetric.wrong.iter().map(WrongBoard::from).collect(),
        elapsed_ms: milliseconds(started.elapsed()),
    };
    if args.json {
        json_line(&report)?;
    } else {
        write(&report, [o.never_loses, x.never_loses])?;
    }
    Ok(())
}

/// Maximum number of wrong positions in the text output.
const MAX_SHOWN: usize = 20;

fn write(report: &Report, [o, x]: [bool; 2]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Report { player, weakly_solved, calls, strongly, wrong, .. } = report;
    let told = |never_loses| if never_loses { "never loses" } else { "can lose" };
    let solved = if *weakly_solved { "is unbeatable" } else { "can be beaten" };
    writeln!(out, "{player} {solved}")?;
    writeln!(out, "  as o  {:<11}  {:>7} calls", told(o), calls.o)?;
    writeln!(out, "  as x  {:<11}  {:>7} calls", told(x), calls.x)?;
    writeln!(out, "                     {:>7} calls", calls.total)?;
    for ([right, of], positions) in [(strongly.symmetric, " up to symmetry"), (strongly.all, "")] {
        let percent = right as f64 * 100.0 / of as f64;
        writeln!(
            out,
            "right in {right} of {of} positions with a choice{positions}: {percent:.2} %"
        )?;
    }
    for WrongBoard { board, candidates, best_moves } in wrong.iter().take(MAX_SHOWN) {
        writeln!(out, "\n  {}  plays {candidates}; best {best_moves}", board.replace('/', "\n  "))?;
    }
    if wrong.len() > MAX_SHOWN {
        writeln!(out, "\n  and {} more; --json lists all", wrong.len() - MAX_SHOWN)?;
    }
    Ok(())
}
