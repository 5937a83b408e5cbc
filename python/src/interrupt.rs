//! Runs work on other threads, while the calling thread checks for Ctrl-C and passes messages to Python.

use std::io;
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

/// Interval between checks for signals.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Runs `work` on a separate thread and calls `on_message` with the messages that it sends. Ctrl-C or an exception of
/// `on_message` sets the cancel flag and is raised when `work` has ended.
pub(crate) fn interruptible<T: Send, M: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>, Sender<M>) -> T + Send,
    on_message: impl FnMut(Python<'_>, M) -> PyResult<()> + Send,
) -> PyResult<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, messages) = channel();
    // `Python::detach` requires `Sync`, which a receiver is not.
    let messages = Mutex::new(messages);
    thread::scope(|threads| {
        let named = thread::Builder::new().name("kyokumen".to_owned()).stack_size(STACK_BYTES);
        let worker = named.spawn_scoped(threads, || work(&cancel, sender)).map_err(no_thread)?;
        let outcome = watch(py, &messages, on_message);
        cancel.store(outcome.is_err(), Ordering::Relaxed);
        let done = py.detach(|| worker.join());
        let done = done.unwrap_or_else(|panic| resume_unwind(panic));
        outcome.map(|()| done)
    })
}

/// Like [`interruptible`], without messages.
pub(crate) fn interruptible_without_messages<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> PyResult<T> {
    interruptible(py, |cancel, _: Sender<()>| work(cancel), |_, ()| Ok(()))
}

/// Runs `work` on a separate thread and waits for it. Ctrl-C sets the cancel flag and is raised at once, while the
/// thread may still run. Therefore `work` must not write anything.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, done) = channel();
    let cancel = Arc::new(AtomicBool::new(false));
    let cancelled = Arc::clone(&cancel);
    let named = thread::Builder::new().name("kyokumen".to_owned()).stack_size(STACK_BYTES);
    let worker = named.spawn(move || drop(sender.send(work(&cancelled)))).map_err(no_thread)?;
    let result = next_message(py, &Mutex::new(done))
        .inspect_err(|_| cancel.store(true, Ordering::Relaxed))?;
    result.map_or_else(
        || resume_unwind(worker.join().expect_err("a thread that does not panic sends its result")),
        Ok,
    )
}

pub(crate) fn no_thread(error: io::Error) -> PyErr {
    PyRuntimeError::new_err(format!("cannot start a thread: {error}"))
}

/// Passes messages to `on_message` until the sender is dropped.
fn watch<M: Send>(
    py: Python<'_>,
    messages: &Mutex<Receiver<M>>,
    mut on_message: impl FnMut(Python<'_>, M) -> PyResult<()>,
) -> PyResult<()> {
    while let Some(message) = next_message(py, messages)? {
        on_message(py, message)?;
    }
    Ok(())
}

/// Waits for the next message without the interpreter's lock. None if the sender is dropped. Raises Ctrl-C.
pub(crate) fn next_message<M: Send>(
    py: Python<'_>,
    messages: &Mutex<Receiver<M>>,
) -> PyResult<Option<M>> {
    loop {
        match py.detach(|| lock(messages).recv_timeout(CHECK_INTERVAL)) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Maximum number of threads. Memory is reserved for each of them.
pub(crate) const MAX_THREADS: usize = 1024;

/// The number of threads for an argument. 0 means all cores.
pub(crate) fn thread_count(argument: usize) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    if argument == 0 { cores() } else { argument.min(MAX_THREADS) }
}

/// Runs jobs on several threads, including the calling thread. Each thread has a state made by `start`. Returns the
/// results in order. After a failure or a cancellation, jobs that were not started have no result.
pub(crate) fn on_threads<S, J: Send, R: Send>(
    threads: usize,
    jobs: Vec<J>,
    cancel: &AtomicBool,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, J) -> Result<R, Failure> + Sync,
) -> Vec<Result<R, Failure>> {
    let threads = threads.min(jobs.len());
    let (jobs, done) = (Mutex::new(jobs.into_iter().enumerate()), Mutex::new(Vec::new()));
    let has_failed = AtomicBool::new(false);
    let work_through = || {
        let mut state = start();
        while !cancel.load(Ordering::Relaxed) && !has_failed.load(Ordering::Relaxed) {
            let Some((number, job)) = lock(&jobs).next() else { return };
            let result = work(&mut state, job);
            has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
            lock(&done).push((number, result));
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            let thread = thread::Builder::new().stack_size(STACK_BYTES);
            // Continue with the threads that were started.
            if thread.spawn_scoped(scope, work_through).is_err() {
                break;
            }
        }
        work_through();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Like [`on_threads`], without results. Checks for Ctrl-C.
pub(crate) fn in_parallel<J: Send>(
    py: Python<'_>,
    threads: usize,
    jobs: Vec<J>,
    work: impl Fn(J) -> Result<(), Failure> + Send + Sync,
) -> PyResult<()> {
    let (threads, is_short) = (thread_count(threads), jobs.len() <= 1);
    let all = |cancel: &AtomicBool| {
        let done = on_threads(threads, jobs, cancel, || (), |(), job| work(job));
        done.into_iter().collect::<Result<(), _>>()
    };
    Ok(if is_short {
        py.detach(|| all(&AtomicBool::new(false)))
    } else {
        interruptible_without_messages(py, all)?
    }?)
}

/// Locks a mutex. Ignores poisoning, because no code that may panic holds one of these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
