//! Networks in other processes: any program that reads batches from a pipe and answers.
//!
//! The program writes a line first, `kyokumen-evaluator 1 57`: the version of this protocol, and how many planes its
//! `input2` has. Then, again and again: it reads a number of positions n (32 bits), n × 62 × 81 bytes of `input1` and n
//! × 57 × 81 (or 119 × 81) of `input2`, each byte 0 or 1; and writes n × 2187 logits and n values as floats of 32 bits.
//! All numbers are little-endian. It ends when its input does.

use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, Wait};

use crate::NetworkError;
use crate::batch::{Batch, Evaluator};
use crate::features::{BOARD, INPUT1_PLANES, Input2};
use crate::label::LABELS;

/// What the line of greeting begins with: the protocol and its version.
const PROTOCOL: &str = "kyokumen-evaluator 1";

/// How long a program may be silent: some compile a network for a quarter of an hour.
const PATIENCE: Duration = Duration::from_mins(30);

/// So much of a line that is no greeting is shown.
const SHOWN_CHARS: usize = 80;

const FLOAT_BYTES: usize = size_of::<f32>();

/// A program that evaluates batches. It is killed when this is dropped.
pub struct ProcessNetwork {
    process: ChildProcess,
    planes: Input2,
    temperature: f32,
    /// Why it cannot be asked any more: what it says from then on may answer anything.
    failed: Option<Fault>,
}

impl ProcessNetwork {
    /// Starts a program with its arguments; `temperature` divides the logits of the policy. Ends soon after `cancel`
    /// is set.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if it cannot be started, or does not greet as it should.
    pub fn start(
        command: &[String],
        temperature: f32,
        cancel: &AtomicBool,
    ) -> Result<Self, NetworkError> {
        let program = command.first().cloned().unwrap_or_default();
        let mut process = ChildProcess::start(command, Stdio::inherit())
            .map_err(|source| NetworkError::Start { program: program.clone(), source })?;
        let greeting = match process.line(&Wait::new(PATIENCE, cancel)) {
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

    fn ask(&mut self, batch: &Batch, cancel: &AtomicBool) -> Result<Vec<u8>, Fault> {
        let positions = batch.len();
        let inputs = [(batch.input1(), INPUT1_PLANES), (batch.input2(), self.planes.planes())];
        let mut message = self.process.buffer();
        message.extend_from_slice(&(positions as u32).to_le_bytes());
        for (planes, of_one) in inputs {
            let planes = &planes[..positions * of_one * BOARD];
            message.extend(planes.iter().map(|&plane| u8::from(plane != 0.0)));
        }
        if self.process.has_unread() {
            // Nothing was asked: it would be taken for the next answer.
            return Err(Fault::Surplus);
        }
        self.process.send(message);
        let bytes = positions * (LABELS + 1) * FLOAT_BYTES;
        self.process.answer(bytes, &Wait::new(PATIENCE, cancel))
    }

    /// Remembers why there is no answer; the program is of no use any more.
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
        let answer = self.ask(batch, cancel).map_err(|fault| self.fail(fault))?;
        let (floats, _) = answer.as_chunks::<FLOAT_BYTES>();
        let (logits, values) = floats.split_at(batch.len() * LABELS);
        let mut of_one = [0.0; LABELS];
        for (slot, logits) in logits.chunks_exact(LABELS).enumerate() {
            for (number, bytes) in of_one.iter_mut().zip(logits) {
                *number = f32::from_le_bytes(*bytes);
            }
            batch.set_logits(slot, &of_one, self.temperature, f32::from_le_bytes(values[slot]))?;
        }
        Ok(())
    }
}
