//! Long runs with shards, manifests and checkpoints: filter, dataset, and what joins and tells of them.

pub mod checkpoint;
pub mod dataset;
pub mod error;
pub mod estimate;
pub mod filter;
pub mod first_pass;
pub mod identity;
pub(crate) mod keeper;
pub mod manifest;
pub mod merge;
pub mod plan;
pub mod plan_identity;
pub mod run_name;
mod sending;
pub mod settings;
pub mod shard_set;
pub mod shares;
pub mod solved_positions;
pub mod staging;
pub(crate) mod start;
pub mod status;
pub(crate) mod triage;
