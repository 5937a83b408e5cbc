//! Files of proofs of mates, checked move by move.
//!
//! A fault ends the check: a proof that does not hold proves nothing else in its file either.

use std::io;
use std::io::{BufRead, BufReader};
use std::path::Path;

use rayon::ThreadPoolBuilder;
use serde::Serialize;
use thiserror::Error;

use crate::format::proof_file::{ProofClaim, ProofFileError, ProofReader};
use crate::mate::proof::{ProofCheckError, check};
use crate::storage::files;

/// What a file proves.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ProofsReport {
    /// The file.
    pub file: String,
    /// Its proofs.
    pub proofs: u64,
    /// Those of a mate by the side to move.
    pub win: u64,
    /// Those of a mate of the side to move.
    pub loss: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Plies of the longest mate.
    pub longest_plies: u16,
}

/// Why a file of proofs does not prove what it says.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VerifyProofsError {
    /// It is not there, or not to be read.
    #[error("cannot open {file}")]
    Open {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// It is no file of proofs, or cut off.
    #[error("{file}")]
    Read {
        /// The file.
        file: String,
        /// What is wrong with it.
        source: ProofFileError,
    },
    /// A proof has a fault.
    #[error("{file}: proof {number}")]
    Fault {
        /// The file.
        file: String,
        /// Number of the proof, from 0.
        number: u64,
        /// The fault.
        source: ProofCheckError,
    },
    /// Threads could not be started.
    #[error("cannot start threads")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Checks all proofs of a file, zstd-compressed if its name ends in `.zst`, by the rule book; `-` is standard input.
/// `threads` is 0 for as many as the machine runs at once.
///
/// # Errors
/// [`VerifyProofsError`] with the first fault.
pub fn verify_proofs(path: &Path, threads: usize) -> Result<ProofsReport, VerifyProofsError> {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| checked(path))
}

fn checked(path: &Path) -> Result<ProofsReport, VerifyProofsError> {
    let file = path.display().to_string();
    let mut report = ProofsReport { file: file.clone(), ..ProofsReport::default() };
    let input =
        open(path).map_err(|source| VerifyProofsError::Open { file: file.clone(), source })?;
    for proof in ProofReader::new(input) {
        let proof =
            proof.map_err(|source| VerifyProofsError::Read { file: file.clone(), source })?;
        check(&proof).map_err(|source| VerifyProofsError::Fault {
            file: file.clone(),
            number: report.proofs,
            source,
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
