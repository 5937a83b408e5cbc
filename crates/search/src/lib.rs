#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`solver`] is the mate solver of shogi, [`DfPn`] the search for any [`kyokumen_game::Game`]. [`Limits`] and
//! [`TableSize`] go in, a [`Verdict`] and [`Stats`] come out; [`Watch`] looks on and may stop it, [`Proof`] is what can
//! be kept and checked elsewhere.

mod checker;
mod dfpn;
mod kept;
mod limits;
mod line;
mod numbers;
mod path;
mod proof;
mod shortest;
pub mod solver;
mod table;
mod verdict;
mod watch;

pub use dfpn::{DfPn, SOLVER_VERSION, Solved};
pub use limits::{Limits, MOST_PLIES, STACK_BYTES, TableError, TableSize, WhenHopeless};
pub use proof::{Proof, Step};
pub use verdict::{NODE_DEFINITION, Stats, Stop, Verdict};
pub use watch::{Control, Figures, Watch};
