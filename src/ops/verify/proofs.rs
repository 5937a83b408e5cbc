//! Files of proofs of mates, checked move by move.
//!
//! A fault ends the check: a proof that does not hold proves nothing else in its file either.

use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rayon::ThreadPoolBuilder;
use serde::Serialize;

use crate::error::Error;
use crate::format::proof_file::{ProofClaim, ProofReader};
use crate::mate::proof::check;
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

/// Checks all proofs of a file, zstd-compressed if its name ends in `.zst`, by the rule book; `-` is standard input.
/// `threads` is 0 for as many as the machine runs at once.
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
            Error::invalid(format!("{file}: proof {}", report.proofs))
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
