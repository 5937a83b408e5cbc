//! Writes the proofs of mates to a file.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;

use super::args::SolveArgs;
use crate::cli::exit::{Interrupted, Usage};
use crate::cli::message::say;
use crate::error::Error;
use crate::mate::proof::ProofOutput;
use crate::mate::solve::Solution;
use crate::records::claims::FileClaims;
use crate::records::sink::is_standard_output;
use crate::storage::signals::Interrupt;

/// The proof file, if `--proof` is given.
pub(super) struct Proofs {
    file: Option<(ProofOutput, Interrupt)>,
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
        let interrupt = Interrupt::watch().context("cannot watch for signals")?;
        Ok(Self { file: Some((ProofOutput::create(plan)?, interrupt)), unwritten: 0 })
    }

    pub(super) fn cancel(&self) -> Arc<AtomicBool> {
        self.file.as_ref().map(|(_, interrupt)| interrupt.cancel()).unwrap_or_default()
    }

    pub(super) fn write(&mut self, solution: &Solution) -> anyhow::Result<()> {
        let Some((output, interrupt)) = &mut self.file else { return Ok(()) };
        if let Some(signal) = interrupt.signal() {
            return Err(Interrupted::removed(signal).into());
        }
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
        self.file.map_or(Ok(()), |(output, _)| output.finish())?;
        Ok(self.unwritten)
    }
}
