#![doc = include_str!("../README.md")]

mod batch;
mod feature_bits;
mod features;
mod label;
mod nnue;
mod process_network;
mod reproducible;
#[cfg(feature = "rten")]
mod rten_network;
mod stand_ins;

use std::error::Error;
use std::io;
use std::path::PathBuf;

use kyokumen_process::Fault;
use kyokumen_shogi::Color;

pub use batch::{Batch, CHUNK, Evaluator};
pub use feature_bits::{INPUT1_BYTES, write_input1_bits, write_input2_bits};
pub use features::{BOARD, Element, INPUT1_PLANES, Input2, write_input1, write_input2};
pub use label::{LABELS, move_label};
pub use nnue::NnueFeatures;
pub use process_network::ProcessNetwork;
pub use reproducible::is_reproducible;
#[cfg(feature = "rten")]
pub use rten_network::RtenNetwork;
pub use stand_ins::{Delayed, Hashed, Uniform};

/// Why a network cannot be loaded, or gives no evaluations.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no ONNX file, or one of operators that the runtime lacks.
    #[error("{} is no ONNX file that can be evaluated here", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// What the runtime says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// An input or output has another name, or none.
    #[error(
        "{} is no network of the dlshogi family: it has no {name}, but {}",
        path.display(),
        found.join(", ")
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is missing.
        name: &'static str,
        /// The inputs and outputs that are there.
        found: Vec<String>,
    },
    /// A program cannot be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A program sends no line of greeting.
    #[error("{program} is no evaluator: it sent no line of greeting")]
    NoGreeting {
        /// The program.
        program: String,
        /// Why not.
        source: Fault,
    },
    /// A program's first line is no greeting of this protocol.
    #[error(
        "{program} is no evaluator: its first line is {greeting:?}, expected `kyokumen-evaluator 1 57` or `… 119`"
    )]
    Greeting {
        /// The program.
        program: String,
        /// How the line begins.
        greeting: String,
    },
    /// The cancel flag was set during a start or an evaluation.
    #[error("the evaluation was interrupted")]
    Cancelled,
    /// The runtime failed.
    #[error("the network cannot be evaluated")]
    Runtime(#[source] Box<dyn Error + Send + Sync>),
    /// An output of the network holds a number outside of its range.
    #[error(
        "{output} of position {slot} of {len} is {number}, not {expected}: is it a network of the dlshogi family?"
    )]
    Unusable {
        /// `output_policy` or `output_value`.
        output: &'static str,
        /// The position in the batch, from 0.
        slot: usize,
        /// Positions in the batch.
        len: usize,
        /// The number.
        number: f32,
        /// What was expected.
        expected: &'static str,
    },
    /// NNUE features need the king of this side.
    #[error("the {0:?} king is missing, from which the features of NNUE are told")]
    MissingKing(Color),
    /// An input is of another shape.
    #[error(
        "{} is no network of the dlshogi family: {name} is {found}, expected [N,{},9,9]",
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
        /// The planes that it may have.
        planes: Vec<usize>,
    },
}
