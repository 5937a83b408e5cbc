//! Networks in other processes: any program that reads batches from a pipe and answers.
//!
//! The program writes a line first, `kyokumen-evaluator 1 57`: the version of this protocol, and how many planes its
//! `input2` has. Then, again and again: it reads a number of positions n (32 bits), n × 62 × 81 bytes of `input1` and n
//! × 57 × 81 (or 119 × 81) of `input2`, each byte 0 or 1; and writes n × 2187 logits and n values as floats of 32 bits.
//! All numbers are little-endian. It ends when its input does.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::batch::Batch;
use crate::evaluation_error::EvaluationError;
use crate::evaluator::Evaluator;
use crate::features::{BOARD, INPUT1_PLANES, Input2};
use crate::label::LABELS;
use crate::network_error::NetworkError;

/// What the line of greeting begins with: the protocol and its version.
const PROTOCOL: &str = "kyokumen-evaluator 1";

/// How long a program may be silent: some compile a network for a quarter of an hour.
const PATIENCE: Duration = Duration::from_mins(30);

const FLOAT_BYTES: usize = size_of::<f32>();

/// A program that evaluates batches. It is killed when this is dropped.
pub struct ProcessNetwork {
    child: Child,
    stdin: ChildStdin,
    /// Asks for so many bytes.
    wanted: Sender<usize>,
    read: Receiver<io::Result<Vec<u8>>>,
    planes: Input2,
    temperature: f32,
    message: Vec<u8>,
}

impl ProcessNetwork {
    /// Starts a program with its arguments; `temperature` divides the logits of the policy.
    ///
    /// # Errors
    ///
    /// [`NetworkError`] if it cannot be started, or does not greet as it should.
    pub fn start(command: &[String], temperature: f32) -> Result<Self, NetworkError> {
        let program = command.first().cloned().unwrap_or_default();
        let mut child = Command::new(&program)
            .args(command.get(1..).unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| NetworkError::Start { program: program.clone(), source })?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let (wanted, requests) = channel();
        let (sender, read) = channel();
        thread::spawn(move || serve(BufReader::new(stdout), &requests, &sender));
        let greeting = match read.recv_timeout(PATIENCE) {
            Ok(Ok(line)) => String::from_utf8_lossy(&line).trim_end().to_owned(),
            _ => String::new(),
        };
        let planes = greeting.strip_prefix(PROTOCOL).and_then(|rest| rest.trim().parse().ok());
        let Some(planes) = planes.and_then(Input2::from_planes) else {
            drop(child.kill());
            drop(child.wait());
            return Err(NetworkError::Greeting { program, greeting });
        };
        Ok(Self { child, stdin, wanted, read, planes, temperature, message: Vec::new() })
    }

    fn ask(&mut self, batch: &Batch) -> io::Result<Vec<u8>> {
        let positions = batch.len();
        self.message.clear();
        self.message.extend_from_slice(&(positions as u32).to_le_bytes());
        let inputs = [(batch.input1(), INPUT1_PLANES), (batch.input2(), self.planes.planes())];
        for (planes, of_one) in inputs {
            let planes = &planes[..positions * of_one * BOARD];
            self.message.extend(planes.iter().map(|&plane| u8::from(plane != 0.0)));
        }
        let wanted = self.wanted.send(positions * (LABELS + 1) * FLOAT_BYTES);
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        wanted.map_err(gone)?;
        self.stdin.write_all(&self.message)?;
        self.stdin.flush()?;
        match self.read.recv_timeout(PATIENCE) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// What became of the program that does not answer.
    fn failure(&mut self, error: &io::Error) -> EvaluationError {
        if error.kind() == io::ErrorKind::TimedOut {
            return EvaluationError::Runtime("the program fell silent".into());
        }
        for _ in 0..20 {
            if let Ok(Some(status)) = self.child.try_wait() {
                return EvaluationError::Runtime(format!("the program ended ({status})").into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        EvaluationError::Runtime(format!("the program does not answer ({error})").into())
    }
}

/// Reads the line of greeting, then as many bytes as are wanted, until nobody wants any more.
fn serve(
    mut stdout: BufReader<ChildStdout>,
    wanted: &Receiver<usize>,
    read: &Sender<io::Result<Vec<u8>>>,
) {
    let mut line = Vec::new();
    // What is no greeting may have no end.
    let greeting = stdout.by_ref().take(1 << 12).read_until(b'\n', &mut line).map(|_| line);
    if read.send(greeting).is_err() {
        return;
    }
    for bytes in wanted {
        let mut answer = vec![0; bytes];
        let result = stdout.read_exact(&mut answer).map(|()| answer);
        let is_end = result.is_err();
        if read.send(result).is_err() || is_end {
            return;
        }
    }
}

impl Evaluator for ProcessNetwork {
    fn planes(&self) -> Option<Input2> {
        Some(self.planes)
    }

    fn evaluate(&mut self, batch: &mut Batch) -> Result<(), EvaluationError> {
        batch.start_answers();
        if batch.is_empty() {
            return Ok(());
        }
        let answer = self.ask(batch).map_err(|error| self.failure(&error))?;
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

impl Drop for ProcessNetwork {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
