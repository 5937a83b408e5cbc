#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//! [`Tree::simulate`] walks down to a [`Leaf`]. An [`Evaluator`](kyokumen_network::Evaluator) evaluates its position,
//! and [`Tree::expand`] adds the evaluation to the tree. [`Root`] is the search result. PUCT follows Silver et al.
//! (Science, 2018), with the constants of dlshogi.

mod devices;
mod gumbel;
mod leaf_search;
mod node;
mod noise;
mod puct;
mod root;
mod settings;
mod tree;

pub use devices::Devices;
pub use gumbel::GumbelResult;
pub use leaf_search::{LeafSearch, MateLine};
pub use root::{Root, RootMove};
pub use settings::{
    DirichletNoise, Exploration, FirstPlay, GumbelRoot, MateLimits, MctsSettings, Puct, RootNoise,
};
pub use tree::{Leaf, Simulation, Tree};
