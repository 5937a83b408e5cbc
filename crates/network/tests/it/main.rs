//! Planes, labels, batches and evaluators.

mod evaluators;
mod features;
#[cfg(feature = "rten")]
mod onnx;
#[cfg(feature = "rten")]
mod rten;
