//! Where openings come from: the manifest beside them that lists them as an output.

use std::path::Path;

use crate::jobs::manifest::{ManifestHead, ParentManifest};
use crate::jobs::selfplay_manifest::FileOrigin;
use crate::records::account_file::MANIFEST_SUFFIX;
use crate::storage::checksum::Sha256Sum;
use crate::storage::{files, platform};

/// The origin of a file, if a manifest beside it says that it made a file of this name and size. What cannot be read is as if it
/// were not there: the games do not depend on it.
pub(super) fn file_origin(path: &Path) -> Option<FileOrigin> {
    let name = path.file_name()?.to_str()?;
    let bytes = files::state(path).ok()?.bytes;
    let folder = platform::folder_of(path);
    let names = files::names_in(folder).ok()?;
    let mut manifests: Vec<_> =
        names.into_iter().filter(|name| name.ends_with(MANIFEST_SUFFIX)).collect();
    manifests.sort();
    manifests.into_iter().find_map(|file| {
        let path = folder.join(&file);
        let head = ManifestHead::read(&path).ok()?;
        let made = head.outputs.iter().find(|made| made.file == name && made.bytes == bytes)?;
        let sha256 = made.sha256;
        let sum = files::open(&path).and_then(Sha256Sum::of_reader).ok()?;
        let manifest = ParentManifest { file, sha256: sum };
        Some(FileOrigin { command: head.command, manifest, sha256 })
    })
}
