//! A device as the groups see it that share it.

use std::io;
use std::mem;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};
use kyokumen_network::{Batch, EvaluationError, Evaluator};
use kyokumen_search::STACK_BYTES;

/// What evaluates a group's batches.
pub(crate) enum Device {
    /// An evaluator of its own, on the group's thread.
    Own(Box<dyn Evaluator>),
    /// One that other groups use, too, on a thread of its own: as soon as it has done with a batch it takes the next one,
    /// while the group whose batch it was is only waking up.
    Shared(Sender<Request>),
}

/// A batch to be evaluated.
pub(crate) struct Request {
    batch: Batch,
    sent: Instant,
    reply: Sender<Reply>,
}

/// A batch that was evaluated, or not.
struct Reply {
    batch: Batch,
    times: Result<Times, EvaluationError>,
}

/// Why there is no evaluation.
pub(crate) enum DeviceError {
    /// It failed.
    Failed(EvaluationError),
    /// Its thread has panicked, which whoever joins it is told.
    Gone,
}

/// How long a batch took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Until the device was free.
    pub(crate) waiting: Duration,
    /// On the device.
    pub(crate) evaluating: Duration,
}

impl Device {
    /// The device of each of so many groups, and its thread if it has one.
    pub(crate) fn of_groups(
        mut evaluator: Box<dyn Evaluator>,
        number: usize,
        groups: usize,
    ) -> io::Result<(Vec<Self>, Option<JoinHandle<()>>)> {
        if groups == 1 {
            return Ok((vec![Self::Own(evaluator)], None));
        }
        let (requests, received) = bounded::<Request>(groups);
        let thread = thread::Builder::new().name(format!("device-{number}"));
        let thread = thread.stack_size(STACK_BYTES).spawn(move || {
            for Request { mut batch, sent, reply } in received {
                let waiting = sent.elapsed();
                let times = evaluate(evaluator.as_mut(), &mut batch);
                let times = times.map(|evaluating| Times { waiting, evaluating });
                // A group that is gone needs no answer.
                let _ = reply.send(Reply { batch, times });
            }
        })?;
        let devices = (0..groups).map(|_| Self::Shared(requests.clone()));
        Ok((devices.collect(), Some(thread)))
    }

    /// Evaluates a batch.
    pub(crate) fn evaluate(&mut self, batch: &mut Batch) -> Result<Times, DeviceError> {
        match self {
            Self::Own(evaluator) => {
                let evaluating =
                    evaluate(evaluator.as_mut(), batch).map_err(DeviceError::Failed)?;
                Ok(Times { waiting: Duration::ZERO, evaluating })
            }
            Self::Shared(requests) => {
                let (reply, replies) = bounded(1);
                let taken = mem::replace(batch, Batch::new(0, None));
                let request = Request { batch: taken, sent: Instant::now(), reply };
                requests.send(request).map_err(|_| DeviceError::Gone)?;
                let Reply { batch: evaluated, times } =
                    replies.recv().map_err(|_| DeviceError::Gone)?;
                *batch = evaluated;
                times.map_err(DeviceError::Failed)
            }
        }
    }
}

fn evaluate(evaluator: &mut dyn Evaluator, batch: &mut Batch) -> Result<Duration, EvaluationError> {
    let start = Instant::now();
    evaluator.evaluate(batch)?;
    Ok(start.elapsed())
}
