//! The command `check`.

use std::fmt;
use std::time::Instant;

use clap::Args;
use serde::Serialize;

use super::{milliseconds, report_text, word};
use crate::check::{
    Method, PositionScope, StrongCheck, WrongPosition, strongly_solved, weakly_solved,
};
use crate::{Mark, Player, Solution};

#[derive(Args)]
pub struct CheckArgs {
    /// Player: ai1, ai2, ai14s or ai_gt6
    #[arg(long, value_parser = word::<Player>)]
    player: Player,

    /// Positions to visit: plain (all), pruned (until a lost game is found) or visited (like pruned, each position a
    /// single time) [default: visited]
    #[arg(long, default_value = "visited", hide_default_value = true,
          value_parser = word::<Method>)]
    method: Method,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    player: Player,
    method: Method,
    weakly_solved: bool,
    /// As ○, then as ×.
    #[serde(skip)]
    never_loses: [bool; 2],
    calls: Calls,
    strongly: Shares,
    wrong: Vec<WrongPosition>,
    elapsed_ms: f64,
}

#[derive(Serialize)]
struct Calls {
    o: u64,
    x: u64,
    total: u64,
}

/// The number of right positions, and the number of all positions.
#[derive(Serialize)]
struct Shares {
    symmetric: [usize; 2],
    all: [usize; 2],
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<String> {
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
        never_loses: [o.never_loses, x.never_loses],
        calls: Calls { o: o.calls, x: x.calls, total: o.calls + x.calls },
        strongly: Shares { symmetric: share(&symmetric), all: share(&all) },
        wrong: symmetric.wrong,
        elapsed_ms: milliseconds(started.elapsed()),
    };
    report_text(&report, args.json)
}

/// Maximum number of wrong positions in the text output.
const MAX_SHOWN: usize = 20;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { player, calls, strongly, wrong, .. } = self;
        let [o, x] = self.never_loses.map(|never| if never { "never loses" } else { "can lose" });
        let solved = if self.weakly_solved { "is unbeatable" } else { "can be beaten" };
        writeln!(f, "{player} {solved}")?;
        writeln!(f, "  as o  {o:<11}  {:>7} calls", calls.o)?;
        writeln!(f, "  as x  {x:<11}  {:>7} calls", calls.x)?;
        writeln!(f, "                     {:>7} calls", calls.total)?;
        for ([right, total], positions) in
            [(strongly.symmetric, " up to symmetry"), (strongly.all, "")]
        {
            let percent = right as f64 * 100.0 / total as f64;
            writeln!(
                f,
                "right in {right} of {total} positions with a choice{positions}: {percent:.2} %"
            )?;
        }
        for WrongPosition { board, candidates, best_moves } in wrong.iter().take(MAX_SHOWN) {
            let board = board.to_string().replace('/', "\n  ");
            writeln!(f, "\n  {board}  plays {candidates}; best {best_moves}")?;
        }
        if wrong.len() > MAX_SHOWN {
            writeln!(f, "\n  and {} more; --json lists all", wrong.len() - MAX_SHOWN)?;
        }
        Ok(())
    }
}
