//! Storage: files and objects, locks, checksums, compression, tables.

pub(crate) mod caught_panic;
pub mod checksum;
pub mod compression;
pub(crate) mod files;
#[cfg(feature = "cli")]
pub(crate) mod location;
pub mod lock;
pub(crate) mod mapped_file;
pub mod memory;
#[cfg_attr(not(feature = "object-store"), path = "storage/objects_absent.rs")]
pub(crate) mod objects;
pub(crate) mod open_files;
pub(crate) mod own_files;
#[cfg_attr(not(feature = "parquet"), path = "storage/parquet_absent.rs")]
pub(crate) mod parquet;
pub(crate) mod path_text;
pub(crate) mod platform;
pub(crate) mod quantity;
pub(crate) mod retry_interrupted;
#[cfg(any(feature = "cli", feature = "object-store"))]
pub(crate) mod secrets;
pub(crate) mod seek_table;
#[cfg(feature = "cli")]
pub(crate) mod signals;
pub mod table;
pub mod value_error;

pub use platform::read_exact_at;
