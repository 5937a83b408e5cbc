#![doc = include_str!("../README.md")]

mod element;
mod features;
mod label;

pub use element::Element;
pub use features::{BOARD, INPUT1_PLANES, Input2, write_input1, write_input2};
pub use label::{LABELS, move_label};
