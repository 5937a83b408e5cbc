//! Packed records to packed records: the position as bits, what stands behind it field by field.
//!
//! The two families are two alphabets of one text, so nothing is laid on a board; see
//! [`packed::transcode`].

use super::Format;
use super::convert::{ConvertError, Fill, Written};
use super::error::EncodeError;
use super::field::{Field, Fields};
use super::layout::Layout;
use super::packed;
use super::record::{Packed, RecordRef};

impl RecordRef<'_> {
    /// [`RecordRef::convert`] where both formats are packed.
    pub(super) fn transcode(
        &self,
        source: Packed<'_>,
        to: Format,
        target: &Layout,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<Written, ConvertError> {
        let Packed { layout, dialect, position } = source;
        let said = self.fields();
        let lacking = to.fields().without(said);
        let missing = to.needs().intersection(lacking).without(fill.fields());
        if !missing.is_empty() {
            return Err(EncodeError::Missing { fields: missing }.into());
        }
        let position = if layout.family == target.family {
            packed::canonical(layout.family, position)?
        } else {
            packed::transcode(layout.family, position)?
        };
        let mut tail = layout.tail(self.bytes(), dialect);
        let mut lost = said.without(to.fields());
        if tail.ending.is_some_and(|ending| !to.spec().endings.contains(&ending)) {
            lost = lost.union(Fields::of(Field::Ending));
        }
        if self.has_malformed_move() {
            lost = lost.union(Fields::of(Field::BestMove));
        } else if tail.best_move.is_none() {
            // To say that there is no move is to say nothing.
            lost = lost.without(Fields::of(Field::BestMove));
        }
        fill.complete_tail(&mut tail);
        target.append(&position, &tail, out);
        Ok(Written { lost, invented: lacking.intersection(fill.fields()) })
    }
}
