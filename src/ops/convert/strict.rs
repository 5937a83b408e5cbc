//! Checks of `--strict`, which refuses any loss.
//!
//! Fields that every record of a packed format loses are refused before the run. Losses of single records are found
//! when they are written, and end the run.

use crate::format::{
    ConversionPlan, Field, FieldChanges, Fields, Format, Game, InfoCounts, RecordRef, Warning,
    Warnings, WriteOptions,
};
use crate::records::counts::Disposition;
use crate::records::processing::ProcessedBlock;
use crate::records::reading::RecordError;
use crate::storage::quantity::quantity;

/// Fields that every record of a format loses. Empty for text and games, whose records may lack any field.
pub(super) fn certain_loss(from: Format, conversion: ConversionPlan) -> Fields {
    if from.family().is_none() {
        return Fields::NONE;
    }
    conversion.lost.without(Fields::of(Field::Ending))
}

/// Content of the bytes that is not a field and is lost when a record is rewritten.
const NON_FIELDS: [(Warning, &str); 5] = [
    (Warning::PaddingNotZero, "padding"),
    (Warning::ResultOutOfRange, "an undefined result"),
    (Warning::ResultFlags, "result flags"),
    (Warning::PlyMismatch, "one of two move numbers"),
    (Warning::LinesSkipped, "unparsed lines"),
];

/// Checks that a written record lost nothing.
pub(super) fn check(
    record: &RecordRef<'_>,
    route: Route,
    effects: RecordEffects,
) -> Result<(), RecordError> {
    if route == Route::Copy {
        return Ok(());
    }
    let fields = effects.written.lost;
    let is_lost = |warning: Warning| {
        // Defined flags are a field.
        let is_field = warning == Warning::ResultFlags && record.fields().contains(Field::Ending);
        effects.warnings.contains(warning) && !is_field
    };
    let non_fields = NON_FIELDS.into_iter().filter(|&(warning, _)| is_lost(warning));
    let names = fields.iter().map(Field::name).chain(non_fields.map(|(_, name)| name));
    check_names(&names.collect::<Vec<_>>())
}

pub(super) fn check_fields(fields: Fields) -> Result<(), RecordError> {
    check_names(&fields.iter().map(Field::name).collect::<Vec<_>>())
}

/// Information lost by a game, other than fields of its records.
#[derive(Clone, Copy, Default)]
pub(super) struct InfoLoss {
    /// Headers, comments and the like.
    pub(super) counts: InfoCounts,
    /// Lines that could not be parsed.
    pub(super) lines: u32,
}

impl InfoLoss {
    /// The loss if the game is rewritten.
    pub(super) fn new(game: &Game, to: Format, options: WriteOptions) -> Self {
        Self { counts: to.lost_info_with(game, options), lines: game.info.skipped_lines }
    }
}

pub(super) fn check_info(loss: InfoLoss) -> Result<(), RecordError> {
    let InfoLoss { counts, lines } = loss;
    let lines = (lines > 0).then(|| quantity(u64::from(lines), "unparsed line"));
    let counts = (!counts.is_zero()).then(|| counts.to_string());
    match [counts, lines].into_iter().flatten().collect::<Vec<_>>() {
        lost if lost.is_empty() => Ok(()),
        lost => Err(RecordError::Loss { what: lost.join(", ") }),
    }
}

fn check_names(names: &[&str]) -> Result<(), RecordError> {
    if names.is_empty() { Ok(()) } else { Err(RecordError::Loss { what: names.join(", ") }) }
}

#[derive(Clone, Copy)]
pub(crate) struct RecordEffects {
    pub(crate) warnings: Warnings,
    pub(crate) written: FieldChanges,
    /// Array fields that stay empty.
    pub(crate) missing: Fields,
}

impl RecordEffects {
    /// Counts a record that becomes part of a game. Its lost fields are counted when the game is written.
    pub(crate) fn count_joined(warnings: Warnings, processed: &mut ProcessedBlock) {
        processed.count_warnings(warnings);
        processed.counts.count_disposition(Disposition::Kept);
    }

    #[inline]
    pub(crate) fn count(self, processed: &mut ProcessedBlock) {
        processed.count_warnings(self.warnings);
        processed.counts.count_disposition(Disposition::Kept);
        processed.count_fields(self.written);
        processed.count_missing(self.missing);
    }
}

/// How records are converted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Route {
    /// The bytes are copied if the record can be read.
    Copy,
    /// [`RecordRef::convert`](crate::format::RecordRef::convert) transcodes the record.
    Transcode,
    /// The record is decoded, mirrored and encoded.
    Mirror,
}
