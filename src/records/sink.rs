//! Where records go: files that have their final name only when they are whole and on disk.
//!
//! The order of steps (partial file, fsync, rename, fsync of the folder) is that of any database that
//! survives a crash; compressed files follow RFC 8878 (Zstandard), which lets frames stand in a row.

mod ahead;
mod encoder;
mod error;
mod making;
mod output;
mod partial;
mod plan;
mod sinks;
mod target;
mod written;

pub use error::SinkError;
pub(crate) use error::io_error;
pub use output::{OutputState, is_standard_output};
pub use partial::partial_path;
pub(crate) use partial::{PARTIAL_SUFFIX, Partial};
pub use plan::OutputPlan;
pub use sinks::{Finished, Sinks};
pub use written::Written;

#[cfg(test)]
mod tests {
    use std::fs::File;

    use zeekstd::SeekTable;

    use super::*;
    use crate::records::stream::{Batch, Stream};
    use crate::storage::compression::Compression;
    use crate::storage::compression::{FRAME_BYTES, FRAME_RECORDS};

    /// Frames of the file that comes of so many records of this size.
    fn frames(records: usize, bytes: usize) -> u32 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.zst");
        let plan = OutputPlan {
            compression: Compression::Zstd,
            ..OutputPlan::plain(Stream::Kept, path.clone())
        };
        let mut sinks = Sinks::create(&[plan]).unwrap();
        let mut batch = Batch::default();
        (0..records).for_each(|_| batch.push(&vec![7; bytes]));
        sinks.write(Stream::Kept, &batch).unwrap();
        sinks.write(Stream::Kept, &batch).unwrap();
        sinks.finish().unwrap().commit().unwrap();
        let content = zstd::decode_all(File::open(&path).unwrap()).unwrap();
        assert_eq!(content.len(), 2 * records * bytes);
        SeekTable::from_seekable(&mut File::open(&path).unwrap()).unwrap().num_frames()
    }

    #[test]
    fn frames_end_by_records_or_by_bytes() {
        let whole = FRAME_RECORDS as usize;
        assert_eq!([frames(whole / 2, 1), frames(whole / 2 + 1, 1)], [1, 2]);
        assert_eq!([frames(1, FRAME_BYTES - 1), frames(1, FRAME_BYTES)], [1, 2]);
    }
}
