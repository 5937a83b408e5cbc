//! A folder for the files of a benchmark.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use tempfile::TempDir;

use kyokumen::format::Format;
use kyokumen::ops::generate::{GenerateSettings, Generator};

/// A temporary folder. Dropping it removes the folder.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn create() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("kyokumen-bench-").tempdir();
        folder.map(Self).context("cannot create a temporary folder")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file with positions of random games.
    pub(crate) fn generated(&self, format: Format, count: u64) -> anyhow::Result<PathBuf> {
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
