//! Where records come from: files, standard input, compressed streams, cut into blocks of whole units.
//!
//! Block and record boundaries depend on the bytes alone, never on how they arrive, so that every way of
//! reading the same data gives the same blocks.

mod block;
mod blocks;
mod bytes;
mod cut;
mod decompression;
mod frames;
mod index;
mod input;
mod part;
mod stages;
mod xz;

pub(crate) use self::bytes::open_stream;
pub use self::decompression::MAX_WINDOW_MIB;
pub(crate) use self::frames::FrameReader;
pub use self::index::Index;
pub(crate) use self::stages::{Checksummed, MemoryBudget, MemoryPermit, SkipBlocks};
pub use crate::storage::objects::Object;
pub use block::{Block, Delivery};
pub(crate) use blocks::is_cheap_to_count;
pub use blocks::{Source, can_be_computed, count_records};
pub(crate) use input::SKIPPED_RECORDS;
pub use input::{FirstBlock, Input, InputLocation};
pub(crate) use part::INDEX_SUFFIX;
pub use part::{Part, PartRead, RecordCount, SeekPoint};
