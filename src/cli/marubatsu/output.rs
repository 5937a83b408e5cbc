//! Files that are whole when they have their names.
//!
//! By way of the sinks, as all outputs of the programs.

use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::error::Error;
use crate::records::claims::FileClaims;
use crate::records::sink::{OutputPlan, Sinks};
use crate::records::stream::{EncodedRecords, Stream};
use crate::storage::files;

/// Plans all files before the first is written. Fails if one exists, unless `force` is set.
pub(super) fn plan_files<'a>(
    paths: impl IntoIterator<Item = &'a PathBuf>,
    force: bool,
) -> Result<Vec<OutputPlan>, Error> {
    let mut claims = FileClaims::reading(&[])?;
    paths.into_iter().map(|path| claims.lone_output(Stream::Kept, path, force)).collect()
}

/// Writes a file and creates its folder.
pub(super) fn write_file(plan: OutputPlan, content: &[u8]) -> anyhow::Result<()> {
    make_folder(&plan.path)?;
    let mut sinks = Sinks::create(&[plan])?;
    let mut encoded = EncodedRecords::default();
    encoded.push(content);
    sinks.write(Stream::Kept, &encoded)?;
    Ok(sinks.finish()?.commit()?)
}

/// Creates the folder of a file; objects have none.
pub(super) fn make_folder(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|_| !files::is_object(path));
    folder.map_or(Ok(()), |folder| {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
    })
}
