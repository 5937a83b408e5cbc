//! What can go wrong with an input.

use std::io;

use thiserror::Error;

use crate::records::content::ContentError;
use crate::records::source::INDEX_SUFFIX;
use crate::storage::compression::Compression;

/// Why an input could not be read to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// It could not be opened.
    #[error("cannot open {input}")]
    Open {
        /// Name of the input.
        input: String,
        /// What the system says.
        source: io::Error,
    },
    /// Reading or decompressing failed.
    #[error("cannot read {input} after byte {offset}{}", of_what(*compression))]
    Read {
        /// Name of the input.
        input: String,
        /// Bytes of records, uncompressed, that had been read.
        offset: u64,
        /// How the input is compressed.
        compression: Compression,
        /// What the system or the decompressor says.
        source: io::Error,
    },
    /// It is not what an interrupted run read.
    #[error("{input} is not what the interrupted run read; start afresh with --force")]
    NotAsLeft {
        /// Name of the input.
        input: String,
    },
    /// It was counted wrong.
    #[error(
        "{input} holds {} records than the {counted} that its table of frames or its {INDEX_SUFFIX} says; \
         remove the index, or write the file anew with `kyokumen convert`",
        if found < counted { "fewer" } else { "more" }
    )]
    Count {
        /// Name of the input.
        input: String,
        /// Records it should hold.
        counted: u64,
        /// Records up to the place in which that showed.
        found: u64,
    },
    /// The first block contradicts the name of the input.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// Somebody wrote to it meanwhile.
    #[error("{input} changed while it was read")]
    Changed {
        /// Name of the input.
        input: String,
    },
}

/// Says that an offset counts decompressed bytes, if the input is compressed.
const fn of_what(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "",
        _ => " of the uncompressed data",
    }
}

impl SourceError {
    /// Whether the system refused, as opposed to what is wrong with the input.
    pub(crate) fn is_of_system(&self) -> bool {
        match self {
            Self::Open { source, .. } | Self::Read { source, .. } => {
                source.raw_os_error().is_some()
            }
            Self::NotAsLeft { .. }
            | Self::Count { .. }
            | Self::Content(_)
            | Self::Changed { .. } => false,
        }
    }
}
