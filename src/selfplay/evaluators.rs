//! Networks by their names: files, and what stands in for one.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{fmt, fs};

use kyokumen_network::{Evaluator, Hashed, NetworkError, ProcessNetwork, RtenNetwork, Uniform};

use crate::jobs::game_totals::NetworkEntry;
use crate::storage::checksum::Sha256Sum;
use crate::storage::platform;

/// What evaluates positions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Model {
    /// Equal probabilities, even positions: `uniform`.
    Uniform,
    /// Numbers that look random and depend on the position: `hashed`.
    Hashed,
    /// A network of the dlshogi family in an ONNX file.
    Onnx(PathBuf),
    /// A program with its arguments that evaluates batches, see [`ProcessNetwork`]: `run:COMMAND`.
    Process(Vec<String>),
}

impl Model {
    /// What a file name says, or one of the names above.
    pub fn named(name: &Path) -> Self {
        match name.to_str() {
            Some("uniform") => Self::Uniform,
            Some("hashed") => Self::Hashed,
            text => match text.and_then(|text| text.strip_prefix("run:")) {
                Some(command) => Self::Process(words(command)),
                None => Self::Onnx(name.to_owned()),
            },
        }
    }
}

impl Model {
    /// A network for each thread, 0 for as many as the machine runs at once; several take turns, each at least once.
    pub fn of_devices(names: &[PathBuf], threads: usize) -> Vec<Self> {
        let threads = platform::threads(threads);
        let named: Vec<Self> = names.iter().map(|name| Self::named(name)).collect();
        named.into_iter().cycle().take(threads.max(names.len())).collect()
    }
}

/// Splits a command into words. One that cannot be split is a single word, which is the name of no program.
fn words(command: &str) -> Vec<String> {
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
    /// What a manifest says of it.
    ///
    /// # Errors
    /// [`NetworkError::Read`].
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

    /// Loads the model. `temperature` divides the logits of a network's policy. Loading a program ends soon after
    /// `cancel` is set.
    ///
    /// # Errors
    /// [`NetworkError`] with what is wrong with the file.
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
