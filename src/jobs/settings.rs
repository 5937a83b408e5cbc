//! What the user may choose about a run that searches.
//!
//! The words are those of `gen-filter`'s command line, here, in configuration files and in manifests.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::Fill;
use crate::jobs::shares::Shares;
use crate::mate::judge::MateSettings;
use crate::records::bad_record::BadPolicy;
use crate::records::filters::RecordFilters;
use crate::storage::table::TableFormat;

/// Everything that decides which bytes come out, and the number of threads, which does not.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Limits of one search.
    pub search: MateSettings,
    /// What becomes of mates.
    pub mated: MatedPolicy,
    /// What becomes of positions on which the search stopped before it knew.
    pub unknown: UnknownPolicy,
    /// What becomes of records that cannot be used.
    pub on_error: BadPolicy,
    /// Which records are searched at all.
    pub filters: RecordFilters,
    /// Records after which reading stops, over all inputs; shards are parts of them.
    pub limit: Option<u64>,
    /// What is written into fields that the input does not have.
    pub fill: Fill,
    /// If not records are to come out but rows of a table, which takes the place of what becomes of mates, of
    /// the unknown and of missing fields.
    pub dataset: Option<DatasetSettings>,
    /// If records are not to be judged but to get new evaluations.
    pub relabel: Option<RelabelSettings>,
    /// Threads, 0 for as many as the machine runs at once.
    pub threads: usize,
}

/// What becomes of mates.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MatedPolicy {
    /// They are written to a file of their own, with the proofs beside.
    #[default]
    Split,
    /// They are not written.
    Drop,
    /// They are kept, with result, evaluation and move of the proof where the format can say it.
    Relabel,
}

/// What becomes of positions on which the search stopped before it knew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum UnknownPolicy {
    /// They are kept.
    #[default]
    Keep,
    /// They are not written.
    Drop,
    /// They are written to a file of their own.
    Split,
}

/// What may be chosen about a dataset besides the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatasetSettings {
    /// How it is written.
    pub format: TableFormat,
    /// How much of it is for what.
    pub shares: Shares,
    /// Whether mates are also measured as problems count them.
    pub tsume_plies: bool,
}

/// What may be chosen about new evaluations.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RelabelSettings {
    /// What evaluates, with all that its answers depend on.
    pub evaluator: Map<String, Value>,
    /// Weight of the game's result, from 0 to 1; the rest is that of the evaluation.
    pub mix: f32,
    /// Centipawns where the odds are e to 1.
    pub scale: f32,
    /// Whether the best move and the visits of the moves are written, too.
    pub policy: bool,
}
