//! Reading files of proofs: one proof at a time, nothing believed that was not there to its last byte.
//!
//! Lines and proofs have a largest size, so that no file, however made, takes more memory than that.

use std::io::{self, BufRead, Read};

use kyokumen_shogi::Position;
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::{
    MAX_PROOF_STEPS, PROOF_FILE_VERSION, ProofClaim, ProofHead, ProofLineError, ProofText,
    end_line, number, parse_setup,
};

/// The longest line that could be one of ours has about 250 bytes.
const MAX_LINE_BYTES: u64 = 400;

/// Why a file of proofs cannot be read to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProofFileError {
    /// The system, or the decompressor.
    #[error("cannot read it after line {line}: {source}")]
    Io {
        /// Lines read before.
        line: u64,
        /// What it says.
        source: io::Error,
    },
    /// The text is not what it should be.
    #[error("line {line}: {fault}")]
    Fault {
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong.
        fault: ProofFileErrorKind,
    },
}

/// What is wrong with the text of a file of proofs.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProofFileErrorKind {
    #[error(transparent)]
    Line(#[from] ProofLineError),
    #[error("a line of more than {MAX_LINE_BYTES} bytes, or with other characters than ASCII")]
    NoText,
    #[error("version {0} of the format, only {PROOF_FILE_VERSION} is known")]
    Version(u32),
    #[error("a proof of {0} steps, more than the {MAX_PROOF_STEPS} there may be")]
    TooManySteps(u64),
    #[error("the file ends here; its last line, which begins with `end`, is missing")]
    Truncated,
    #[error("steps are missing from the proof before: {0}")]
    StepsMissing(u64),
    #[error("the last line should be `{expected}`: some of the file was lost or changed")]
    Checksum { expected: String },
    #[error("something stands behind the last line")]
    BehindTheEnd,
}

/// The proofs of a file, one after the other. After an error there is nothing more.
///
/// A file is whole only if the last item was no error: the checksum stands at its end.
pub struct ProofReader<R> {
    input: R,
    line: u64,
    /// Of the lines before the current one.
    digest: Sha256,
    proofs: u64,
    is_done: bool,
}

impl<R: BufRead> ProofReader<R> {
    /// Begins to read; nothing is read before the first proof is asked for.
    pub fn new(input: R) -> Self {
        Self { input, line: 0, digest: Sha256::new(), proofs: 0, is_done: false }
    }

    fn proof(&mut self) -> Result<Option<ProofText>, ProofFileError> {
        if self.line == 0 {
            self.first_line()?;
        }
        let line = self.next_line()?.ok_or_else(|| self.fault(ProofFileErrorKind::Truncated))?;
        if line.starts_with("end\t") {
            self.last_line(&line)?;
            return Ok(None);
        }
        let (head, steps) = parse_head(&line).map_err(|fault| self.fault(fault))?;
        self.take_over(&line);
        let proof =
            self.steps(ProofText { first_line: self.line, ..ProofText::new(head) }, steps)?;
        self.proofs += 1;
        Ok(Some(proof))
    }

    fn first_line(&mut self) -> Result<(), ProofFileError> {
        let line = self.next_line()?.unwrap_or_default();
        let version = line.strip_prefix("proofs\t").and_then(number);
        match version {
            Some(PROOF_FILE_VERSION) => self.take_over(&line),
            Some(other) => return Err(self.fault(ProofFileErrorKind::Version(other))),
            None => return Err(self.expected("`proofs`, a tab and the version of the format")),
        }
        Ok(())
    }

    fn steps(&mut self, mut proof: ProofText, steps: u64) -> Result<ProofText, ProofFileError> {
        while proof.steps < steps {
            let line =
                self.next_line()?.ok_or_else(|| self.fault(ProofFileErrorKind::Truncated))?;
            if !line.starts_with("step\t") {
                return Err(self.fault(ProofFileErrorKind::StepsMissing(steps - proof.steps)));
            }
            self.take_over(&line);
            proof.lines.push_str(&line);
            proof.lines.push('\n');
            proof.steps += 1;
        }
        Ok(proof)
    }

    fn last_line(&mut self, line: &str) -> Result<(), ProofFileError> {
        let expected = end_line(self.proofs, std::mem::take(&mut self.digest));
        if line != expected {
            return Err(self.fault(ProofFileErrorKind::Checksum { expected }));
        }
        match self.next_line()? {
            None => Ok(()),
            Some(_) => Err(self.fault(ProofFileErrorKind::BehindTheEnd)),
        }
    }

    /// The next line without its end; `None` at the end of the file.
    fn next_line(&mut self) -> Result<Option<String>, ProofFileError> {
        let mut bytes = Vec::new();
        let mut limited = self.input.by_ref().take(MAX_LINE_BYTES + 1);
        let read = limited.read_until(b'\n', &mut bytes);
        read.map_err(|source| ProofFileError::Io { line: self.line, source })?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.line += 1;
        match bytes.pop() {
            Some(b'\n') if bytes.is_ascii() => {}
            Some(b'\n') => return Err(self.fault(ProofFileErrorKind::NoText)),
            _ if bytes.len() as u64 == MAX_LINE_BYTES => {
                return Err(self.fault(ProofFileErrorKind::NoText));
            }
            _ => return Err(self.fault(ProofFileErrorKind::Truncated)),
        }
        let line = String::from_utf8(bytes).map_err(|_| self.fault(ProofFileErrorKind::NoText))?;
        Ok(Some(line))
    }

    /// Adds a line that is as it should be to the checksum.
    fn take_over(&mut self, line: &str) {
        self.digest.update(line);
        self.digest.update(b"\n");
    }

    fn expected(&self, what: &'static str) -> ProofFileError {
        self.fault(ProofLineError::Expected(what).into())
    }

    fn fault(&self, fault: ProofFileErrorKind) -> ProofFileError {
        ProofFileError::Fault { line: self.line.max(1), fault }
    }
}

impl<R: BufRead> Iterator for ProofReader<R> {
    type Item = Result<ProofText, ProofFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let proof = self.proof().transpose();
        self.is_done = !matches!(proof, Some(Ok(_)));
        proof
    }
}

/// Reads the first line of a proof: what is proven, and the number of steps.
fn parse_head(line: &str) -> Result<(ProofHead, u64), ProofFileErrorKind> {
    const EXPECTED: ProofLineError = ProofLineError::Expected(
        "`proof` with index, win or loss, plies, steps and SFEN, separated by tabs, or the last line",
    );
    let fields: Vec<&str> = line.split('\t').collect();
    let ["proof", index, claim, plies, steps, sfen] = fields[..] else {
        return Err(EXPECTED.into());
    };
    let numbers = (number(index), ProofClaim::from_word(claim), number(plies), number(steps));
    let (Some(index), Some(claim), Some(plies), Some(steps)) = numbers else {
        return Err(EXPECTED.into());
    };
    if steps > MAX_PROOF_STEPS {
        return Err(ProofFileErrorKind::TooManySteps(steps));
    }
    let root = Position::try_from(parse_setup(sfen)?).map_err(ProofLineError::from)?;
    Ok((ProofHead { index, claim, plies, root }, steps))
}
