//! Checks files of mate proofs move by move.
//!
//! The check ends at the first fault: the proofs after a wrong proof cannot be trusted.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rayon::ThreadPoolBuilder;
use serde::Serialize;

use crate::error::Error;
use crate::format::proof_file::{ProofClaim, ProofReader};
use crate::mate::proof::check;
use crate::storage::files;

/// The proofs of a file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ProofsReport {
    /// The file.
    pub file: String,
    /// Number of proofs.
    pub proofs: u64,
    /// Number of proofs that the side to move can force mate.
    pub win: u64,
    /// Number of proofs that the side to move is mated by force.
    pub loss: u64,
    /// Number of steps of all proofs.
    pub steps: u64,
    /// Length of the longest mate in plies.
    pub longest_plies: u16,
}

/// Checks all proofs of a file with the rule-book move generator, an independent, deliberately simple move generator.
///
/// A file with the extension `.zst` is decompressed. `-` is standard input. `threads` = 0 uses one thread per logical
/// CPU.
///
/// # Errors
/// [`Error`] with the first fault.
pub fn verify_proofs(path: &Path, threads: usize) -> Result<ProofsReport, Error> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::threads(io::Error::other(error)))?;
    pool.install(|| checked(path))
}

fn checked(path: &Path) -> Result<ProofsReport, Error> {
    let file = path.display().to_string();
    let mut report = ProofsReport { file: file.clone(), ..ProofsReport::default() };
    let input = open(path).map_err(|source| Error::io("open", &file, source))?;
    for proof in ProofReader::new(input) {
        let proof =
            proof.map_err(|source| Error::invalid(&*file).in_file(&file).with_source(source))?;
        check(&proof).map_err(|source| {
            Error::invalid(format!("{file} (proof {})", report.proofs))
                .in_file(&file)
                .with_source(source)
        })?;
        report.proofs += 1;
        match proof.head().claim {
            ProofClaim::Win => report.win += 1,
            ProofClaim::Loss => report.loss += 1,
        }
        report.steps += proof.steps();
        report.longest_plies = report.longest_plies.max(proof.head().plies);
    }
    Ok(report)
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = files::open(path)?;
    Ok(if path.extension().is_some_and(|extension| extension == "zst") {
        Box::new(BufReader::new(zstd::Decoder::new(file)?))
    } else {
        Box::new(BufReader::new(file))
    })
}
