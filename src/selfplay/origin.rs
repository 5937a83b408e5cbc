//! Where openings come from: the manifest beside them that lists them as an output.

use std::path::Path;

use crate::jobs::game_totals::FileOrigin;
use crate::jobs::manifest::ParentManifest;
use crate::records::lineage::{ListedOutput, listed_output};
use crate::storage::checksum::Sha256Sum;
use crate::storage::files;
use crate::storage::path_text::text_of;

/// The origin of a file, if a manifest beside it says that it made a file of this name and size. What cannot be read is
/// as if it were not there: the games do not depend on it.
pub(super) fn file_origin(path: &Path) -> Option<FileOrigin> {
    let ListedOutput { manifest, command, entry } = listed_output(path)?;
    let file = text_of(manifest.file_name()?);
    let sha256 = files::open(&manifest).and_then(Sha256Sum::of_reader).ok()?;
    Some(FileOrigin { command, manifest: ParentManifest { file, sha256 }, sha256: entry.sha256 })
}
