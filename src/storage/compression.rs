//! How files are compressed.

/// How the bytes of a file are compressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Compression {
    /// Not at all.
    None,
    /// Zstandard, RFC 8878: `.zst`.
    Zstd,
    /// gzip, RFC 1952: `.gz`. Only read.
    Gzip,
    /// xz, <https://tukaani.org/xz/xz-file-format.txt>: `.xz`. Only read.
    Xz,
    /// Columns of a Parquet file, which hold records of `jsonl`: `.parquet`.
    Parquet,
}

impl Compression {
    /// What the names of such files end with.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Zstd => ".zst",
            Self::Gzip => ".gz",
            Self::Xz => ".xz",
            Self::Parquet => ".parquet",
        }
    }

    /// Compression of a file made from such a file. A compression that can only be read becomes [`Self::None`].
    pub(crate) const fn written(self) -> Self {
        match self {
            Self::Gzip | Self::Xz => Self::None,
            Self::None | Self::Zstd | Self::Parquet => self,
        }
    }
}

/// Records in one zstd frame or Parquet row group: a fixed number, so that a file continued later is the
/// same file.
pub const FRAME_RECORDS: u64 = 1 << 16;

/// Bytes after which a frame or group of long records ends before it has all its records. All of it is kept
/// in memory.
pub const FRAME_BYTES: usize = 1 << 25;

/// Level of the zstd compression of frames and columns.
pub const ZSTD_LEVEL: i32 = 3;
