//! Searches the positions of records for forced mates, with proofs and a memo of results.

pub mod alternatives;
pub mod filter_mates;
pub mod judge;
pub mod memo;
pub mod positions;
pub mod proof;
pub mod solve;
pub mod split;
