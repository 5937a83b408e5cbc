//! Networks in other processes: any program that reads batches from standard input and writes results.
//!
//! First the program writes the line `kyokumen-evaluator 2 57`. It contains the version of this protocol and the number
//! of planes of `input2`. Then the program repeats two steps. It reads a batch:
//!
//! - the number of positions n and the number m of their legal moves (32 bits each),
//! - n × 628 bytes: the 62 planes of `input1` as [bits](crate::write_input1_bits),
//! - n × 8 bytes (15 with 119 planes): the planes of `input2`, with [one bit each](crate::write_input2_bits),
//! - the number of legal moves of each position (n × 16 bits),
//! - the [label](crate::move_label) of each move (m × 16 bits), position after position.
//!
//! It writes m logits, one for each move, and n values as 32-bit floats. All numbers are little-endian. The program
//! ends at the end of its input. Each line that it writes to standard error becomes a log message.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen_process::{ChildProcess, Fault, Wait};

use crate::NetworkError;
use crate::batch::{Batch, Evaluator};
use crate::feature_bits::INPUT1_BYTES;
use crate::features::Input2;

/// The start of the greeting line: the protocol and its version.
const PROTOCOL: &str = "kyokumen-evaluator 2";

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
        let name = program.clone();
        let mut process = ChildProcess::start(command, move |line| crate::log(&name, line))
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
        let (positions, moves) = (batch.len(), batch.moves_len());
        let mut message = self.process.buffer();
        message.extend_from_slice(&(positions as u32).to_le_bytes());
        message.extend_from_slice(&(moves as u32).to_le_bytes());
        message.extend_from_slice(&batch.input1()[..positions * INPUT1_BYTES]);
        message.extend_from_slice(&batch.input2()[..positions * self.planes.bytes()]);
        for slot in 0..positions {
            message.extend_from_slice(&(batch.labels(slot).len() as u16).to_le_bytes());
        }
        for slot in 0..positions {
            message.extend(batch.labels(slot).iter().flat_map(|label| label.to_le_bytes()));
        }
        if self.process.has_unread() {
            // Output without a request would be taken as the next result.
            return Err(Fault::Surplus);
        }
        self.process.send(message);
        let bytes = (moves + positions) * FLOAT_BYTES;
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
        let mut floats = floats.iter().map(|&bytes| f32::from_le_bytes(bytes));
        let logits: Vec<f32> = floats.by_ref().take(batch.moves_len()).collect();
        let mut start = 0;
        for (slot, value) in floats.enumerate() {
            let end = start + batch.labels(slot).len();
            batch.set_move_logits(slot, &logits[start..end], self.temperature, value)?;
            start = end;
        }
        Ok(())
    }
}
