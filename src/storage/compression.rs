//! The compression of files.

/// The compression of a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Compression {
    /// Uncompressed.
    None,
    /// Zstandard (RFC 8878), `.zst`.
    Zstd,
    /// gzip (RFC 1952), `.gz`. Read only.
    Gzip,
    /// xz (<https://tukaani.org/xz/xz-file-format.txt>), `.xz`. Read only.
    Xz,
    /// Columns of a Parquet file that holds `jsonl` records, `.parquet`.
    Parquet,
}

impl Compression {
    /// The ending of file names, empty if uncompressed.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
            Self::Xz => ".xz",
            Self::Parquet => ".parquet",
        }
    }

    /// The compression of an output made from such an input. [`Self::None`] if the compression can only be read.
    pub(crate) const fn written(self) -> Self {
        match self {
            Self::Gzip | Self::Xz => Self::None,
            Self::None | Self::Zstd | Self::Parquet => self,
        }
    }
}

/// Records in one zstd frame or Parquet row group. The number is fixed, so a resumed run writes the same bytes as an
/// uninterrupted run.
pub const FRAME_RECORDS: u64 = 1 << 16;

/// A frame or row group ends after this many bytes, even if it has fewer than [`FRAME_RECORDS`] records. It is kept in
/// memory until then.
pub const FRAME_BYTES: usize = 1 << 25;

/// zstd compression level of frames and columns.
pub const ZSTD_LEVEL: i32 = 3;
