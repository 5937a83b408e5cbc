//! Where blocks end: behind whole units.

use crate::format::{Format, RawUnit};

/// A block is closed when it has this many bytes, however few records they are.
pub(super) const FULL_BLOCK_BYTES: usize = 1 << 20;

/// How many records are to be taken, in whole units.
#[derive(Clone, Copy)]
pub(super) enum TakeLimit {
    /// So many, or more where the last unit holds more.
    AtLeast(u64),
    /// So many, or fewer where the last unit would hold more.
    AtMost(u64),
}

/// Whole units at the start of a buffer, as far as they have been looked at.
#[derive(Clone, Copy, Default)]
pub(super) struct ScannedUnits {
    pub(super) bytes: usize,
    pub(super) records: u64,
    /// Whether the last one is a piece of a unit that goes on; of no unit, whether the next one continues
    /// such a piece.
    pub(super) ends_mid_unit: bool,
}

impl ScannedUnits {
    /// What comes behind.
    pub(super) const fn behind(self) -> Self {
        Self { bytes: 0, records: 0, ..self }
    }

    /// Takes units up to the end of a block, or all there are `at_end`. Whether that is reached; if not,
    /// more bytes are needed, and what was taken stays.
    pub(super) fn extend(
        &mut self,
        format: Format,
        bytes: &[u8],
        take_limit: TakeLimit,
        at_end: bool,
    ) -> bool {
        let (TakeLimit::AtLeast(wanted) | TakeLimit::AtMost(wanted)) = take_limit;
        if let Some(len) = format.record_len() {
            return self.take_fixed(len, bytes, wanted, at_end);
        }
        while self.records < wanted && self.bytes < FULL_BLOCK_BYTES {
            let rest = &bytes[self.bytes..];
            if rest.is_empty() {
                return at_end;
            }
            let Some(end) = format.unit_or_piece_end(rest, at_end) else { return false };
            let unit = &rest[..end];
            let goes_on = format.is_piece(unit);
            let is_piece = self.ends_mid_unit || goes_on;
            let records = RawUnit { bytes: unit, offset: 0, is_piece }.count(format);
            if matches!(take_limit, TakeLimit::AtMost(most) if self.records + records > most) {
                return true;
            }
            self.bytes += unit.len();
            self.records += records;
            self.ends_mid_unit = goes_on;
        }
        true
    }

    fn take_fixed(&mut self, len: usize, bytes: &[u8], wanted: u64, at_end: bool) -> bool {
        let most = wanted.min(FULL_BLOCK_BYTES.div_ceil(len) as u64);
        let wanted = usize::try_from(most).map_or(usize::MAX, |most| most.saturating_mul(len));
        if bytes.len() < wanted && !at_end {
            return false;
        }
        self.bytes = bytes.len().min(wanted);
        self.records = self.bytes.div_ceil(len) as u64;
        true
    }
}
