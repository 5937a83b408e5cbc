//! Packed records to packed records: the position as bits, what stands behind it field by field.
//!
//! The two families are two alphabets of one text, so nothing is laid on a board; see
//! [`packed::transcode`].

use super::error::DecodeError;
use super::field::{Field, Fields};
use super::layout::Layout;
use super::{Format, packed};
use crate::conversion_plan::FieldChanges;
use crate::error::ConvertError;
use crate::fill::Fill;
use crate::packed::family::Family;
use crate::record_ref::{Packed, RecordRef};

/// A position that was rewritten together with the one before it, which takes less time than one after the
/// other.
#[derive(Debug, Default)]
pub struct Lookahead(Option<TranscodedNext>);

#[derive(Debug)]
struct TranscodedNext {
    /// From the alphabet of the first family into that of the second.
    families: (Family, Family),
    from: [u8; packed::LEN],
    to: [u8; packed::LEN],
}

impl Lookahead {
    /// A position in canonical form in the alphabet of a family; what `next` gives begins with the position
    /// that comes next, or is empty.
    pub(super) fn rewrite<'a>(
        &mut self,
        (from, to): (Family, Family),
        position: &[u8; packed::LEN],
        next: &dyn Fn() -> &'a [u8],
    ) -> Result<[u8; packed::LEN], DecodeError> {
        if let Some(done) = self.0.take()
            && (done.families, &done.from) == ((from, to), position)
        {
            return Ok(done.to);
        }
        if let Some(next) = next().first_chunk() {
            let both = [position, next];
            let [this, that] = if from == to {
                packed::canonical_two(from, both)
            } else {
                packed::transcode_two(from, both)
            };
            self.0 =
                that.map(|that| TranscodedNext { families: (from, to), from: *next, to: that });
            if let Some(this) = this {
                return Ok(this);
            }
        }
        if from == to {
            packed::canonical(from, position)
        } else {
            packed::transcode(from, position)
        }
    }
}

impl RecordRef<'_> {
    /// [`RecordRef::convert`] where both formats are packed.
    pub(super) fn transcode<'a>(
        &self,
        source: Packed<'_>,
        to: Format,
        target: &Layout,
        fill: &Fill,
        (ahead, next): (&mut Lookahead, &dyn Fn() -> &'a [u8]),
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        let Packed { layout, dialect, position } = source;
        let mut tail = layout.tail(self.bytes(), dialect);
        let said = layout.said(&tail);
        to.check_needs(said, fill)?;
        let position = ahead.rewrite((layout.family, target.family), position, next)?;
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
        Ok(FieldChanges { lost, invented })
    }
}
