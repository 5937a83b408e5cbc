//! Integration tests, in one binary.

mod positions;
mod rsshogi;
mod rules;
