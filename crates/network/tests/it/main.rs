//! Planes, labels, batches and evaluators.

mod evaluators;
mod features;
#[cfg(feature = "rten")]
mod onnx;
#[cfg(unix)]
mod process;
#[cfg(feature = "rten")]
mod runtimes;
