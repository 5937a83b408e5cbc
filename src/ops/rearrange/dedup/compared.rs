//! What comes of comparing the records of a partition.

use crate::jobs::operation_totals::AverageCounts;

/// More records than any archive has.
pub(super) const MAX_RECORDS: u64 = 1 << 40;

/// Bytes of what records say together, as it waits for the one that stands for them.
pub(super) const LABEL_BYTES: usize = 6;

/// What was found out about a partition.
#[derive(Default)]
pub(super) struct ComparedPartition {
    /// Records in it, or sums of several.
    pub(super) items: u64,
    /// The numbers of records that an earlier one repeats.
    pub(super) repeated: Vec<u64>,
    /// The numbers of those that stand for several, with what these say together, if that is wanted.
    pub(super) averaged: Vec<(u64, [u8; LABEL_BYTES])>,
    /// How many these are.
    pub(super) counts: AverageCounts,
}
