//! Records that cannot be gone to where they stand, compressed or in a pipe: written, as they come, into a temporary
//! file that vanishes with the process.

use std::env::temp_dir;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

pub(super) struct Spool {
    folder: PathBuf,
    file: BufWriter<File>,
}

impl Spool {
    pub(super) fn new(folder: Option<&Path>) -> Result<Self, Failure> {
        let folder = folder.map_or_else(temp_dir, Path::to_owned);
        let file = tempfile::tempfile_in(&folder).map_err(|error| failed(&folder, &error))?;
        Ok(Self { file: BufWriter::with_capacity(1 << 20, file), folder })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| failed(&self.folder, &error))
    }

    pub(super) fn into_file(self) -> Result<File, Failure> {
        let Self { folder, file } = self;
        file.into_inner().map_err(|error| failed(&folder, error.error()))
    }
}

fn failed(folder: &Path, error: &io::Error) -> Failure {
    Failure::unwritable(format!(
        "cannot write temporary files in {}: {error}; compressed files are decompressed there: tmp_dir says where they \
         stand, and files that are not compressed need none",
        folder.display()
    ))
}
