//! Blocks of consecutive units, processed together, and the units in them.

use std::ops::Range;

use crate::format::Format;
use crate::format::move16::Dialect;
use crate::records::source::budget::MemoryPermit;
use crate::records::source::cut::{is_cut_piece, unit_end};
use crate::records::source::{PartRead, RawUnit};

/// Consecutive units of one input.
#[derive(Debug)]
pub struct Block {
    /// Which of the parts, from 0.
    pub part: usize,
    /// Format of the records.
    pub format: Format,
    /// How packed moves are encoded.
    pub dialect: Dialect,
    /// Index, within its input, of the first record of the first unit.
    pub first_index: u64,
    /// Offset of the first unit within its input, uncompressed.
    pub offset: u64,
    /// Number, over all inputs, of the first record that is wanted.
    pub first_number: u64,
    /// Indices of the records that are wanted. A group may hold others, which are not part of this block.
    pub wanted: Range<u64>,
    /// Whether the first unit continues one that was too long.
    pub(crate) starts_mid_unit: bool,
    pub(crate) bytes: Vec<u8>,
    /// What was read of the input up to its end.
    pub(crate) read: PartRead,
    /// The room that its bytes take, where that is bounded.
    pub(crate) permit: Option<MemoryPermit>,
}

/// What the source delivers, in order.
#[derive(Debug)]
pub enum Delivery {
    /// The next records.
    Block(Block),
    /// A part was read to its end.
    End(PartRead),
}

impl Block {
    /// Bytes of all its units.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What was read of the input up to the end of this block.
    pub const fn read(&self) -> PartRead {
        self.read
    }

    /// Number over all inputs of a record with this index.
    pub const fn number_of(&self, index: u64) -> u64 {
        (self.first_number + index).saturating_sub(self.wanted.start)
    }

    /// What follows a unit of this block, as far as it was read.
    pub(crate) fn behind(&self, unit: &RawUnit<'_>) -> &[u8] {
        let end =
            usize::try_from(unit.offset).unwrap_or(usize::MAX).saturating_add(unit.bytes.len());
        self.bytes.get(end..).unwrap_or_default()
    }

    /// Its units, in order.
    pub fn units(&self) -> Units<'_> {
        Units { block: self, at: 0, mid_unit: self.starts_mid_unit }
    }
}

/// The units of a block.
#[derive(Clone, Debug)]
pub struct Units<'a> {
    block: &'a Block,
    at: usize,
    mid_unit: bool,
}

impl<'a> Iterator for Units<'a> {
    type Item = RawUnit<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawUnit<'a>> {
        let (format, offset) = (self.block.format, self.at as u64);
        let rest = self.block.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        if let Some(len) = format.record_len() {
            let bytes = &rest[..len.min(rest.len())];
            self.at += bytes.len();
            return Some(RawUnit { bytes, offset, is_cut: false });
        }
        let bytes = &rest[..unit_end(format, rest, true).unwrap_or(rest.len())];
        let goes_on = is_cut_piece(format, bytes);
        let is_cut = std::mem::replace(&mut self.mid_unit, goes_on) || goes_on;
        self.at += bytes.len();
        Some(RawUnit { bytes, offset, is_cut })
    }
}
