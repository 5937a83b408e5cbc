//! Whether an account can be right: what holds of the numbers of every account that this program writes.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::records::account::{InputEntry, OutputEntry};
use crate::storage::path_text::path_of;

/// More records than any archive has. Sums of many such numbers do not overflow.
pub(crate) const MAX_RECORDS: u64 = 1 << 48;

/// More bytes than any archive has.
pub(crate) const MAX_BYTES: u64 = 1 << 60;

/// Checks that no number exceeds its limit and that ranges of records are not reversed.
pub(crate) fn check_numbers(
    counts: &impl Serialize,
    inputs: &[InputEntry],
    outputs: &[OutputEntry],
) -> Result<(), Error> {
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
            return Err(Error::invalid(format!("{what} is {number}, more than there can be")));
        }
    }
    for InputEntry { identity, from, to, .. } in inputs {
        if from > to {
            return Err(Error::invalid(format!(
                "of {} it speaks of the records from {} to {}",
                identity.file, *from, *to
            )));
        }
    }
    Ok(())
}

/// The largest number in nested objects. A number that is no `u64` counts as [`u64::MAX`].
pub(crate) fn largest(value: &Value) -> u64 {
    match value {
        Value::Object(values) => values.values().map(largest).max().unwrap_or(0),
        Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// Outputs are in the folder of their manifest, each with a unique name and a checksum.
pub(crate) fn check_outputs(outputs: &[OutputEntry]) -> Result<(), Error> {
    if outputs.is_empty() {
        return Err(Error::number_of_outputs(0, "some"));
    }
    let mut names = BTreeSet::new();
    for OutputEntry { file, sha256, .. } in outputs {
        let path = path_of(file);
        let is_name = path.file_name() == Some(path.as_os_str())
            && !path.to_string_lossy().contains(['/', '\0']);
        if !is_name {
            return Err(Error::invalid(format!("{file:?} is no name of an output beside it")));
        }
        if !names.insert(file) {
            return Err(Error::invalid(format!("it names the output {file} twice")));
        }
        if sha256.is_none() {
            return Err(Error::invalid(format!("there is no SHA-256 of {file}")));
        }
    }
    Ok(())
}
