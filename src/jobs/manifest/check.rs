//! Whether a manifest can be right: what holds of every manifest that this program writes.
//!
//! Manifests are text, and may have been edited, cut or mixed up. What is wrong with one is told before any
//! file that it speaks of is opened.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use thiserror::Error;

use super::{InputAccount, Manifest, OutputAccount};
use crate::format::Format;
use crate::jobs::identity::{DATASET, FILTER, MERGE};
use crate::jobs::run_name::RunName;
use crate::jobs::settings::FormatName;
use crate::records::counts::Imbalance;
use crate::records::source::Compression;
use crate::records::stream::Stream;

/// More records than any archive has; so many of anything can be added up.
const MOST_RECORDS: u64 = 1 << 48;

/// More bytes than any archive has.
const MOST_BYTES: u64 = 1 << 60;

/// What cannot be in a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Contradiction {
    /// The sums are wrong.
    #[error(transparent)]
    Imbalance(#[from] Imbalance),
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
        /// What it says, `none` of the whole.
        says: String,
        /// What its name says.
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
    #[error("{records} records of {file}, {format}, do not have {bytes} bytes")]
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
    Place {
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
    #[error("it has {found} outputs, and should have {expected}")]
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

impl Manifest {
    /// Checks that it can be right, by itself and as the manifest of the run of this name.
    ///
    /// # Errors
    /// [`Contradiction`] with the first thing that cannot be.
    pub fn check(&self, name: Option<&RunName>) -> Result<(), Contradiction> {
        check_numbers(&self.counts, &self.inputs, &self.outputs)?;
        self.inputs.iter().try_for_each(check_input)?;
        check_outputs(&self.outputs)?;
        self.check_streams()?;
        self.check_balance()?;
        if self.command == FILTER {
            self.outputs.iter().try_for_each(check_size)?;
        }
        name.map_or(Ok(()), |name| self.check_name(name))
    }

    fn check_name(&self, name: &RunName) -> Result<(), Contradiction> {
        let of_name = name.shard().map(|shard| shard.to_string());
        if self.shard != of_name {
            let word = |shard: &Option<String>| shard.clone().unwrap_or_else(|| "none".to_owned());
            return Err(Contradiction::Shard { says: word(&self.shard), name: word(&of_name) });
        }
        let to = self.settings.get("to").and_then(Value::as_str).unwrap_or_default();
        let expected = |stream: Stream| match &*self.command {
            MERGE => name.to_string(),
            _ => name.file(&stream.suffix(to)),
        };
        let names = self.outputs.iter().map(|output| (&output.file, expected(output.stream)));
        let mut wrong = names.filter(|(file, expected)| *file != expected);
        wrong.next().map_or(Ok(()), |(file, expected)| {
            Err(Contradiction::Name { file: file.clone(), expected })
        })
    }

    /// Each output of the product must be there, and once.
    fn check_streams(&self) -> Result<(), Contradiction> {
        if self.command == MERGE {
            let found = self.outputs.len();
            let is_one = found == 1;
            return if is_one {
                Ok(())
            } else {
                Err(Contradiction::Outputs { found, expected: "one" })
            };
        }
        let is = |setting, word, others| is_word(&self.settings, setting, word, others);
        let sorted = self.command != DATASET;
        let mated = sorted && is("mated", "split", &["drop", "relabel"])?;
        let unknown = sorted && is("unknown", "split", &["keep", "drop"])?;
        let quarantine = is("on-error", "quarantine", &["skip", "stop"])?;
        for stream in Stream::ALL {
            let expected = usize::from(match stream {
                Stream::Kept | Stream::UnknownLines => sorted,
                Stream::Mated | Stream::MatedLines => mated,
                Stream::Unknown => unknown,
                Stream::Rows => !sorted,
                Stream::Quarantine | Stream::QuarantineLines => quarantine,
            });
            let found = self.outputs.iter().filter(|output| output.stream == stream).count();
            if found != expected {
                return Err(Contradiction::Streams { stream, found, expected });
            }
        }
        Ok(())
    }
}

/// Whether a setting is this word, and not one of the others.
fn is_word(
    settings: &Map<String, Value>,
    setting: &'static str,
    word: &str,
    others: &[&str],
) -> Result<bool, Contradiction> {
    let value = settings.get(setting);
    match value.and_then(Value::as_str) {
        Some(is) if is == word => Ok(true),
        Some(is) if others.contains(&is) => Ok(false),
        _ => Err(Contradiction::Setting { setting, value: value.cloned().unwrap_or_default() }),
    }
}

/// Checks what holds of the inputs, outputs and counts of any command.
///
/// # Errors
/// [`Contradiction`] with the first thing that cannot be.
pub(crate) fn check_numbers(
    counts: &impl Serialize,
    inputs: &[InputAccount],
    outputs: &[OutputAccount],
) -> Result<(), Contradiction> {
    let mut counts = serde_json::to_value(counts).unwrap_or_default();
    // Nodes are no records, and are only added up.
    counts.as_object_mut().and_then(|counts| counts.remove("nodes"));
    let records = inputs.iter().map(|input| input.from.max(input.to));
    let records = records.chain(outputs.iter().map(|output| output.records));
    let bytes = inputs.iter().map(InputAccount::end);
    let bytes = bytes.chain(outputs.iter().map(|output| output.bytes));
    for (what, number, most) in [
        ("a count of records", largest(&counts), MOST_RECORDS),
        ("a number of records", records.max().unwrap_or(0), MOST_RECORDS),
        ("a number of bytes", bytes.max().unwrap_or(0), MOST_BYTES),
    ] {
        if number > most {
            return Err(Contradiction::Number { what, number });
        }
    }
    for InputAccount { file, from, to, .. } in inputs {
        if from > to {
            return Err(Contradiction::Range { file: file.clone(), from: *from, to: *to });
        }
    }
    Ok(())
}

/// The largest number in an object of numbers.
fn largest(value: &Value) -> u64 {
    match value {
        Value::Object(values) => values.values().map(largest).max().unwrap_or(0),
        Value::Number(number) => number.as_u64().unwrap_or(u64::MAX),
        _ => 0,
    }
}

/// Records of one size are as many as their bytes say.
fn check_input(input: &InputAccount) -> Result<(), Contradiction> {
    let InputAccount { file, format, from, to, bytes, .. } = input;
    let Some(known) = Format::from_name(format) else {
        return Err(Contradiction::Format { file: file.clone(), format: format.clone() });
    };
    let records = to - from;
    match known.record_len() {
        Some(len) if bytes.div_ceil(len as u64) != records => {
            Err(Contradiction::Size { file: file.clone(), format: known, records, bytes: *bytes })
        }
        _ => Ok(()),
    }
}

/// The same of an output, whose name says what it holds.
fn check_size(output: &OutputAccount) -> Result<(), Contradiction> {
    let OutputAccount { file, stream, records, bytes, .. } = output;
    let name = FormatName::from_file_name(file).filter(|_| stream.holds_records());
    let Some(FormatName { format, compression: Compression::None }) = name else { return Ok(()) };
    match format.record_len() {
        Some(len) if records.checked_mul(len as u64) != Some(*bytes) => Err(Contradiction::Size {
            file: file.clone(),
            format,
            records: *records,
            bytes: *bytes,
        }),
        _ => Ok(()),
    }
}

/// Outputs stand beside their manifest, each under a name of its own and with a checksum.
///
/// # Errors
/// [`Contradiction`] with the first thing that cannot be.
pub(crate) fn check_outputs(outputs: &[OutputAccount]) -> Result<(), Contradiction> {
    if outputs.is_empty() {
        return Err(Contradiction::Outputs { found: 0, expected: "some" });
    }
    let mut names = BTreeSet::new();
    for OutputAccount { file, sha256, .. } in outputs {
        // A name on one system may be a path on another.
        let is_name =
            Path::new(file).file_name() == Some(file.as_ref()) && !file.contains(['/', '\\', '\0']);
        if !is_name {
            return Err(Contradiction::Place { file: file.clone() });
        }
        if !names.insert(file) {
            return Err(Contradiction::Twice { file: file.clone() });
        }
        if sha256.is_none() {
            return Err(Contradiction::NoChecksum { file: file.clone() });
        }
    }
    Ok(())
}
