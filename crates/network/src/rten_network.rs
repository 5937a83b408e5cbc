//! Networks in ONNX files, evaluated on the CPU by [`rten`], a runtime in Rust.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rten::{Dimension, Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value};
use rten_tensor::prelude::*;
use rten_tensor::{Tensor, TensorView};

use crate::NetworkError;
use crate::batch::{Batch, CHUNK, Evaluator};
use crate::feature_bits::{INPUT1_BYTES, unpack_input1, unpack_input2};
use crate::features::{BOARD, INPUT1_PLANES, Input2};
use crate::label::LABELS;

/// A network of the dlshogi family, with inputs `input1` and `input2` and outputs `output_policy` and `output_value`.
///
/// Always evaluates [`CHUNK`] slots together, used or not, on one thread. So the bits of a result depend only on the
/// position, not on the size or the other positions of the batch.
pub struct RtenNetwork {
    model: Model,
    inputs: [NodeId; 2],
    outputs: [NodeId; 2],
    planes: Input2,
    temperature: f32,
    pool: Arc<ThreadPool>,
    /// The planes of a chunk.
    unpacked: [Vec<f32>; 2],
}

impl RtenNetwork {
    /// Loads an ONNX file. `temperature` divides the logits of the policy.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the file cannot be read, is not an ONNX file, or has other inputs and outputs.
    pub fn open(path: impl AsRef<Path>, temperature: f32) -> Result<Self, NetworkError> {
        let path = path.as_ref();
        let bytes = fs::read(path)
            .map_err(|source| NetworkError::Read { path: path.to_owned(), source })?;
        let model = ModelOptions::with_all_ops().prepack_weights(true).load(bytes);
        let model = model.map_err(|error| NetworkError::Load {
            path: path.to_owned(),
            source: Box::new(error),
        })?;
        let interface = Interface { path, model: &model };
        interface.expect_planes("input1", &[INPUT1_PLANES])?;
        let planes = interface.expect_planes("input2", &[57, 119])?;
        let id = |name| interface.id(name);
        let (inputs, outputs) =
            ([id("input1")?, id("input2")?], [id("output_policy")?, id("output_value")?]);
        let planes = Input2::from_planes(planes).expect("57 or 119");
        let pool = Arc::new(ThreadPool::with_num_threads(1));
        let unpacked =
            [INPUT1_PLANES, planes.planes()].map(|planes| vec![0.0; CHUNK * planes * BOARD]);
        Ok(Self { model, inputs, outputs, planes, temperature, pool, unpacked })
    }

    /// Logits and values of the positions of a chunk.
    fn run(
        &mut self,
        batch: &Batch,
        chunk: usize,
    ) -> Result<[Vec<f32>; 2], Box<dyn Error + Send + Sync>> {
        let planes = self.planes.planes();
        let [input1, input2] = &mut self.unpacked;
        let first = chunk * CHUNK;
        let bits = batch.input1()[first * INPUT1_BYTES..].chunks_exact(INPUT1_BYTES);
        for (numbers, bits) in input1.chunks_exact_mut(INPUT1_PLANES * BOARD).zip(bits) {
            unpack_input1(bits, numbers);
        }
        let bits = batch.input2()[first * self.planes.bytes()..].chunks_exact(self.planes.bytes());
        for (numbers, bits) in input2.chunks_exact_mut(planes * BOARD).zip(bits) {
            unpack_input2(bits, self.planes, numbers);
        }
        let input1 = TensorView::from_data(&[CHUNK, INPUT1_PLANES, 9, 9], &input1[..]);
        let input2 = TensorView::from_data(&[CHUNK, planes, 9, 9], &input2[..]);
        let inputs = vec![(self.inputs[0], input1.into()), (self.inputs[1], input2.into())];
        let mut options = RunOptions::default();
        options.thread_pool = Some(Arc::clone(&self.pool));
        let [policy, value] = self.model.run_n(inputs, self.outputs, Some(options))?;
        Ok([numbers(policy, CHUNK * LABELS)?, numbers(value, CHUNK)?])
    }
}

/// The numbers of an output. Checks that there are `expected` numbers.
fn numbers(output: Value, expected: usize) -> Result<Vec<f32>, Box<dyn Error + Send + Sync>> {
    let tensor: Tensor<f32> = output.try_into()?;
    if tensor.len() != expected {
        return Err(format!("an output has {} numbers, expected {expected}", tensor.len()).into());
    }
    Ok(tensor.into_data())
}

impl Evaluator for RtenNetwork {
    fn planes(&self) -> Option<Input2> {
        Some(self.planes)
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        batch.start_answers();
        for chunk in 0..batch.len().div_ceil(CHUNK) {
            if cancel.load(Ordering::Relaxed) {
                return Err(NetworkError::Cancelled);
            }
            let [logits, values] = self.run(batch, chunk).map_err(NetworkError::Runtime)?;
            let (logits, _) = logits.as_chunks::<LABELS>();
            let slots = chunk * CHUNK..batch.len().min((chunk + 1) * CHUNK);
            for (slot, (logits, value)) in slots.zip(logits.iter().zip(values)) {
                batch.set_logits(slot, logits, self.temperature, value)?;
            }
        }
        Ok(())
    }
}

/// The inputs and outputs of a model.
struct Interface<'a> {
    path: &'a Path,
    model: &'a Model,
}

impl Interface<'_> {
    fn id(&self, name: &'static str) -> Result<NodeId, NetworkError> {
        self.model.find_node(name).ok_or_else(|| NetworkError::Missing {
            path: self.path(),
            name,
            found: self.names(),
        })
    }

    /// Returns the number of planes of an input. Checks that it is one of `expected`, and that the shape is (any batch,
    /// planes, 9, 9).
    fn expect_planes(&self, name: &'static str, expected: &[usize]) -> Result<usize, NetworkError> {
        let info = self.model.node_info(self.id(name)?);
        let shape = info.and_then(|info| info.shape()).unwrap_or_default();
        match shape[..] {
            [_, Dimension::Fixed(planes), Dimension::Fixed(9), Dimension::Fixed(9)]
                if expected.contains(&planes) =>
            {
                Ok(planes)
            }
            _ => Err(NetworkError::Shape {
                path: self.path(),
                name,
                found: text(&shape),
                planes: expected.to_vec(),
            }),
        }
    }

    /// Names of inputs and outputs.
    fn names(&self) -> Vec<String> {
        let ids = self.model.input_ids().iter().chain(self.model.output_ids());
        ids.filter_map(|&id| Some(self.model.node_info(id)?.name()?.to_owned())).collect()
    }

    fn path(&self) -> PathBuf {
        self.path.to_owned()
    }
}

fn text(shape: &[Dimension]) -> String {
    let dimension = |dimension: &Dimension| match dimension {
        Dimension::Fixed(size) => size.to_string(),
        Dimension::Symbolic(name) => name.clone(),
    };
    format!("[{}]", shape.iter().map(dimension).collect::<Vec<_>>().join(","))
}
