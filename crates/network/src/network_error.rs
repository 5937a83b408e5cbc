//! Why a network cannot be used.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use kyokumen_process::Fault;

/// Why a file or a program is no network that we can ask.
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
    /// Somebody set the flag that ends the start of a program.
    #[error("the start of {program} was interrupted")]
    Cancelled {
        /// The program.
        program: String,
    },
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
