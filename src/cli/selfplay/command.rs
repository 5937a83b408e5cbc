//! Runs `kyokumen selfplay`: builds the request, starts the run and prints a report.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use kyokumen_mcts::{
    DirichletNoise, Exploration, FirstPlay, GumbelRoot, MateLimits, Puct, RootNoise,
};
use kyokumen_selfplay::{
    CheapSearch, GameSettings, PolicyOpening, ReducedVisits, RepetitionRule, RunSettings,
};
use serde_json::{Map, Value, json};

use super::{EngineGameArgs, GameArgs, PuctName, RepetitionName, SelfPlayArgs, summary};
use crate::cli::call::{Call, RunReport};
use crate::cli::exit::{ExitStatus, Usage, run_error};
use crate::cli::job_args::show_existing;
use crate::cli::json_lines;
use crate::cli::message::{name, say};
use crate::cli::option::networks::{BATCH, MATE_TABLE_MIB, POLICY_TEMPERATURE};
use crate::cli::option::{ENGINE_TIMEOUT, engine_command, positive};
use crate::cli::progress::ProgressSnapshot;
use crate::cli::report::records;
use crate::cli::search_args::check_table;
use crate::format::Format;
use crate::jobs::game_totals::{GameManifest, GameTotals, MatchResults};
use crate::jobs::identity::SELFPLAY;
use crate::records::format_name::FormatName;
use crate::selfplay::evaluators::Model;
use crate::selfplay::plan::{Players, SelfPlayPlan, SelfPlayRequest};
use crate::selfplay::snapshot::SelfPlaySnapshot;
use crate::selfplay::{SelfPlayed, selfplay};
use crate::storage::compression::Compression;
use crate::storage::path_text::path_of;
use crate::storage::platform;
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;
use crate::usi::{EngineSettings, SearchLimit};

/// Default of `--cache-mb`.
const CACHE_MIB: usize = 256;
/// Default of `--cheap-search-visits`, from `KataGo`'s configurations.
const CHEAP_SEARCH_VISITS: u32 = 100;
/// Default of `--dirichlet-weight`, from `KataGo`'s configurations.
const DIRICHLET_WEIGHT: f32 = 0.25;
/// Default of `--opponent-share`.
const OPPONENT_SHARE: f32 = 0.1;
/// Default of `--fork-prob`: the sum of `earlyForkGameProb` and `forkGameProb` in `KataGo`'s configurations.
const FORK_PROB: f32 = 0.05;
/// Defaults of the options that begin with `--reduce`, from `KataGo`'s configurations.
const REDUCED_VISITS: ReducedVisits =
    ReducedVisits { threshold: 0.9, lookback: 3, min: 100, weight: 0.1 };

pub(in crate::cli) fn call(args: SelfPlayArgs) -> anyhow::Result<Call> {
    let dry_run = args.dry_run;
    let plan = SelfPlayPlan::new(args.request()?)?;
    if dry_run {
        return Ok(Call::reading(move |_| {
            let (inputs, outputs) = (inputs(&plan), plan.files.destinations());
            let games = plan.numbers.end - plan.numbers.start;
            Ok(json!({"inputs": inputs, "outputs": outputs, "games": games}))
        }));
    }
    Ok(Call::returning(move |caller| {
        let SelfPlayed { manifest, was_done } =
            selfplay(plan, Some(caller.display()), caller.cancel)?;
        Ok(RunReport { manifest, was_done })
    }))
}

pub(in crate::cli) fn run(args: SelfPlayArgs) -> anyhow::Result<ExitStatus> {
    let (mode, dry_run) = (args.progress.unwrap_or_default(), args.dry_run);
    let plan = SelfPlayPlan::new(args.request()?)?;
    if dry_run {
        show_plan(&plan)?;
        return Ok(ExitStatus::Done);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let folder = plan.files.final_folder().to_owned();
    let display = mode.display(Some(plan.numbers.end - plan.numbers.start));
    let played = selfplay(plan, display, &interrupt.cancel());
    let SelfPlayed { manifest, was_done } = played.map_err(|error| run_error(error, &interrupt))?;
    if was_done {
        let shard = manifest.run.shard.as_ref();
        let what = shard.map_or("the run".to_owned(), |shard| format!("shard {shard}"));
        say!("nothing to do: {what} has already finished");
    }
    report(&manifest, &folder);
    Ok(ExitStatus::Done)
}

fn show_plan(plan: &SelfPlayPlan) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for input in inputs(plan) {
        writeln!(out, "read {}", name(&input))?;
    }
    for path in plan.files.paths() {
        writeln!(out, "write {}", name(&plan.files.destination(path).to_string_lossy()))?;
    }
    writeln!(out, "{}", quantity(plan.numbers.end - plan.numbers.start, "game"))?;
    drop(out);
    show_existing(&plan.files).map(drop)
}

fn inputs(plan: &SelfPlayPlan) -> Vec<String> {
    // A network on several devices is listed once.
    let models: BTreeSet<String> = plan.players.names().into_iter().collect();
    let openings = plan.identity.inputs.iter().map(|input| input.file.clone());
    models.into_iter().chain(openings).collect()
}

fn report(manifest: &GameManifest, folder: &Path) {
    say!("{}", summary(&manifest.totals.games));
    if !manifest.totals.reproducible {
        let reason = if manifest.totals.engines.is_empty() {
            "the evaluations depend on the batch"
        } else {
            "engines may answer differently"
        };
        say!("{reason}, so another run will not write the same bytes");
    }
    match_report(&manifest.totals);
    for output in &manifest.outputs {
        say!("  {} ({})", folder.join(path_of(&output.file)).display(), records(output.records));
    }
}

/// The result of a match, as wins, draws and losses of the first engine, or of the networks against an engine.
fn match_report(totals: &GameTotals) {
    let name = |engine: &Map<String, Value>| {
        let shown = ["name", "engine"].into_iter().filter_map(|key| engine.get(key)?.as_str());
        shown.filter(|name| !name.is_empty()).map(str::to_owned).next().unwrap_or_default()
    };
    let (black, white) = (totals.games.first_as_black, totals.games.first_as_white);
    let all = black.plus(white);
    let (first, second) = match &totals.engines[..] {
        [first, second] => (name(first), name(second)),
        [opponent] if all != MatchResults::default() => ("the network".to_owned(), name(opponent)),
        _ => return,
    };
    let results =
        |results: MatchResults| format!("{}-{}-{}", results.wins, results.draws, results.losses);
    let elo =
        all.elo().map(|[elo, low, high]| format!(", Elo {elo:+.0} ({low:+.0} to {high:+.0})"));
    say!(
        "{} against {}: {} wins, draws, losses (as Black {}, as White {}){}",
        first,
        second,
        results(all),
        results(black),
        results(white),
        elo.unwrap_or_default(),
    );
}

impl ProgressSnapshot for SelfPlaySnapshot {
    fn done(&self) -> u64 {
        self.games
    }

    fn counts(&self) -> String {
        self.counts()
    }

    fn speed(&self) -> Vec<String> {
        self.speed()
    }

    fn details(&self) -> Vec<String> {
        self.details()
    }
}

impl SelfPlayArgs {
    fn players(&self) -> anyhow::Result<Players> {
        if self.engine.is_empty() {
            let temperature = self.game.policy_temperature.unwrap_or(POLICY_TEMPERATURE);
            return Ok(Players::Networks {
                models: Model::of_devices(&self.model, &self.runtime.runtimes()?, self.threads),
                policy_temperature: positive("--policy-temperature", temperature)?,
                opponent: self.engines.opponent()?,
            });
        }
        if self.engine.len() > 2 {
            return Err(Usage("--engine: expected one or two engines".to_owned()).into());
        }
        let engine = |command: &String| self.engines.settings("--engine", command);
        Ok(Players::Engines {
            engines: self.engine.iter().map(engine).collect::<Result<_, Usage>>()?,
            threads: platform::threads(self.threads.unwrap_or(0)),
        })
    }

    fn request(self) -> anyhow::Result<SelfPlayRequest> {
        let shard = self.files.shard().ok().flatten().map(|shard| shard.to_string());
        json_lines::set_run(self.files.name.as_deref().unwrap_or(SELFPLAY), shard);
        let fork_prob = check_share("--fork-prob", self.fork_prob.unwrap_or(FORK_PROB))?;
        let mate_table_mib = self.game.hash_mb.unwrap_or(MATE_TABLE_MIB);
        check_table(mate_table_mib)?;
        Ok(SelfPlayRequest {
            players: self.players()?,
            openings: self.openings,
            from: self.from,
            forks: self.forks.map(|file| (file, fork_prob)),
            openings_filter: self.openings_filter,
            files: self.files,
            to: self
                .to
                .unwrap_or(FormatName { format: Format::Hcpe3, compression: Compression::None }),
            games: self.limit.map_or(self.games, |limit| limit.min(self.games)),
            seed: self.seed.unwrap_or(1),
            config_files: self.config.into_iter().collect(),
            game: self.game.settings()?,
            run: RunSettings {
                batch: self.batch.unwrap_or(BATCH),
                groups: self.groups.unwrap_or(1),
                mate_table_mib,
                cache_mib: self.cache_mb.unwrap_or(CACHE_MIB),
            },
        })
    }
}

impl EngineGameArgs {
    /// The settings of the engine that an option names.
    fn settings(&self, option: &str, command: &str) -> Result<EngineSettings, Usage> {
        let limit = match (self.nodes, self.byoyomi) {
            (Some(nodes), _) => SearchLimit::Nodes(nodes),
            (None, Some(ms)) => SearchLimit::Byoyomi(ms),
            (None, None) => return Err(Usage(format!("{option} needs --nodes or --byoyomi"))),
        };
        let lines = self.multipv.map(|lines| ("MultiPV".to_owned(), lines.to_string()));
        let options = self.engine_option.iter().cloned().chain(lines).collect();
        let patience = self.engine_timeout.unwrap_or(ENGINE_TIMEOUT);
        Ok(EngineSettings { command: engine_command(command)?, options, limit, patience })
    }

    /// The opponent of networks, and its share of the games.
    fn opponent(&self) -> Result<Option<(EngineSettings, f32)>, Usage> {
        let Some(command) = &self.opponent_engine else {
            let is_given = self.nodes.is_some()
                || self.byoyomi.is_some()
                || self.engine_timeout.is_some()
                || !self.engine_option.is_empty();
            return if is_given || self.multipv.is_some() {
                Err(Usage("options of engines need --engine or --opponent-engine".to_owned()))
            } else {
                Ok(None)
            };
        };
        if self.multipv.is_some() {
            return Err(Usage("--multipv needs --engine".to_owned()));
        }
        let share = check_share("--opponent-share", self.opponent_share.unwrap_or(OPPONENT_SHARE))?;
        Ok(Some((self.settings("--opponent-engine", command)?, share)))
    }
}

impl GameArgs {
    fn settings(self) -> anyhow::Result<GameSettings> {
        let mut game = GameSettings::default();
        let search = &mut game.search;
        search.puct = self.puct()?;
        let limits = |(depth, nodes)| MateLimits { depth, nodes };
        search.gumbel = self.gumbel();
        set(&mut search.puct.root_noise, self.root_noise());
        set(&mut search.draw_value, self.draw_value);
        set(&mut search.leaf_mate, self.leaf_mate.map(limits));
        set(&mut search.root_mate, self.root_mate.map(limits));
        set(&mut game.playouts, self.playouts);
        set(&mut game.extensions, self.extensions);
        set(&mut game.opening.plies, self.random_plies);
        set(&mut game.opening.temperature, self.random_temperature);
        set(&mut game.opening.temperature_drop, self.random_temperature_drop);
        set(&mut game.opening.cutoff, self.random_cutoff);
        set(&mut game.opening.cutoff_drop, self.random_cutoff_drop);
        set(&mut game.resign, self.resign);
        set(&mut game.resign_playthrough, self.resign_playthrough);
        game.cheap_search = self.cheap_search_prob.map(|prob| CheapSearch {
            prob,
            visits: self.cheap_search_visits.unwrap_or(CHEAP_SEARCH_VISITS),
        });
        game.reduced_visits = self.reduced_visits();
        game.policy_opening = self.policy_moves.map(|mean_moves| PolicyOpening {
            mean_moves,
            temperature: self.policy_moves_temperature.unwrap_or(1.0),
        });
        set(&mut game.max_moves, self.max_moves);
        set(&mut game.min_moves, self.min_moves);
        game.early_stop = !self.no_early_stop;
        game.drop_move_limit = self.drop_max_moves;
        game.repetition = match self.repetition {
            None | Some(RepetitionName::Fourth) => RepetitionRule::Fourth,
            Some(RepetitionName::Dlshogi) => RepetitionRule::Dlshogi,
        };
        check(&game)?;
        Ok(game)
    }

    fn root_noise(&self) -> Option<RootNoise> {
        let dirichlet = self.dirichlet_concentration.map(|concentration| DirichletNoise {
            concentration,
            weight: self.dirichlet_weight.unwrap_or(DIRICHLET_WEIGHT),
        });
        dirichlet.map(RootNoise::Dirichlet).or(self.noise.map(RootNoise::PerMille))
    }

    fn gumbel(&self) -> Option<GumbelRoot> {
        self.gumbel.map(|moves| GumbelRoot {
            moves,
            visits: self.gumbel_visits.unwrap_or(50.0),
            scale: self.gumbel_scale.unwrap_or(1.0),
        })
    }

    fn reduced_visits(&self) -> Option<ReducedVisits> {
        let threshold = self.reduce_visits_threshold?;
        let mut reduced = ReducedVisits { threshold, ..REDUCED_VISITS };
        set(&mut reduced.lookback, self.reduce_visits_lookback);
        set(&mut reduced.min, self.reduced_visits_min);
        set(&mut reduced.weight, self.reduced_visits_weight);
        Some(reduced)
    }

    /// Returns the named variant with the given constants. `dlshogi-2018` has none.
    fn puct(&self) -> anyhow::Result<Puct> {
        let mut puct = match self.puct {
            None | Some(PuctName::Dlshogi) => Puct::DLSHOGI,
            Some(PuctName::ParentValue) => Puct::PARENT_VALUE,
            Some(PuctName::Dlshogi2018) => Puct::DLSHOGI_2018,
        };
        let constants = [
            ("--c-init", self.c_init),
            ("--c-base", self.c_base),
            ("--c-init-root", self.c_init_root),
            ("--c-base-root", self.c_base_root),
            ("--fpu", self.fpu),
            ("--fpu-root", self.fpu_root),
        ];
        for (option, value) in
            constants.into_iter().filter_map(|(name, value)| Some((name, value?)))
        {
            if matches!(self.puct, Some(PuctName::Dlshogi2018)) {
                let message = format!("{option} cannot be used together with --puct dlshogi-2018");
                return Err(Usage(message).into());
            }
            if option.starts_with("--c-base") {
                positive(option, value)
            } else {
                not_negative(option, value)
            }?;
        }
        if let Exploration::Logarithmic { init, base } = &mut puct.exploration {
            set(init, self.c_init);
            set(base, self.c_base);
        }
        if let Exploration::Logarithmic { init, base } = &mut puct.root_exploration {
            set(init, self.c_init_root.or(self.c_init));
            set(base, self.c_base_root.or(self.c_base));
        }
        if let FirstPlay::Reduced { root, tree } = &mut puct.first_play {
            set(root, self.fpu_root);
            set(tree, self.fpu);
        }
        Ok(puct)
    }
}

/// Overwrites `value` if an option is given.
fn set<T>(value: &mut T, option: Option<T>) {
    if let Some(option) = option {
        *value = option;
    }
}

/// Checks that the settings are in range.
fn check(game: &GameSettings) -> anyhow::Result<()> {
    if game.playouts == 0 {
        return Err(Usage("--playouts: expected at least 1".to_owned()).into());
    }
    let noise = game.search.puct.root_noise;
    if let RootNoise::PerMille(1001..) = noise {
        return Err(Usage("--noise: expected at most 1000".to_owned()).into());
    }
    positive("--random-temperature", game.opening.temperature)?;
    if let Some(opening) = game.policy_opening {
        positive("--policy-moves-temperature", opening.temperature)?;
        not_negative("--policy-moves", opening.mean_moves)?;
    }
    if let Some(gumbel) = game.search.gumbel {
        not_negative("--gumbel-visits", gumbel.visits)?;
        not_negative("--gumbel-scale", gumbel.scale)?;
    }
    let mut shares = vec![
        ("--draw-value", game.search.draw_value),
        ("--resign", game.resign),
        ("--resign-playthrough", game.resign_playthrough),
        ("--cheap-search-prob", game.cheap_search.map_or(0.0, |cheap| cheap.prob)),
    ];
    if let Some(reduced) = game.reduced_visits {
        shares.push(("--reduce-visits-threshold", reduced.threshold));
        shares.push(("--reduced-visits-weight", reduced.weight));
    }
    if let RootNoise::Dirichlet(noise) = noise {
        positive("--dirichlet-concentration", noise.concentration)?;
        shares.push(("--dirichlet-weight", noise.weight));
    }
    for (option, value) in shares {
        check_share(option, value)?;
    }
    let not_negatives = [
        ("--random-temperature-drop", game.opening.temperature_drop),
        ("--random-cutoff", game.opening.cutoff),
        ("--random-cutoff-drop", game.opening.cutoff_drop),
    ];
    for (option, value) in not_negatives {
        not_negative(option, value)?;
    }
    Ok(())
}

fn check_share(option: &str, value: f32) -> Result<f32, Usage> {
    if (0.0..=1.0).contains(&value) {
        Ok(value)
    } else {
        Err(Usage(format!("{option}: expected a number from 0 to 1, not {value}")))
    }
}

fn not_negative(option: &str, value: f32) -> Result<f32, Usage> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(Usage(format!("{option}: expected a number of at least 0, not {value}")))
    }
}
