//! Reads proof files, one proof at a time, and verifies the checksum.
//!
//! The sizes of lines and proofs are limited, so that memory is bounded for any file.

use std::io::{BufRead, Read};

use kyokumen_shogi::Position;
use sha2::{Digest, Sha256};

use super::{
    MAX_LINE_BYTES, MAX_PROOF_STEPS, PROOF_FILE_VERSION, ProofClaim, ProofFault, ProofHead,
    ProofText, end_line, number, parse_setup,
};
use crate::error::{Error, ErrorKind, Place};

/// The proofs of a file in order. Ends after an error.
///
/// A file is complete only if the last item is not an error, because the checksum is at its end.
pub struct ProofReader<R> {
    input: R,
    line: u64,
    /// Hash of the lines before the current one.
    digest: Sha256,
    proofs: u64,
    is_done: bool,
}

impl<R: BufRead> ProofReader<R> {
    /// Creates the iterator. Reads nothing yet.
    pub fn new(input: R) -> Self {
        Self { input, line: 0, digest: Sha256::new(), proofs: 0, is_done: false }
    }

    fn proof(&mut self) -> Result<Option<ProofText>, Error> {
        if self.line == 0 {
            self.first_line()?;
        }
        let line = self.next_line()?.ok_or_else(|| self.fault(ProofFault::Truncated))?;
        if line.starts_with("end\t") {
            self.last_line(&line)?;
            return Ok(None);
        }
        let (head, steps) = parse_head(&line).map_err(|fault| self.fault(fault))?;
        self.hash_line(&line);
        let proof =
            self.steps(ProofText { first_line: self.line, ..ProofText::new(head) }, steps)?;
        self.proofs += 1;
        Ok(Some(proof))
    }

    fn first_line(&mut self) -> Result<(), Error> {
        let line = self.next_line()?.unwrap_or_default();
        let version = line.strip_prefix("proofs\t").and_then(number);
        match version {
            Some(PROOF_FILE_VERSION) => self.hash_line(&line),
            Some(other) => return Err(self.fault(ProofFault::Version(other))),
            None => {
                let expected = "`proofs`, a tab and the version of the format";
                return Err(self.fault(ProofFault::Expected(expected)));
            }
        }
        Ok(())
    }

    fn steps(&mut self, mut proof: ProofText, steps: u64) -> Result<ProofText, Error> {
        while proof.steps < steps {
            let line = self.next_line()?.ok_or_else(|| self.fault(ProofFault::Truncated))?;
            if !line.starts_with("step\t") {
                return Err(self.fault(ProofFault::StepsMissing(steps - proof.steps)));
            }
            self.hash_line(&line);
            proof.lines.push_str(&line);
            proof.lines.push('\n');
            proof.steps += 1;
        }
        Ok(proof)
    }

    fn last_line(&mut self, line: &str) -> Result<(), Error> {
        let expected = end_line(self.proofs, std::mem::take(&mut self.digest));
        if line != expected {
            return Err(self.fault(ProofFault::Checksum(expected)));
        }
        match self.next_line()? {
            None => Ok(()),
            Some(_) => Err(self.fault(ProofFault::TrailingText)),
        }
    }

    /// The next line without its end. `None` at the end of the file.
    fn next_line(&mut self) -> Result<Option<String>, Error> {
        let mut bytes = Vec::new();
        let mut limited = self.input.by_ref().take(MAX_LINE_BYTES + 1);
        let read = limited.read_until(b'\n', &mut bytes);
        read.map_err(|error| Error {
            place: Some(Place::Line(self.line)),
            kind: ErrorKind::Io(error),
        })?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        match bytes.pop() {
            Some(b'\n') if bytes.is_ascii() => {}
            Some(b'\n') => return Err(self.fault(ProofFault::InvalidLine)),
            _ if bytes.len() as u64 == MAX_LINE_BYTES => {
                return Err(self.fault(ProofFault::InvalidLine));
            }
            _ => return Err(self.fault(ProofFault::Truncated)),
        }
        let line = String::from_utf8(bytes).map_err(|_| self.fault(ProofFault::InvalidLine))?;
        Ok(Some(line))
    }

    /// Adds a valid line to the checksum.
    fn hash_line(&mut self, line: &str) {
        self.digest.update(line);
        self.digest.update(b"\n");
    }

    fn fault(&self, fault: ProofFault) -> Error {
        Error { place: Some(Place::Line(self.line.max(1))), kind: ErrorKind::Proof(fault) }
    }
}

impl<R: BufRead> Iterator for ProofReader<R> {
    type Item = Result<ProofText, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let proof = self.proof().transpose();
        self.is_done = !matches!(proof, Some(Ok(_)));
        proof
    }
}

/// Parses the first line of a proof: the statement that is proven, and the number of steps.
fn parse_head(line: &str) -> Result<(ProofHead, u64), ProofFault> {
    const EXPECTED: ProofFault = ProofFault::Expected(
        "`proof` with index, win or loss, plies, steps and SFEN, separated by tabs, or the last line",
    );
    let fields: Vec<&str> = line.split('\t').collect();
    let ["proof", index, claim, plies, steps, sfen] = fields[..] else {
        return Err(EXPECTED);
    };
    let numbers = (number(index), ProofClaim::from_word(claim), number(plies), number(steps));
    let (Some(index), Some(claim), Some(plies), Some(steps)) = numbers else {
        return Err(EXPECTED);
    };
    if steps > MAX_PROOF_STEPS {
        return Err(ProofFault::TooManySteps(steps));
    }
    let root = Position::try_from(parse_setup(sfen)?)?;
    Ok((ProofHead { index, claim, plies, root }, steps))
}
