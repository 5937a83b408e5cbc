//! Converts packed records to packed records: rewrites the bits of the position and copies the fields.
//!
//! The two families are two codes for the same sequence of pieces, so no board is needed. See [`packed::transcode`].

use super::error::DecodeError;
use super::field::{Field, Fields};
use super::layout::Layout;
use super::{Format, packed};
use crate::conversion_plan::FieldChanges;
use crate::error::ConvertError;
use crate::fill::Fill;
use crate::packed::family::Family;
use crate::record_ref::{Packed, RecordRef};

/// A position that was rewritten together with the one before it. Rewriting two at once is faster than one by one.
#[derive(Debug, Default)]
pub struct Lookahead(Option<TranscodedNext>);

#[derive(Debug)]
struct TranscodedNext {
    /// From the code of the first family to the code of the second.
    families: (Family, Family),
    from: [u8; packed::LEN],
    to: [u8; packed::LEN],
}

impl Lookahead {
    /// The position in the code of family `to`, in canonical form. The bytes returned by `next` are empty or begin with
    /// the next position.
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
    /// [`RecordRef::convert`] for two packed formats.
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
        let present = layout.present(&tail);
        to.check_needs(present, fill)?;
        let position = ahead.rewrite((layout.family, target.family), position, next)?;
        let mut lost = to.losses(present, tail.ending);
        if tail.best_move.is_none() {
            // Losing an explicit "no move" is not a loss, but losing bits that are not a move is.
            let best_move = Fields::of(Field::BestMove);
            let is_malformed = self.has_malformed_move();
            lost = if is_malformed { lost.union(best_move) } else { lost.without(best_move) };
        }
        fill.complete_tail(&mut tail);
        target.append(&position, &tail, out);
        let filled_in = to.fields().without(present).intersection(fill.fields());
        Ok(FieldChanges { lost, filled_in })
    }
}
