//! Commands without checkpoints: convert, verify, stats, inspect, generate, and the commands that rearrange records.

pub mod convert;
pub mod generate;
pub mod inspect;
pub mod language;
pub(crate) mod page;
pub mod rearrange;
pub mod solved_marubatsu;
pub mod stats;
pub mod stats_page;
pub mod verify;
