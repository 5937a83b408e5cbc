//! How many records were written with the mean of their copies.

use serde::{Deserialize, Serialize};

use crate::records::counts::{ImbalanceError, equal};

/// How many records were written with the mean of their copies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct AverageCounts {
    /// Records that stand for several.
    pub records: u64,
    /// Those that they stand for, themselves included.
    pub copies: u64,
    /// The most that one stands for.
    pub most_copies: u64,
    /// Records whose evaluation is another than that of the first copy.
    pub evaluations: u64,
    /// Records whose result is.
    pub results: u64,
    /// Records whose move is.
    pub moves: u64,
}

impl AverageCounts {
    /// Checks that these can be counts of so many records that were written.
    ///
    /// # Errors
    /// [`ImbalanceError`] with the two sides that contradict each other.
    pub(super) fn check(&self, written: u64) -> Result<(), ImbalanceError> {
        let Self { records, copies, .. } = *self;
        equal("records with a mean", records.min(written), "of those that were written", records)?;
        for changed in [self.evaluations, self.results, self.moves] {
            equal("changed records", changed.min(records), "of those with a mean", changed)?;
        }
        // Each stands for two at least.
        let least = records.saturating_mul(2);
        equal("copies of records with a mean", copies.max(least), "two for each and more", copies)
    }
}
