//! `kyokumen selfplay`.
//!
//! Every build has its options. The command itself needs a build with networks.

#[cfg(feature = "network")]
mod command;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};
use serde::Deserialize;

use crate::cli::option::{
    decimal_number, engine_option, heading, location, mate_limits, positive_seconds, threads,
    whole_number, word,
};
use crate::cli::progress::ProgressMode;
use crate::cli::report::counted;
use crate::cli::runtime_args::RuntimeArgs;
use crate::jobs::game_totals::GameCounts;
use crate::jobs::run_files::RunRequest;
use crate::records::format_name::FormatName;
use crate::storage::quantity::quantity;

#[cfg(feature = "network")]
pub(super) use command::{call, run};

/// Play games of a network or of USI engines and write them as training data
///
/// Many games are played at once, and their positions are evaluated in batches. A game depends only on its number, the
/// seed, the networks, the openings and the options under "Games". Shards, threads, batches and interruptions do not
/// change the output. Games are written in the order of their numbers.
///
/// This requires networks that give the same bits for a position at any place in a batch. The run tests this at its
/// start and records the result in the manifest as `reproducible`.
#[derive(Args, Clone, Debug)]
#[command(group = ArgGroup::new("players").required(true).args(["model", "engine"]))]
#[command(mut_arg("name", |name| name.help("Base name of the outputs [default: selfplay]")))]
#[command(after_long_help = "\
Examples:
  kyokumen selfplay --model net.onnx --openings kept.hcp -o games --games 100000 --seed 1
  kyokumen selfplay --model new.onnx --model old.onnx -o games --games 1000 --playouts 200 --to psv
  kyokumen selfplay --engine ./engine --nodes 100000 --multipv 4 -o games --games 1000
  kyokumen selfplay --config selfplay.toml -o games --games 10000000 --shard auto --resume

For tests, the model `uniform` gives all moves the same probability, and `hashed` gives pseudo-random evaluations.

Exit status:
  0  success
  1  failure, such as an output that exists or a changed input
  2  usage error
  129, 130 or 143  interrupted by a signal")]
pub(super) struct SelfPlayArgs {
    /// Network: an ONNX file of the dlshogi family, or an evaluator program as in "run:python3 evaluator.py". If M
    /// models are given, model n mod M plays both sides of game n
    #[arg(long, value_name = "NET.onnx")]
    pub(super) model: Vec<PathBuf>,

    /// Command line of a USI engine that plays instead of a network. Two engines play a match: the first is Black in
    /// games with an even number, and two games in a row have the same opening
    #[arg(long, value_name = "COMMAND", help_heading = heading::ENGINE)]
    pub(super) engine: Vec<String>,

    #[command(flatten)]
    pub(super) engines: EngineGameArgs,

    /// File with the first positions of the games, in any format. All are used once in random order, then again in
    /// another order [default: the start position]
    #[arg(long, value_name = "FILE", value_parser = location())]
    pub(super) openings: Option<PathBuf>,

    /// Format of the openings; see `kyokumen formats` [default: from the extension]
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<FormatName>,

    /// Skip openings with a forced mate for or against the side to move, as `kyokumen filter` finds them
    #[arg(long)]
    pub(super) openings_filter: bool,

    /// File with positions of earlier games, in any format. A share of the games, see --fork-prob, starts from one of
    /// them, chosen at random, instead of an opening
    #[arg(long, value_name = "FILE", value_parser = location())]
    pub(super) forks: Option<PathBuf>,

    /// Share of the games, from 0 to 1, that start from a position of --forks [default: 0.05]
    #[arg(long, value_name = "SHARE", value_parser = decimal_number, requires = "forks")]
    pub(super) fork_prob: Option<f32>,

    #[command(flatten)]
    pub(super) files: RunRequest,

    /// Format of the games; only hcpe3 stores the visits of the moves [default: hcpe3]
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<FormatName>,

    /// Number of games of all shards together
    #[arg(long, required = true, value_name = "N", value_parser = whole_number::<u64>(..))]
    pub(super) games: u64,

    /// Play only the first N games; shards divide these
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..))]
    pub(super) limit: Option<u64>,

    /// Seed of the random numbers [default: 1]
    #[arg(long, value_parser = whole_number::<u64>(..))]
    pub(super) seed: Option<u64>,

    /// Show progress on standard error: `bar`, `plain` (a line every ten seconds), `json` (a line every second, and all
    /// messages as JSON) or `none`; `auto` is `bar` on a terminal and otherwise `plain` [default: auto]
    #[arg(long, value_name = "auto|bar|plain|json|none", value_parser = word::<ProgressMode>)]
    pub(super) progress: Option<ProgressMode>,

    /// Show the inputs and outputs; play nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) runtime: RuntimeArgs,

    /// Number of threads that evaluate, each with its own games; 0 uses all cores [default: 0, or one for each device
    /// and model if no device is the CPU]
    #[arg(long, value_parser = threads(), help_heading = "Speed")]
    pub(super) threads: Option<usize>,

    /// Number of games per batch [default: 32]
    #[arg(long, value_name = "GAMES", value_parser = whole_number::<usize>(1..=65_536), help_heading = "Speed")]
    pub(super) batch: Option<usize>,

    /// Batches per network at a time. With 2, one is searched while a device such as a GPU evaluates the other
    /// [default: 1]
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(1..=16), help_heading = "Speed")]
    pub(super) groups: Option<usize>,

    /// Size of the cache of evaluations, in MiB per device; 0 disables it. It does not change the games [default: 256]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<usize>(..=1 << 20), help_heading = "Speed")]
    pub(super) cache_mb: Option<usize>,

    #[command(flatten)]
    pub(super) game: GameArgs,

    /// Read options from a TOML file whose keys are the long option names; the command line takes precedence
    #[arg(long, value_name = "FILE.toml", help_heading = heading::RUNNING)]
    pub(super) config: Option<PathBuf>,
}

/// Options of games by engines.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct EngineGameArgs {
    /// Command line of a USI engine that plays one side of a share of the games of networks. Its moves are not for
    /// training, and hcpe3 marks these games. The run is not reproducible
    #[arg(long, help_heading = heading::ENGINE, value_name = "COMMAND", conflicts_with = "engine")]
    pub(super) opponent_engine: Option<String>,

    /// Share of the games, from 0 to 1, against --opponent-engine [default: 0.1]
    #[arg(long, help_heading = heading::ENGINE, value_name = "SHARE", value_parser = decimal_number, requires = "opponent_engine")]
    pub(super) opponent_share: Option<f32>,

    /// Nodes per move, sent as `go nodes N`
    #[arg(long, help_heading = heading::ENGINE, value_name = "N", value_parser = whole_number::<u64>(1..), conflicts_with = "byoyomi")]
    pub(super) nodes: Option<u64>,

    /// Milliseconds per move
    #[arg(long, help_heading = heading::ENGINE, value_name = "MS", value_parser = whole_number::<u64>(1..))]
    pub(super) byoyomi: Option<u64>,

    /// Number of lines to search, sent as the option `MultiPV`. With 2 or more, hcpe3 gets about 1,000 visits in
    /// all. A move whose winning probability is 0.03 lower than that of the best move has 1/e of its visits
    #[arg(long, help_heading = heading::ENGINE, value_name = "K", value_parser = whole_number::<u32>(1..=593))]
    pub(super) multipv: Option<u32>,

    /// Set an option of the engines; may be repeated
    #[arg(long, help_heading = heading::ENGINE, value_name = "NAME=VALUE", value_parser = engine_option)]
    pub(super) engine_option: Vec<(String, String)>,

    /// Restart a game if an engine is not ready after this time, or reports no progress in a search for this time
    /// [default: 60]
    #[arg(long, help_heading = heading::ENGINE, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(super) engine_timeout: Option<Duration>,
}

/// Options that determine the games.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Games")]
pub(super) struct GameArgs {
    /// Simulations per position [default: 800]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(..))]
    pub(super) playouts: Option<u32>,

    /// PUCT variant: `dlshogi` as in its self-play, `dlshogi-2018` as in its version of 2018, or `parent-value`, which
    /// gives unvisited moves the value of their position, for a wider and less deep tree [default: dlshogi]
    #[arg(long, value_name = "dlshogi|parent-value|dlshogi-2018", value_parser = word::<PuctName>)]
    pub(super) puct: Option<PuctName>,

    /// INIT in c(N) = ln((N + BASE + 1) / BASE) + INIT, the weight of the network's probabilities at a position with N
    /// visits. ln is dlshogi's approximation [default: 1.49]
    #[arg(long, value_name = "INIT", value_parser = decimal_number)]
    pub(super) c_init: Option<f32>,

    /// BASE in c(N), in visits; see --c-init [default: 39470]
    #[arg(long, value_name = "BASE", value_parser = decimal_number)]
    pub(super) c_base: Option<f32>,

    /// INIT at the root [default: same as --c-init]
    #[arg(long, value_name = "INIT", value_parser = decimal_number)]
    pub(super) c_init_root: Option<f32>,

    /// BASE at the root, in visits [default: same as --c-base]
    #[arg(long, value_name = "BASE", value_parser = decimal_number)]
    pub(super) c_base_root: Option<f32>,

    /// First play urgency below the root: an unvisited move has the value of its position, from 0 to 1, minus K · √S,
    /// but at least 0. Each simulation through the position adds to S the network's probability of the move that it
    /// chose there
    /// [default: 20, or 0 with `--puct parent-value`]
    #[arg(long, value_name = "K", value_parser = decimal_number)]
    pub(super) fpu: Option<f32>,

    /// First play urgency at the root; see --fpu [default: 0]
    #[arg(long, value_name = "K", value_parser = decimal_number)]
    pub(super) fpu_root: Option<f32>,

    /// Noise at the root: in each simulation, the probability P of each move counts as (P + 1) / 2 in N of 1,000 cases
    /// [default: 3]
    #[arg(long, value_name = "N", value_parser = whole_number::<u16>(..))]
    pub(super) noise: Option<u16>,

    /// Shaped Dirichlet noise at the root, as in `KataGo`: P counts as (1 − W) · P + W · η. η is drawn once for each
    /// search from a Dirichlet distribution whose parameters have this sum. Half of the sum is divided equally among
    /// the moves, half among those whose ln P is above the mean
    #[arg(long, value_name = "SUM", value_parser = decimal_number, conflicts_with = "noise")]
    pub(super) dirichlet_concentration: Option<f32>,

    /// W, from 0 to 1; see --dirichlet-concentration [default: 0.25]
    #[arg(long, value_name = "W", value_parser = decimal_number, requires = "dirichlet_concentration")]
    pub(super) dirichlet_weight: Option<f32>,

    /// Choose moves at the root by g + ln P + (V + most visits of a move) · S · Q instead of PUCT. P is the probability
    /// from the network, Q the mean value of the move, and g has a Gumbel distribution. N moves share the simulations,
    /// then the better half of them, and so on (Danihelka et al. 2022). In hcpe3 the visits are the softmax of this sum
    /// without g, about 10,000 in all
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<u16>(1..=593),
        conflicts_with_all = ["noise", "dirichlet_concentration", "extensions", "no_early_stop"]
    )]
    pub(super) gumbel: Option<u16>,

    /// V; see --gumbel [default: 50]
    #[arg(long, value_name = "V", value_parser = decimal_number, requires = "gumbel")]
    pub(super) gumbel_visits: Option<f32>,

    /// S; see --gumbel [default: 1]
    #[arg(long, value_name = "S", value_parser = decimal_number, requires = "gumbel")]
    pub(super) gumbel_scale: Option<f32>,

    /// Softmax temperature of the policy [default: 1.66]
    #[arg(long, value_name = "T", value_parser = decimal_number)]
    pub(super) policy_temperature: Option<f32>,

    /// Use all simulations even if no other move can still overtake the most visited one
    #[arg(long)]
    pub(super) no_early_stop: bool,

    /// Maximum number of times to extend a search by half of --playouts. A search is extended if its most visited move
    /// has less than 1.2 times the visits of the next one when the search would stop. Only searches with all --playouts
    /// are extended, and not those for moves that are chosen at random [default: 2]
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(..))]
    pub(super) extensions: Option<u8>,

    /// Draw the first moves of a game from the policy with weights P^(1/T), without a search. Their number has an
    /// exponential distribution with mean MOVES and is rounded down. They count towards --random-plies [default: 0]
    #[arg(long, value_name = "MOVES", value_parser = decimal_number)]
    pub(super) policy_moves: Option<f32>,

    /// T; see --policy-moves [default: 1]
    #[arg(long, value_name = "T", value_parser = decimal_number, requires = "policy_moves")]
    pub(super) policy_moves_temperature: Option<f32>,

    /// Number of moves at the start of a game that are chosen at random with weights visits^(1/T) [default: 4]
    #[arg(long, value_name = "PLIES", value_parser = whole_number::<u16>(..))]
    pub(super) random_plies: Option<u16>,

    /// T of the first random move [default: 10]
    #[arg(long, value_name = "T", value_parser = decimal_number)]
    pub(super) random_temperature: Option<f32>,

    /// Decrease of T every two plies [default: 1]
    #[arg(long, value_name = "T", value_parser = decimal_number)]
    pub(super) random_temperature_drop: Option<f32>,

    /// Random moves come from the list sorted by visits, which ends before the first move whose value is more than
    /// VALUE below that of the best move [default: 0.015]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) random_cutoff: Option<f32>,

    /// Decrease of --random-cutoff every two plies [default: 0.001]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) random_cutoff_drop: Option<f32>,

    /// End a game by resignation if |2v − 1| exceeds VALUE, where v is the winning probability of the side to move; 1
    /// disables resignation [default: 0.99]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) resign: Option<f32>,

    /// Share of the games, from 0 to 1, that are played without resignation. The report states how often a side that
    /// would have resigned did not lose [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = decimal_number)]
    pub(super) resign_playthrough: Option<f32>,

    /// Share of the positions, from 0 to 1, that are searched with --cheap-search-visits and without noise, and are not
    /// for training: playout cap randomization, as in `KataGo` [default: 0]
    #[arg(long, value_name = "SHARE", value_parser = decimal_number)]
    pub(super) cheap_search_prob: Option<f32>,

    /// Simulations of a cheap search; see --cheap-search-prob [default: 100]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..), requires = "cheap_search_prob")]
    pub(super) cheap_search_visits: Option<u32>,

    /// Use fewer simulations in decided games: if |2v − 1| exceeds VALUE in favour of the same side in the last
    /// positions, the number of simulations decreases linearly to --reduced-visits-min at 1. `KataGo` does this instead
    /// of resigning, which needs `--resign 1`
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) reduce_visits_threshold: Option<f32>,

    /// Number of searched positions in a row that must exceed --reduce-visits-threshold; the least of their values
    /// counts [default: 3]
    #[arg(long, value_name = "N", value_parser = whole_number::<u8>(1..), requires = "reduce_visits_threshold")]
    pub(super) reduce_visits_lookback: Option<u8>,

    /// Least number of simulations; see --reduce-visits-threshold [default: 100]
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..), requires = "reduce_visits_threshold")]
    pub(super) reduced_visits_min: Option<u32>,

    /// Share of the positions that are for training at the least number of simulations. It decreases linearly from 1
    /// [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = decimal_number, requires = "reduce_visits_threshold")]
    pub(super) reduced_visits_weight: Option<f32>,

    /// Number of moves after which a game is a draw [default: 320]
    #[arg(long, value_name = "MOVES", value_parser = whole_number::<u16>(..))]
    pub(super) max_moves: Option<u16>,

    /// Drop games that reach --max-moves instead of writing them as draws; the manifest counts them
    #[arg(long)]
    pub(super) drop_max_moves: bool,

    /// Drop games with fewer than MOVES moves; the manifest counts them [default: 0]
    #[arg(long, value_name = "MOVES", value_parser = whole_number::<u16>(..))]
    pub(super) min_moves: Option<u16>,

    /// Repetition that ends a game: `fourth` occurrence of a position, as in the rules, or second occurrence within 16
    /// plies, as in the self-play of `dlshogi` [default: fourth]
    #[arg(long, value_name = "fourth|dlshogi", value_parser = word::<RepetitionName>)]
    pub(super) repetition: Option<RepetitionName>,

    /// Value of a draw in the search, from 0 (loss) to 1 (win) [default: 0.5]
    #[arg(long, value_name = "VALUE", value_parser = decimal_number)]
    pub(super) draw_value: Option<f32>,

    /// Limits of the mate search at each leaf; 0,0 disables it [default: 7,30]
    #[arg(long, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) leaf_mate: Option<(u16, u64)>,

    /// Limits of the mate search before each move; 0,0 disables it [default: 33,10000]
    #[arg(long, value_name = "PLIES,NODES", value_parser = mate_limits)]
    pub(super) root_mate: Option<(u16, u64)>,

    /// Size of the transposition table of the mate searches, in MiB per thread [default: 16]
    #[arg(long, value_name = "MIB", value_parser = whole_number::<usize>(1..=1 << 20))]
    pub(super) hash_mb: Option<usize>,
}

/// Values of `--puct`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PuctName {
    /// The variant of dlshogi's current self-play.
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

/// A one-line summary of the games.
pub(super) fn summary(games: &GameCounts) -> String {
    let GameCounts { played, dropped, mated_openings, endings, results, moves, .. } = games;
    let words = |counts: &BTreeMap<String, u64>| {
        let counts: Vec<(u64, String)> =
            counts.iter().map(|(word, &count)| (count, word.replace('_', " "))).collect();
        counted(&counts.iter().map(|(count, word)| (*count, word.as_str())).collect::<Vec<_>>())
    };
    let skipped = match mated_openings {
        0 => String::new(),
        mated => format!(", {mated} skipped because of a mated opening"),
    };
    let resigned = match games.would_resign {
        0 => String::new(),
        all => format!(", {} of {all} resignations would have been wrong", games.wrongly_resigned),
    };
    let dropped = match dropped.values().sum::<u64>() {
        0 => String::new(),
        all => format!(", {all} dropped ({})", words(dropped)),
    };
    format!(
        "{} ({}; {}){dropped}{skipped}{resigned}, {}, {} for training",
        quantity(*played, "game"),
        words(results),
        words(endings),
        quantity(*moves, "move"),
        quantity(games.training_positions, "position"),
    )
}

#[cfg(not(feature = "network"))]
pub(super) fn call(_: SelfPlayArgs) -> anyhow::Result<super::call::Call> {
    Err(super::exit::Usage(super::option::networks::NO_NETWORKS.to_owned()).into())
}

#[cfg(not(feature = "network"))]
pub(super) fn run(_: SelfPlayArgs) -> anyhow::Result<super::exit::ExitStatus> {
    Err(super::exit::Usage(super::option::networks::NO_NETWORKS.to_owned()).into())
}
