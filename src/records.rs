//! Records on their way: read from inputs, classified, counted, written to outputs.

pub mod account;
pub mod account_check;
pub mod account_file;
pub mod answer;
pub mod archive;
pub mod bad_record;
pub(crate) mod claims;
pub mod counts;
pub(crate) mod detection;
pub(crate) mod evidence;
pub mod filters;
pub mod format_name;
pub(crate) mod lineage;
pub(crate) mod opening;
pub mod plan_error;
pub(crate) mod position_set;
pub(crate) mod processing;
pub mod reading;
pub mod resume_point;
pub(crate) mod selection;
pub mod shard;
pub mod shard_choice;
pub mod sink;
pub mod source;
pub mod stream;
pub mod table_file;
