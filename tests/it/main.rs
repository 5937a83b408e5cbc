//! Contracts of the library and of its programs, in one binary.

mod archive;
mod filter;
mod filter_command;
