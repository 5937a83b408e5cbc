//! Files that are whole when they have their names.
//!
//! By way of the pipeline's sinks, as all outputs of the programs.

use std::path::Path;

use anyhow::Context;

use super::super::Usage;
use crate::pipeline::files;
use crate::pipeline::plan::PlanError;
use crate::pipeline::sink::{OutputPlan, Sinks};
use crate::pipeline::source::Compression;
use crate::pipeline::stream::{Batch, Stream};

/// Writes a file, its folder too, and refuses to replace one unless `force` says so.
pub(super) fn write_file(path: &Path, content: &[u8], force: bool) -> anyhow::Result<()> {
    if !force && files::exists(path).with_context(|| format!("cannot open {}", path.display()))? {
        let exists = PlanError::OutputExists { output: path.to_owned() };
        return Err(Usage(exists.to_string()).into());
    }
    if let Some(folder) = path.parent().filter(|_| !files::is_object(path)) {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let stream = Stream::Kept;
    let (path, compression) = (path.to_owned(), Compression::None);
    let plan = OutputPlan { stream, path, compression, header: b"", is_stream: false };
    let mut sinks = Sinks::create(&[plan])?;
    let mut batch = Batch::default();
    batch.push(content);
    sinks.write(stream, &batch)?;
    Ok(sinks.finish()?.commit()?)
}
