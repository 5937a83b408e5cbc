//! Writes the proofs of mates to a file.

use super::args::SolveArgs;
use crate::cli::exit::Usage;
use crate::cli::message::say;
use crate::error::Error;
use crate::mate::proof::ProofOutput;
use crate::mate::solve::Solution;
use crate::records::claims::FileClaims;
use crate::records::sink::is_standard_output;

/// The proof file, if `--proof` is given.
pub(super) struct Proofs {
    file: Option<ProofOutput>,
    /// Number of proofs that are too large for the file.
    unwritten: u64,
}

impl Proofs {
    pub(super) fn open(args: &SolveArgs, mut claims: FileClaims) -> anyhow::Result<Self> {
        let Some(path) = &args.proof else { return Ok(Self { file: None, unwritten: 0 }) };
        if is_standard_output(path) {
            let message = "--proof needs a file, because the verdicts go to standard output";
            return Err(Usage(message.to_owned()).into());
        }
        let plan = ProofOutput::plan(path, &mut claims, args.force)?;
        Ok(Self { file: Some(ProofOutput::create(plan)?), unwritten: 0 })
    }

    pub(super) fn write(&mut self, solution: &Solution) -> anyhow::Result<()> {
        let Some(output) = &mut self.file else { return Ok(()) };
        for proof in &solution.proofs {
            match proof {
                Ok(proof) => output.write(proof)?,
                Err(error) => {
                    self.unwritten += 1;
                    say!("{}: {error}", solution.input.location);
                }
            }
        }
        Ok(())
    }

    /// Completes the file. Returns the number of proofs that were too large for it.
    pub(super) fn finish(self) -> Result<u64, Error> {
        self.file.map_or(Ok(()), ProofOutput::finish)?;
        Ok(self.unwritten)
    }
}
