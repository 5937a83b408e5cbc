//! A folder for the files of a benchmark.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use crate::format::Format;
use crate::pipeline::generate::{Generator, Recipe};

/// A folder of our own among the temporary files, removed when dropped.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn create() -> anyhow::Result<Self> {
        let path = std::env::temp_dir().join(format!("kyokumen-bench-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A file of positions of random games.
    pub(super) fn generated(&self, format: Format, count: u64) -> anyhow::Result<PathBuf> {
        let path = self.path(&format!("positions.{format}"));
        let mut file = File::create(&path)?;
        let mut generator = Generator::new(Recipe { count, ..Recipe::default() });
        loop {
            let batch = generator.batch(format, 1 << 12)?;
            if batch.is_empty() {
                return Ok(path);
            }
            file.write_all(batch.bytes())?;
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!("cannot remove {}: {error}", self.0.display());
        }
    }
}
