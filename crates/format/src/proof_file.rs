//! Proofs of mates as text: for every position the attacker may come to, one move, one line.
//!
//! The format is our own; `docs/formats/proof.md` describes it for whoever reads it with other programs.
//! Whether the lines prove anything is for `kyokumen::mate::proof` to say: here they are only read and written.

mod reader;
mod text;

pub use reader::{ProofFileError, ProofFileErrorKind, ProofReader};
pub use text::{
    MAX_PROOF_STEPS, PROOF_FILE_VERSION, ProofClaim, ProofFile, ProofHead, ProofLineError,
    ProofStep, ProofText, TooManySteps, board_of_step, parse_step,
};
pub(crate) use text::{end_line, number, parse_setup};
