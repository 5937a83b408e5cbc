//! Long runs with shards, manifests and checkpoints: filter, dataset, merge and status.

pub mod checkpoint;
pub(crate) mod checkpointer;
pub(crate) mod classify;
pub mod dataset;
pub mod error;
pub mod estimate;
pub mod filter;
pub mod identity;
pub mod manifest;
pub mod merge;
pub mod plan;
pub(crate) mod plan_identity;
pub mod previous_run;
pub mod run;
pub mod run_manifest;
pub mod run_name;
pub(crate) mod selfplay_checkpoint;
pub mod selfplay_manifest;
mod sending;
pub mod settings;
pub mod shard_error;
pub mod shard_set;
pub mod shares;
pub(crate) mod solved_positions;
pub(crate) mod staging;
pub(crate) mod start;
pub mod status;
