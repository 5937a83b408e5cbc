//! The account of a run of self-play.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::identity::{Identity, RunDescription};
use super::manifest::ParentManifest;
use super::run_name::RunName;
use crate::format::Format;
use crate::records::account::{InputIdentity, OutputEntry};
use crate::records::account_check::{ContradictionError, check_numbers, check_outputs};
use crate::records::account_file::to_json;
use crate::records::counts::{ImbalanceError, equal};
use crate::records::format_name::FormatName;
use crate::records::shard::Shard;
use crate::records::stream::Stream;
use crate::storage::checksum::Sha256Sum;
use crate::storage::platform;

/// The account of a run, as it is written to `NAME.manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SelfPlayManifest {
    /// What was run; its settings are everything that decides the games: every constant, the seed, the networks.
    #[serde(flatten)]
    pub run: RunDescription,
    /// The openings.
    pub inputs: Vec<InputIdentity>,
    /// What made the openings, if its manifest stands beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openings_origin: Option<FileOrigin>,
    /// The networks, one a device.
    pub networks: Vec<NetworkEntry>,
    /// Whether an evaluation depends on the position only, to the bit: then another run of these settings writes the
    /// same bytes. Asked at the start.
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
    /// The manifests of the shards whose outputs were joined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<ParentManifest>,
}

/// What a manifest says of a network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NetworkEntry {
    /// The file's name, without the folder, or the name of what stands in for one.
    pub model: String,
    /// SHA-256 of the file.
    pub sha256: Option<Sha256Sum>,
    /// What runs it.
    pub runtime: String,
}

/// Where a file comes from, going by the manifest that lists it as an output.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileOrigin {
    /// What was run.
    pub command: String,
    /// The manifest.
    pub manifest: ParentManifest,
    /// SHA-256 of the file, as the manifest says.
    pub sha256: Option<Sha256Sum>,
}

/// What became of the games.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameTotals {
    /// Games that were played: written ones and dropped ones.
    pub played: u64,
    /// Games that were written.
    pub written: u64,
    /// Dropped games by reason: `too_short`, `move_limit`.
    pub dropped: BTreeMap<String, u64>,
    /// Numbers whose opening had a mate.
    pub mated_openings: u64,
    /// All games by how they ended: `mate_or_resignation`, `repetition`, `declaration`, `move_limit`.
    pub endings: BTreeMap<String, u64>,
    /// All games by result: `black`, `white`, `draw`.
    pub results: BTreeMap<String, u64>,
    /// Moves of the written games.
    pub moves: u64,
    /// Positions of the written games to be trained on.
    pub training_positions: u64,
    /// Simulations in all games, dropped ones included.
    pub simulations: u64,
}

impl SelfPlayManifest {
    /// The run name in a file name, in view of this manifest.
    pub(crate) fn named(&self, name: &RunName) -> RunName {
        name.clone().stated(self.run.shard.as_deref())
    }

    /// What the run was.
    pub fn identity(&self) -> Identity {
        Identity { run: self.run.clone(), inputs: self.inputs.clone() }
    }

    /// The bytes of the file.
    pub fn to_json(&self) -> Vec<u8> {
        to_json(self)
    }

    /// Checks that it can be right, by itself and as the manifest of the run of this name.
    ///
    /// # Errors
    /// [`ContradictionError`] with the first thing that cannot be.
    pub fn check(&self, name: Option<&RunName>) -> Result<(), ContradictionError> {
        check_numbers(&self.games, &[], &self.outputs)?;
        check_outputs(&self.outputs)?;
        if self.outputs.len() != 1 || self.outputs[0].stream != Stream::Kept {
            let found = self.outputs.len();
            return Err(ContradictionError::Outputs { found, expected: "one of games" });
        }
        self.check_balance()?;
        name.map_or(Ok(()), |name| {
            self.named(name).check(
                &self.run.command,
                self.run.shard.as_deref(),
                &self.run.settings,
                &self.outputs,
            )
        })
    }

    /// Checks that the counts of games add up, and that the output has as many records as were counted.
    ///
    /// # Errors
    /// [`ImbalanceError`] with the two sides that differ.
    pub fn check_balance(&self) -> Result<(), ImbalanceError> {
        let games = &self.games;
        let sum_of = |counts: &BTreeMap<String, u64>| {
            // Somebody may have written any number of words.
            counts.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
        };
        for (what, counts) in [("endings", &games.endings), ("results", &games.results)] {
            equal(what, sum_of(counts), "games played", games.played)?;
        }
        let accounted = games.written.saturating_add(sum_of(&games.dropped));
        equal("games written and dropped", accounted, "games played", games.played)?;
        if let (Some(format), [output]) = (self.format(), &self.outputs[..]) {
            let (what, expected) = if format.holds_games() {
                ("moves of games written", games.moves)
            } else {
                ("positions to be trained on", games.training_positions)
            };
            equal("records of the output", output.records, what, expected)?;
        }
        let dealt_with = games.done();
        let expected =
            games_of(&self.run.settings, self.run.shard.as_deref()).unwrap_or(dealt_with);
        equal("games and mated openings", dealt_with, "games of the run", expected)
    }

    /// The format of the games.
    fn format(&self) -> Option<Format> {
        let to = self.run.settings.get("to")?.as_str()?;
        to.parse::<FormatName>().ok().map(|name| name.format)
    }

    /// Adds the account of the next shard.
    pub(crate) fn add(&mut self, next: &Self) {
        self.games.join(&next.games);
        self.reproducible &= next.reproducible;
        self.elapsed_s += next.elapsed_s;
    }

    /// The account of shards together, whose outputs were joined. The times are those that they took, one after the
    /// other, and joining.
    pub(crate) fn into_merged(
        self,
        outputs: Vec<OutputEntry>,
        parents: Vec<ParentManifest>,
        elapsed: Duration,
    ) -> Self {
        Self {
            run: self.run.into_merged(),
            outputs,
            ended_unix_s: platform::now_unix_s(),
            elapsed_s: self.elapsed_s + elapsed.as_secs_f64(),
            resumed_from: Vec::new(),
            parents,
            ..self
        }
    }
}

/// How many games a run or a shard of it has, going by its settings.
pub(crate) fn games_of(settings: &Map<String, Value>, shard: Option<&str>) -> Option<u64> {
    let games = settings.get("games").and_then(Value::as_u64)?;
    let Some(shard) = shard else { return Some(games) };
    let range = shard.parse::<Shard>().ok()?.range(games);
    Some(range.end - range.start)
}

impl GameTotals {
    /// Numbers of games that were dealt with.
    pub fn done(&self) -> u64 {
        self.played + self.mated_openings
    }

    /// Adds those of the next shard.
    fn join(&mut self, next: &Self) {
        let Self { endings, results, dropped, .. } = next;
        let all = [
            (&mut self.endings, endings),
            (&mut self.results, results),
            (&mut self.dropped, dropped),
        ];
        for (counts, next) in all {
            for (word, count) in next {
                *counts.entry(word.clone()).or_default() += count;
            }
        }
        self.played += next.played;
        self.written += next.written;
        self.mated_openings += next.mated_openings;
        self.moves += next.moves;
        self.training_positions += next.training_positions;
        self.simulations += next.simulations;
    }
}
