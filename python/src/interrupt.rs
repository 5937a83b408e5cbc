//! Work on other threads, while this one looks for Ctrl-C and passes messages on to Python.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kyokumen::solver::STACK_BYTES;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::failure::Failure;

/// Longest time before a signal is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Runs `work` on its own thread, without the interpreter's lock. `heed` gets the messages that `work` sends. Ctrl-C or
/// an exception of `heed` sets the cancel flag and is raised once `work` has ended.
pub(crate) fn interruptible<T: Send, M: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>, Sender<M>) -> T + Send,
    heed: impl FnMut(Python<'_>, M) -> PyResult<()> + Send,
) -> PyResult<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, messages) = channel();
    // The channel's end is not to be shared, which the interpreter's absence would ask of it.
    let messages = Mutex::new(messages);
    py.detach(|| {
        thread::scope(|threads| {
            let named = thread::Builder::new().name("kyokumen".to_owned()).stack_size(STACK_BYTES);
            let worker =
                named.spawn_scoped(threads, || work(&cancel, sender)).map_err(|error| {
                    PyRuntimeError::new_err(format!("cannot start a thread: {error}"))
                })?;
            let heeded = watch(&lock(&messages), heed);
            cancel.store(heeded.is_err(), Ordering::Relaxed);
            let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            heeded.map(|()| done)
        })
    })
}

/// [`interruptible`] without messages.
pub(crate) fn interruptible_in_silence<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    interruptible(py, |cancel, _: Sender<()>| work(cancel), |_, ()| Ok(()))
}

/// Passes messages on until the sender is gone.
fn watch<M>(
    messages: &Receiver<M>,
    mut heed: impl FnMut(Python<'_>, M) -> PyResult<()>,
) -> PyResult<()> {
    loop {
        match messages.recv_timeout(LOOK_EVERY) {
            Ok(message) => Python::attach(|py| heed(py, message))?,
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// Records that a thread takes at a time.
pub(crate) const CHUNK: usize = 1024;

/// Runs jobs on `threads` threads, 0 for all cores. Of several failures, returns that of the first job.
pub(crate) fn in_parallel<J: Send>(
    py: Python<'_>,
    threads: usize,
    jobs: Vec<J>,
    work: impl Fn(J) -> Result<(), Failure> + Send + Sync,
) -> PyResult<()> {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads }.min(jobs.len());
    if threads <= 1 && jobs.len() <= 1 {
        return Ok(py.detach(|| jobs.into_iter().map(work).find(Result::is_err).unwrap_or(Ok(())))?);
    }
    let jobs = Mutex::new(jobs.into_iter().enumerate());
    let failure = Mutex::new(None::<(usize, Failure)>);
    let work_through = |cancel: &AtomicBool| {
        while !cancel.load(Ordering::Relaxed) && lock(&failure).is_none() {
            let Some((number, job)) = lock(&jobs).next() else { break };
            if let Err(error) = work(job) {
                let mut first = lock(&failure);
                if first.as_ref().is_none_or(|(other, _)| number < *other) {
                    *first = Some((number, error));
                }
            }
        }
    };
    let all = |cancel: &AtomicBool| {
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| work_through(cancel));
            }
            work_through(cancel);
        });
    };
    interruptible_in_silence(py, all)?;
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, failure)) => Err(failure.into()),
        None => Ok(()),
    }
}

/// Ignores poisoning, because nothing that panics holds one of the locks.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
