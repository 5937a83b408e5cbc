//! Processes blocks of records on all threads, delivers results in input order and reports progress.

pub(crate) mod blocks;
pub mod in_order;
pub(crate) mod job;
pub(crate) mod messages;
pub mod metrics;
mod metrics_server;
pub(crate) mod prefetch;
pub mod progress;
pub mod run;
pub mod snapshot;
