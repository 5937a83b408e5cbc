//! Whether an output is what its manifest says.

use std::io;
use std::path::Path;

use super::shard_error::ShardError;
use crate::records::account::OutputEntry;
use crate::storage::checksum::Sha256Sum;
use crate::storage::files;
use crate::storage::path_text::path_of;

/// What is wrong with an output in a folder: its bytes are read.
pub fn wrong_output(folder: &Path, output: &OutputEntry) -> Option<ShardError> {
    let path = folder.join(path_of(&output.file));
    let bytes = match files::state(&path) {
        Ok(state) => state.bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Some(ShardError::NoOutput { path });
        }
        Err(error) => return Some(ShardError::Unreadable { path, error: error.to_string() }),
    };
    if bytes != output.bytes {
        return Some(ShardError::Bytes { path, bytes, expected: output.bytes });
    }
    match files::open(&path).and_then(Sha256Sum::of_reader) {
        Ok(sum) if output.sha256.is_none_or(|expected| expected == sum) => None,
        Ok(_) => Some(ShardError::Checksum { path }),
        Err(error) => Some(ShardError::Unreadable { path, error: error.to_string() }),
    }
}
