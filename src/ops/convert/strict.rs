//! What `--strict` refuses: anything of a record that does not reach the output.
//!
//! Fields that a packed format always has are refused before the run; what single records lose shows when
//! they are written, and ends it.

use crate::format::{
    ConversionPlan, Field, FieldChanges, Fields, Format, Game, InfoCounts, RecordRef, Warning,
    Warnings, WriteOptions,
};
use crate::records::counts::Disposition;
use crate::records::processing::ProcessedBlock;
use crate::records::reading::RecordError;
use crate::storage::quantity::quantity;

/// Fields that every record of a format loses. None for text and games, which may lack any field.
pub(super) fn certain_loss(from: Format, conversion: ConversionPlan) -> Fields {
    if from.family().is_none() {
        return Fields::NONE;
    }
    conversion.lost.without(Fields::of(Field::Ending))
}

/// Content of the bytes that is not a field and is lost when a record is rewritten.
const BESIDE_FIELDS: [(Warning, &str); 5] = [
    (Warning::PaddingNotZero, "padding"),
    (Warning::ResultOutOfRange, "a result without a meaning"),
    (Warning::ResultFlags, "flags of the result"),
    (Warning::PlyMismatch, "one of two move numbers"),
    (Warning::LinesSkipped, "lines that were not understood"),
];

/// Fails if a written record lost anything.
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
        // Flags that mean something are a field.
        let is_field = warning == Warning::ResultFlags && record.fields().contains(Field::Ending);
        effects.warnings.contains(warning) && !is_field
    };
    let beside = BESIDE_FIELDS.into_iter().filter(|&(warning, _)| is_lost(warning));
    let names = fields.iter().map(Field::name).chain(beside.map(|(_, name)| name));
    lost(&names.collect::<Vec<_>>())
}

pub(super) fn check_fields(fields: Fields) -> Result<(), RecordError> {
    lost(&fields.iter().map(Field::name).collect::<Vec<_>>())
}

/// What a game lost besides fields of its records.
#[derive(Clone, Copy, Default)]
pub(super) struct InfoLoss {
    /// Headers, comments and the like.
    pub(super) counts: InfoCounts,
    /// Lines that were not understood.
    pub(super) lines: u32,
}

impl InfoLoss {
    /// The loss if the game is written anew.
    pub(super) fn of(game: &Game, to: Format, options: WriteOptions) -> Self {
        Self { counts: to.lost_info_with(game, options), lines: game.info.skipped_lines }
    }
}

pub(super) fn check_info(loss: InfoLoss) -> Result<(), RecordError> {
    let InfoLoss { counts, lines } = loss;
    let lines =
        (lines > 0).then(|| format!("{} not understood", quantity(u64::from(lines), "line")));
    let counts = (!counts.is_zero()).then(|| counts.to_string());
    match [counts, lines].into_iter().flatten().collect::<Vec<_>>() {
        what if what.is_empty() => Ok(()),
        what => Err(RecordError::Loss { what: what.join(", ") }),
    }
}

fn lost(names: &[&str]) -> Result<(), RecordError> {
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
    /// Counts a record that becomes part of a game. Its lost fields are counted with the game.
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
    /// Bytes are copied if they can be read.
    Copy,
    /// [`RecordRef::convert`](crate::format::RecordRef::convert) takes the shortest way between the two formats.
    Transcode,
    /// The decoded record is mirrored and encoded.
    Mirror,
}
