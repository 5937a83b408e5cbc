//! The plan of a self-play run. All checks are done here, before any file is created.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kyokumen_selfplay::{GameSettings, RunSettings};
use serde_json::{Map, Value, json};

use super::evaluators::Model;
use super::openings::{Forks, OpeningPositions, file_origin};
use crate::error::Error;
use crate::format::Format;
use crate::jobs::game_totals::{FileOrigin, NetworkEntry};
use crate::jobs::identity::{Identity, RunDescription, SELFPLAY};
use crate::jobs::plan_identity::as_written;
use crate::jobs::run_files::{RunFiles, RunRequest};
use crate::mate::judge::MateSettings;
use crate::records::account::InputIdentity;
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::opening::{check_compression, input, stem};
use crate::records::output_kind::OutputKind;
use crate::records::shard::Shard;
use crate::records::sink::OutputPlan;
use crate::records::source::Input;
use crate::storage::quantity::quantity;
use crate::usi::EngineSettings;

/// The unchecked request of a self-play run.
#[derive(Clone, Debug)]
pub struct SelfPlayRequest {
    /// Who plays.
    pub players: Players,
    /// Archive of start positions. `None` selects the start position of an even game.
    pub openings: Option<PathBuf>,
    /// Format of the openings. `None` determines it from the extension.
    pub from: Option<FormatName>,
    /// Positions of earlier games, and the share of the games that start from one of them.
    pub forks: Option<(PathBuf, f32)>,
    /// Leave out openings with a forced mate, for or against the side to move.
    pub openings_filter: bool,
    /// The files to write, and whether to resume.
    pub files: RunRequest,
    /// Format of the games.
    pub to: FormatName,
    /// Number of games of all shards.
    pub games: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Other files that the run reads, such as a configuration file.
    pub config_files: Vec<PathBuf>,
    /// Settings that determine the games.
    pub game: GameSettings,
    /// Settings that do not affect the games.
    pub run: RunSettings,
}

/// The players of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Players {
    /// Networks with tree searches.
    Networks {
        /// The networks, one per device.
        models: Vec<Model>,
        /// Temperature of the policy: its logits are divided by this.
        policy_temperature: f32,
        /// An engine that plays one side of a share of the games, from 0 to 1.
        opponent: Option<(EngineSettings, f32)>,
    },
    /// USI engines.
    Engines {
        /// One engine for both sides, or two that play against each other.
        engines: Vec<EngineSettings>,
        /// Number of games at the same time.
        threads: usize,
    },
}

impl Players {
    /// Whether two engines play a match.
    pub fn is_match(&self) -> bool {
        matches!(self, Self::Engines { engines, .. } if engines.len() == 2)
    }

    /// The engines: those that play, or the opponent of the networks.
    fn engines(&self) -> &[EngineSettings] {
        match self {
            Self::Networks { opponent, .. } => {
                opponent.as_ref().map_or(&[], |(engine, _)| std::slice::from_ref(engine))
            }
            Self::Engines { engines, .. } => engines,
        }
    }

    /// The networks, or the names of the programs of engines.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Networks { models, .. } => models.iter().map(ToString::to_string).collect(),
            Self::Engines { engines, .. } => {
                engines.iter().map(|engine| engine.command.join(" ")).collect()
            }
        }
    }
}

/// A checked request.
#[derive(Debug)]
pub struct SelfPlayPlan {
    /// Who plays.
    pub players: Players,
    /// Manifest entries of the networks.
    pub networks: Vec<NetworkEntry>,
    /// Manifest entries of the engines.
    pub engines: Vec<Map<String, Value>>,
    pub(super) openings: Option<OpeningPositions>,
    pub(super) openings_origin: Option<FileOrigin>,
    pub(super) forks: Option<Forks>,
    pub(super) openings_filter: Option<MateSettings>,
    /// Numbers of the games.
    pub numbers: Range<u64>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The files of the run.
    pub files: RunFiles,
    /// Format of the games.
    pub format: Format,
    /// Settings that determine the games.
    pub game: GameSettings,
    /// Settings that do not affect the games.
    pub run: RunSettings,
    /// Everything that determines the bytes of the outputs.
    pub identity: Identity,
}

impl SelfPlayPlan {
    /// Checks a request. Reads networks only for their checksums and creates no files.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn new(request: SelfPlayRequest) -> Result<Self, Error> {
        let to = check_compression(request.to)?;
        let openings = request.openings.as_deref().map(|path| input(path, request.from, None));
        let openings = openings.transpose()?;
        let forks = request.forks.as_ref().map(|(path, _)| input(path, None, None));
        let forks = forks.transpose()?;
        let inputs: Vec<Input> = openings.iter().chain(&forks).cloned().collect();
        let shard = request.files.shard()?;
        let name = request.files.name.clone().unwrap_or_else(|| SELFPLAY.to_owned());
        let stem = stem(Some(name), None)?;
        let mut files = RunFiles::new(request.files.clone(), stem, shard, |path| {
            let path = path(&OutputKind::Kept.suffix(&to.to_string()));
            vec![OutputPlan::records(to, OutputKind::Kept, path, shard)]
        });
        files.check_resumable(&[])?;
        files.claim(&mut claims(&request, &inputs)?, [])?;
        let numbers = numbers(request.games, shard)?;
        let networks: Vec<NetworkEntry> = match &request.players {
            Players::Networks { models, .. } => {
                models.iter().map(Model::entry).collect::<Result<_, _>>()?
            }
            Players::Engines { .. } => Vec::new(),
        };
        let engines = request.players.engines().iter();
        let engines: Vec<Map<String, Value>> = engines
            .map(|engine| engine.entry(&AtomicBool::new(false)))
            .collect::<Result<_, _>>()?;
        let identity = identity(&request, shard, to, (&networks, &engines), &inputs);
        let positions = request.openings.as_deref().zip(openings.as_ref());
        let positions =
            positions.map(|(path, input)| OpeningPositions::open(input, path, request.from));
        let openings_origin = request.openings.as_deref().and_then(file_origin);
        let openings = positions.transpose()?;
        let forks = match request.forks.as_ref().zip(forks.as_ref()) {
            Some(((path, share), input)) => {
                let positions = OpeningPositions::open(input, path, None)?;
                Some(Forks { positions, share: *share })
            }
            None => None,
        };
        Ok(Self {
            players: request.players,
            networks,
            engines,
            openings,
            openings_origin,
            forks,
            openings_filter: request.openings_filter.then(MateSettings::default),
            numbers,
            seed: request.seed,
            files,
            format: to.format,
            game: request.game,
            run: request.run,
            identity,
        })
    }
}

/// Registers the files that the run reads, so that no output may overwrite them.
fn claims(request: &SelfPlayRequest, openings: &[Input]) -> Result<FileClaims, Error> {
    let models = match &request.players {
        Players::Networks { models, .. } => &models[..],
        Players::Engines { .. } => &[],
    };
    let models = models.iter().filter_map(Model::file);
    let read = models.chain(request.config_files.iter().map(PathBuf::as_path));
    Ok(FileClaims::reading(openings)?.and_reading(read))
}

fn numbers(games: u64, shard: Option<Shard>) -> Result<Range<u64>, Error> {
    let numbers = shard.map_or(0..games, |shard| shard.range(games));
    if numbers.is_empty() {
        let shard = shard.map_or("1/1".to_owned(), |shard| shard.to_string());
        return Err(Error::usage(format!(
            "no games to play: shard {shard} of {} is empty",
            quantity(games, "game")
        )));
    }
    Ok(numbers)
}

/// Everything that determines the output bytes. Excludes batches, groups and the devices of a network.
fn identity(
    request: &SelfPlayRequest,
    shard: Option<Shard>,
    to: FormatName,
    (networks, engines): (&[NetworkEntry], &[Map<String, Value>]),
    inputs: &[Input],
) -> Identity {
    let mut distinct: Vec<&NetworkEntry> = Vec::new();
    for network in networks {
        if !distinct.contains(&network) {
            distinct.push(network);
        }
    }
    let mut settings = json!({
        "to": to.to_string(),
        "games": request.games,
        "seed": request.seed,
        "openings-filter": request.openings_filter,
        "mate-table-mib": request.run.mate_table_mib,
        "game": as_written(&request.game),
        "networks": distinct,
    });
    match &request.players {
        Players::Networks { policy_temperature, opponent, .. } => {
            settings["policy-temperature"] = as_written(policy_temperature);
            if let Some((_, share)) = opponent {
                settings["opponent-share"] = as_written(share);
                settings["engines"] = json!(engines);
            }
        }
        Players::Engines { .. } => settings["engines"] = json!(engines),
    }
    if let Some((_, share)) = &request.forks {
        settings["fork-prob"] = as_written(share);
    }
    let settings: Map<String, Value> = match settings {
        Value::Object(settings) => settings,
        _ => unreachable!("the value is an object"),
    };
    Identity {
        run: RunDescription::new(SELFPLAY, settings, shard),
        inputs: inputs.iter().map(InputIdentity::new).collect(),
    }
}
