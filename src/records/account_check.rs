//! Whether an account can be right: what holds of the numbers of every account that this program writes.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::format::Format;
use crate::records::account::{InputEntry, OutputEntry};
use crate::records::counts::ImbalanceError;
use crate::records::stream::Stream;
use crate::storage::path_text::path_of;
use crate::storage::quantity::quantity;

/// More records than any archive has; so many of anything can be added up.
pub(crate) const MAX_RECORDS: u64 = 1 << 48;

/// More bytes than any archive has.
pub(crate) const MAX_BYTES: u64 = 1 << 60;

/// What cannot be in a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ContradictionError {
    /// The sums are wrong.
    #[error(transparent)]
    Imbalance(#[from] ImbalanceError),
    /// A number is larger than there can be of anything.
    #[error("{what} is {number}, more than there can be")]
    Number {
        /// What it is the number of.
        what: &'static str,
        /// The number.
        number: u64,
    },
    /// It is the manifest of another shard than its name says.
    #[error("it is of shard {says}, its name says {name}")]
    Shard {
        /// What it says.
        says: String,
        /// What its name says, `none` for that of the whole.
        name: String,
    },
    /// A range ends before it begins.
    #[error("of {file} it speaks of the records from {from} to {to}")]
    Range {
        /// The input.
        file: String,
        /// The first record.
        from: u64,
        /// The record behind the last one.
        to: u64,
    },
    /// So many records do not have so many bytes.
    #[error("{file}, {format}, cannot have {} in {}", quantity(*records, "record"), quantity(*bytes, "byte"))]
    Size {
        /// The input or output.
        file: String,
        /// Its format.
        format: Format,
        /// Its records.
        records: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// A format that this version does not know.
    #[error("the format of {file} is {format:?}, which is none")]
    Format {
        /// The input.
        file: String,
        /// What is said to be its format.
        format: String,
    },
    /// The name of an output leads out of the folder, or is no name.
    #[error("{file:?} is no name of an output beside it")]
    OutsideFolder {
        /// The name.
        file: String,
    },
    /// An output has another name than that of its run and stream.
    #[error("it names the output {file}, which should be {expected}")]
    Name {
        /// The name.
        file: String,
        /// What it should be.
        expected: String,
    },
    /// An output that is there too often, not at all, or that the settings exclude.
    #[error("its outputs of the stream {stream} are {found}, its settings make {expected}")]
    Streams {
        /// What the output holds.
        stream: Stream,
        /// How often it is there.
        found: usize,
        /// How often it should be.
        expected: usize,
    },
    /// Two outputs of one name.
    #[error("it names the output {file} twice")]
    Twice {
        /// The name.
        file: String,
    },
    /// A run without outputs.
    #[error("it has {}, and should have {expected}", quantity(*found, "output"))]
    Outputs {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: &'static str,
    },
    /// A setting that decides which outputs there are says nothing that can be understood.
    #[error("settings.{setting} is {value}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: Value,
    },
    /// Something was written and has no checksum.
    #[error("there is no SHA-256 of {file}")]
    NoChecksum {
        /// The output.
        file: String,
    },
}

/// Checks what holds of the inputs, outputs and counts of any command.
///
/// # Errors
/// [`ContradictionError`] with the first thing that cannot be.
pub(crate) fn check_numbers(
    counts: &impl Serialize,
    inputs: &[InputEntry],
    outputs: &[OutputEntry],
) -> Result<(), ContradictionError> {
    let mut counts = serde_json::to_value(counts).unwrap_or_default();
    // Nodes are no records, and are only added up.
    counts.as_object_mut().and_then(|counts| counts.remove("nodes"));
    let records = inputs.iter().map(|input| input.from.max(input.to));
    let records = records.chain(outputs.iter().map(|output| output.records));
    let bytes = inputs.iter().map(InputEntry::end);
    let bytes = bytes.chain(outputs.iter().map(|output| output.bytes));
    for (what, number, most) in [
        ("a count of records", largest(&counts), MAX_RECORDS),
        ("a number of records", records.max().unwrap_or(0), MAX_RECORDS),
        ("a number of bytes", bytes.max().unwrap_or(0), MAX_BYTES),
    ] {
        if number > most {
            return Err(ContradictionError::Number { what, number });
        }
    }
    for InputEntry { identity, from, to, .. } in inputs {
        if from > to {
            return Err(ContradictionError::Range {
                file: identity.file.clone(),
                from: *from,
                to: *to,
            });
        }
    }
    Ok(())
}

/// The largest number in an object of numbers.
pub(crate) fn largest(value: &Value) -> u64 {
    match value {
        Value::Object(values) => values.values().map(largest).max().unwrap_or(0),
        Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// Outputs stand beside their manifest, each under a name of its own and with a checksum.
///
/// # Errors
/// [`ContradictionError`] with the first thing that cannot be.
pub(crate) fn check_outputs(outputs: &[OutputEntry]) -> Result<(), ContradictionError> {
    if outputs.is_empty() {
        return Err(ContradictionError::Outputs { found: 0, expected: "some" });
    }
    let mut names = BTreeSet::new();
    for OutputEntry { file, sha256, .. } in outputs {
        let path = path_of(file);
        let is_name = path.file_name() == Some(path.as_os_str())
            && !path.to_string_lossy().contains(['/', '\0']);
        if !is_name {
            return Err(ContradictionError::OutsideFolder { file: file.clone() });
        }
        if !names.insert(file) {
            return Err(ContradictionError::Twice { file: file.clone() });
        }
        if sha256.is_none() {
            return Err(ContradictionError::NoChecksum { file: file.clone() });
        }
    }
    Ok(())
}
