//! Whether a manifest can be right: what holds of every manifest that this program writes.
//!
//! Manifests are text, and may have been edited, truncated or mixed up. They are checked before any
//! file that they list is opened.

use serde_json::{Map, Value};

use super::Manifest;
use crate::format::Format;
use crate::jobs::identity::{DATASET, FILTER, MERGE, RELABEL};
use crate::jobs::run_name::RunName;
use crate::records::account::{InputEntry, InputIdentity, OutputEntry};
use crate::records::account_check::{ContradictionError, check_numbers, check_outputs};
use crate::records::format_name::FormatName;
use crate::records::stream::Stream;
use crate::storage::compression::Compression;

impl Manifest {
    /// Checks that it can be right, by itself and as the manifest of the run of this name.
    ///
    /// # Errors
    /// [`ContradictionError`] with the first thing that cannot be.
    pub fn check(&self, name: Option<&RunName>) -> Result<(), ContradictionError> {
        check_numbers(&self.counts, &self.inputs, &self.outputs)?;
        self.inputs.iter().try_for_each(check_input)?;
        check_outputs(&self.outputs)?;
        self.check_streams()?;
        self.check_balance()?;
        if matches!(&*self.run.command, FILTER | RELABEL) {
            self.outputs.iter().try_for_each(check_size)?;
        }
        name.map_or(Ok(()), |name| {
            self.named(name).check(
                &self.run.command,
                self.run.shard.as_deref(),
                &self.run.settings,
                &self.outputs,
            )
        })
    }

    /// Each output of the product must be there, and once.
    fn check_streams(&self) -> Result<(), ContradictionError> {
        if self.run.command == MERGE {
            let found = self.outputs.len();
            let is_one = found == 1;
            return if is_one {
                Ok(())
            } else {
                Err(ContradictionError::Outputs { found, expected: "one" })
            };
        }
        let is = |setting, word, others| is_word(&self.run.settings, setting, word, others);
        let writes_rows = self.run.command == DATASET;
        let sorts_records = !writes_rows && self.run.command != RELABEL;
        let mated = sorts_records && is("mated", "split", &["drop", "relabel"])?;
        let unknown = sorts_records && is("unknown", "split", &["keep", "drop"])?;
        let quarantine = is("on-error", "quarantine", &["skip", "stop"])?;
        for stream in Stream::ALL {
            let expected = usize::from(match stream {
                Stream::Kept => !writes_rows,
                Stream::MatedLines | Stream::UnknownLines => sorts_records,
                Stream::Mated => mated,
                Stream::Unknown => unknown,
                Stream::Rows => writes_rows,
                Stream::Quarantine | Stream::QuarantineLines => quarantine,
            });
            let found = self.outputs.iter().filter(|output| output.stream == stream).count();
            if found != expected {
                return Err(ContradictionError::Streams { stream, found, expected });
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
) -> Result<bool, ContradictionError> {
    let value = settings.get(setting);
    match value.and_then(Value::as_str) {
        Some(is) if is == word => Ok(true),
        Some(is) if others.contains(&is) => Ok(false),
        _ => {
            Err(ContradictionError::Setting { setting, value: value.cloned().unwrap_or_default() })
        }
    }
}

/// Records of one size are as many as their bytes say.
fn check_input(input: &InputEntry) -> Result<(), ContradictionError> {
    let InputEntry { identity: InputIdentity { file, format, .. }, from, to, bytes, .. } = input;
    let Some(known) = Format::from_name(format) else {
        return Err(ContradictionError::Format { file: file.clone(), format: format.clone() });
    };
    let records = to - from;
    match known.record_len() {
        Some(len) if bytes.div_ceil(len as u64) != records => Err(ContradictionError::Size {
            file: file.clone(),
            format: known,
            records,
            bytes: *bytes,
        }),
        _ => Ok(()),
    }
}

/// The same of an output, whose name says what it holds.
fn check_size(output: &OutputEntry) -> Result<(), ContradictionError> {
    let OutputEntry { file, stream, records, bytes, .. } = output;
    let name = FormatName::from_file_name(file).filter(|_| stream.holds_records());
    let Some(FormatName { format, compression: Compression::None }) = name else { return Ok(()) };
    match format.record_len() {
        Some(len) if records.checked_mul(len as u64) != Some(*bytes) => {
            Err(ContradictionError::Size {
                file: file.clone(),
                format,
                records: *records,
                bytes: *bytes,
            })
        }
        _ => Ok(()),
    }
}
