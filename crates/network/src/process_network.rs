//! Networks in other processes: any program that reads batches from standard input and writes results.
//!
//! First the program writes the line `kyokumen-evaluator 1 57`. It contains the version of this protocol and the number
//! of planes of `input2`. Then the program repeats two steps. It reads the number of positions n (32 bits), n × 62 × 81
//! bytes of `input1` and n × 57 × 81 (or 119 × 81) bytes of `input2`, each 0 or 1. It writes n × 2187 logits and n
//! values as 32-bit floats. All numbers are little-endian. The program ends at the end of its input.

use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, Wait};

use crate::NetworkError;
use crate::batch::{Batch, Evaluator};
use crate::features::{BOARD, INPUT1_PLANES, Input2};
use crate::label::LABELS;

/// The start of the greeting line: the protocol and its version.
const PROTOCOL: &str = "kyokumen-evaluator 1";

/// Maximum time that a program may be silent. Some compile a network for a quarter of an hour.
const TIMEOUT: Duration = Duration::from_mins(30);

/// Number of characters of an invalid greeting that an error message shows.
const SHOWN_CHARS: usize = 80;

const FLOAT_BYTES: usize = size_of::<f32>();

/// A program that evaluates batches. Dropping this kills it.
pub struct ProcessNetwork {
    process: ChildProcess,
    planes: Input2,
    temperature: f32,
    /// The first failure. Any later output could belong to any request.
    failed: Option<Fault>,
}

impl ProcessNetwork {
    /// Starts a program with its arguments. `temperature` divides the logits of the policy. Ends soon after `cancel` is
    /// set.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if the program cannot be started or does not send a valid greeting.
    pub fn start(
        command: &[String],
        temperature: f32,
        cancel: &AtomicBool,
    ) -> Result<Self, NetworkError> {
        let program = command.first().cloned().unwrap_or_default();
        let mut process = ChildProcess::start(command, Stdio::inherit())
            .map_err(|source| NetworkError::Start { program: program.clone(), source })?;
        let greeting = match process.line(&Wait::new(TIMEOUT, cancel)) {
            Ok(greeting) => greeting,
            Err(Fault::Cancelled) => return Err(NetworkError::Cancelled),
            Err(source) => return Err(NetworkError::NoGreeting { program, source }),
        };
        let planes = greeting.strip_prefix(PROTOCOL).and_then(|rest| rest.trim().parse().ok());
        let Some(planes) = planes.and_then(Input2::from_planes) else {
            let greeting = greeting.chars().take(SHOWN_CHARS).collect();
            return Err(NetworkError::Greeting { program, greeting });
        };
        Ok(Self { process, planes, temperature, failed: None })
    }

    fn request(&mut self, batch: &Batch, cancel: &AtomicBool) -> Result<Vec<u8>, Fault> {
        let positions = batch.len();
        let inputs = [(batch.input1(), INPUT1_PLANES), (batch.input2(), self.planes.planes())];
        let mut message = self.process.buffer();
        message.extend_from_slice(&(positions as u32).to_le_bytes());
        for (planes, per_position) in inputs {
            let planes = &planes[..positions * per_position * BOARD];
            message.extend(planes.iter().map(|&plane| u8::from(plane != 0.0)));
        }
        if self.process.has_unread() {
            // Output without a request would be taken as the next result.
            return Err(Fault::Surplus);
        }
        self.process.send(message);
        let bytes = positions * (LABELS + 1) * FLOAT_BYTES;
        self.process.answer(bytes, &Wait::new(TIMEOUT, cancel))
    }

    /// Stores the failure and kills the program, which is unusable now.
    fn fail(&mut self, fault: Fault) -> NetworkError {
        self.process.kill();
        let error = failure(&fault);
        self.failed = Some(fault);
        error
    }
}

fn failure(fault: &Fault) -> NetworkError {
    match fault {
        Fault::Cancelled => NetworkError::Cancelled,
        fault => NetworkError::Runtime(fault.clone().into()),
    }
}

impl Evaluator for ProcessNetwork {
    fn planes(&self) -> Option<Input2> {
        Some(self.planes)
    }

    fn evaluate(&mut self, batch: &mut Batch, cancel: &AtomicBool) -> Result<(), NetworkError> {
        batch.start_answers();
        if batch.is_empty() {
            return Ok(());
        }
        if let Some(fault) = &self.failed {
            return Err(failure(fault));
        }
        let answer = self.request(batch, cancel).map_err(|fault| self.fail(fault))?;
        let (floats, _) = answer.as_chunks::<FLOAT_BYTES>();
        let (logits, values) = floats.split_at(batch.len() * LABELS);
        let mut position_logits = [0.0; LABELS];
        for (slot, logits) in logits.chunks_exact(LABELS).enumerate() {
            for (number, bytes) in position_logits.iter_mut().zip(logits) {
                *number = f32::from_le_bytes(*bytes);
            }
            batch.set_logits(
                slot,
                &position_logits,
                self.temperature,
                f32::from_le_bytes(values[slot]),
            )?;
        }
        Ok(())
    }
}
