#![doc = include_str!("../README.md")]

mod batch;
mod feature_bits;
mod features;
mod label;
mod network_error;
mod nnue;
mod process_network;
mod reproducible;
#[cfg(feature = "rten")]
mod rten_network;
mod stand_ins;

pub use batch::{Batch, CHUNK, Evaluator};

pub use feature_bits::{INPUT1_BYTES, write_input1_bits, write_input2_bits};
pub use features::{BOARD, Element, INPUT1_PLANES, Input2, write_input1, write_input2};
pub use label::{LABELS, move_label};
pub use network_error::NetworkError;
pub use nnue::NnueFeatures;
pub use process_network::ProcessNetwork;
pub use reproducible::is_reproducible;
#[cfg(feature = "rten")]
pub use rten_network::RtenNetwork;
pub use stand_ins::{Delayed, Hashed, Uniform};
