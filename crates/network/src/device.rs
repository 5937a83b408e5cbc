//! Devices of ONNX Runtime, and how it uses them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A device of ONNX Runtime. The number selects one of several devices, from 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Device {
    /// One thread of the CPU.
    #[default]
    Cpu,
    /// An NVIDIA GPU.
    Cuda(u8),
    /// An NVIDIA GPU with `TensorRT`, which first compiles the network.
    TensorRt(u8),
    /// A GPU on Windows.
    DirectMl(u8),
}

impl Device {
    /// The name without the number.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda(_) => "cuda",
            Self::TensorRt(_) => "tensorrt",
            Self::DirectMl(_) => "directml",
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str(self.kind()),
            Self::Cuda(number) | Self::TensorRt(number) | Self::DirectMl(number) => {
                write!(f, "{}:{number}", self.kind())
            }
        }
    }
}

/// A text is not the name of a device.
#[derive(Debug, thiserror::Error)]
#[error("expected cpu, cuda, tensorrt or directml, the last three also with a number as in cuda:1")]
pub struct DeviceError;

impl FromStr for Device {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let (kind, number) = match text.split_once(':') {
            Some((kind, number)) => (kind, Some(number.parse().map_err(|_| DeviceError)?)),
            None => (text, None),
        };
        match (kind, number) {
            ("cpu", None) => Ok(Self::Cpu),
            ("cuda", number) => Ok(Self::Cuda(number.unwrap_or_default())),
            ("tensorrt", number) => Ok(Self::TensorRt(number.unwrap_or_default())),
            ("directml", number) => Ok(Self::DirectMl(number.unwrap_or_default())),
            _ => Err(DeviceError),
        }
    }
}

/// How ONNX Runtime evaluates a network.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OrtSettings {
    /// The shared library. `None`: the first of the value of `ORT_DYLIB_PATH`, the library of an installed
    /// `onnxruntime` wheel, the system's.
    pub library: Option<PathBuf>,
    /// The device.
    pub device: Device,
    /// Whether `TensorRT` computes in half precision.
    pub half: bool,
    /// The folder for networks that `TensorRT` has compiled. `None`: they are not kept.
    pub engine_cache: Option<PathBuf>,
}
