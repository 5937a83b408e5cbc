//! The command `boards`.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::Args;
use kyokumen_game::random::SplitMix64;
use serde::Serialize;

use super::games::GamesArgs;
use super::{json_line, milliseconds};
use crate::matches::random_game;
use crate::representation::{self, Representation, Visitor};
use crate::tree::GameTree;
use crate::{Mark, Square};

#[derive(Args)]
pub struct BoardsArgs {
    #[command(flatten)]
    games: GamesArgs,

    /// Print one JSON object per line for each representation
    #[arg(long)]
    json: bool,
}

/// One line of `--json`.
#[derive(Serialize)]
struct Figure {
    board: &'static str,
    lines_counted: bool,
    bytes: usize,
    games_per_s: f64,
    copy_ns: f64,
    move_ns: f64,
    unmove_ns: f64,
    tree_make_unmake_ms: f64,
    tree_copying_ms: f64,
    python_games_per_s: f64,
    elapsed_ms: f64,
}

/// Games per second of two `ai2` with `NpBoard`, `NpIntBoard` and `NpBoolBoard`, without and then with counted lines.
const PYTHON_GAMES_PER_S: [f64; 6] = [5972.04, 7185.05, 7587.97, 7478.88, 9820.80, 6367.55];
/// Times of `deepcopy` after 0 to 9 moves on average, of `move` and of `unmove`.
const PYTHON_NS: [f64; 3] = [26_400.0, 19_000.0, 800.0];

pub(super) fn run(args: &BoardsArgs) -> anyhow::Result<String> {
    let mut measure = Measure { games: args.games, figures: Vec::new() };
    representation::visit_all(&mut measure);
    if args.json {
        measure.figures.iter().map(json_line).collect()
    } else {
        Ok(measure.to_string())
    }
}

struct Measure {
    games: GamesArgs,
    figures: Vec<Figure>,
}

impl Visitor for Measure {
    fn visit<R: Representation>(&mut self) {
        let started = Instant::now();
        let GamesArgs { games, seed } = self.games;
        let mut random = SplitMix64::new(seed);
        (0..games).for_each(|_| {
            black_box(random_game::<R>(&mut random));
        });
        let games_per_s = (games as f64 / started.elapsed().as_secs_f64()).round();
        let [copy_ns, move_ns, unmove_ns] = single_steps::<R>();
        let tree_of = |build: fn() -> GameTree| {
            let started = Instant::now();
            black_box(build());
            milliseconds(started.elapsed())
        };
        self.figures.push(Figure {
            board: R::NAME,
            lines_counted: R::COUNTS_LINES,
            bytes: size_of::<R>(),
            games_per_s,
            copy_ns,
            move_ns,
            unmove_ns,
            tree_make_unmake_ms: tree_of(GameTree::by_make_unmake::<R>),
            tree_copying_ms: tree_of(GameTree::by_copying::<R>),
            python_games_per_s: PYTHON_GAMES_PER_S[self.figures.len() % PYTHON_GAMES_PER_S.len()],
            elapsed_ms: milliseconds(started.elapsed()),
        });
    }
}

/// The game that the articles use for measurements: nine moves, drawn.
const GAME: [u8; 9] = [0, 1, 2, 3, 5, 4, 7, 8, 6];

/// Times in ns of a copy, of a move with its test for a line, and of an unmove. Each step of [`GAME`] runs on many
/// boards, so that it can be timed alone.
fn single_steps<R: Representation>() -> [f64; 3] {
    const BOARDS: usize = 1024;
    const ROUNDS: usize = 100;
    let mut boards = vec![R::default(); BOARDS];
    let mut copies = boards.clone();
    let mut elapsed = [Duration::ZERO; 3];
    for _ in 0..ROUNDS {
        let mut mover = Mark::Circle;
        for square in GAME.into_iter().filter_map(Square::new) {
            elapsed[1] += each(&mut boards, |board| {
                board.put(square, mover);
                black_box(board.has_line_through(square, mover));
            });
            elapsed[2] += each(&mut boards, |board| board.remove(square, mover));
            for board in &mut boards {
                board.put(square, mover);
            }
            let started = Instant::now();
            for (copy, board) in copies.iter_mut().zip(&boards) {
                copy.clone_from(black_box(board));
            }
            elapsed[0] += started.elapsed();
            black_box(&copies);
            mover = !mover;
        }
        boards.fill(R::default());
    }
    let steps = (BOARDS * ROUNDS * GAME.len()) as f64;
    elapsed.map(|elapsed| (elapsed.as_secs_f64() * 1e11 / steps).round() / 100.0)
}

fn each<R>(boards: &mut [R], mut step: impl FnMut(&mut R)) -> Duration {
    let started = Instant::now();
    for board in boards {
        step(black_box(board));
    }
    started.elapsed()
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "board      lines    bytes     games/s   copy ns  move ns  unmove ns   tree ms: \
             make/unmake  copying   Python: games/s"
        )?;
        for figure in &self.figures {
            let Figure { board, bytes, games_per_s, copy_ns, move_ns, unmove_ns, .. } = figure;
            let lines = if figure.lines_counted { "counted" } else { "looked at" };
            writeln!(
                f,
                "{board:<9}  {lines:<9} {bytes:>3} {games_per_s:>11.0} {copy_ns:>9.2} {move_ns:>8.2} \
                 {unmove_ns:>10.2} {:>22.3} {:>8.3} {:>17.0}",
                figure.tree_make_unmake_ms, figure.tree_copying_ms, figure.python_games_per_s
            )?;
        }
        let [copy, make, unmake] = PYTHON_NS;
        writeln!(
            f,
            "Python, a list of lists: {copy:.0} ns a copy, {make:.0} a move, {unmake:.0} an unmove"
        )
    }
}
