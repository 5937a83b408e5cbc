//! Inputs and counts of a self-play run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::checkpoint::RunProgress;
use super::identity::RunDescription;
use super::manifest::{Manifest, ParentManifest, Totals};
use crate::error::Error;
use crate::format::Format;
use crate::records::account::{InputIdentity, OutputEntry};
use crate::records::account_check::{check_numbers, check_outputs};
use crate::records::counts::equal;
use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::records::shard::Shard;
use crate::storage::checksum::Sha256Sum;

/// The manifest of a run of self-play.
pub type GameManifest = Manifest<GameTotals>;

/// Inputs and counts of a self-play run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GameTotals {
    /// The openings.
    pub inputs: Vec<InputIdentity>,
    /// The origin of the openings, if their manifest is next to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openings_origin: Option<FileOrigin>,
    /// The networks, one per device.
    pub networks: Vec<NetworkEntry>,
    /// The engines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub engines: Vec<Map<String, Value>>,
    /// Whether evaluations depend only on the position, bit by bit. If so, another run with the same settings writes
    /// the same bytes. Each process tests this when it starts.
    pub reproducible: bool,
    /// Counts of the games.
    pub games: GameCounts,
}

/// The progress of a self-play run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GameProgress {
    /// Game numbers that are finished.
    pub(crate) done: u64,
    pub(crate) games: GameCounts,
    /// Whether the networks were reproducible in every process of the run.
    pub(crate) reproducible: bool,
    /// The progress as it is displayed. `None` in the first seconds.
    #[serde(default)]
    pub(crate) displayed: Option<GamesDisplayed>,
}

/// Figures that include games in progress and games that wait for an earlier one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct GamesDisplayed {
    /// Games that have ended.
    pub(crate) games: u64,
    pub(crate) positions_per_s: f64,
    /// Estimated seconds left.
    pub(crate) eta_s: f64,
}

impl Default for GameProgress {
    fn default() -> Self {
        Self { done: 0, games: GameCounts::default(), reproducible: true, displayed: None }
    }
}

impl RunProgress for GameProgress {
    fn done(&self) -> u64 {
        self.done
    }
}

/// A network in a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NetworkEntry {
    /// Name of the file without the folder, or `uniform`, `hashed`, `run:COMMAND`.
    pub model: String,
    /// SHA-256 of the file.
    pub sha256: Option<Sha256Sum>,
    /// The library or process that runs it, with its version.
    pub runtime: String,
    /// The kind of the device. `None` if the runtime does not choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// The origin of a file, from the manifest that lists it as an output.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileOrigin {
    /// The command that wrote it.
    pub command: String,
    /// The manifest.
    pub manifest: ParentManifest,
    /// SHA-256 of the file in the manifest.
    pub sha256: Option<Sha256Sum>,
}

/// Counts of the games.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct GameCounts {
    /// Games played, whether written or dropped.
    pub played: u64,
    /// Games written.
    pub written: u64,
    /// Dropped games by reason: `too_short`, `move_limit`.
    pub dropped: BTreeMap<String, u64>,
    /// Game numbers that are not played because their opening has a proven mate, for or against the side to move.
    pub mated_openings: u64,
    /// All games by ending: `mate_or_resignation`, `repetition`, `declaration`, `move_limit`.
    pub endings: BTreeMap<String, u64>,
    /// All games by result: `black`, `white`, `draw`.
    pub results: BTreeMap<String, u64>,
    /// Results of the first of two engines as Black, or of the networks against the opponent engine.
    #[serde(default, skip_serializing_if = "MatchResults::is_empty")]
    pub first_as_black: MatchResults,
    /// The same as White.
    #[serde(default, skip_serializing_if = "MatchResults::is_empty")]
    pub first_as_white: MatchResults,
    /// Moves of the written games.
    pub moves: u64,
    /// Positions of the written games that are for training.
    pub training_positions: u64,
    /// Simulations in all games.
    pub simulations: u64,
    /// Games without resignation in which a side would have resigned.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub would_resign: u64,
    /// Those of them that this side did not lose.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrongly_resigned: u64,
    /// Positions that the network has evaluated.
    #[serde(default)]
    pub evaluations: u64,
    /// Positions whose evaluation was in the cache.
    #[serde(default)]
    pub cached: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Results of an engine in a match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MatchResults {
    /// Won games.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Lost games.
    pub losses: u64,
}

impl MatchResults {
    /// Number of games.
    pub const fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }

    const fn is_empty(&self) -> bool {
        self.games() == 0
    }

    /// The results of both.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }

    /// The difference in Elo, with the limits of its 95 % interval: the logit of the score after half a win and half a
    /// loss are added (Gart and Zweifel 1967), with the normal approximation of its error. `None` without a game.
    pub fn elo(&self) -> Option<[f64; 3]> {
        if self.is_empty() {
            return None;
        }
        let [wins, draws, losses] =
            [self.wins as f64 + 0.5, self.draws as f64, self.losses as f64 + 0.5];
        let games = wins + draws + losses;
        let score = (wins + draws / 2.0) / games;
        let squares =
            wins * (1.0 - score).powi(2) + draws * (0.5 - score).powi(2) + losses * score.powi(2);
        let logit = (score / (1.0 - score)).ln();
        let margin = 1.96 * squares.sqrt() / (games * score * (1.0 - score));
        Some([logit, logit - margin, logit + margin].map(|logit| 400.0 / f64::ln(10.0) * logit))
    }
}

impl Totals for GameTotals {
    fn input_identities(&self) -> Vec<InputIdentity> {
        self.inputs.clone()
    }

    fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        check_numbers(&self.games, &[], outputs)?;
        check_outputs(outputs)?;
        match outputs {
            [output] if output.kind == OutputKind::Kept => Ok(self.check_balance(run, outputs)?),
            _ => {
                let (found, expected) = (outputs.len(), "one with games");
                Err(Error::number_of_outputs(found, expected))
            }
        }
    }

    fn check_balance(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        let games = &self.games;
        for (what, counts) in [("endings", &games.endings), ("results", &games.results)] {
            equal(what, sum(counts), "games played", games.played)?;
        }
        let written_or_dropped = games.written.saturating_add(sum(&games.dropped));
        equal("games written and dropped", written_or_dropped, "games played", games.played)?;
        if let (Some(format), [output]) = (format(run), outputs) {
            let (what, expected) = if format.holds_games() {
                ("moves of games written", games.moves)
            } else {
                ("training positions", games.training_positions)
            };
            equal("records of the output", output.records, what, expected)?;
        }
        let done = games.done();
        let expected = games_of(&run.settings, run.shard.as_deref()).unwrap_or(done);
        equal("games and mated openings", done, "games of the run", expected)
    }

    fn add(&mut self, next: &Self) {
        self.games.add(&next.games);
        self.reproducible &= next.reproducible;
    }
}

/// The sum of the counts. Saturates, because a manifest from elsewhere can contain any numbers.
fn sum(counts: &BTreeMap<String, u64>) -> u64 {
    counts.values().fold(0, |sum: u64, count| sum.saturating_add(*count))
}

/// The format of the output.
fn format(run: &RunDescription) -> Option<Format> {
    let to = run.settings.get("to")?.as_str()?;
    to.parse::<FormatName>().ok().map(|name| name.format)
}

/// The number of games of a run or a shard, by its settings.
pub(crate) fn games_of(settings: &Map<String, Value>, shard: Option<&str>) -> Option<u64> {
    let games = settings.get("games").and_then(Value::as_u64)?;
    let Some(shard) = shard else { return Some(games) };
    let range = shard.parse::<Shard>().ok()?.range(games);
    Some(range.end - range.start)
}

impl GameCounts {
    /// Game numbers that are finished.
    pub fn done(&self) -> u64 {
        self.played + self.mated_openings
    }

    fn add(&mut self, next: &Self) {
        for (counts, next) in [
            (&mut self.endings, &next.endings),
            (&mut self.results, &next.results),
            (&mut self.dropped, &next.dropped),
        ] {
            for (name, count) in next {
                *counts.entry(name.clone()).or_default() += count;
            }
        }
        self.first_as_black = self.first_as_black.plus(next.first_as_black);
        self.first_as_white = self.first_as_white.plus(next.first_as_white);
        self.played += next.played;
        self.written += next.written;
        self.mated_openings += next.mated_openings;
        self.moves += next.moves;
        self.training_positions += next.training_positions;
        self.simulations += next.simulations;
        self.would_resign += next.would_resign;
        self.wrongly_resigned += next.wrongly_resigned;
        self.evaluations += next.evaluations;
        self.cached += next.cached;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elo_has_a_finite_interval_for_any_results() {
        for (results, expected) in [
            ([0, 10, 0], Some([0, -62, 62])),
            ([10, 0, 0], Some([529, 36, 1022])),
            ([0, 0, 10], Some([-529, -1022, -36])),
            ([1, 0, 0], Some([191, -365, 747])),
            ([60, 20, 40], Some([58, 1, 115])),
            ([400, 300, 300], Some([35, 17, 53])),
            ([0, 0, 0], None),
        ] {
            let [wins, draws, losses] = results;
            let elo = MatchResults { wins, draws, losses }.elo();
            let rounded = elo.map(|elo| elo.map(|elo| elo.round() as i64));
            assert_eq!(rounded, expected, "{results:?}");
        }
    }
}
