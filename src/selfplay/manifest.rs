//! The account of a run of self-play.

use std::collections::BTreeMap;

use kyokumen_selfplay::FinishedGame;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::evaluators::NetworkEntry;
use crate::format::GameResult;
use crate::jobs::identity::Identity;
use crate::records::account::{InputIdentity, OutputEntry};

/// The account of a run, as it is written to `NAME.manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SelfPlayManifest {
    /// Name and version of the program.
    pub program: String,
    /// What was run.
    pub command: String,
    /// Which definition of a node the limits of mate searches follow.
    pub node_definition: u32,
    /// Which solver searched for mates.
    pub solver_version: u32,
    /// Everything that decides the games: every constant, the seed, the networks.
    pub settings: Map<String, Value>,
    /// Which part of the games this is, as in `3/10`.
    pub shard: Option<String>,
    /// The openings.
    pub inputs: Vec<InputIdentity>,
    /// The networks, one a device.
    pub networks: Vec<NetworkEntry>,
    /// Whether an evaluation depends on the position only, to the bit: then another run of these settings writes the same
    /// bytes. Asked at the start.
    pub reproducible: bool,
    /// What was written.
    pub outputs: Vec<OutputEntry>,
    /// The games.
    pub games: GameTotals,
    /// When the run ended, in seconds since 1970.
    pub ended_unix_s: u64,
    /// How long it took, in all its processes.
    pub elapsed_s: f64,
    /// Games behind which another process went on.
    pub resumed_from: Vec<u64>,
}

/// What became of the games.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameTotals {
    /// Games that were played.
    pub played: u64,
    /// Numbers whose opening had a mate.
    pub mated_openings: u64,
    /// Games by how they ended: `mate_or_resignation`, `repetition`, `declaration`, `move_limit`.
    pub endings: BTreeMap<String, u64>,
    /// Games by who won: `black`, `white`, `draw`.
    pub results: BTreeMap<String, u64>,
    /// Moves of all games.
    pub moves: u64,
    /// Positions to be trained on.
    pub training_positions: u64,
    /// Simulations.
    pub simulations: u64,
}

impl SelfPlayManifest {
    /// What the run was.
    pub fn identity(&self) -> Identity {
        Identity {
            program: self.program.clone(),
            command: self.command.clone(),
            node_definition: self.node_definition,
            solver_version: self.solver_version,
            settings: self.settings.clone(),
            shard: self.shard.clone(),
            inputs: self.inputs.clone(),
        }
    }

    /// The bytes of the file.
    ///
    /// # Panics
    /// Never: everything in it has a JSON form.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("maps with words as keys");
        json.push(b'\n');
        json
    }
}

impl GameTotals {
    /// Counts a game in.
    pub(super) fn add(&mut self, finished: &FinishedGame) {
        let game = &finished.game;
        let count = |map: &mut BTreeMap<String, u64>, word: &str| {
            *map.entry(word.to_owned()).or_default() += 1;
        };
        self.played += 1;
        count(&mut self.endings, game.ending.map_or("mate_or_resignation", |ending| ending.name()));
        count(&mut self.results, game.result.unwrap_or(GameResult::Draw).name());
        self.moves += game.moves.len() as u64;
        let trained = game.moves.iter().filter(|played| !played.is_not_for_training);
        self.training_positions += trained.count() as u64;
        self.simulations += finished.counts.simulations;
    }
}
