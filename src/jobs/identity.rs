//! What a run is that searches: equal identities give equal bytes.
//!
//! A run that was interrupted goes on only under the identity it began with, and only shards of one identity
//! are joined.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Remedy};
use crate::mate::judge::{NODE_DEFINITION, SOLVER_VERSION};
use crate::records::account::InputIdentity;
use crate::records::shard::Shard;

/// What is run, whatever it reads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunDescription {
    /// Name and version of the program.
    pub program: String,
    /// What is run.
    pub command: String,
    /// Which definition of a node counts and limits follow.
    pub node_definition: u32,
    /// Which solver gives the verdicts.
    pub solver_version: u32,
    /// The effective settings, under the long names of the options.
    pub settings: Map<String, Value>,
    /// Which part of the input this is, as in `3/10`.
    pub shard: Option<String>,
}

/// Everything that decides the bytes of the outputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Identity {
    /// What is run.
    #[serde(flatten)]
    pub run: RunDescription,
    /// What is read, in order.
    pub inputs: Vec<InputIdentity>,
}

/// The commands that search.
pub(crate) const FILTER: &str = "filter";
pub(crate) const DATASET: &str = "dataset";
pub(crate) const RELABEL: &str = "relabel";

/// The command that plays games.
pub(crate) const SELFPLAY: &str = "selfplay";

/// The command that joins the outputs of shards.
pub(crate) const MERGE: &str = "merge";

/// The one setting that changes no byte.
const THREADS: &str = "threads";

/// Which manifest says what was found out before. Shards have one each.
pub const RETRY_UNKNOWN: &str = "retry-unknown";

impl RunDescription {
    /// That of this program.
    pub(crate) fn new(command: &str, settings: Map<String, Value>, shard: Option<Shard>) -> Self {
        Self {
            program: format!("kyokumen {}", env!("CARGO_PKG_VERSION")),
            command: command.to_owned(),
            node_definition: NODE_DEFINITION,
            solver_version: SOLVER_VERSION,
            settings,
            shard: shard.map(|shard| shard.to_string()),
        }
    }

    /// Whether an evaluation depends only on the position. Each process tests this with its own batch size.
    fn reproducible(&mut self) -> Option<&mut Value> {
        self.settings.get_mut("evaluator")?.get_mut("reproducible")
    }

    /// Combines the results of several processes or shards: all of them must be reproducible.
    pub(crate) fn join_reproducible(&mut self, mut other: Self) {
        if let (Some(own), Some(other)) = (self.reproducible(), other.reproducible()) {
            *own = (*own == true && *other == true).into();
        }
    }

    /// That of the shards of the run, joined.
    pub(crate) fn into_merged(self) -> Self {
        Self { command: MERGE.to_owned(), shard: None, ..self }
    }
}

/// Something in which two identities differ.
#[derive(Clone, PartialEq, Debug)]
pub struct IdentityDifference {
    /// What it is, as a path: `settings.nodes`.
    pub what: String,
    /// The value of the first.
    pub was: Value,
    /// The value of the second.
    pub is: Value,
}

impl fmt::Display for IdentityDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} and is {}", self.what, self.was, self.is)
    }
}

impl Identity {
    /// The first thing in which another identity differs from this one.
    pub fn difference(&self, other: &Self) -> Option<IdentityDifference> {
        difference(&self.comparable(), &other.comparable(), "")
    }

    /// Checks that another run is this one, which is recorded at `path`.
    pub(crate) fn check_same(&self, path: &Path, other: &Self) -> Result<(), Error> {
        let Some(difference) = self.difference(other) else { return Ok(()) };
        let message = format!("{} is of a run in which {difference}", path.display());
        let kind = ErrorKind::Different(Box::new(difference));
        let error = Error::new(kind, message).in_file(&path.display());
        Err(error.with_remedy(Remedy::ContinueOrStartAfresh))
    }

    fn comparable(&self) -> Value {
        let mut identity = self.clone();
        identity.run.settings.remove(THREADS);
        if let Some(reproducible) = identity.run.reproducible() {
            *reproducible = Value::Null;
        }
        serde_json::to_value(identity).expect("maps whose keys are words have a JSON form")
    }
}

/// The first place in which two values differ, objects and lists looked through.
fn difference(first: &Value, second: &Value, place: &str) -> Option<IdentityDifference> {
    let within = |key: &str| if place.is_empty() { key.into() } else { format!("{place}.{key}") };
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys());
            let value = |of: &Map<String, Value>, key| of.get(key).cloned().unwrap_or_default();
            keys.into_iter()
                .find_map(|key| difference(&value(one, key), &value(other, key), &within(key)))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(i, (one, other))| difference(one, other, &format!("{place}[{i}]")))
        }
        _ if first == second => None,
        _ => Some(IdentityDifference {
            what: place.to_owned(),
            was: first.clone(),
            is: second.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_reproducible_if_all_its_processes_are() {
        let identity = |reproducible: bool| {
            let settings = json!({"evaluator": {"network": "a", "reproducible": reproducible}});
            let Value::Object(settings) = settings else { unreachable!() };
            Identity { run: RunDescription::new(RELABEL, settings, None), inputs: Vec::new() }
        };
        for (first, second) in [(true, true), (true, false), (false, true), (false, false)] {
            assert_eq!(identity(first).difference(&identity(second)), None);
            let mut joined = identity(first);
            joined.run.join_reproducible(identity(second).run);
            assert_eq!(joined, identity(first && second));
        }
    }

    #[test]
    fn a_difference_says_where_it_is() {
        let first = json!({"settings": {"nodes": 1000, "to": "hcp"}, "inputs": [{"file": "a"}]});
        assert_eq!(difference(&first, &first, ""), None);
        let told = |second: Value| difference(&first, &second, "").unwrap().to_string();
        let second = json!({"settings": {"nodes": 2000, "to": "hcp"}, "inputs": [{"file": "a"}]});
        assert_eq!(told(second), "settings.nodes was 1000 and is 2000");
        let second = json!({"settings": {"nodes": 1000, "to": "hcp"}, "inputs": [{"file": "b"}]});
        assert_eq!(told(second), r#"inputs[0].file was "a" and is "b""#);
        let second = json!({"settings": {"nodes": 1000, "to": "hcp", "every": 2}, "inputs": []});
        assert_eq!(told(second), r#"inputs was [{"file":"a"}] and is []"#);
        let second = json!({"settings": {"nodes": 1000, "to": "hcp", "every": 2}, "inputs": [{"file": "a"}]});
        assert_eq!(told(second), "settings.every was null and is 2");
    }
}
