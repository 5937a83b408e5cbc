//! Finds the manifest that lists a file as an output.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::records::account::{MANIFEST_SUFFIX, OutputEntry, read};
use crate::records::output_kind::OutputKind;
use crate::records::source::{Input, InputLocation};
use crate::storage::path_text::{path_of, text_of};
use crate::storage::{files, platform};

/// An output file, with its entry in a manifest of the same folder.
pub(crate) struct ListedOutput {
    pub manifest: PathBuf,
    pub command: String,
    pub entry: OutputEntry,
}

/// Fields that the manifests of all commands have.
#[derive(Deserialize)]
struct ManifestHead {
    command: String,
    outputs: Vec<OutputEntry>,
}

/// The paths of the parts that the manifest of a split lists. Empty if there is no readable manifest of a split.
pub(crate) fn parts_of(manifest: &Path) -> Vec<PathBuf> {
    let Ok(ManifestHead { command, outputs }) = read(manifest) else { return Vec::new() };
    let is_part = |output: &OutputEntry| command == "split" && output.kind == OutputKind::Kept;
    let parts = outputs.into_iter().filter(is_part);
    parts.map(|part| manifest.with_file_name(path_of(&part.file))).collect()
}

/// Finds the manifest in the same folder that lists a file of this name and size. Unreadable manifests are ignored.
pub(crate) fn listed_output(path: &Path) -> Option<ListedOutput> {
    let name = text_of(path.file_name()?);
    // The name of an output begins with the name of its run: the run of `a.hcp.mated` is `a`.
    let stems = name.match_indices('.').map(|(dot, _)| &name[..dot]).chain([&*name]);
    let folder = platform::folder_of(path);
    let mut manifests = stems.map(|stem| folder.join(path_of(&format!("{stem}{MANIFEST_SUFFIX}"))));
    manifests.find_map(|manifest| {
        let head: ManifestHead = read(&manifest).ok()?;
        let entry = head.outputs.into_iter().find(|entry| entry.file == name)?;
        let bytes = files::state(path).ok()?.bytes;
        let listed = ListedOutput { manifest, command: head.command, entry };
        (listed.entry.bytes == bytes).then_some(listed)
    })
}

/// Warns if some inputs are kept records and others are mated or unknown records, which would be added again.
/// Objects are not checked: requests for thousands of them take too long.
pub(crate) fn warn_of_mixed_outputs(inputs: &[Input]) {
    let files = inputs.iter().filter_map(|input| match &input.location {
        InputLocation::File(path) if inputs.len() > 1 => Some((&input.name, listed_output(path)?)),
        _ => None,
    });
    let (mut kept, mut removed) = (None, None);
    for (name, listed) in files {
        let first = match listed.entry.kind {
            OutputKind::Kept => &mut kept,
            OutputKind::Mated | OutputKind::Unknown => &mut removed,
            _ => continue,
        };
        first.get_or_insert((name, listed));
        if let (Some((kept, _)), Some((name, ListedOutput { manifest, command, entry }))) =
            (&kept, &removed)
        {
            let manifest = manifest.display();
            return tracing::warn!(
                "{name} holds the {} records of {manifest} ({command}), and {kept} holds kept records; together they contain the \
                 removed records again",
                entry.kind
            );
        }
    }
}
