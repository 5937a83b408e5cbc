//! Games of networks against themselves, written as training data (feature `network`).
//!
//! The games are those of [`kyokumen_selfplay`]; here they get openings, networks, outputs, checkpoints and a manifest.

mod encoded;
pub mod error;
pub mod evaluators;
pub(crate) mod openings;
mod origin;
pub mod plan;
pub mod run;
pub mod snapshot;
mod totals;
