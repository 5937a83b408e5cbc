//! Where records go: files that have their final name only when they are whole and on disk.
//!
//! The order of steps (partial file, fsync, rename, fsync of the folder) is that of any database that
//! survives a crash; compressed files follow RFC 8878 (Zstandard), which lets frames stand in a row.

mod background_sync;
mod deferred_table;
mod encoder;
mod output;
mod partial;
mod plan;
mod sinks;
mod target;

pub use output::OutputState;
#[cfg_attr(
    not(feature = "cli"),
    expect(unused_imports, reason = "only the command line asks")
)]
pub(crate) use output::is_standard_output;
pub(crate) use partial::{PARTIAL_SUFFIX, Partial, partial_path};
pub use plan::{OutputPlan, WrittenOutput};
pub use sinks::{FinishedOutputs, Sinks};
