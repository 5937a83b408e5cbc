//! Blocks of records over threads, in the order of the input, with progress.

pub mod error;
pub(crate) mod in_order;
pub mod job;
pub(crate) mod metrics;
pub mod progress;
pub mod run;
pub mod snapshot;
pub(crate) mod work;
