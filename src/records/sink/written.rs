//! What has been written.

use std::path::PathBuf;

use crate::records::stream::Stream;
use crate::storage::checksum::Sha256Sum;

/// A finished output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenOutput {
    /// What it holds.
    pub stream: Stream,
    /// Its final name.
    pub path: PathBuf,
    /// Records or lines in it.
    pub records: u64,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of the file as it is on disk, if it was asked for.
    pub sha256: Option<Sha256Sum>,
}
