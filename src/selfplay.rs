//! Games of networks against themselves, written as training data (feature `network`).
//!
//! The games are those of [`kyokumen_selfplay`]; here they get openings, networks, outputs, checkpoints and a manifest.

pub mod evaluators;
mod finished;
pub(crate) mod openings;
pub mod plan;
pub mod run;
pub mod snapshot;
