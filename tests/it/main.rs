//! Contracts of the library and of its programs, in one binary.

mod archive;
mod cli_snapshots;
mod convert;
mod exhaustive;
mod filter;
mod filter_command;
mod format_data;
mod format_edges;
mod format_literals;
mod format_properties;
mod format_random;
mod graphs;
mod inspect;
mod layers;
mod marubatsu;
mod mate_lines;
mod positions;
mod rsshogi;
mod rules;
mod samples;
mod small_positions;
mod solve;
mod traps;
mod whole_graphs;
