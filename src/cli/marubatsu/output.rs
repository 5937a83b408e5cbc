//! Files that are whole when they have their names.
//!
//! By way of the pipeline's sinks, as all outputs of the programs.

use std::path::Path;

use anyhow::Context;

use super::super::Usage;
use crate::pipeline::files;
use crate::pipeline::plan::PlanError;
use crate::pipeline::sink::{OutputPlan, Sinks};
use crate::pipeline::stream::{Batch, Stream};

/// Writes a file, its folder too, and refuses to replace one unless `force` says so.
pub(super) fn write_file(path: &Path, content: &[u8], force: bool) -> anyhow::Result<()> {
    if !force && files::exists(path).with_context(|| format!("cannot open {}", path.display()))? {
        let exists = PlanError::OutputExists { output: path.to_owned() };
        return Err(Usage(exists.to_string()).into());
    }
    make_folder(path)?;
    let plan = OutputPlan::plain(Stream::Kept, path.to_owned());
    let mut sinks = Sinks::create(&[plan])?;
    let mut batch = Batch::default();
    batch.push(content);
    sinks.write(Stream::Kept, &batch)?;
    Ok(sinks.finish()?.commit()?)
}

/// Makes the folder of a file.
pub(super) fn make_folder(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|_| !files::is_object(path));
    folder.map_or(Ok(()), |folder| {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))
    })
}
