//! Outputs on their way to a store: made in a folder of this machine, with all that a run can be resumed
//! from, and sent when they are whole.

use std::path::{Path, PathBuf};

use crate::storage::checksum::Sha256Sum;
use crate::storage::files;

/// Digits of the checksum of a URL that the name of its folder has.
const DIGITS: usize = 16;

/// Where the outputs of a run are made, and where they go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Staging {
    /// The URL of the folder in which they will be.
    pub url: PathBuf,
    /// The folder on this machine.
    pub folder: PathBuf,
}

impl Staging {
    /// The way of outputs to a URL through a folder of temporary files; none to another place. The same URL
    /// has the same folder.
    pub(crate) fn to(url: &Path, temporary: Option<PathBuf>) -> Option<Self> {
        if !files::is_object(url) {
            return None;
        }
        let text = url.to_string_lossy();
        let sum = Sha256Sum::of(text.trim_end_matches('/').as_bytes()).to_string();
        let name = format!("kyokumen-{}", &sum[..DIGITS]);
        let folder = temporary.unwrap_or_else(std::env::temp_dir).join(name);
        Some(Self { url: url.to_owned(), folder })
    }

    /// Where a file will be.
    pub(crate) fn destination(&self, path: &Path) -> PathBuf {
        self.url.join(path.file_name().unwrap_or_default())
    }
}
