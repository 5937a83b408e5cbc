//! Integration tests, in one binary.
mod format_data;
mod format_edges;
mod format_literals;
mod format_properties;
mod format_random;
