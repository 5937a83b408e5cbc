//! Records on their way: read from inputs, classified, counted, written to outputs.

pub mod counts;
pub(crate) mod evidence;
pub mod filters;
pub mod position_set;
pub mod reading;
pub mod shard;
pub mod sink;
pub(crate) mod sorting;
pub mod source;
pub mod stream;
