//! Packed records to packed records: the position as bits, what stands behind it field by field.
//!
//! The two families are two alphabets of one text, so nothing is laid on a board; see
//! [`packed::transcode`].

use super::Format;
use super::convert::{ConvertError, Fill, Written};
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
        let mut tail = layout.tail(self.bytes(), dialect);
        let said = layout.said(&tail);
        to.check_needs(said, fill)?;
        let position = if layout.family == target.family {
            packed::canonical(layout.family, position)?
        } else {
            packed::transcode(layout.family, position)?
        };
        let mut lost = to.losses(said, tail.ending);
        if tail.best_move.is_none() {
            // To say that there is no move is to say nothing; bits that are no move say something.
            let best_move = Fields::of(Field::BestMove);
            let is_malformed = self.has_malformed_move();
            lost = if is_malformed { lost.union(best_move) } else { lost.without(best_move) };
        }
        fill.complete_tail(&mut tail);
        target.append(&position, &tail, out);
        let invented = to.fields().without(said).intersection(fill.fields());
        Ok(Written { lost, invented })
    }
}
