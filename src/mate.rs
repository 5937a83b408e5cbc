//! Positions judged: the mate solver asked about records, with proofs and a memo of answers.

pub mod alternatives;
pub mod filter_mates;
pub mod judge;
pub mod memo;
pub mod positions;
pub mod proof;
pub mod solve;
