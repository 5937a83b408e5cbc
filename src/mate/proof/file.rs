//! The file of proofs that a run writes: whole or not there, like every output.
//!
//! The steps are those of [`Sinks`]; a name that ends in `.zst` asks for zstd frames.

use std::path::Path;

use crate::error::Error;
use crate::format::proof_file::{ProofFile, ProofText};
use crate::records::claims::FileClaims;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::{OutputPlan, Sinks};
use crate::storage::compression::Compression;

const STREAM: OutputKind = OutputKind::Kept;

/// A file of proofs while it is written. Dropped before [`Self::finish`], it vanishes.
#[derive(Debug)]
pub struct ProofOutput {
    sinks: Sinks,
    file: ProofFile,
}

impl ProofOutput {
    /// Where the file is to be.
    ///
    /// # Errors
    /// [`Error`] if it is read or written by the same run, or exists and may not be replaced by `force`.
    pub fn plan(path: &Path, claims: &mut FileClaims, force: bool) -> Result<OutputPlan, Error> {
        let is_zstd = path.extension().is_some_and(|extension| extension == "zst");
        let compression = if is_zstd { Compression::Zstd } else { Compression::None };
        let plan = claims.lone_output(STREAM, path, force)?;
        Ok(OutputPlan { compression, ..plan })
    }

    /// Opens the partial file.
    ///
    /// # Errors
    /// [`Error`] if it cannot be created or is being written by another process.
    pub fn create(plan: OutputPlan) -> Result<Self, Error> {
        let mut sinks = Sinks::create(&[plan])?;
        let mut encoded = EncodedRecords::default();
        let file = ProofFile::start(encoded.open_record());
        encoded.end_record();
        sinks.write(STREAM, &encoded)?;
        Ok(Self { sinks, file })
    }

    /// Appends a proof.
    ///
    /// # Errors
    /// [`Error`], a full disk for instance.
    pub fn write(&mut self, proof: &ProofText) -> Result<(), Error> {
        let mut encoded = EncodedRecords::default();
        self.file.push(proof, encoded.open_record());
        encoded.end_record();
        self.sinks.write(STREAM, &encoded)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`Error`], a full disk for instance.
    pub fn finish(mut self) -> Result<(), Error> {
        let mut encoded = EncodedRecords::default();
        self.file.end(encoded.open_record());
        encoded.end_record();
        self.sinks.write(STREAM, &encoded)?;
        self.sinks.finish()?.commit()
    }
}
