#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Tree::simulate`] walks down to a [`Leaf`], whose position an [`Evaluator`](kyokumen_network::Evaluator) answers;
//! [`Tree::expand`] takes the answer. [`Root`] is what the visits say then. PUCT is that of Silver et al.
//! (Science, 2018), its constants dlshogi's.

mod devices;
mod leaf_search;
mod node;
mod puct;
mod root;
mod settings;
mod tree;

pub use devices::Devices;
pub use leaf_search::{LeafSearch, MateLine};
pub use root::{Root, RootMove};
pub use settings::{Exploration, FirstPlay, MateLimits, MctsSettings, Puct};
pub use tree::{Leaf, Simulation, Tree};
