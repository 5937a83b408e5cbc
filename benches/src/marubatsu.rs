//! `kyokumen-bench marubatsu`: speed of the complete tree, the searches and random games of marubatsu (tic-tac-toe).
//!
//! Checks the counts. The expected counts are from the articles that `docs/marubatsu.md` lists.

use std::hint::black_box;
use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use kyokumen::marubatsu::matches::{exact, play};
use kyokumen::marubatsu::representation::Planes;
use kyokumen::marubatsu::search::{Method, Settings, search};
use kyokumen::marubatsu::tree::GameTree;
use kyokumen::marubatsu::{Board, Contest, Goal, Mark, Player, Solution};
use kyokumen::search::{DfPn, Limits, TableSize, Verdict};
use serde::Serialize;

use crate::rounds::{Rounds, json_line, per_second, timed};

/// Tree, searches and random games of marubatsu; fails if a count is wrong
#[derive(Args)]
pub(crate) struct MarubatsuArgs {
    /// Number of random games
    #[arg(long, default_value_t = 20_000_000, value_name = "N")]
    games: u64,

    #[command(flatten)]
    rounds: Rounds,
}

#[derive(Serialize)]
struct Figure {
    what: &'static str,
    count: u64,
    unit: &'static str,
    is_right: bool,
    elapsed_us: f64,
    per_s: f64,
}

pub(crate) fn run(args: &MarubatsuArgs) -> anyhow::Result<()> {
    let solution = Solution::new();
    let rounds = args.rounds;
    let figures = [
        tree("complete tree, make/unmake", GameTree::by_make_unmake::<Planes>, rounds)?,
        tree("complete tree, copying", GameTree::by_copying::<Planes>, rounds)?,
        solved(rounds)?,
        searched("alpha-beta with a table", Method::AlphaBeta, 1_175, &solution, rounds)?,
        searched("iterative deepening with PVS", Method::Ids, 2_663, &solution, rounds)?,
        searched("minimax", Method::Minimax, 549_945, &solution, rounds)?,
        proven(&solution, rounds)?,
        games("games ai2 against ai2, one core", [Player::Ai2; 2], args, &solution)?,
        games("games ai_gt6 against ai2", [Player::AiGt6, Player::Ai2], args, &solution)?,
        games("games ai14s against ai_gt6", [Player::Ai14s, Player::AiGt6], args, &solution)?,
    ];
    let wrong = figures.iter().filter(|figure| !figure.is_right).count();
    for figure in figures {
        write(&figure, rounds.json)?;
    }
    if wrong > 0 {
        bail!("{wrong} counts are wrong");
    }
    Ok(())
}

fn figure(
    what: &'static str,
    (count, unit): (u64, &'static str),
    is_right: bool,
    elapsed: Duration,
) -> Figure {
    let elapsed_us = (elapsed.as_secs_f64() * 1e8).round() / 100.0;
    Figure { what, count, unit, is_right, elapsed_us, per_s: per_second(count, elapsed).round() }
}

fn tree(what: &'static str, build: fn() -> GameTree, rounds: Rounds) -> anyhow::Result<Figure> {
    // Freeing the tree is not measured.
    let (tree, elapsed) = rounds.measure(|| anyhow::Ok(timed(build)))?;
    let nodes = tree.nodes().len() as u64;
    Ok(figure(what, (nodes, "nodes"), nodes == 549_946, elapsed))
}

fn solved(rounds: Rounds) -> anyhow::Result<Figure> {
    let (solution, elapsed) = rounds.measure(|| anyhow::Ok(timed(Solution::new)))?;
    let positions = solution.positions().len() as u64;
    let what = "all positions, solved backwards";
    Ok(figure(what, (positions, "positions"), positions == 5_478, elapsed))
}

/// Repetitions of a search of some microseconds in one measurement.
const REPETITIONS: u32 = 200;

fn searched(
    what: &'static str,
    method: Method,
    nodes: u64,
    solution: &Solution,
    rounds: Rounds,
) -> anyhow::Result<Figure> {
    let repetitions = if method == Method::Minimax { 1 } else { REPETITIONS };
    let settings = Settings::new(method);
    let (result, elapsed) = rounds.measure(|| {
        let (result, elapsed) = timed(|| {
            for _ in 1..repetitions {
                black_box(search(black_box(Board::EMPTY), settings, solution));
            }
            search(Board::EMPTY, settings, solution)
        });
        anyhow::Ok((result, elapsed / repetitions))
    })?;
    let counted = result.iterations.iter().sum();
    Ok(figure(what, (counted, "nodes"), counted == nodes, elapsed))
}

/// Solves every position with df-pn, for both goals and both attackers.
fn proven(solution: &Solution, rounds: Rounds) -> anyhow::Result<Figure> {
    let mut solver = DfPn::new(TableSize::from_mib(1));
    let limits = Limits::new(9, 1_000_000);
    let (wrong, elapsed) = rounds.measure(|| {
        anyhow::Ok(timed(|| {
            let mut wrong = 0;
            for solved in solution.positions() {
                for (attacker, goal) in
                    Mark::ALL.into_iter().flat_map(|mark| Goal::ALL.map(|goal| (mark, goal)))
                {
                    let mut contest = Contest::new(solved.board, attacker, goal);
                    let outcome = solver.solve(&mut contest, limits, &AtomicBool::new(false));
                    let value = if attacker == Mark::Circle { solved.value } else { -solved.value };
                    let is_reached = value == 1 || value == 0 && goal == Goal::Draw;
                    wrong += u64::from((outcome.verdict == Verdict::Proven) != is_reached);
                }
            }
            wrong
        }))
    })?;
    let searches = 4 * solution.positions().len() as u64;
    let what = "df-pn: every position, goal and attacker";
    Ok(figure(what, (searches, "searches"), wrong == 0, elapsed))
}

fn games(
    what: &'static str,
    players: [Player; 2],
    args: &MarubatsuArgs,
    solution: &Solution,
) -> anyhow::Result<Figure> {
    let measured =
        args.rounds.measure(|| anyhow::Ok(timed(|| play(players, args.games, 1, solution))));
    let (played, elapsed) = measured?;
    let is_right = exact(players, solution).agrees_with(played);
    Ok(figure(what, (played.games(), "games"), is_right, elapsed))
}

fn write(figure: &Figure, json: bool) -> io::Result<()> {
    if json {
        return json_line(figure);
    }
    let Figure { what, count, unit, is_right, elapsed_us, per_s } = figure;
    let correct = if *is_right { "correct" } else { "WRONG" };
    writeln!(
        io::stdout(),
        "{what:<41} {count:>9} {unit:<9} {correct:<7} {elapsed_us:>11.2} us {per_s:>11.0}/s"
    )
}
