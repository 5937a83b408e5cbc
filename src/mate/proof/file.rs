//! The file of proofs that a run writes. Like every output, it appears under its name only when it is complete.
//!
//! It is written through [`Sinks`]. A name that ends in `.zst` selects zstd frames.

use std::path::Path;

use crate::error::Error;
use crate::format::proof_file::{ProofFile, ProofText};
use crate::records::claims::FileClaims;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::{OutputPlan, Sinks};
use crate::storage::compression::Compression;

const KIND: OutputKind = OutputKind::Kept;

/// A file of proofs that is being written. It is removed if it is dropped before [`Self::finish`].
#[derive(Debug)]
pub struct ProofOutput {
    sinks: Sinks,
    file: ProofFile,
}

impl ProofOutput {
    /// Plans the file.
    ///
    /// # Errors
    /// [`Error`] if the same run reads or writes the file, or if it exists and `force` is not set.
    pub fn plan(path: &Path, claims: &mut FileClaims, force: bool) -> Result<OutputPlan, Error> {
        let is_zstd = path.extension().is_some_and(|extension| extension == "zst");
        let compression = if is_zstd { Compression::Zstd } else { Compression::None };
        let plan = claims.lone_output(KIND, path, force)?;
        Ok(OutputPlan { compression, ..plan })
    }

    /// Opens the partial file.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be created or another process is writing it.
    pub fn create(plan: OutputPlan) -> Result<Self, Error> {
        let mut sinks = Sinks::create(&[plan])?;
        let mut encoded = EncodedRecords::default();
        let file = ProofFile::start(encoded.open_record());
        encoded.end_record();
        sinks.write(KIND, &encoded)?;
        Ok(Self { sinks, file })
    }

    /// Appends a proof.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written, for example because the disk is full.
    pub fn write(&mut self, proof: &ProofText) -> Result<(), Error> {
        let mut encoded = EncodedRecords::default();
        self.file.push(proof, encoded.open_record());
        encoded.end_record();
        self.sinks.write(KIND, &encoded)
    }

    /// Completes the file and gives it its final name.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be written, for example because the disk is full.
    pub fn finish(mut self) -> Result<(), Error> {
        let mut encoded = EncodedRecords::default();
        self.file.end(encoded.open_record());
        encoded.end_record();
        self.sinks.write(KIND, &encoded)?;
        self.sinks.finish()?.commit()
    }
}
