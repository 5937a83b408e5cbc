//! Plans of outputs.

use std::path::{Path, PathBuf};

use crate::records::format_name::FormatName;
use crate::records::output_kind::OutputKind;
use crate::records::shard::Shard;
use crate::records::sink::partial_path;
use crate::storage::checksum::Sha256Sum;
use crate::storage::compression::Compression;
use crate::storage::table::DeferredTable;

/// The path and the encoding of an output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputPlan {
    /// Kind of output.
    pub kind: OutputKind,
    /// Final path; `-` is standard output.
    pub path: PathBuf,
    /// Compression.
    pub compression: Compression,
    /// Bytes before the first record.
    pub header: &'static [u8],
    /// The separator between chunks of a file. It is removed from the first record.
    pub separator: &'static [u8],
    /// For a columnar file, the table that is built from the rows after all of them are written.
    pub deferred_table: Option<DeferredTable>,
    /// Whether it is standard output, a pipe or a device. Bytes written there cannot be removed again.
    pub is_pipe: bool,
}

impl OutputPlan {
    /// An uncompressed file.
    pub const fn plain(kind: OutputKind, path: PathBuf) -> Self {
        Self {
            kind,
            path,
            compression: Compression::None,
            header: b"",
            separator: b"",
            deferred_table: None,
            is_pipe: false,
        }
    }

    /// A file of records or games. Joined shards form one file: only the first shard has a header and no separator at
    /// its start.
    pub(crate) fn records(
        to: FormatName,
        kind: OutputKind,
        path: PathBuf,
        shard: Option<Shard>,
    ) -> Self {
        let plain = Self { compression: to.compression, ..Self::plain(kind, path) };
        if shard.is_some_and(|shard| shard.index() > 1) {
            return plain;
        }
        Self { header: to.format.header(), separator: to.format.separator(), ..plain }
    }

    /// The partial files: two if a table is built from rows.
    pub(crate) fn partial_paths(&self) -> impl Iterator<Item = PathBuf> {
        let rows = self.deferred_table.map(|_| partial_path(&rows_path(&self.path)));
        std::iter::once(partial_path(&self.path)).chain(rows)
    }

    /// The file written during the run: the rows of a deferred table, or the output itself.
    pub(crate) fn written_path(&self) -> PathBuf {
        if self.deferred_table.is_some() { rows_path(&self.path) } else { self.path.clone() }
    }

    pub(crate) fn can_be_resumed(&self) -> bool {
        !self.is_pipe && self.compression != Compression::Parquet
    }
}

/// Final path of the rows of a deferred table. The rows exist only under its partial name.
pub(crate) fn rows_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".rows");
    PathBuf::from(name)
}

/// A finished output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenOutput {
    /// Kind of output.
    pub kind: OutputKind,
    /// Final path.
    pub path: PathBuf,
    /// Number of records or lines.
    pub records: u64,
    /// Number of groups of records that were written whole, such as games. Unknown after a resumption.
    pub(crate) groups: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the file on disk, if requested.
    pub sha256: Option<Sha256Sum>,
}
