//! The tree against a slow plain one, and searches whose outcome the rules decide.

mod devices;
mod reference;
mod rules;
