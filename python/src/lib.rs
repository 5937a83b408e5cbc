//! The module `kyokumen._native`: Python bindings of the library, with numpy arrays and Arrow streams.
//!
//! The bindings only translate; all behaviour is in the library. Long calls run without the interpreter's lock and can
//! be stopped with Ctrl-C.

// Docstrings are for Python users and are shown in a terminal.
#![allow(clippy::doc_markdown)]
// A method path has one lifetime where a closure works for all.
#![allow(clippy::redundant_closure_for_method_calls)]
// pyo3 passes arguments by value and objects by reference, and Python determines the names.
#![allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::wrong_self_convention
)]
// Values of records fit into the types of arrays, and only small numbers are converted.
#![allow(clippy::cast_possible_wrap)]

mod archive;
mod arguments;
mod arrays;
mod arrow;
mod batch;
mod failure;
mod features;
mod game;
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
mod writer;

use pyo3::prelude::*;

/// Implements the package `kyokumen`, which re-exports everything.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "the name in Python")]
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
    use crate::game::{Game, GameIterator, GameMove, games};
    #[pymodule_export]
    use crate::loader::Loader;
    #[pymodule_export]
    use crate::moves::Move;
    #[pymodule_export]
    use crate::operations::{call_command, options_of_commands, run_command_line};
    #[pymodule_export]
    use crate::position::Position;
    #[pymodule_export]
    use crate::record::Record;
    #[pymodule_export]
    use crate::solver::{Proof, Solution, Solver, solve_many};
    #[pymodule_export]
    use crate::writer::{Writer, create};
}
