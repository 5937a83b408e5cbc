//! The settings of a run over records.
//!
//! The names in configuration files and manifests follow the command line of `gen-filter`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::Fill;
use crate::jobs::shares::Shares;
use crate::mate::judge::MateSettings;
use crate::records::bad_record::BadPolicy;
use crate::records::filters::RecordFilters;
use crate::storage::table::TableFormat;

/// All settings that affect the outputs, and the number of threads, which does not.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Limits of one search.
    pub search: MateSettings,
    /// What to do with mated positions, where the side to move can force mate, or is in check and its opponent can
    /// force mate.
    pub mated: MatedPolicy,
    /// What to do with positions that the search could not decide.
    pub unknown: UnknownPolicy,
    /// What to do with bad records.
    pub on_error: BadPolicy,
    /// Conditions on the records. Other records are neither searched nor written.
    pub filters: RecordFilters,
    /// Maximum number of records to read, over all inputs. Shards divide these records.
    pub limit: Option<u64>,
    /// Values for fields that the inputs lack.
    pub fill: Fill,
    /// Writes a table instead of records. Then `mated`, `unknown` and `fill` have no effect.
    pub dataset: Option<DatasetSettings>,
    /// The position whose leaves the records are. Writes their verdicts and proofs instead of records.
    pub split: Option<SplitSettings>,
    /// Gives records new evaluations instead of searching for mates.
    pub relabel: Option<RelabelSettings>,
    /// Number of threads. 0 uses all cores.
    pub threads: usize,
}

/// What to do with mated positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MatedPolicy {
    /// Write the records to a separate file.
    #[default]
    Split,
    /// Do not write the records.
    Drop,
    /// Write the records to the kept positions, with result, evaluation and move of the proven mate in fields that the
    /// format has.
    Relabel,
}

/// What to do with positions that the search could not decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum UnknownPolicy {
    /// Write the records to the kept positions.
    #[default]
    Keep,
    /// Do not write the records.
    Drop,
    /// Write the records to a separate file.
    Split,
}

/// The settings of a dataset, besides the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatasetSettings {
    /// Format of the table.
    pub format: TableFormat,
    /// Proportions of training, validation and test data.
    pub shares: Shares,
    /// Whether to measure mates also as tsume problems count them, without futile interpositions.
    pub tsume_plies: bool,
}

/// The position that [`SplitTree`](crate::mate::split::SplitTree) splits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SplitSettings {
    /// The position as SFEN.
    pub sfen: String,
    /// Number of its first plies.
    #[serde(rename = "split")]
    pub plies: u16,
}

/// The settings of new evaluations.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RelabelSettings {
    /// The network or engine, with everything that its evaluations depend on.
    pub evaluator: Map<String, Value>,
    /// Whether the stored evaluations take the place of an evaluator. Records without one stay unchanged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_eval: bool,
    /// Weight of the game result, from 0 to 1. The evaluation has the remaining weight.
    pub mix: f32,
    /// Eval scale: the evaluation in centipawns where the odds of winning are e to 1.
    pub scale: f32,
    /// Whether to write also the best move and the visit counts of the moves.
    pub policy: bool,
}
