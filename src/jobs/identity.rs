//! The identity of a run. Runs with equal identities write equal bytes.
//!
//! An interrupted run can be resumed only with the same identity. Shards can be merged only if their identities agree.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Remedy};
use crate::mate::judge::{NODE_DEFINITION, SOLVER_VERSION};
use crate::records::account::InputIdentity;
use crate::records::shard::Shard;
use crate::storage::path_text::file_name_of;

/// Program, command and settings of a run, without its inputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunDescription {
    /// Name and version of the program.
    pub program: String,
    /// The command, such as `filter`.
    pub command: String,
    /// Version of the definition of a node, which node counts and node limits follow.
    pub node_definition: u32,
    /// Version of the solver. Another version may give other verdicts.
    pub solver_version: u32,
    /// The effective settings, under the long names of the options.
    pub settings: Map<String, Value>,
    /// The shard, as in `3/10`.
    pub shard: Option<String>,
}

/// Everything that determines the bytes of the outputs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Identity {
    /// Program, command and settings.
    #[serde(flatten)]
    pub run: RunDescription,
    /// The inputs, in order.
    pub inputs: Vec<InputIdentity>,
}

/// The commands that process the records of archives and can have shards.
pub(crate) const FILTER: &str = "filter";
pub(crate) const DATASET: &str = "dataset";
pub(crate) const RELABEL: &str = "relabel";

/// The command that solves positions. It has shards if it splits one position.
pub(crate) const SOLVE: &str = "solve";

/// The command that plays games.
pub(crate) const SELFPLAY: &str = "selfplay";

/// The command that joins the outputs of shards.
pub(crate) const MERGE: &str = "merge";

/// The only setting that does not affect the outputs.
const THREADS: &str = "threads";

/// The setting that names the manifest of a previous run. Each shard has a different one.
pub const RETRY_UNKNOWN: &str = "retry-unknown";

impl RunDescription {
    /// The description of a run of this program.
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

    /// The setting that states whether an evaluation depends only on the position. Each process tests this with its own
    /// batch size.
    fn reproducible(&mut self) -> Option<&mut Value> {
        self.settings.get_mut("evaluator")?.get_mut("reproducible")
    }

    /// Combines the descriptions of several processes or shards. The run is reproducible if all of them are.
    pub(crate) fn join_reproducible(&mut self, mut other: Self) {
        if let (Some(own), Some(other)) = (self.reproducible(), other.reproducible()) {
            *own = (*own == true && *other == true).into();
        }
    }

    /// The description of the merged shards.
    pub(crate) fn into_merged(self) -> Self {
        Self { command: MERGE.to_owned(), shard: None, ..self }
    }
}

/// The first difference between two identities.
#[derive(Clone, PartialEq, Debug)]
pub struct IdentityDifference {
    /// Path of the value, such as `settings.nodes`.
    pub what: String,
    /// The value in the first identity.
    pub was: Value,
    /// The value in the second identity.
    pub is: Value,
}

impl fmt::Display for IdentityDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} and is {}", self.what, self.was, self.is)
    }
}

impl Identity {
    /// The first difference from another identity. Ignores the number of threads and whether the evaluator is
    /// reproducible. Also ignores the folders of the inputs, because an input can be named in several ways or copied to
    /// another folder.
    pub fn difference(&self, other: &Self) -> Option<IdentityDifference> {
        difference(&self.comparable(), &other.comparable(), "")
    }

    /// Checks that another run has this identity, which is recorded in the file at `path`.
    pub(crate) fn check_same(&self, path: &Path, other: &Self) -> Result<(), Error> {
        let Some(difference) = self.difference(other) else { return Ok(()) };
        let message = format!(
            "{} belongs to a different run: {}",
            path.display(),
            self.named_difference(&difference)
        );
        let kind = ErrorKind::Different(Box::new(difference));
        let error = Error::new(kind, message).in_file(&path.display());
        Err(error.with_remedy(Remedy::ContinueOrRestart))
    }

    /// Describes a difference. Uses the file name of an input instead of its number.
    fn named_difference(&self, difference: &IdentityDifference) -> String {
        let text = difference.to_string();
        let named = || {
            let (number, rest) = text.strip_prefix("inputs[")?.split_once("].")?;
            let input = self.inputs.get(number.parse::<usize>().ok()?)?;
            (!rest.starts_with("file "))
                .then(|| format!("the input {} differs: {rest}", input.file))
        };
        named().unwrap_or(text)
    }

    fn comparable(&self) -> Value {
        let mut identity = self.clone();
        identity.run.settings.remove(THREADS);
        for input in &mut identity.inputs {
            input.file = file_name_of(&input.file).to_owned();
        }
        if let Some(reproducible) = identity.run.reproducible() {
            *reproducible = Value::Null;
        }
        serde_json::to_value(identity).expect("maps with string keys have a JSON form")
    }
}

/// The first difference between two JSON values. Descends into objects, and into arrays of equal length.
fn difference(first: &Value, second: &Value, place: &str) -> Option<IdentityDifference> {
    let within = |key: &str| if place.is_empty() { key.into() } else { format!("{place}.{key}") };
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys());
            let value = |map: &Map<String, Value>, key| map.get(key).cloned().unwrap_or_default();
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
    fn a_run_is_reproducible_only_if_all_its_processes_are() {
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
    fn a_difference_contains_the_path_of_the_value() {
        let first = json!({"settings": {"nodes": 1000, "to": "hcp"}, "inputs": [{"file": "a"}]});
        assert_eq!(difference(&first, &first, ""), None);
        let text_of_difference =
            |second: Value| difference(&first, &second, "").unwrap().to_string();
        let second = json!({"settings": {"nodes": 2000, "to": "hcp"}, "inputs": [{"file": "a"}]});
        assert_eq!(text_of_difference(second), "settings.nodes was 1000 and is 2000");
        let second = json!({"settings": {"nodes": 1000, "to": "hcp"}, "inputs": [{"file": "b"}]});
        assert_eq!(text_of_difference(second), r#"inputs[0].file was "a" and is "b""#);
        let second = json!({"settings": {"nodes": 1000, "to": "hcp", "every": 2}, "inputs": []});
        assert_eq!(text_of_difference(second), r#"inputs was [{"file":"a"}] and is []"#);
        let second = json!({"settings": {"nodes": 1000, "to": "hcp", "every": 2}, "inputs": [{"file": "a"}]});
        assert_eq!(text_of_difference(second), "settings.every was null and is 2");
    }
}
