//! Proofs of mates as text. One line for each position that the attacker can reach, with one move.
//!
//! The format belongs to this project; `docs/formats/proof.md` describes it for other programs. This module reads and
//! writes the lines. `kyokumen::mate::proof` checks that they prove the mate.

mod reader;

use std::fmt::{self, Write};
use std::str;

use kyokumen_shogi::sfen::SfenError;
use kyokumen_shogi::{Color, Move, Position, PositionError, Setup};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use reader::ProofReader;

/// Version of the format, on the first line of a file.
pub const PROOF_FILE_VERSION: u32 = 1;

/// Largest number of steps of one proof. Such a proof has about 100 MB of text.
pub const MAX_PROOF_STEPS: u64 = 1 << 20;

/// The longest line that this format allows has about 250 bytes.
const MAX_LINE_BYTES: u64 = 400;

/// The claim of a proof, for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProofClaim {
    /// The side to move can force mate.
    Win,
    /// The side to move is being mated, or has no legal move.
    Loss,
}

impl ProofClaim {
    /// `win` or `loss`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Loss => "loss",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::Win, Self::Loss].into_iter().find(|claim| claim.word() == word)
    }
}

impl fmt::Display for ProofClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The statement that a proof proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofHead {
    /// Number of the position in the solved input, from 0.
    pub index: u64,
    /// The claim about the side to move.
    pub claim: ProofClaim,
    /// Largest number of plies until mate.
    pub plies: u16,
    /// The position.
    pub root: Position,
}

impl ProofHead {
    /// The side that mates.
    pub fn attacker(&self) -> Color {
        match self.claim {
            ProofClaim::Win => self.root.side_to_move(),
            ProofClaim::Loss => !self.root.side_to_move(),
        }
    }
}

/// A move of the attacker. The attacker is to move in `setup`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofStep {
    /// The position. The move also mates if the attacker has more pieces in hand and the defender fewer.
    pub setup: Setup,
    /// The move.
    pub m: Move,
    /// Largest number of plies until mate, including this move.
    pub plies: u16,
}

/// A fault in the text of a proof file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[expect(missing_docs, reason = "the messages describe the variants")]
#[non_exhaustive]
pub enum ProofFault {
    #[error("expected {0}")]
    Expected(&'static str),
    #[error("{0}")]
    Sfen(#[from] SfenError),
    #[error("{0}")]
    Position(#[from] PositionError),
    #[error("expected the SFEN in canonical spelling: {0}")]
    Spelling(String),
    #[error("not a line of a proof file: expected ASCII text of at most {MAX_LINE_BYTES} bytes")]
    InvalidLine,
    #[error("expected format version {PROOF_FILE_VERSION}, found {0}")]
    Version(u32),
    #[error("expected at most {MAX_PROOF_STEPS} steps in a proof, found {0}")]
    TooManySteps(u64),
    #[error("expected a last line that begins with `end`, found the end of the file")]
    Truncated,
    #[error("the previous proof lacks {0} of its steps")]
    StepsMissing(u64),
    #[error("expected the last line `{0}`; the file is damaged or was changed")]
    Checksum(String),
    #[error("expected the end of the file after the line `end`")]
    TrailingText,
}

/// A proof with more steps than a proof file can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the proof has more than {MAX_PROOF_STEPS} steps, the maximum of a proof file")]
pub struct TooManySteps;

/// A proof. Its steps are lines of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProofText {
    head: ProofHead,
    steps: u64,
    lines: String,
    first_line: u64,
}

impl ProofText {
    /// A proof without steps.
    pub const fn new(head: ProofHead) -> Self {
        Self { head, steps: 0, lines: String::new(), first_line: 0 }
    }

    /// The statement that is proven.
    pub const fn head(&self) -> &ProofHead {
        &self.head
    }

    /// Number of steps.
    pub const fn steps(&self) -> u64 {
        self.steps
    }

    /// Line of the file where the proof begins, from 1. 0 if the proof was not read from a file.
    pub const fn first_line(&self) -> u64 {
        self.first_line
    }

    /// Appends a step. Its move number is written as 1.
    ///
    /// # Errors
    /// [`TooManySteps`] if the proof already has [`MAX_PROOF_STEPS`] steps.
    pub fn push(&mut self, step: ProofStep) -> Result<(), TooManySteps> {
        if self.steps == MAX_PROOF_STEPS {
            return Err(TooManySteps);
        }
        self.steps += 1;
        let ProofStep { setup, m, plies } = step;
        let setup = setup.with_ply(1);
        writeln!(self.lines, "step\t{setup}\t{m}\t{plies}").expect("writing to a String succeeds");
        Ok(())
    }

    /// The lines of the steps in order, without line ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.lines()
    }

    /// Appends the proof in its file form.
    pub fn write(&self, out: &mut Vec<u8>) {
        let ProofHead { index, claim, plies, root } = &self.head;
        let head = format!("proof\t{index}\t{claim}\t{plies}\t{}\t{root}\n", self.steps);
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(self.lines.as_bytes());
    }
}

/// Parses the line of a step.
///
/// # Errors
/// [`ProofFault`] for any line that [`ProofText::push`] cannot have written.
pub fn parse_step(line: &str) -> Result<ProofStep, ProofFault> {
    let fields: Vec<&str> = line.split('\t').collect();
    let ["step", sfen, m, plies] = fields[..] else {
        return Err(ProofFault::Expected("step, SFEN, move and plies, separated by tabs"));
    };
    let setup = parse_setup(sfen)?;
    if setup.ply() != 1 {
        return Err(ProofFault::Spelling(setup.with_ply(1).to_string()));
    }
    let m = Move::from_usi(m).ok_or(ProofFault::Expected("a move in USI notation"))?;
    let plies = number(plies).ok_or(ProofFault::Expected("plies up to 65535"))?;
    Ok(ProofStep { setup, m, plies })
}

/// The board of a step's line: the first part of its SFEN.
pub fn board_of_step(line: &str) -> &str {
    line.strip_prefix("step\t").and_then(|rest| rest.split(' ').next()).unwrap_or_default()
}

fn parse_setup(sfen: &str) -> Result<Setup, ProofFault> {
    let setup = kyokumen_shogi::sfen::parse(sfen.as_bytes())?.setup;
    let canonical = setup.to_string();
    if canonical == sfen { Ok(setup) } else { Err(ProofFault::Spelling(canonical)) }
}

/// A number in canonical form: without sign and leading zeros.
fn number<T: str::FromStr + ToString>(text: &str) -> Option<T> {
    text.parse().ok().filter(|number: &T| number.to_string() == text)
}

/// Writes the first line and the last line of a proof file. The last line has the number of proofs and a checksum.
#[derive(Clone, Debug, Default)]
pub struct ProofFile {
    digest: Sha256,
    proofs: u64,
}

impl ProofFile {
    /// Appends the first line.
    pub fn start(out: &mut Vec<u8>) -> Self {
        let mut file = Self::default();
        file.append(out, |out| {
            out.extend_from_slice(format!("proofs\t{PROOF_FILE_VERSION}\n").as_bytes());
        });
        file
    }

    /// Appends a proof.
    pub fn push(&mut self, proof: &ProofText, out: &mut Vec<u8>) {
        self.proofs += 1;
        self.append(out, |out| proof.write(out));
    }

    /// Appends the last line.
    pub fn end(self, out: &mut Vec<u8>) {
        out.extend_from_slice(end_line(self.proofs, self.digest).as_bytes());
        out.push(b'\n');
    }

    fn append(&mut self, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        let before = out.len();
        write(out);
        self.digest.update(&out[before..]);
    }
}

/// The last line. `digest` has hashed all lines before it.
fn end_line(proofs: u64, digest: Sha256) -> String {
    let mut line = format!("end\t{proofs}\t");
    for byte in digest.finalize() {
        write!(line, "{byte:02x}").expect("writing to a String succeeds");
    }
    line
}
