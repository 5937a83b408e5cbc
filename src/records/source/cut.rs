//! Where blocks end: behind whole units.

use crate::format::Format;

/// A block is closed when it has this many bytes, however few records they are.
pub(super) const FULL_BLOCK_BYTES: usize = 1 << 20;

/// How many records to take, in whole units.
#[derive(Clone, Copy)]
pub(super) enum TakeLimit {
    /// This many records, or more if the last unit holds more.
    AtLeast(u64),
    /// This many records, or fewer if the next unit would exceed the number.
    AtMost(u64),
    /// Like `AtLeast`, with a limit in bytes.
    Within {
        records: u64,
        /// The block ends with the unit that reaches this many bytes.
        bytes: usize,
    },
}

impl TakeLimit {
    pub(super) const fn records(self) -> u64 {
        match self {
            Self::AtLeast(records) | Self::AtMost(records) | Self::Within { records, .. } => {
                records
            }
        }
    }

    pub(super) fn of_at_most(self, most: u64) -> Self {
        match self {
            Self::AtLeast(records) => Self::AtLeast(records.min(most)),
            Self::AtMost(records) => Self::AtMost(records.min(most)),
            Self::Within { records, bytes } => Self::Within { records: records.min(most), bytes },
        }
    }

    /// Bytes at which a block ends, even with fewer records.
    fn bytes(self) -> usize {
        match self {
            Self::AtLeast(_) | Self::AtMost(_) => FULL_BLOCK_BYTES,
            Self::Within { bytes, .. } => bytes.min(FULL_BLOCK_BYTES),
        }
    }
}

/// Whole units at the start of a buffer that were scanned.
#[derive(Clone, Copy, Default)]
pub(super) struct ScannedUnits {
    pub(super) bytes: usize,
    pub(super) records: u64,
    /// Whether the last unit is a piece of a longer unit. Without units: whether the next one continues such a piece.
    pub(super) ends_mid_unit: bool,
}

impl ScannedUnits {
    /// The empty scan after these units.
    pub(super) const fn behind(self) -> Self {
        Self { bytes: 0, records: 0, ..self }
    }

    /// Scans units up to the end of a block, or all of them `at_end`. Returns `false` if more bytes are needed; scanned
    /// units are kept.
    pub(super) fn extend(
        &mut self,
        format: Format,
        bytes: &[u8],
        take_limit: TakeLimit,
        at_end: bool,
    ) -> bool {
        let (wanted, most_bytes) = (take_limit.records(), take_limit.bytes());
        if let Some(len) = format.record_len() {
            let wanted = wanted.min(most_bytes.div_ceil(len) as u64);
            return self.take_fixed(len, bytes, wanted, at_end);
        }
        while self.records < wanted && self.bytes < most_bytes {
            let rest = &bytes[self.bytes..];
            if rest.is_empty() {
                return at_end;
            }
            let mut goes_on = self.ends_mid_unit;
            let Some(unit) = format.first_unit(rest, at_end, &mut goes_on) else { return false };
            let records = unit.count(format);
            if matches!(take_limit, TakeLimit::AtMost(most) if self.records + records > most) {
                return true;
            }
            self.bytes += unit.bytes.len();
            self.records += records;
            self.ends_mid_unit = goes_on;
        }
        true
    }

    fn take_fixed(&mut self, len: usize, bytes: &[u8], wanted: u64, at_end: bool) -> bool {
        let wanted = usize::try_from(wanted).map_or(usize::MAX, |most| most.saturating_mul(len));
        if bytes.len() < wanted && !at_end {
            return false;
        }
        self.bytes = bytes.len().min(wanted);
        self.records = self.bytes.div_ceil(len) as u64;
        true
    }
}
