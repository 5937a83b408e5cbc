//! Predicts which fields a conversion loses or fills in.

use crate::Format;
use crate::error::EncodeError;
use crate::field::{Field, Fields};
use crate::fill::Fill;

/// What writing a record did to its fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FieldChanges {
    /// Fields of the record that the format cannot hold.
    pub lost: Fields,
    /// Fields that the record lacks and that were filled in.
    pub filled_in: Fields,
}

/// What a conversion does to fields, as far as the formats and the fill determine it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConversionPlan {
    /// Fields that the source format can hold and the target cannot.
    pub lost: Fields,
    /// Fields that the target holds, the source never has, and the conversion fills in. A plain SFEN always has a move
    /// number: if the source has none, it is 1 and the ply is listed here. The ending is listed if the target always
    /// states how a decided game ended and the source has no endings.
    pub filled_in: Fields,
}

/// Checks a conversion before it begins.
///
/// Single lines of a text may lack fields. Such losses are known only when the lines are converted.
///
/// # Errors
/// [`EncodeError`] if the target needs a field that neither the source format nor `fill` has, or if the target format
/// cannot be written.
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
    let mut filled_in = lacking.intersection(fill.fields());
    if to == Format::Sfen && from.fields().is_empty() {
        filled_in = filled_in.union(Fields::of(Field::Ply));
    }
    let results = from.fields().union(fill.fields()).contains(Field::Result);
    if to.always_states_ending() && results && !from.fields().contains(Field::Ending) {
        filled_in = filled_in.union(Fields::of(Field::Ending));
    }
    let mut lost = from.fields().without(to.fields());
    if from == Format::Usi {
        // Whether a line states how its game ended is known only when it is read.
        lost = lost.without(Fields::of_all(&[Field::Result, Field::Ending]));
    }
    if to == Format::Usi && from.endings().is_empty() {
        // The USI words for a result also say how the game was won.
        lost = lost.union(from.fields().intersection(Fields::of(Field::Result)));
        filled_in = filled_in.without(Fields::of(Field::Result));
    }
    Ok(ConversionPlan { lost, filled_in })
}
