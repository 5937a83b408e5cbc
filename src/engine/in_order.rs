//! Processes items on several threads and delivers the results in input order. Any thread may take any item.
//!
//! The number of items in flight is bounded, so memory does not grow with the input. All work on blocks of records uses
//! [`process_in_order`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use crate::error::Error;
use crate::search::{STACK_BYTES, TableError};
use crate::storage::caught_panic::catch;

/// Longest wait before `take` is called without a result.
pub const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The number of threads, and limits for items and results that are not yet delivered.
#[derive(Debug)]
pub struct Parallelism<T> {
    /// Threads that process items.
    pub threads: usize,
    /// Maximum number of items started and not finished.
    pub running: usize,
    /// Maximum number of items started and not delivered. Choose it so large that one slow item does not leave the
    /// other threads idle.
    pub in_flight: usize,
    /// Maximum number of results that wait for an earlier one.
    pub waiting: usize,
    /// No item is started while the results that wait for an earlier one take this many bytes or more.
    pub waiting_bytes: usize,
    /// Memory of a result in bytes.
    pub bytes_of: fn(&T) -> usize,
}

impl<T> Parallelism<T> {
    /// `threads` threads and at most `items` items in flight.
    pub fn new(threads: usize, items: usize) -> Self {
        let waiting_bytes = usize::MAX;
        let (running, in_flight, waiting) = (items, items, items);
        Self { threads, running, in_flight, waiting, waiting_bytes, bytes_of: |_| 0 }
    }
}

/// Calls `work` for every item on one of several threads, and `take` with the results in input order. Calls `take` with
/// `None` if the next result is not ready after [`POLL_INTERVAL`].
///
/// Each thread creates its worker when it gets its first item, which may fail for lack of memory. After an error the
/// call returns without waiting for its threads or for an iterator that is blocked on its input.
///
/// # Errors
/// Any error of `take`; an [`Error`] if a thread or a worker cannot be created, or for a panic in `items` or `work`.
pub fn process_in_order<I, W, T, E>(
    items: impl Iterator<Item = I> + Send + 'static,
    parallelism: Parallelism<T>,
    make_worker: impl Fn() -> Result<W, TableError> + Send + Sync + 'static,
    work: impl Fn(&mut W, I) -> T + Send + Sync + 'static,
    mut take: impl FnMut(Option<T>) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send + 'static,
    W: 'static,
    T: Send + 'static,
    E: From<Error>,
{
    let (permit_sender, permit_receiver) = bounded(parallelism.running);
    // Unbounded, but the permits limit the number of tasks.
    let (task_sender, task_receiver) = unbounded();
    let (result_sender, result_receiver) = unbounded();
    let feeder = thread::Builder::new().name("feeder".to_owned());
    feeder.spawn(move || feed(items, &permit_receiver, &task_sender)).map_err(Error::threads)?;
    let worker = Arc::new((make_worker, work));
    for number in 0..parallelism.threads {
        let (worker, tasks, results) =
            (Arc::clone(&worker), task_receiver.clone(), result_sender.clone());
        let builder = thread::Builder::new().name(format!("worker-{number}"));
        let work = move || process(&worker.0, &worker.1, &tasks, &results);
        builder.stack_size(STACK_BYTES).spawn(work).map_err(Error::threads)?;
    }
    drop((task_receiver, result_sender));
    let mut order = ReorderBuffer::new(parallelism);
    loop {
        for _ in 0..order.capacity() {
            // The send fails once the feeder has ended.
            let _ = permit_sender.try_send(());
            order.running += 1;
        }
        match result_receiver.recv_timeout(POLL_INTERVAL) {
            Ok((sequence, done)) => {
                order.put(sequence, done);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        take(order.next().transpose()?)?;
        while let Some(done) = order.next() {
            take(Some(done?))?;
        }
    }
}

/// An item with its number, or the error in its place.
type Task<I> = (u64, Result<I, Error>);

/// Sends each item as a task as soon as there is a permit for it.
fn feed<I>(mut items: impl Iterator<Item = I>, permits: &Receiver<()>, tasks: &Sender<Task<I>>) {
    for sequence in 0u64.. {
        // A panic must not look like the end of the items.
        let Some(item) =
            catch(|| items.next()).map_err(|panic| Error::reader_panicked(&panic)).transpose()
        else {
            return;
        };
        let is_panic = item.is_err();
        if permits.recv().is_err() || tasks.send((sequence, item)).is_err() || is_panic {
            return;
        }
    }
}

/// Processes tasks on one thread until the tasks end or the receiver of the results is dropped.
fn process<I, W, T>(
    make_worker: impl Fn() -> Result<W, TableError>,
    work: impl Fn(&mut W, I) -> T,
    tasks: &Receiver<Task<I>>,
    results: &Sender<Task<T>>,
) {
    let mut worker = None;
    let mut work = |item| {
        let worker = match &mut worker {
            Some(worker) => worker,
            none => none.insert(make_worker()?),
        };
        Ok(work(worker, item))
    };
    for (sequence, item) in tasks {
        let done = item.and_then(|item| {
            let done = catch(|| work(item));
            done.unwrap_or_else(|panic| Err(Error::internal(format!("internal error: {panic}"))))
        });
        if results.send((sequence, done)).is_err() {
            return;
        }
    }
}

/// Results that wait for earlier ones.
struct ReorderBuffer<T> {
    parallelism: Parallelism<T>,
    /// Items that are permitted or started, and not finished.
    running: usize,
    waiting: BTreeMap<u64, Result<T, Error>>,
    waiting_bytes: usize,
    /// Number of the next result to deliver.
    next: u64,
}

impl<T> ReorderBuffer<T> {
    const fn new(parallelism: Parallelism<T>) -> Self {
        Self { parallelism, running: 0, waiting: BTreeMap::new(), waiting_bytes: 0, next: 0 }
    }

    /// How many more items may be started.
    fn capacity(&self) -> usize {
        let Parallelism { running, in_flight, waiting, waiting_bytes, .. } = self.parallelism;
        if self.waiting.len() >= waiting || self.waiting_bytes >= waiting_bytes {
            return 0;
        }
        let free = in_flight.saturating_sub(self.running + self.waiting.len());
        running.saturating_sub(self.running).min(free)
    }

    fn bytes_of(&self, done: &Result<T, Error>) -> usize {
        done.as_ref().map_or(0, self.parallelism.bytes_of)
    }

    fn put(&mut self, sequence: u64, done: Result<T, Error>) {
        self.running -= 1;
        self.waiting_bytes += self.bytes_of(&done);
        self.waiting.insert(sequence, done);
    }

    fn next(&mut self) -> Option<Result<T, Error>> {
        let done = self.waiting.remove(&self.next)?;
        self.next += 1;
        self.waiting_bytes -= self.bytes_of(&done);
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::search::TableSize;
    use std::error::Error as _;

    fn parallelism<T>(threads: usize) -> Parallelism<T> {
        Parallelism::new(threads, 100)
    }

    fn squares(threads: usize, items: std::ops::Range<u64>) -> Vec<u64> {
        let mut squares = Vec::new();
        let work = |busy: &mut u64, item: u64| {
            // Uneven work, so that results come out of order.
            (0..item % 7 * 1000).for_each(|n| *busy = busy.wrapping_mul(3).wrapping_add(n));
            item * item
        };
        process_in_order(
            items,
            parallelism(threads),
            || Ok(0),
            work,
            |square| -> Result<(), Error> {
                squares.extend(square);
                Ok(())
            },
        )
        .expect("nothing fails");
        squares
    }

    #[test]
    fn results_are_in_input_order_for_any_number_of_threads() {
        let expected: Vec<u64> = (0..5000).map(|item| item * item).collect();
        for threads in [1, 2, 5] {
            assert_eq!(squares(threads, 0..5000), expected);
            assert!(squares(threads, 0..0).is_empty());
        }
    }

    #[test]
    fn an_error_of_take_ends_an_endless_input() {
        let mut left = 10;
        let ended = process_in_order(
            0..,
            parallelism(2),
            || Ok(()),
            |(), item: u64| item,
            |item| {
                left -= i32::from(item.is_some());
                if left > 0 { Ok(()) } else { Err(Error::interrupted()) }
            },
        );
        assert!(ended.unwrap_err().is_interruption());
    }

    /// The error that ends the processing of `items`.
    #[track_caller]
    fn error_of(
        items: impl Iterator<Item = u64> + Send + 'static,
        make_worker: impl Fn() -> Result<(), TableError> + Send + Sync + 'static,
        work: impl Fn(&mut (), u64) + Send + Sync + 'static,
    ) -> String {
        let ended: Result<(), Error> =
            process_in_order(items, parallelism(2), make_worker, work, |_| Ok(()));
        ended.unwrap_err().to_string()
    }

    #[test]
    fn panics_are_errors_and_not_the_end_of_the_items() {
        let work = |(): &mut (), item: u64| assert!(item != 3, "item {item}");
        let error = error_of(0..10, || Ok(()), work);
        assert!(error.starts_with("internal error: item 3 ("), "{error}");
        let items = (0..10).inspect(|&item| assert!(item != 7, "item {item}"));
        let error = error_of(items, || Ok(()), |(), _| ());
        assert!(error.starts_with("internal error while reading: item 7 ("), "{error}");
        let error = error_of(0..10, || panic!("no memory"), |(), _| ());
        assert!(error.starts_with("internal error: no memory ("), "{error}");
    }

    #[test]
    fn a_worker_without_memory_is_an_error() {
        let size = TableSize::from_mib(7);
        let ended = process_in_order(
            0..10,
            parallelism(2),
            move || Err(TableError(size)),
            |(): &mut (), _: u64| (),
            |_| -> Result<(), Error> { Ok(()) },
        );
        let error = ended.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Resources));
        assert_eq!(error.source().unwrap().to_string(), TableError(size).to_string());
    }
}
