//! A device and the groups that share it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, mem};

use crossbeam_channel::{Sender, bounded, unbounded};
use kyokumen_network::{Batch, Evaluator, NetworkError};
use kyokumen_search::STACK_BYTES;

/// Evaluates the batches of a group.
pub(crate) enum Device {
    /// The group's own evaluator, on the group's thread.
    Own(Box<dyn Evaluator>),
    /// An evaluator shared with other groups, on a separate thread. After a batch it starts the next one at once, while
    /// the group of the first batch is still waking up.
    Shared(Sender<Request>),
}

/// A batch to evaluate.
pub(crate) struct Request {
    batch: Batch,
    sent: Instant,
    reply: Sender<Reply>,
}

/// A batch and the result of its evaluation.
struct Reply {
    batch: Batch,
    times: Result<Times, NetworkError>,
}

/// Durations of an evaluation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Time until the device was free.
    pub(crate) waiting: Duration,
    /// Time on the device.
    pub(crate) evaluating: Duration,
}

impl Device {
    /// Creates the devices of `groups` groups, and the thread of a shared device. Evaluations end when `stop` is set.
    pub(crate) fn for_groups(
        mut evaluator: Box<dyn Evaluator>,
        number: usize,
        groups: usize,
        stop: &Arc<AtomicBool>,
    ) -> io::Result<(Vec<Self>, Option<JoinHandle<()>>)> {
        if groups == 1 {
            return Ok((vec![Self::Own(evaluator)], None));
        }
        let stop = Arc::clone(stop);
        // A group has one request at a time. In a bounded channel, waiting requests and their reply channels would
        // outlive a device that panics. Their groups would wait for ever.
        let (requests, received) = unbounded::<Request>();
        let thread = thread::Builder::new().name(format!("device-{number}"));
        let thread = thread.stack_size(STACK_BYTES).spawn(move || {
            for Request { mut batch, sent, reply } in received {
                let waiting = sent.elapsed();
                let times = evaluate(evaluator.as_mut(), &mut batch, &stop);
                let times = times.map(|evaluating| Times { waiting, evaluating });
                // Fails if the group has ended.
                let _ = reply.send(Reply { batch, times });
            }
        })?;
        let devices = (0..groups).map(|_| Self::Shared(requests.clone()));
        Ok((devices.collect(), Some(thread)))
    }

    /// Evaluates a batch.
    ///
    /// # Errors
    /// The errors of the evaluator. [`NetworkError::Cancelled`] if its thread has panicked; joining the thread reports
    /// the panic.
    pub(crate) fn evaluate(
        &mut self,
        batch: &mut Batch,
        stop: &AtomicBool,
    ) -> Result<Times, NetworkError> {
        match self {
            Self::Own(evaluator) => {
                let evaluating = evaluate(evaluator.as_mut(), batch, stop)?;
                Ok(Times { waiting: Duration::ZERO, evaluating })
            }
            Self::Shared(requests) => {
                let (reply, replies) = bounded(1);
                let taken = mem::replace(batch, Batch::new(0, None));
                let request = Request { batch: taken, sent: Instant::now(), reply };
                requests.send(request).map_err(|_| NetworkError::Cancelled)?;
                let Reply { batch: evaluated, times } =
                    replies.recv().map_err(|_| NetworkError::Cancelled)?;
                *batch = evaluated;
                times
            }
        }
    }
}

fn evaluate(
    evaluator: &mut dyn Evaluator,
    batch: &mut Batch,
    stop: &AtomicBool,
) -> Result<Duration, NetworkError> {
    let start = Instant::now();
    evaluator.evaluate(batch, stop)?;
    Ok(start.elapsed())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use kyokumen_network::Input2;

    use super::*;

    /// Panics after 300 ms.
    struct Panicking;

    impl Evaluator for Panicking {
        fn planes(&self) -> Option<Input2> {
            None
        }

        fn evaluate(&mut self, _: &mut Batch, _: &AtomicBool) -> Result<(), NetworkError> {
            thread::sleep(Duration::from_millis(300));
            panic!("out of order");
        }
    }

    #[test]
    fn groups_that_wait_for_a_panicking_device_get_an_error() {
        let (devices, thread) =
            Device::for_groups(Box::new(Panicking), 0, 3, &Arc::default()).unwrap();
        let (sender, results) = channel();
        for mut device in devices {
            let sender = sender.clone();
            thread::spawn(move || {
                let evaluated = device.evaluate(&mut Batch::new(1, None), &AtomicBool::new(false));
                sender.send(matches!(evaluated, Err(NetworkError::Cancelled))).unwrap();
            });
        }
        for _ in 0..3 {
            assert_eq!(results.recv_timeout(Duration::from_mins(1)), Ok(true));
        }
        thread.unwrap().join().unwrap_err();
    }
}
