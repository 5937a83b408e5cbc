//! Solving: does the attacker reach the goal against every defence?
//!
//! [`DfPn`] is a depth- and node-limited df-pn search (Nagai 2002), generic over [`kyokumen_game::Game`]: a game
//! needs its moves, a key and who has won. What the search calls proven has been checked against the plain rules of
//! the game. [`solver`] puts it together with the rules of shogi to a mate solver.
//!
//! The search is described in `docs/search.md` of the project.

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
