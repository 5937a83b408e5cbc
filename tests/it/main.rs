//! Integration tests, in one binary.

mod exhaustive;
mod graphs;
mod mate_lines;
mod positions;
mod rsshogi;
mod rules;
