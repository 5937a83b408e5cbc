//! A folder for the files of a benchmark.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use tempfile::TempDir;

use crate::format::Format;
use crate::ops::generate::{GenerateSettings, Generator};

/// A folder of our own among the temporary files, removed when dropped.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn create() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("kyokumen-bench-").tempdir();
        folder.map(Self).context("cannot create a temporary folder")
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file of positions of random games.
    pub(super) fn generated(&self, format: Format, count: u64) -> anyhow::Result<PathBuf> {
        let path = self.path(&format!("positions.{format}"));
        let mut file = File::create(&path)?;
        let mut generator =
            Generator::new(GenerateSettings { count, ..GenerateSettings::default() });
        loop {
            let encoded = generator.encode_next(format, 1 << 12)?;
            if encoded.is_empty() {
                return Ok(path);
            }
            file.write_all(encoded.bytes())?;
        }
    }
}
