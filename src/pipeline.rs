//! From files of positions to kept, mated, unknown and quarantined ones, with nothing lost on the way.
//!
//! The way of the data: [`plan`], [`source`], work, [`sink`], [`manifest`].

pub mod checkpoint;
pub mod checksum;
pub mod convert;
pub mod counts;
pub mod dataset;
pub mod estimate;
mod evidence;
pub mod files;
pub mod filter;
pub mod filters;
pub mod first_pass;
pub mod generate;
pub mod identity;
mod in_order;
pub mod inspect;
pub mod judge;
mod keeper;
pub mod lock;
pub mod manifest;
pub mod memo;
pub mod memory;
pub mod merge;
mod metrics;
pub mod moment;
#[cfg_attr(not(feature = "object-store"), path = "pipeline/objects_absent.rs")]
mod objects;
#[cfg_attr(not(feature = "parquet"), path = "pipeline/parquet_absent.rs")]
mod parquet;
mod patient;
pub mod plan;
pub mod platform;
pub mod position_set;
pub mod positions;
pub mod progress;
pub mod proof;
pub mod reading;
pub mod rearrange;
pub mod run;
pub mod run_name;
pub mod secrets;
mod seek_table;
pub mod settings;
pub mod shard;
pub mod shard_set;
pub mod sink;
pub mod solve;
mod sorting;
pub mod source;
pub mod staging;
mod start;
pub mod stats;
pub mod status;
pub mod stream;
pub mod table;
mod triage;
pub mod verify;
mod work;

pub use sorting::BadRecord;
