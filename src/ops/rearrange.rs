//! Operations on archives that leave every record as it is and decide only where it goes: shuffle, dedup,
//! split, sample, interleave. None of them keeps an archive in memory. Only the mean of equal records is written anew.
//!
//! What is moved are units, the least that can be read by itself: a record, or a game where the format holds
//! games. What comes out depends on inputs, settings and seed, never on memory, threads or what was where
//! on disk.

mod account;
mod copying;
mod dedup;
pub(super) mod dedup_key;
mod interleave;
mod items;
mod numbers;
mod partitioned;
mod partitions;
mod pass;
mod plan;
mod sample;
mod shuffle;
mod sorted_partition;
mod spill;
mod split;

pub use crate::jobs::operation_totals::{AverageCounts, OperationCounts, OperationManifest};
pub use crate::ops::rearrange::dedup_key::DedupKey;
pub use dedup::{DedupSettings, dedup};
pub use interleave::{Until, Weights, interleave};
pub use plan::{RearrangePlan, RearrangeRequest, Resources};
pub use sample::{SampleSize, sample};
pub use shuffle::shuffle;
pub use split::{PartLimit, SplitBy, split, split_up_to};
