//! An iterator that reads ahead on its own thread.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use super::in_order::POLL_INTERVAL;
use crate::error::Error;
use crate::storage::caught_panic::{CaughtPanic, catch};

/// The items of an iterator, read ahead on a thread.
pub(crate) struct Prefetch<I> {
    items: Receiver<I>,
    /// `None` after it has ended.
    thread: Option<JoinHandle<Result<(), CaughtPanic>>>,
}

impl<I> Prefetch<I> {
    /// Starts to read, at most `ahead` items ahead.
    pub(crate) fn start(
        items: impl Iterator<Item = I> + Send + 'static,
        ahead: usize,
    ) -> io::Result<Self>
    where
        I: Send + 'static,
    {
        let (sender, receiver) = bounded(ahead);
        let read = move || {
            catch(|| {
                for item in items {
                    if sender.send(item).is_err() {
                        break;
                    }
                }
            })
        };
        let thread = thread::Builder::new().name("reader".to_owned()).spawn(read)?;
        Ok(Self { items: receiver, thread: Some(thread) })
    }

    /// The next item; `None` at the end.
    ///
    /// # Errors
    /// An interruption if `cancel` is set while no item is ready; an internal error if the iterator panicked.
    pub(crate) fn next_unless(&mut self, cancel: &AtomicBool) -> Result<Option<I>, Error> {
        loop {
            match self.items.recv_timeout(POLL_INTERVAL) {
                Ok(item) => return Ok(Some(item)),
                Err(RecvTimeoutError::Disconnected) => {
                    return self
                        .ended()
                        .map(|()| None)
                        .map_err(|panic| Error::reader_panicked(&panic));
                }
                Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                    return Err(Error::interrupted());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Joins the thread and returns its panic, if any.
    fn ended(&mut self) -> Result<(), CaughtPanic> {
        let joined = self.thread.take().map(JoinHandle::join);
        joined.unwrap_or(Ok(Ok(()))).unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl<I> Iterator for Prefetch<I> {
    type Item = I;

    /// Panics if the iterator panicked: a panic must not look like its end.
    fn next(&mut self) -> Option<I> {
        if let Ok(item) = self.items.recv() {
            return Some(item);
        }
        self.ended().map_err(|panic| resume_unwind(Box::new(panic))).ok();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_reader_is_not_the_end_of_the_items() {
        let items = || (0..3).inspect(|&item| assert!(item < 2, "a fault in the reader"));
        let never = AtomicBool::new(false);
        let mut prefetch = Prefetch::start(items(), 1).unwrap();
        assert_eq!(prefetch.next_unless(&never).unwrap(), Some(0));
        assert_eq!(prefetch.next_unless(&never).unwrap(), Some(1));
        let error = prefetch.next_unless(&never).unwrap_err();
        assert!(
            error.to_string().starts_with("internal error while reading: a fault in the reader")
        );
        let all = catch(|| Prefetch::start(items(), 9).unwrap().count());
        assert!(all.unwrap_err().to_string().starts_with("a fault in the reader"));
    }
}
