//! Models by name: network files, programs and built-in substitutes.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::{fmt, fs};

#[cfg(feature = "onnxruntime")]
use kyokumen_network::{Device, OrtNetwork, OrtSettings, load_onnx_runtime};
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
    Onnx(PathBuf, Runtime),
    /// `run:COMMAND`: a program that evaluates batches, with its arguments. See [`ProcessNetwork`].
    Process(Vec<String>),
}

/// The library that evaluates ONNX files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Runtime {
    /// `rten`, which is part of the program. It uses the CPU.
    #[default]
    Rten,
    /// ONNX Runtime, with any of its devices.
    #[cfg(feature = "onnxruntime")]
    OnnxRuntime(OrtSettings),
}

impl Model {
    /// Returns the model of a name: `uniform`, `hashed`, `run:COMMAND` or a file name, which `runtime` evaluates.
    pub fn named(name: &Path, runtime: &Runtime) -> Self {
        match name.to_str() {
            Some("uniform") => Self::Uniform,
            Some("hashed") => Self::Hashed,
            text => match text.and_then(|text| text.strip_prefix("run:")) {
                Some(command) => Self::Process(split_command(command)),
                None => Self::Onnx(name.to_owned(), runtime.clone()),
            },
        }
    }
}

impl Model {
    /// Returns a model for each thread. Models and runtimes take turns, and each model is used with each runtime.
    /// `threads` = 0 means one thread per logical CPU, `None` the same unless all runtimes use accelerators.
    pub fn of_devices(
        names: &[PathBuf],
        runtimes: &[Runtime],
        threads: Option<usize>,
    ) -> Vec<Self> {
        let has_cpu = !runtimes.iter().all(Runtime::is_accelerated);
        let threads = platform::threads(threads.unwrap_or(usize::from(!has_cpu)));
        let of_runtime =
            |runtime| names.iter().map(move |name| Self::named(name, runtime)).collect::<Vec<_>>();
        let named: Vec<Self> = runtimes.iter().flat_map(of_runtime).collect();
        let count = threads.max(named.len());
        named.into_iter().cycle().take(count).collect()
    }

    /// Whether a device other than the CPU evaluates the network.
    pub fn is_accelerated(&self) -> bool {
        matches!(self, Self::Onnx(_, runtime) if runtime.is_accelerated())
    }

    /// The file of the network.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Onnx(path, _) => Some(path),
            Self::Uniform | Self::Hashed | Self::Process(_) => None,
        }
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
            Self::Onnx(path, _) => write!(f, "{}", path.display()),
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
        let Self::Onnx(path, runtime) = self else {
            let runtime = if matches!(self, Self::Process(_)) { "process" } else { "none" };
            return Ok(NetworkEntry {
                model: self.to_string(),
                sha256: None,
                runtime: runtime.to_owned(),
                device: None,
            });
        };
        let name = path.file_name().unwrap_or(path.as_os_str());
        let (runtime, device) = runtime.entry()?;
        Ok(NetworkEntry {
            model: Path::new(name).display().to_string(),
            sha256: Some(sum(path)?),
            runtime,
            device,
        })
    }

    /// Loads the model for batches of at most `batch` positions. The logits of a network's policy are divided by
    /// `temperature`. Returns soon after `cancel` is set.
    ///
    /// # Errors
    /// [`NetworkError`] if the file is not a supported network or the program cannot be started.
    #[cfg_attr(
        not(feature = "onnxruntime"),
        expect(unused_variables, reason = "only ONNX Runtime depends on the size of batches")
    )]
    pub fn load(
        &self,
        temperature: f32,
        batch: usize,
        cancel: &AtomicBool,
    ) -> Result<Box<dyn Evaluator>, NetworkError> {
        Ok(match self {
            Self::Uniform => Box::new(Uniform::default()),
            Self::Hashed => Box::new(Hashed::default()),
            Self::Onnx(path, Runtime::Rten) => Box::new(RtenNetwork::open(path, temperature)?),
            #[cfg(feature = "onnxruntime")]
            Self::Onnx(path, Runtime::OnnxRuntime(settings)) => {
                Box::new(OrtNetwork::open(path, settings, temperature, batch, cancel)?)
            }
            Self::Process(command) => {
                Box::new(ProcessNetwork::start(command, temperature, cancel)?)
            }
        })
    }
}

impl Runtime {
    /// Whether it uses a device other than the CPU.
    fn is_accelerated(&self) -> bool {
        match self {
            Self::Rten => false,
            #[cfg(feature = "onnxruntime")]
            Self::OnnxRuntime(settings) => settings.device != Device::Cpu,
        }
    }

    /// The runtime with its build, and the kind of the device, for a manifest.
    #[cfg_attr(not(feature = "onnxruntime"), expect(clippy::unnecessary_wraps))]
    fn entry(&self) -> Result<(String, Option<String>), NetworkError> {
        match self {
            Self::Rten => Ok(("rten".to_owned(), None)),
            #[cfg(feature = "onnxruntime")]
            Self::OnnxRuntime(settings) => {
                let version = load_onnx_runtime(settings.library.as_deref())?;
                let kind = settings.device.kind();
                let is_half = settings.half && matches!(settings.device, Device::TensorRt(_));
                let device = if is_half { format!("{kind} fp16") } else { kind.to_owned() };
                Ok((format!("onnxruntime {version}"), Some(device)))
            }
        }
    }
}

fn sum(path: &Path) -> Result<Sha256Sum, NetworkError> {
    let sum = fs::File::open(path).and_then(Sha256Sum::of_reader);
    sum.map_err(|source| NetworkError::Read { path: path.to_owned(), source })
}
