//! From files of positions to kept, mated, unknown and quarantined ones, with nothing lost on the way.
//!
//! The way of the data: plan, source, work, sink, manifest.

pub mod judge;
pub mod platform;
