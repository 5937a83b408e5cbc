//! Ways to keep the marks of a board, to be compared: arrays of marks, of integers, two planes of bits.
//!
//! They are those of the articles (`NpBoard`, `NpIntBoard`, `NpBoolBoard` of article 204), as Rust would write
//! them, each also with counts of the marks on every line, which moves keep up to date (`count_linemark`).

mod counted;
mod integers;
mod interface;
mod marks;
mod planes;
mod visitor;

pub use counted::Counted;
pub use integers::Integers;
pub use interface::Representation;
pub use marks::Marks;
pub use planes::Planes;
pub use visitor::{Visitor, visit_all};
