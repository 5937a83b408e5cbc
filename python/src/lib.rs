//! The module `kyokumen._native`: the library with Python's types, arrays of numpy and streams of Arrow.
//!
//! Nothing is decided here. Whatever takes time runs without the interpreter's lock and heeds Ctrl-C.

// Docstrings are read by people who write Python, in a terminal.
#![allow(clippy::doc_markdown)]
// A method's path is of one lifetime, where a closure is of all.
#![allow(clippy::redundant_closure_for_method_calls)]
// What Python hands over comes by value, its objects by reference, and names are Python's.
#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::wrong_self_convention
)]
// Numbers of records fit into those of arrays, and small ones are converted.
#![allow(clippy::cast_possible_wrap)]

mod archive;
mod arrays;
mod arrow;
mod batch;
mod failure;
mod features;
mod filtering;
mod interrupt;
mod loader;
mod moves;
mod operations;
mod options;
mod position;
mod reading;
mod record;
mod rows;
mod solver;

use pyo3::prelude::*;

/// See the package `kyokumen`, which hands everything on.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::archive::{Archive, open};
    #[pymodule_export]
    use crate::arrow::{Batch, Batches};
    #[pymodule_export]
    use crate::batch::{decode, encode, has_legal_move, in_check, keys, legal_move_mask, to_sfens};
    #[pymodule_export]
    use crate::features::{dlshogi, dlshogi_labels, halfka_hm, halfkp};
    #[pymodule_export]
    use crate::filtering::gen_filter;
    #[pymodule_export]
    use crate::loader::Loader;
    #[pymodule_export]
    use crate::moves::Move;
    #[pymodule_export]
    use crate::operations::{convert, dedup, shuffle, split, stats, verify};
    #[pymodule_export]
    use crate::position::Position;
    #[pymodule_export]
    use crate::record::Record;
    #[pymodule_export]
    use crate::solver::{Proof, Solution, Solver, solve_many};
}
