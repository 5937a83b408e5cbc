//! Totals of runs whose kind is not known before their manifest or checkpoint is read.

use serde::de::{Error as _, IntoDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::game_totals::{GameProgress, GameTotals};
use super::identity::RunDescription;
use super::manifest::Totals;
use super::operation_totals::OperationTotals;
use super::record_totals::{RecordProgress, RecordTotals};
use crate::error::Error;
use crate::records::account::{InputIdentity, OutputEntry};

/// The totals of a run of any kind.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum AnyTotals {
    /// A run over the records of archives.
    Records(Box<RecordTotals>),
    /// A run of self-play.
    Games(Box<GameTotals>),
    /// An operation on archives, which has no shards.
    Operation(Box<OperationTotals>),
}

/// The progress of a run of any kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum AnyProgress {
    Records(Box<RecordProgress>),
    Games(Box<GameProgress>),
}

impl AnyTotals {
    /// The totals of a run over records. `None` for other kinds.
    pub const fn as_records(&self) -> Option<&RecordTotals> {
        match self {
            Self::Records(totals) => Some(totals),
            Self::Games(_) | Self::Operation(_) => None,
        }
    }

    /// The counted unit in the plural: `records` or `games`.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::Records(_) | Self::Operation(_) => "records",
            Self::Games(_) => "games",
        }
    }
}

impl<'de> Deserialize<'de> for AnyTotals {
    /// Distinguishes the kinds by a key. An untagged enum would lose the error message about a wrong value.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Map::<String, Value>::deserialize(deserializer)?;
        let (has_games, has_saved) = (values.contains_key("games"), values.contains_key("saved"));
        let values = Value::Object(values).into_deserializer();
        if has_games {
            GameTotals::deserialize(values).map(|totals| Self::Games(Box::new(totals)))
        } else if has_saved {
            RecordTotals::deserialize(values).map(|totals| Self::Records(Box::new(totals)))
        } else {
            OperationTotals::deserialize(values).map(|totals| Self::Operation(Box::new(totals)))
        }
        .map_err(D::Error::custom)
    }
}

impl Totals for AnyTotals {
    fn input_identities(&self) -> Vec<InputIdentity> {
        match self {
            Self::Records(totals) => totals.input_identities(),
            Self::Games(totals) => totals.input_identities(),
            Self::Operation(totals) => totals.input_identities(),
        }
    }

    fn check(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        match self {
            Self::Records(totals) => totals.check(run, outputs),
            Self::Games(totals) => totals.check(run, outputs),
            Self::Operation(totals) => totals.check(run, outputs),
        }
    }

    fn check_balance(&self, run: &RunDescription, outputs: &[OutputEntry]) -> Result<(), Error> {
        match self {
            Self::Records(totals) => totals.check_balance(run, outputs),
            Self::Games(totals) => totals.check_balance(run, outputs),
            Self::Operation(totals) => totals.check_balance(run, outputs),
        }
    }

    fn add(&mut self, next: &Self) {
        match (self, next) {
            (Self::Records(totals), Self::Records(next)) => totals.add(next),
            (Self::Games(totals), Self::Games(next)) => totals.add(next),
            _ => unreachable!("the shards of a run have totals of the same kind"),
        }
    }

    fn finish_merge(&mut self, elapsed_s: f64) {
        match self {
            Self::Records(totals) => totals.finish_merge(elapsed_s),
            Self::Games(totals) => totals.finish_merge(elapsed_s),
            Self::Operation(totals) => totals.finish_merge(elapsed_s),
        }
    }

    fn can_have_shards(&self) -> bool {
        !matches!(self, Self::Operation(_))
    }

    fn is_from_start(&self) -> bool {
        self.as_records().is_none_or(RecordTotals::is_from_start)
    }
}
