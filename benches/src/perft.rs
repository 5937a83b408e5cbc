//! `kyokumen-bench perft`: speed of the move generator. Checks the counts.
//!
//! The counts of the start position are from YaneuraOu's `perft` and agree with aki's article "将棋でPerftしてみたまとめ".
//! The other positions are a complicated middle game and a position with 593 legal moves.

use std::io::{self, Write};

use anyhow::{Context, bail};
use clap::Args;
use kyokumen::shogi::perft::{Perft, parallel};
use kyokumen::shogi::{Position, sfen};
use serde::Serialize;

use crate::rounds::{Rounds, json_line, milliseconds, per_second, timed};

/// Perft of known positions; fails if a count is wrong
#[derive(Args)]
pub(crate) struct PerftArgs {
    /// Include the counts that take minutes
    #[arg(long)]
    full: bool,

    /// Threads; 0 is all cores
    #[arg(long, default_value_t = 1)]
    threads: usize,

    #[command(flatten)]
    rounds: Rounds,
}

/// A position with known counts.
struct Known {
    name: &'static str,
    sfen: &'static str,
    depth: u32,
    nodes: u64,
    /// Captures, promotions, checks and mates, if published.
    reached_by: Option<[u64; 4]>,
    drops: Option<u64>,
    takes_minutes: bool,
}

const MATSURI: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1";
const MAX_MOVES: &str = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";

const KNOWN: [Known; 11] = [
    start(1, 30, [0, 0, 0, 0], Some(0)),
    start(2, 900, [0, 0, 0, 0], Some(0)),
    start(3, 25470, [59, 30, 48, 0], Some(0)),
    start(4, 719731, [1803, 842, 1121, 0], Some(0)),
    start(5, 19861490, [113680, 57214, 71434, 0], Some(2776)),
    start(6, 547581517, [3387051, 1588324, 1730177, 0], Some(393476)),
    Known {
        takes_minutes: true,
        ..start(7, 15086269607, [156289904, 78496954, 79636812, 29], None)
    },
    Known {
        name: "matsuri",
        sfen: MATSURI,
        depth: 3,
        nodes: 4809015,
        reached_by: Some([121384, 256701, 179059, 2749]),
        drops: Some(3647304),
        takes_minutes: false,
    },
    Known { takes_minutes: true, ..nodes_of("matsuri", MATSURI, 4, 516925165) },
    nodes_of("most moves", MAX_MOVES, 1, 593),
    Known { takes_minutes: true, ..nodes_of("most moves", MAX_MOVES, 4, 9342410965) },
];

const fn nodes_of(name: &'static str, sfen: &'static str, depth: u32, nodes: u64) -> Known {
    Known { name, sfen, depth, nodes, reached_by: None, drops: None, takes_minutes: false }
}

const fn start(depth: u32, nodes: u64, reached_by: [u64; 4], drops: Option<u64>) -> Known {
    let nodes = nodes_of("start", sfen::START, depth, nodes);
    Known { reached_by: Some(reached_by), drops, ..nodes }
}

impl Known {
    fn agrees_with(&self, counted: &Perft) -> bool {
        let Perft { nodes, captures, promotions, drops, checks, mates } = *counted;
        self.nodes == nodes
            && self.reached_by.is_none_or(|known| known == [captures, promotions, checks, mates])
            && self.drops.is_none_or(|known| known == drops)
    }
}

#[derive(Serialize)]
struct Figure {
    position: &'static str,
    depth: u32,
    nodes: u64,
    is_right: bool,
    /// Time for counting nodes, captures, promotions, drops, checks and mates.
    elapsed_ms: f64,
    nodes_per_s: f64,
    nodes_only_elapsed_ms: f64,
    nodes_only_per_s: f64,
}

pub(crate) fn run(args: &PerftArgs) -> anyhow::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads)
        .build()
        .context("cannot start threads")?;
    if !args.rounds.json {
        writeln!(
            io::stdout(),
            "position    depth        nodes   counts     nodes/s, all   nodes/s, nodes only"
        )?;
    }
    let mut wrong = 0;
    for known in KNOWN.iter().filter(|known| args.full || !known.takes_minutes) {
        let figure = pool.install(|| measure(known, args.rounds))?;
        wrong += u32::from(!figure.is_right);
        write(&figure, args.rounds.json)?;
    }
    if wrong > 0 {
        bail!("{wrong} counts are wrong");
    }
    Ok(())
}

fn measure(known: &Known, rounds: Rounds) -> anyhow::Result<Figure> {
    let position: Position = known.sfen.parse()?;
    let count = || anyhow::Ok(timed(|| parallel::count(&position, known.depth)));
    let (counted, elapsed) = rounds.measure(count)?;
    let count = || anyhow::Ok(timed(|| parallel::nodes(&position, known.depth)));
    let (nodes, nodes_only_elapsed) = rounds.measure(count)?;
    Ok(Figure {
        position: known.name,
        depth: known.depth,
        nodes: counted.nodes,
        is_right: known.agrees_with(&counted) && nodes == known.nodes,
        elapsed_ms: milliseconds(elapsed),
        nodes_per_s: per_second(nodes, elapsed).round(),
        nodes_only_elapsed_ms: milliseconds(nodes_only_elapsed),
        nodes_only_per_s: per_second(nodes, nodes_only_elapsed).round(),
    })
}

fn write(figure: &Figure, json: bool) -> io::Result<()> {
    if json {
        return json_line(figure);
    }
    let Figure { position, depth, nodes, nodes_per_s, nodes_only_per_s, .. } = figure;
    let counts = if figure.is_right { "correct" } else { "WRONG" };
    writeln!(
        io::stdout(),
        "{position:<11} {depth:>5} {nodes:>12}   {counts:<7}  {nodes_per_s:>13.0} {nodes_only_per_s:>21.0}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wrong_count_is_detected() {
        let right =
            Perft { nodes: 25470, captures: 59, promotions: 30, checks: 48, ..Perft::default() };
        assert!(KNOWN[2].agrees_with(&right));
        for wrong in [
            Perft { nodes: 25471, ..right },
            Perft { captures: 58, ..right },
            Perft { promotions: 31, ..right },
            Perft { drops: 1, ..right },
            Perft { checks: 47, ..right },
            Perft { mates: 1, ..right },
        ] {
            assert!(!KNOWN[2].agrees_with(&wrong), "{wrong:?}");
        }
    }
}
