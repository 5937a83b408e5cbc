//! A device as the groups see it that share it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, mem};

use crossbeam_channel::{Sender, bounded, unbounded};
use kyokumen_network::{Batch, Evaluator, NetworkError};
use kyokumen_search::STACK_BYTES;

/// What evaluates a group's batches.
pub(crate) enum Device {
    /// An evaluator of its own, on the group's thread.
    Own(Box<dyn Evaluator>),
    /// One that other groups use, too, on a thread of its own: as soon as it has done with a batch it takes the next
    /// one, while the group whose batch it was is only waking up.
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
    times: Result<Times, NetworkError>,
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
    /// The device of each of so many groups, and its thread if it has one. Evaluations end when `stop` is set.
    pub(crate) fn of_groups(
        mut evaluator: Box<dyn Evaluator>,
        number: usize,
        groups: usize,
        stop: &Arc<AtomicBool>,
    ) -> io::Result<(Vec<Self>, Option<JoinHandle<()>>)> {
        if groups == 1 {
            return Ok((vec![Self::Own(evaluator)], None));
        }
        let stop = Arc::clone(stop);
        // A group has one request at a time. In a bounded channel those that wait would outlive a device that panics,
        // and with them what they are answered through: their groups would wait for ever.
        let (requests, received) = unbounded::<Request>();
        let thread = thread::Builder::new().name(format!("device-{number}"));
        let thread = thread.stack_size(STACK_BYTES).spawn(move || {
            for Request { mut batch, sent, reply } in received {
                let waiting = sent.elapsed();
                let times = evaluate(evaluator.as_mut(), &mut batch, &stop);
                let times = times.map(|evaluating| Times { waiting, evaluating });
                // A group that is gone needs no answer.
                let _ = reply.send(Reply { batch, times });
            }
        })?;
        let devices = (0..groups).map(|_| Self::Shared(requests.clone()));
        Ok((devices.collect(), Some(thread)))
    }

    /// Evaluates a batch.
    ///
    /// # Errors
    /// Those of the evaluator, and [`NetworkError::Cancelled`] if its thread has panicked, which joining it reports.
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

    /// Panics after a while.
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
    fn whoever_waits_for_a_device_that_panics_is_told() {
        let (devices, thread) =
            Device::of_groups(Box::new(Panicking), 0, 3, &Arc::default()).unwrap();
        let (sender, told) = channel();
        for mut device in devices {
            let sender = sender.clone();
            thread::spawn(move || {
                let evaluated = device.evaluate(&mut Batch::new(1, None), &AtomicBool::new(false));
                sender.send(matches!(evaluated, Err(NetworkError::Cancelled))).unwrap();
            });
        }
        for _ in 0..3 {
            assert_eq!(told.recv_timeout(Duration::from_mins(1)), Ok(true));
        }
        thread.unwrap().join().unwrap_err();
    }
}
