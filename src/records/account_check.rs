//! Plausibility checks for manifests read from disk.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::records::account::{InputEntry, OutputEntry};
use crate::storage::path_text::path_of;

/// Largest plausible number of records. Sums of many such numbers do not overflow.
pub(crate) const MAX_RECORDS: u64 = 1 << 48;

/// Largest plausible number of bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 60;

/// Checks that no number exceeds its limit and that ranges of records are not reversed.
pub(crate) fn check_numbers(
    counts: &impl Serialize,
    inputs: &[InputEntry],
    outputs: &[OutputEntry],
) -> Result<(), Error> {
    let mut counts = serde_json::to_value(counts).unwrap_or_default();
    // The limit is for records, not for search nodes.
    counts.as_object_mut().and_then(|counts| counts.remove("nodes"));
    let records = inputs.iter().map(|input| input.from.max(input.to));
    let records = records.chain(outputs.iter().map(|output| output.records));
    let bytes = inputs.iter().map(InputEntry::end);
    let bytes = bytes.chain(outputs.iter().map(|output| output.bytes));
    for (what, number, most) in [
        ("a record count", largest(&counts), MAX_RECORDS),
        ("a record number", records.max().unwrap_or(0), MAX_RECORDS),
        ("a byte count", bytes.max().unwrap_or(0), MAX_BYTES),
    ] {
        if number > most {
            return Err(Error::invalid(format!("{what} is {number}, above the maximum of {most}")));
        }
    }
    for InputEntry { identity, from, to, .. } in inputs {
        if from > to {
            return Err(Error::invalid(format!(
                "the record range of {} starts at {} and ends at {}",
                identity.file, *from, *to
            )));
        }
    }
    Ok(())
}

/// The largest number in nested objects. A number that is not a `u64` counts as [`u64::MAX`].
pub(crate) fn largest(value: &Value) -> u64 {
    match value {
        Value::Object(values) => values.values().map(largest).max().unwrap_or(0),
        Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// Checks that there is an output, and that each one has a checksum and a unique file name without a folder.
pub(crate) fn check_outputs(outputs: &[OutputEntry]) -> Result<(), Error> {
    if outputs.is_empty() {
        return Err(Error::number_of_outputs(0, "at least one"));
    }
    let mut names = BTreeSet::new();
    for OutputEntry { file, sha256, .. } in outputs {
        let path = path_of(file);
        let is_name = path.file_name() == Some(path.as_os_str())
            && !path.to_string_lossy().contains(['/', '\0']);
        if !is_name {
            return Err(Error::invalid(format!(
                "the output name {file:?} is not a file name without a folder"
            )));
        }
        if !names.insert(file) {
            return Err(Error::invalid(format!("the output {file} is listed twice")));
        }
        if sha256.is_none() {
            return Err(Error::invalid(format!("the output {file} has no SHA-256")));
        }
    }
    Ok(())
}
