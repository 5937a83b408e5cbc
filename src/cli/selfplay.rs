//! `kyokumen selfplay`.
//!
//! Its options are those of every build; what they ask for is done where the program is built with networks.

#[cfg(feature = "network")]
mod command;

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use crate::cli::option::{
    decimal_number, heading, location, mate_limits, threads, whole_number, word,
};
use crate::cli::progress::ProgressMode;
use crate::jobs::run_files::RunRequest;
use crate::records::format_name::FormatName;

#[cfg(feature = "network")]
pub(super) use command::run;

/// Make training data: games of a network against itself
///
/// Many games are played at a time, and their positions evaluated in batches, by ONNX files of the dlshogi family. A
/// game depends on its number, the seed, the networks and the settings below "Games" only: shards, threads, batches and
/// interruptions change no byte. Games are written in the order of their numbers. Whether the networks gave the same
/// bits for a position wherever it stood in a batch is tried at the start, and stands in the manifest as
/// `reproducible`.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("name", |name| name.help("Start of the outputs' names [default: selfplay]")))]
#[command(after_long_help = "\
Examples:
  kyokumen selfplay --model net.onnx --openings kept.hcp -o games --games 100000 --seed 1
  kyokumen selfplay --model new.onnx --model old.onnx -o games --games 1000 --playouts 200 --to psv
  kyokumen selfplay --config selfplay.toml -o games --games 10000000 --shard auto --resume

The model `uniform` finds all moves equally probable, `hashed` answers at random.

Exit status: 0 done, 1 failed, 2 usage, 129, 130 or 143 interrupted.")]
pub(super) struct SelfPlayArgs {
    /// Network, an ONNX file, or a program that evaluates batches, as in "run:python3 evaluator.py"; several take
    /// turns by the numbers of the games
    #[arg(long, required = true, value_name = "NET.onnx")]
    pub(super) model: Vec<PathBuf>,

    /// Positions in which games begin, a file in any format: each once, in random order, before any comes again
    /// [default: the start position]
    #[arg(long, value_name = "FILE", value_parser = location())]
    pub(super) openings: Option<PathBuf>,

    /// Format of the openings, one of `kyokumen formats` [default: by extension]
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<FormatName>,

    /// Leave out openings that are decided by a mate, as `kyokumen filter` does
    #[arg(long)]
    pub(super) openings_filter: bool,

    #[command(flatten)]
    pub(super) files: RunRequest,

    /// Format of the games: with visits hcpe3, without them any other [default: hcpe3]
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<FormatName>,

    /// Games of all shards
    #[arg(long, required = true, value_name = "N", value_parser = whole_number::<u64>(..))]
    pub(super) games: u64,

    /// Play at most N of the games; shards are parts of these
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..))]
    pub(super) limit: Option<u64>,

    /// Seed of the random numbers [default: 1]
    #[arg(long, value_parser = whole_number::<u64>(..))]
    pub(super) seed: Option<u64>,

    /// Show progress on standard error [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    pub(super) progress: Option<ProgressMode>,

    /// Show what would be read and written, and play nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Threads that evaluate, each with games of its own; 0 is all cores [default: 0]
    #[arg(long, value_parser = threads(), help_heading = "Speed")]
    pub(super) threads: Option<usize>,

    /// Games of a batch [default: 32]
    #[arg(long, value_name = "GAMES", value_parser = whole_number::<usize>(1..=65_536), help_heading = "Speed")]
    pub(super) batch: Option<usize>,

    /// Batches a network has at a time: with 2 one is searched while the other is evaluated, which pays where a device
    /// of its own evaluates [default: 1]
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(1..=16), help_heading = "Speed")]
    pub(super) groups: Option<usize>,

    #[command(flatten)]
    pub(super) game: GameArgs,

    /// Take settings from a file whose keys are the long names of these options
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING)]
    pub(super) config: Option<PathBuf>,
}

/// What decides the games.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Games")]
pub(super) struct GameArgs {
    /// Simulations a position [default: 800]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(..))]
    pub(super) playouts: Option<u32>,

    /// PUCT variant: that of dlshogi's self-play; parent-value, where unvisited moves have the value of their position
    /// and the tree is wider and less deep; or that of dlshogi in 2018 [default: dlshogi]
    #[arg(long, value_name = "dlshogi|parent-value|dlshogi-2018", value_parser = word::<PuctName>)]
    pub(super) puct: Option<PuctName>,

    /// INIT in c(N) = ln((N + BASE + 1) / BASE) + INIT, the weight of the network's probabilities at a position with N
    /// visits [default: 1.49]
    #[arg(long, value_name = "INIT", value_parser = decimal_number)]
    pub(super) c_init: Option<f32>,

    /// BASE in c(N), in visits; see --c-init [default: 39470]
    #[arg(long, value_name = "BASE", value_parser = decimal_number)]
    pub(super) c_base: Option<f32>,

    /// INIT at the root [default: as --c-init]
    #[arg(long, value_name = "INIT", value_parser = decimal_number)]
    pub(super) c_init_root: Option<f32>,

    /// BASE at the root, in visits [default: as --c-base]
    #[arg(long, value_name = "BASE", value_parser = decimal_number)]
    pub(super) c_base_root: Option<f32>,

    /// First play urgency below the root: an unvisited move has the value of its position, from 0 to 1, minus K · √S,
    /// but at least 0. S sums, over all simulations through the position, the probability of the move chosen there
    /// [default: 20; with --puct parent-value 0]
    #[arg(long, value_name = "K", value_parser = decimal_number)]
    pub(super) fpu: Option<f32>,

    /// First play urgency at the root, as --fpu [default: 0]
    #[arg(long, value_name = "K", value_parser = decimal_number)]
    pub(super) fpu_root: Option<f32>,

    /// Noise at the root: in N of 1,000 cases the probability P of a move counts as (P + 1) / 2 [default: 3]
    #[arg(long, value_name = "N", value_parser = whole_number::<u16>(..))]
    pub(super) noise: Option<u16>,

    /// Temperature that divides the policy logits [default: 1.66]
    #[arg(long, value_name = "T", value_parser = decimal_number)]
    pub(super) policy_temperature: Option<f32>,

    /// Always use all simulations, even if the second move can no longer catch up
    #[arg(long)]
    pub(super) no_early_stop: bool,

    /// How often a search gets half as many simulations again, if the first move has less than 1.2 times the visits of
    /// the second when it would stop; not for randomly chosen moves [default: 2]
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(..))]
    pub(super) extensions: Option<u8>,

    /// Number of moves at the start of a game that are chosen at random, with weights visits^(1/T) [default: 4]
    #[arg(long, value_name = "PLIES", value_parser = whole_number::<u16>(..))]
    pub(super) random_plies: Option<u16>,

    /// T of the first random move [default: 10]
    #[arg(long, value_name = "T", value_parser = decimal_number)]
    pub(super) random_temperature: Option<f32>,

    /// Decrease of T every two plies [default: 1]
    #[arg(long, value_name = "T", value_parser = decimal_number)]
    pub(super) random_temperature_drop: Option<f32>,

    /// Choose among the most visited moves, up to but not including the first whose value is more than this below the
    /// best move's [default: 0.015]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) random_cutoff: Option<f32>,

    /// Decrease of --random-cutoff every two plies [default: 0.001]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) random_cutoff_drop: Option<f32>,

    /// Give a game up when |2v − 1| is more, v being how probable the mover's win is; 1 is never [default: 0.99]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) resign: Option<f32>,

    /// Moves after which a game is a draw [default: 320]
    #[arg(long, value_name = "MOVES", value_parser = whole_number::<u16>(..))]
    pub(super) max_moves: Option<u16>,

    /// Drop games that reach --max-moves instead of writing them as draws; the manifest counts them
    #[arg(long)]
    pub(super) drop_max_moves: bool,

    /// Drop games with fewer moves; the manifest counts them [default: 0]
    #[arg(long, value_name = "MOVES", value_parser = whole_number::<u16>(..))]
    pub(super) min_moves: Option<u16>,

    /// Repetition that ends a game: fourth occurrence of a position (the rules), or second occurrence within 16 plies
    /// (dlshogi's self-play) [default: fourth]
    #[arg(long, value_name = "fourth|dlshogi", value_parser = word::<RepetitionName>)]
    pub(super) repetition: Option<RepetitionName>,

    /// What a draw is worth in the search, from 0 (a loss) to 1 [default: 0.5]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) draw_value: Option<f32>,

    /// Mate search at each leaf: plies and nodes; 0,0 is none [default: 7,30]
    #[arg(long, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) leaf_mate: Option<(u16, u64)>,

    /// Mate search before each move [default: 33,10000]
    #[arg(long, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) root_mate: Option<(u16, u64)>,

    /// Size of the table of each thread's mate searches, in MiB [default: 16]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<usize>(1..=1 << 20))]
    pub(super) hash_mb: Option<usize>,
}

/// Values of `--puct`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PuctName {
    /// That of dlshogi's self-play today.
    Dlshogi,
    /// Unvisited moves have the value of their position.
    ParentValue,
    #[serde(rename = "dlshogi-2018")]
    Dlshogi2018,
}

/// Values of `--repetition`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RepetitionName {
    /// Fourth occurrence of a position.
    Fourth,
    /// Second occurrence within 16 plies.
    Dlshogi,
}

#[cfg(not(feature = "network"))]
pub(super) fn run(_: SelfPlayArgs) -> anyhow::Result<super::exit::ExitStatus> {
    Err(super::exit::Usage(super::option::networks::NO_NETWORKS.to_owned()).into())
}
