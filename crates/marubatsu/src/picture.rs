//! Pictures of the tree under a position: what a search visited, what it knew, what it cut.
//!
//! The articles draw such subtrees, boards with their values in columns, what was cut in darker colours.

mod builder;
mod drawn;
mod html;
mod layout;
mod svg;
mod text;

pub use builder::MAX_BOARDS;
pub use drawn::{Bound, DrawnNode, NodeStatus, Picture};
pub use html::html;
pub use svg::svg;
pub use text::text;
