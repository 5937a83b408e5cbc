//! Operations on archives that run in one piece: convert, verify, stats, inspect, generate, and those that
//! move records.

pub mod convert;
pub mod generate;
pub mod inspect;
pub(crate) mod page;
pub mod rearrange;
pub mod solved_marubatsu;
pub mod stats;
pub mod stats_page;
pub mod verify;
