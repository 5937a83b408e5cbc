//! Options that choose the library and the device for networks in ONNX files.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::option::heading::NETWORK;
use super::option::word;
#[cfg(feature = "network")]
use crate::cli::exit::Usage;
#[cfg(feature = "network")]
use crate::selfplay::evaluators::Runtime;

/// The library that evaluates ONNX files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuntimeName {
    #[default]
    Auto,
    Ort,
    Rten,
}

/// Runtime and devices.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct RuntimeArgs {
    /// Library for ONNX files: `rten` is part of the program and uses the CPU; `ort` is ONNX Runtime, which must be
    /// installed; `auto` is `ort` with --device or --ort-lib and otherwise `rten` [default: auto]
    #[arg(long, help_heading = NETWORK, value_name = "auto|ort|rten", value_parser = word::<RuntimeName>)]
    pub(super) runtime: Option<RuntimeName>,

    /// Device of ONNX Runtime: cpu, cuda, tensorrt or directml. cuda:1 is the second GPU. Repeat for several devices
    /// [default: cpu]
    #[arg(long, help_heading = NETWORK, value_name = "DEVICE")]
    pub(super) device: Vec<String>,

    /// Compute in half precision with --device tensorrt. With other devices, use an ONNX file in half precision
    #[arg(long, help_heading = NETWORK)]
    pub(super) fp16: bool,

    /// Shared library of ONNX Runtime [default: the first of the value of `ORT_DYLIB_PATH`, the library of an installed
    /// Python package onnxruntime, the library of the system]
    #[arg(long, help_heading = NETWORK, value_name = "FILE")]
    pub(super) ort_lib: Option<PathBuf>,
}

#[cfg(feature = "network")]
impl RuntimeArgs {
    /// The runtimes, one for each device.
    #[cfg(feature = "onnxruntime")]
    pub(super) fn runtimes(&self) -> Result<Vec<Runtime>, Usage> {
        use kyokumen_network::{Device, OrtSettings};

        let named = !self.device.is_empty() || self.ort_lib.is_some();
        match self.runtime.unwrap_or_default() {
            RuntimeName::Rten if named || self.fp16 => {
                return Err(Usage(
                    "--runtime rten cannot be used with --device, --fp16 or --ort-lib".to_owned(),
                ));
            }
            RuntimeName::Rten => return Ok(vec![Runtime::Rten]),
            RuntimeName::Auto if !named && !self.fp16 => return Ok(vec![Runtime::Rten]),
            RuntimeName::Auto | RuntimeName::Ort => {}
        }
        let default = ["cpu".to_owned()];
        let names = if self.device.is_empty() { &default } else { self.device.as_slice() };
        let settings = |name: &String| {
            let device: Device =
                name.parse().map_err(|error| Usage(format!("--device: {error}, not {name:?}")))?;
            if self.fp16 && !matches!(device, Device::TensorRt(_)) {
                return Err(Usage(format!(
                    "--fp16 works with --device tensorrt only; for {device} use an ONNX file in half precision"
                )));
            }
            Ok(Runtime::OnnxRuntime(OrtSettings {
                library: self.ort_lib.clone(),
                device,
                half: self.fp16,
                engine_cache: engine_cache(),
            }))
        };
        names.iter().map(settings).collect()
    }

    /// The runtime of builds without ONNX Runtime.
    #[cfg(not(feature = "onnxruntime"))]
    pub(super) fn runtimes(&self) -> Result<Vec<Runtime>, Usage> {
        let wants_other = !self.device.is_empty() || self.ort_lib.is_some() || self.fp16;
        if wants_other || self.runtime == Some(RuntimeName::Ort) {
            return Err(Usage(
                "this build does not support ONNX Runtime; install it with `cargo install --path . --features onnxruntime`"
                    .to_owned(),
            ));
        }
        Ok(vec![Runtime::Rten])
    }
}

/// The folder for networks that `TensorRT` has compiled, in the user's folder for caches.
#[cfg(feature = "onnxruntime")]
fn engine_cache() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = if cfg!(windows) {
        variable("LOCALAPPDATA")
    } else {
        variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")))
    };
    Some(folder?.join("kyokumen").join("tensorrt"))
}
