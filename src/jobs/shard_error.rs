//! What is missing or different among the shards of a run.

use std::fmt;
use std::path::PathBuf;

use super::identity::IdentityDifference;
use crate::records::account_check::ContradictionError;
use crate::records::shard::Shard;
use crate::storage::quantity::quantity;

/// Something that is missing or different.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ShardError {
    /// Consecutive shards that were never started.
    Missing {
        /// The first one.
        first: Shard,
        /// The last one.
        last: Shard,
        /// The manifest of the first one.
        manifest: PathBuf,
    },
    /// A shard was not brought to its end.
    Unfinished {
        /// Which one.
        shard: Shard,
        /// Its manifest.
        manifest: PathBuf,
    },
    /// A manifest says what cannot be.
    Contradiction {
        /// The manifest.
        manifest: PathBuf,
        /// What cannot be.
        why: ContradictionError,
    },
    /// A shard is of another run.
    Different {
        /// The shard that the others are compared with.
        first: Shard,
        /// The other one.
        shard: Shard,
        /// In what.
        difference: Box<IdentityDifference>,
    },
    /// A shard does not begin where the one before it ended, or is not the part that it should be.
    Range {
        /// Which one.
        shard: Shard,
        /// The input.
        file: String,
        /// Its first record.
        from: u64,
        /// The record behind the last one of the shard before.
        expected: u64,
    },
    /// A shard does not begin with the byte behind the last one of the shard before.
    Offset {
        /// Which one.
        shard: Shard,
        /// The input.
        file: String,
        /// Its first byte.
        from: u64,
        /// The byte behind the last one of the shard before.
        expected: u64,
    },
    /// A shard has more or fewer records than it should.
    Size {
        /// Which one.
        shard: Shard,
        /// Its records.
        records: u64,
        /// How many it should have.
        expected: u64,
    },
    /// The shards end before an input does.
    End {
        /// The input.
        file: String,
        /// Bytes of it that were read.
        read: u64,
        /// Its size.
        bytes: u64,
    },
    /// An output is not there.
    NoOutput {
        /// The output.
        path: PathBuf,
    },
    /// An output cannot be read.
    Unreadable {
        /// The output.
        path: PathBuf,
        /// What the system says.
        error: String,
    },
    /// An output has another size than its manifest says.
    Bytes {
        /// The output.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// What the manifest says.
        expected: u64,
    },
    /// A list has more or fewer lines than its manifest says.
    Lines {
        /// The list.
        path: PathBuf,
        /// Its lines.
        lines: u64,
        /// What the manifest says.
        expected: u64,
    },
    /// An output has other bytes than its manifest says.
    Checksum {
        /// The output.
        path: PathBuf,
    },
}

impl fmt::Display for ShardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { first, last, manifest } if first == last => {
                write!(f, "shard {first} is missing: there is no {}", manifest.display())
            }
            Self::Missing { first, last, manifest } => write!(
                f,
                "shards {}-{last} are missing: there is no {}, nor those behind it",
                first.index(),
                manifest.display()
            ),
            Self::Unfinished { shard, manifest } => {
                write!(f, "shard {shard} is not finished: there is no {}", manifest.display())
            }
            Self::Contradiction { manifest, why } => {
                write!(f, "{} contradicts itself: {why}", manifest.display())
            }
            Self::Different { first, shard, difference: of } => {
                let (what, was, is) = (&of.what, &of.was, &of.is);
                write!(f, "shard {shard} is of another run: {what} is {is}, in shard {first} {was}")
            }
            Self::Range { shard, file, from, expected } => write!(
                f,
                "shard {shard} begins with record {from} of {file}, not with {expected}, where the one \
                 before it ends"
            ),
            Self::Offset { shard, file, from, expected } => write!(
                f,
                "shard {shard} begins with byte {from} of {file}, not with {expected}, where the one before \
                 it ends"
            ),
            Self::Size { shard, records, expected } => {
                write!(
                    f,
                    "shard {shard} has {}, not its part of {expected}",
                    quantity(*records, "record")
                )
            }
            Self::End { file, read, bytes } => {
                write!(f, "the shards end with byte {read} of {file}, which has {bytes}")
            }
            Self::NoOutput { path } => write!(f, "{} is missing", path.display()),
            Self::Unreadable { path, error } => {
                write!(f, "{} cannot be read: {error}", path.display())
            }
            Self::Bytes { path, bytes, expected } => {
                write!(
                    f,
                    "{} has {}, its manifest says {expected}",
                    path.display(),
                    quantity(*bytes, "byte")
                )
            }
            Self::Lines { path, lines, expected } => {
                write!(
                    f,
                    "{} has {}, its manifest says {expected}",
                    path.display(),
                    quantity(*lines, "line")
                )
            }
            Self::Checksum { path } => {
                write!(f, "{} has another SHA-256 than its manifest says", path.display())
            }
        }
    }
}
