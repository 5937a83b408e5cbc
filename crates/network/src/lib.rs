#![doc = include_str!("../README.md")]

mod batch;
mod device;
mod feature_bits;
mod features;
mod label;
mod nnue;
#[cfg(feature = "onnxruntime")]
mod onnx;
#[cfg(feature = "onnxruntime")]
mod ort_library;
#[cfg(feature = "onnxruntime")]
mod ort_network;
mod process_network;
#[cfg(feature = "onnxruntime")]
mod protobuf;
mod reproducible;
#[cfg(feature = "rten")]
mod rten_network;
mod stand_ins;

use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;

use kyokumen_process::Fault;
use kyokumen_shogi::Color;

pub use batch::{Batch, CHUNK, Evaluator};
pub use device::{Device, DeviceError, OrtSettings};
pub use feature_bits::{
    INPUT1_BYTES, unpack_input1, unpack_input2, write_input1_bits, write_input2_bits,
};
pub use features::{BOARD, Element, INPUT1_PLANES, Input2, write_input1, write_input2};
pub use label::{LABELS, move_label};
pub use nnue::NnueFeatures;
#[cfg(feature = "onnxruntime")]
pub use ort_network::{OrtNetwork, load_onnx_runtime};
pub use process_network::ProcessNetwork;
pub use reproducible::is_reproducible;
#[cfg(feature = "rten")]
pub use rten_network::RtenNetwork;
pub use stand_ins::{Delayed, Hashed, Uniform};

/// A network cannot be loaded or evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not an ONNX file, or it contains operators that the runtime does not support.
    #[error("{} is not an ONNX file, or contains operators that are not supported", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The error of the runtime.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The library of ONNX Runtime cannot be loaded.
    #[cfg(feature = "onnxruntime")]
    #[error("cannot load ONNX Runtime from {}", places.join(", "))]
    Library {
        /// The places that were searched.
        places: Vec<String>,
        /// The reason.
        source: Box<dyn Error + Send + Sync>,
    },
    /// ONNX Runtime cannot use a device.
    #[cfg(feature = "onnxruntime")]
    #[error("ONNX Runtime cannot use the device {device}")]
    Device {
        /// The device.
        device: Device,
        /// The error of the runtime.
        source: Box<dyn Error + Send + Sync>,
    },
    /// An input or output is missing.
    #[error(
        "{} is not a network of the dlshogi family: it has no {name}, only {}",
        path.display(),
        found.join(", ")
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// The missing input or output.
        name: &'static str,
        /// The inputs and outputs of the file.
        found: Vec<String>,
    },
    /// A program cannot be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A program sent no greeting line.
    #[error(
        "{program} is not an evaluator: it sent no first line, expected `kyokumen-evaluator 2 57` or `… 119`"
    )]
    NoGreeting {
        /// The program.
        program: String,
        /// The reason.
        source: Fault,
    },
    /// The first line of a program is not a greeting of this protocol.
    #[error(
        "{program} is not an evaluator: its first line is {greeting:?}, expected `kyokumen-evaluator 2 57` or `… 119`"
    )]
    Greeting {
        /// The program.
        program: String,
        /// The start of the line.
        greeting: String,
    },
    /// The cancel flag was set during a start or an evaluation.
    #[error("the evaluation was interrupted")]
    Cancelled,
    /// The runtime failed.
    #[error("the network cannot be evaluated")]
    Runtime(#[source] Box<dyn Error + Send + Sync>),
    /// An output of the network contains a number outside its range.
    #[error(
        "{output} of position {slot} of {len} is {number}, not {expected}: is it a network of the dlshogi family?"
    )]
    Unusable {
        /// `output_policy` or `output_value`.
        output: &'static str,
        /// The position in the batch, from 0.
        slot: usize,
        /// Number of positions in the batch.
        len: usize,
        /// The number.
        number: f32,
        /// A description of the valid numbers.
        expected: &'static str,
    },
    /// NNUE features need the king of this side.
    #[error("the {0:?} king is missing; NNUE features depend on its square")]
    MissingKing(Color),
    /// An input has the wrong shape.
    #[error(
        "{} is not a network of the dlshogi family: {name} is {found}, expected [N,{},9,9]",
        path.display(),
        planes.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// The input.
        name: &'static str,
        /// Its shape.
        found: String,
        /// The valid numbers of planes.
        planes: Vec<usize>,
    },
}

/// Logs a message of a program or library. Without a log, as in Python, it goes to standard error.
fn log(source: &str, message: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::warn!("{source}: {message}");
    } else {
        drop(writeln!(io::stderr(), "{source}: {message}"));
    }
}
