//! The data that `kyokumen inspect` shows about a record, as JSON or text.

use serde::Serialize;

use crate::format::{ContentHash, DecodeError, Field, JsonRecord, RecordRef, Warning};
use crate::ops::inspect::InspectedRecord;
use crate::shogi::Position;
use crate::storage::checksum::hex;

/// A line of `--json`. Exactly one of `content` and `error` is set.
#[derive(Serialize)]
pub(super) struct Described<'a> {
    file: &'a str,
    index: u64,
    offset: u64,
    #[serde(flatten)]
    pub(super) content: Option<RecordValues>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hex: Option<String>,
}

#[derive(Serialize)]
pub(super) struct RecordValues {
    #[serde(flatten)]
    pub(super) values: JsonRecord,
    pub(super) in_check: Option<bool>,
    pub(super) warnings: Vec<&'static str>,
    pub(super) key: String,
}

impl<'a> Described<'a> {
    pub(super) fn new(file: &'a str, found: &InspectedRecord<'_>, with_hex: bool) -> Self {
        let content = match &found.record {
            Ok(record) => content(record).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let (content, error) = match content {
            Ok(content) => (Some(content), None),
            Err(error) => (None, Some(error)),
        };
        let hex = with_hex.then(|| hex(found.bytes));
        Self { file, index: found.index, offset: found.offset, content, error, hex }
    }
}

fn content(record: &RecordRef<'_>) -> Result<RecordValues, DecodeError> {
    let content = record.record()?;
    let position = Position::try_from(&content.setup).ok();
    let warnings = record.warnings_about(&content.setup, position.as_ref())?;
    Ok(RecordValues {
        values: JsonRecord::of(&content, record.fields().contains(Field::BestMove)),
        in_check: position.map(|position| position.in_check()),
        warnings: warnings.iter().map(Warning::name).collect(),
        key: ContentHash::of(&content.setup).to_string(),
    })
}
