//! Accounts read from their files.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::records::account_check::ContradictionError;
use crate::storage::files;

/// Why a manifest cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The system refused.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not a manifest.
    #[error("{} is no manifest that this version understands", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// What it says cannot be.
    #[error("{} contradicts itself: {why}; it is not as it was written", path.display())]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// What cannot be.
        why: ContradictionError,
    },
}

impl ManifestError {
    /// Whether there is no file.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Reads the account of any command.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, ManifestError> {
    let bytes =
        files::read(path).map_err(|source| ManifestError::Io { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes)
        .map_err(|source| ManifestError::Malformed { path: path.to_owned(), source })
}

/// The bytes of the file of an account.
pub(crate) fn to_json(account: &impl Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(account)
        .expect("strings, numbers and maps with words as keys always have a JSON form");
    json.push(b'\n');
    json
}

/// What the name of a manifest ends with.
pub(crate) const MANIFEST_SUFFIX: &str = ".manifest.json";
