//! Operations on archives that leave every record as it is and decide only where it goes: shuffle, dedup,
//! split, sample, interleave. None of them keeps an archive in memory.
//!
//! What is moved are units, the least that can be read by itself: a record, or a game where the format holds
//! games. What comes out depends on inputs, settings and seed, never on memory, threads or what was where
//! on disk.

mod account;
mod buckets;
mod copying;
mod dedup;
pub(super) mod dedup_key;
mod hand_out;
mod interleave;
mod items;
mod laid;
mod numbers;
mod ordered;
mod pass;
mod plan;
mod sample;
mod shuffle;
mod spill;
mod split;

pub use crate::ops::rearrange::dedup_key::{DedupKey, UnknownDedupKey};
pub use account::Account;
pub use dedup::dedup;
pub use interleave::{ParseWeightsError, Until, Weights, interleave};
pub use plan::{Means, RearrangePlan, RearrangeRequest};
pub use sample::{SampleSize, sample};
pub use shuffle::shuffle;
pub use split::{SplitBy, split};
