//! What becomes of the fields of records on their way into another format.

use crate::Format;
use crate::error::EncodeError;
use crate::field::{Field, Fields};
use crate::fill::Fill;

/// What happened to the fields of a record when it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FieldChanges {
    /// Fields that the record has and the format cannot hold.
    pub lost: Fields,
    /// Fields that the record lacks and that were filled in.
    pub invented: Fields,
}

/// What a conversion does to fields, known before a record is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConversionPlan {
    /// Fields that the source format can hold and the target cannot.
    pub lost: Fields,
    /// Fields that the target holds and the source never does: they are filled in. A plain SFEN always has a move
    /// number; where the source has none it is 1, and the ply is listed here. So is the ending where games that
    /// somebody won are written with one, though the source knows none.
    pub invented: Fields,
}

/// Judges a conversion before it begins.
///
/// Text may lack fields in some lines only: that shows when they are converted.
///
/// # Errors
/// [`EncodeError`] if the target needs fields that the source format cannot hold and `fill` lacks, or
/// if it is never written.
pub fn conversion_plan(
    from: Format,
    to: Format,
    fill: &Fill,
) -> Result<ConversionPlan, EncodeError> {
    if !to.is_written() {
        return Err(EncodeError::OnlyRead { format: to.name() });
    }
    if !to.holds_positions() && !from.fields().contains(Field::BestMove) {
        return Err(EncodeError::NoMoves { from, to });
    }
    let lacking = to.fields().without(from.fields());
    let fields = to.needs().without(from.fields()).without(fill.fields());
    if !fields.is_empty() {
        return Err(EncodeError::NeverHeld { from, to, fields });
    }
    let mut invented = lacking.intersection(fill.fields());
    if to == Format::Sfen && from.fields().is_empty() {
        invented = invented.union(Fields::of(Field::Ply));
    }
    let results = from.fields().union(fill.fields()).contains(Field::Result);
    if to.always_says_ending() && results && !from.fields().contains(Field::Ending) {
        invented = invented.union(Fields::of(Field::Ending));
    }
    let mut lost = from.fields().without(to.fields());
    if from == Format::Usi {
        // Whether a line states how its game ended is known only when it is read.
        lost = lost.without(Fields::of_all(&[Field::Result, Field::Ending]));
    }
    if to == Format::Usi && from.endings().is_empty() {
        // The USI words for a result also say how the game was won.
        lost = lost.union(from.fields().intersection(Fields::of(Field::Result)));
        invented = invented.without(Fields::of(Field::Result));
    }
    Ok(ConversionPlan { lost, invented })
}
