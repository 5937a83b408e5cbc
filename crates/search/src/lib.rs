#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`solver`] is the mate solver for shogi. [`DfPn`] searches any [`kyokumen_game::Game`]. A search takes [`Limits`]
//! and a [`TableSize`] and returns a [`Verdict`], a line and [`Stats`]. A [`SearchObserver`] reads its progress and can
//! stop it. A [`Proof`] outlives the search and can be checked by other programs.

pub mod alternatives;
mod checker;
mod child_cache;
mod counted;
mod descent;
mod dfpn;
mod huge_pages;
mod length;
mod limits;
mod line;
mod numbers;
mod observer;
mod path;
mod proof;
mod repetition;
mod restricted;
mod search_result;
mod shared_table;
mod shortening;
pub mod solver;
mod table;
mod team;
mod together;
mod verdict;

pub use counted::CountedPlies;
pub use dfpn::{DfPn, SOLVER_VERSION};
pub use limits::{Limits, MAX_PLIES, STACK_BYTES, TableError, TableSize, Threads, WhenHopeless};
pub use observer::{SearchControl, SearchObserver, SearchProgress};
pub use proof::{Proof, Step};
pub use search_result::SearchResult;
pub use team::SharedGame;
pub use verdict::{NODE_DEFINITION, Stats, Stop, Verdict};
