//! What `--strict` refuses: anything of a record that does not reach the output.
//!
//! Fields that a packed format always has are refused before the run; what single records lose shows when
//! they are written, and ends it.

use crate::records::reading::Loss;

use super::Account;
use super::plan::Route;
use crate::format::{Field, Fields, Format, Plan, RecordRef, Warning};

/// Fields that every record of a format loses; of text and games none, as they may lack any field.
pub(super) fn certain_loss(from: Format, conversion: Plan) -> Fields {
    if from.family().is_none() {
        return Fields::NONE;
    }
    conversion.lost.without(Fields::of(Field::Ending))
}

/// What bytes say that is no field, and that is gone where a record is written anew.
const BESIDE_FIELDS: [(Warning, &str); 4] = [
    (Warning::PaddingNotZero, "padding"),
    (Warning::ResultOutOfRange, "a result without a meaning"),
    (Warning::ResultFlags, "flags of the result"),
    (Warning::PlyMismatch, "one of two move numbers"),
];

/// Judges what was counted about a record that was written.
pub(super) fn check(record: &RecordRef<'_>, route: Route, account: Account) -> Result<(), Loss> {
    if route == Route::Copy {
        return Ok(());
    }
    let fields = account.written.lost;
    let is_lost = |warning: Warning| {
        // Flags that mean something are a field.
        let is_field = warning == Warning::ResultFlags && record.fields().contains(Field::Ending);
        account.warnings.contains(warning) && !is_field
    };
    let beside = BESIDE_FIELDS.into_iter().filter(|&(warning, _)| is_lost(warning));
    let names = fields.iter().map(Field::name).chain(beside.map(|(_, name)| name));
    lost(&names.collect::<Vec<_>>())
}

/// Judges the fields that a record of a game lost.
pub(super) fn check_fields(fields: Fields) -> Result<(), Loss> {
    lost(&fields.iter().map(Field::name).collect::<Vec<_>>())
}

fn lost(names: &[&str]) -> Result<(), Loss> {
    if names.is_empty() { Ok(()) } else { Err(Loss { what: names.join(", ") }) }
}
