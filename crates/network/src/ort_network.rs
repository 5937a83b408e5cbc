//! Networks in ONNX files, evaluated by ONNX Runtime on the CPU or on an accelerator.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ort::ep;
use ort::ep::ExecutionProviderDispatch;
use ort::memory::{AllocationDevice, Allocator, AllocatorType, MemoryInfo, MemoryType};
use ort::session::builder::SessionBuilder;
use ort::session::{HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionOutputs};
use ort::value::{Tensor, TensorRef};

use crate::NetworkError;
use crate::batch::{Batch, CHUNK, Evaluator};
use crate::device::{Device, OrtSettings};
use crate::feature_bits::INPUT1_BYTES;
use crate::features::Input2;
use crate::label::LABELS;
use crate::onnx::{BIT_INPUTS, BitNetwork, OUTPUTS};
use crate::ort_library::Library;

/// Time between two tests of the cancel flag while a network is loaded.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Loads ONNX Runtime and describes its build, with version and commit. `library` is the shared library, by default the
/// first of: the value of `ORT_DYLIB_PATH`, the library of an installed `onnxruntime` wheel, the system's.
///
/// # Errors
///
/// [`NetworkError::Library`] if the library cannot be loaded or is too old.
pub fn load_onnx_runtime(library: Option<&Path>) -> Result<&'static str, NetworkError> {
    Library::load(library).map(|_| ort::info())
}

/// A network of the dlshogi family, evaluated by ONNX Runtime.
///
/// On the CPU it always evaluates [`CHUNK`] slots together, used or not, on one thread. So the bits of a result depend
/// only on the position. On other devices it evaluates all slots of a batch, so the shapes never change.
pub struct OrtNetwork {
    session: Session,
    planes: Input2,
    temperature: f32,
    /// Number of slots to evaluate together.
    slots: usize,
    /// Where the results go on a device: memory that it can write to directly.
    pinned: Option<RunOptions<HasSelectedOutputs>>,
}

impl OrtNetwork {
    /// Loads an ONNX file. `temperature` divides the logits of the policy, `capacity` is that of the batches to
    /// evaluate. Ends soon after `cancel` is set.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the library or the file cannot be read, the file is not a network of the dlshogi family, or
    /// the device cannot be used.
    pub fn open(
        path: impl AsRef<Path>,
        settings: &OrtSettings,
        temperature: f32,
        capacity: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, NetworkError> {
        let path = path.as_ref();
        let file = fs::read(path)
            .map_err(|source| NetworkError::Read { path: path.to_owned(), source })?;
        let BitNetwork { model, planes } = BitNetwork::new(path, &file)?;
        let library = Library::load(settings.library.as_deref())?;
        let slots = match settings.device {
            Device::Cpu => CHUNK,
            _ => capacity.next_multiple_of(CHUNK),
        };
        let builder = builder(&library, settings, slots).map_err(|error| NetworkError::Device {
            device: settings.device,
            source: error.into(),
        })?;
        let session = commit(builder, &model, cancel).map_err(|error| {
            if cancel.load(Ordering::Relaxed) {
                return NetworkError::Cancelled;
            }
            NetworkError::Load { path: path.to_owned(), source: error.into() }
        })?;
        let mut network = Self { session, planes, temperature, slots, pinned: None };
        if let Some(memory) = pinned_memory(settings.device) {
            network.pin_outputs(memory).map_err(runtime)?;
        }
        Ok(network)
    }

    /// Evaluates empty positions, so that the first batch takes no longer than others, and reserves memory for results
    /// of the same shapes.
    fn pin_outputs(&mut self, memory: MemoryInfo<'_>) -> ort::Result<()> {
        let bytes = |per_slot: usize| vec![0_u8; self.slots * per_slot];
        let (input1, input2) = (bytes(INPUT1_BYTES), bytes(self.planes.bytes()));
        let outputs = run(&mut self.session, self.slots, [&input1, &input2], None)?;
        let shapes = OUTPUTS.map(|name| outputs[name].shape().clone());
        drop(outputs);
        let allocator = Allocator::new(&self.session, memory)?;
        let mut selector = OutputSelector::default();
        for (name, shape) in OUTPUTS.into_iter().zip(shapes) {
            selector = selector.preallocate(name, Tensor::<f32>::new(&allocator, shape)?);
        }
        self.pinned = Some(RunOptions::new()?.with_outputs(selector));
        Ok(())
    }
}

fn runtime(error: ort::Error) -> NetworkError {
    NetworkError::Runtime(error.into())
}

/// The memory of results that a device can write to directly.
fn pinned_memory(device: Device) -> Option<MemoryInfo<'static>> {
    let number = match device {
        Device::Cuda(number) | Device::TensorRt(number) => i32::from(number),
        Device::Cpu | Device::DirectMl(_) => return None,
    };
    let (device, memory) = (AllocationDevice::CUDA_PINNED, MemoryType::CPUOutput);
    MemoryInfo::new(device, number, AllocatorType::Device, memory).ok()
}

fn builder(library: &Library, settings: &OrtSettings, slots: usize) -> ort::Result<SessionBuilder> {
    let builder = Session::builder(&library.environment)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_dimension_override("batch", i64::try_from(slots).unwrap_or(i64::MAX))?
        .with_deterministic_compute(true)?;
    Ok(builder.with_execution_providers(providers(settings))?)
}

/// The provider of the device. If it cannot be used, this is an error: the CPU does not replace it silently.
fn providers(settings: &OrtSettings) -> Vec<ExecutionProviderDispatch> {
    let cuda = |number: u8| ep::CUDA::default().with_device_id(i32::from(number)).build();
    let providers = match settings.device {
        Device::Cpu => vec![],
        Device::Cuda(number) => vec![cuda(number)],
        Device::TensorRt(number) => {
            let mut tensor_rt = ep::TensorRT::default()
                .with_device_id(i32::from(number))
                .with_fp16(settings.half)
                .with_engine_cache(settings.engine_cache.is_some());
            if let Some(folder) = &settings.engine_cache {
                tensor_rt = tensor_rt.with_engine_cache_path(folder.display());
            }
            vec![tensor_rt.build(), cuda(number)]
        }
        Device::DirectMl(number) => {
            vec![ep::DirectML::default().with_device_id(i32::from(number)).build()]
        }
    };
    providers.into_iter().map(ExecutionProviderDispatch::error_on_failure).collect()
}

/// Loads a network. Cancels this when the flag is set.
fn commit(mut builder: SessionBuilder, model: &[u8], cancel: &AtomicBool) -> ort::Result<Session> {
    let canceler = builder.canceler();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if cancel.load(Ordering::Relaxed) {
                    let _ = canceler.cancel();
                    return;
                }
                thread::park_timeout(POLL_INTERVAL);
            }
        });
        let session = builder.commit_from_memory(model);
        done.store(true, Ordering::Relaxed);
        session
    })
}

/// Evaluates slots. The inputs contain their bits.
fn run<'a>(
    session: &'a mut Session,
    slots: usize,
    [input1, input2]: [&[u8]; 2],
    options: Option<&'a RunOptions<HasSelectedOutputs>>,
) -> ort::Result<SessionOutputs<'a>> {
    let tensor = |bits| TensorRef::from_array_view(([slots, <[u8]>::len(bits) / slots], bits));
    let inputs = ort::inputs![BIT_INPUTS[0] => tensor(input1)?, BIT_INPUTS[1] => tensor(input2)?];
    match options {
        Some(options) => session.run_with_options(inputs, options),
        None => session.run(inputs),
    }
}

/// The numbers of an output. Checks that there are `expected` numbers.
fn numbers<'a>(
    outputs: &'a SessionOutputs<'_>,
    name: &str,
    expected: usize,
) -> Result<&'a [f32], NetworkError> {
    let (_, numbers) = outputs[name].try_extract_tensor::<f32>().map_err(runtime)?;
    if numbers.len() != expected {
        let found = numbers.len();
        let message = format!("an output has {found} numbers, expected {expected}");
        return Err(NetworkError::Runtime(message.into()));
    }
    Ok(numbers)
}

impl Evaluator for OrtNetwork {
    fn planes(&self) -> Option<Input2> {
        Some(self.planes)
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        batch.start_answers();
        for first in (0..batch.len()).step_by(self.slots) {
            if cancel.load(Ordering::Relaxed) {
                return Err(NetworkError::Cancelled);
            }
            let slots = |per_slot: usize| first * per_slot..(first + self.slots) * per_slot;
            let input1 = &batch.input1()[slots(INPUT1_BYTES)];
            let input2 = &batch.input2()[slots(self.planes.bytes())];
            let outputs =
                run(&mut self.session, self.slots, [input1, input2], self.pinned.as_ref());
            let outputs = outputs.map_err(runtime)?;
            let logits = numbers(&outputs, OUTPUTS[0], self.slots * LABELS)?;
            let values = numbers(&outputs, OUTPUTS[1], self.slots)?;
            let used = first..batch.len().min(first + self.slots);
            for (slot, (logits, &value)) in used.zip(logits.chunks_exact(LABELS).zip(values)) {
                batch.set_logits(slot, logits, self.temperature, value)?;
            }
        }
        Ok(())
    }
}
