//! Models by name: network files, programs and built-in substitutes.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{fmt, fs};

use kyokumen_network::{Evaluator, Hashed, NetworkError, ProcessNetwork, RtenNetwork, Uniform};

use crate::jobs::game_totals::NetworkEntry;
use crate::storage::checksum::Sha256Sum;
use crate::storage::platform;

/// A model that evaluates positions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Model {
    /// `uniform`: equal probabilities for all moves, and value 0.5.
    Uniform,
    /// `hashed`: pseudo-random numbers computed from the position.
    Hashed,
    /// An ONNX file with a network of the dlshogi family.
    Onnx(PathBuf),
    /// `run:COMMAND`: a program that evaluates batches, with its arguments. See [`ProcessNetwork`].
    Process(Vec<String>),
}

impl Model {
    /// Returns the model of a name: `uniform`, `hashed`, `run:COMMAND` or a file name.
    pub fn named(name: &Path) -> Self {
        match name.to_str() {
            Some("uniform") => Self::Uniform,
            Some("hashed") => Self::Hashed,
            text => match text.and_then(|text| text.strip_prefix("run:")) {
                Some(command) => Self::Process(split_command(command)),
                None => Self::Onnx(name.to_owned()),
            },
        }
    }
}

impl Model {
    /// Returns a model for each thread. Several models take turns, and each is used at least once. `threads` = 0 means
    /// one thread per logical CPU.
    pub fn of_devices(names: &[PathBuf], threads: usize) -> Vec<Self> {
        let threads = platform::threads(threads);
        let named: Vec<Self> = names.iter().map(|name| Self::named(name)).collect();
        named.into_iter().cycle().take(threads.max(names.len())).collect()
    }
}

/// Splits a command into program and arguments. A malformed command stays one argument, so starting it fails.
fn split_command(command: &str) -> Vec<String> {
    let words = shlex::split(command).filter(|words| !words.is_empty());
    words.unwrap_or_else(|| vec![command.to_owned()])
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Hashed => f.write_str("hashed"),
            Self::Onnx(path) => write!(f, "{}", path.display()),
            Self::Process(command) => write!(f, "run:{}", command.join(" ")),
        }
    }
}

impl Model {
    /// Returns the manifest entry of the model.
    ///
    /// # Errors
    /// [`NetworkError::Read`] if the file cannot be read.
    pub fn entry(&self) -> Result<NetworkEntry, NetworkError> {
        let Self::Onnx(path) = self else {
            return Ok(NetworkEntry {
                model: self.to_string(),
                sha256: None,
                runtime: if matches!(self, Self::Process(_)) { "process" } else { "none" }
                    .to_owned(),
            });
        };
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(NetworkEntry {
            model: Path::new(name).display().to_string(),
            sha256: Some(sum(path)?),
            runtime: "rten".to_owned(),
        })
    }

    /// Loads the model. The logits of a network's policy are divided by `temperature`. Loading a program returns soon
    /// after `cancel` is set.
    ///
    /// # Errors
    /// [`NetworkError`] if the file is not a supported network or the program cannot be started.
    pub fn load(
        &self,
        temperature: f32,
        cancel: &AtomicBool,
    ) -> Result<Box<dyn Evaluator>, NetworkError> {
        Ok(match self {
            Self::Uniform => Box::new(Uniform::default()),
            Self::Hashed => Box::new(Hashed::default()),
            Self::Onnx(path) => Box::new(RtenNetwork::open(path, temperature)?),
            Self::Process(command) => {
                Box::new(ProcessNetwork::start(command, temperature, cancel)?)
            }
        })
    }
}

fn sum(path: &Path) -> Result<Sha256Sum, NetworkError> {
    let sum = fs::File::open(path).and_then(Sha256Sum::of_reader);
    sum.map_err(|source| NetworkError::Read { path: path.to_owned(), source })
}
