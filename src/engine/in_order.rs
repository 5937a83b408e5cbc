//! Items over threads: any thread may take any item, results come back in the order of the items.
//!
//! A bounded number of items is under way at any time, so memory does not grow with their number.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::{io, thread};

use crossbeam_channel::{bounded, unbounded};

use crate::search::STACK_BYTES;

/// Who works, and how far ahead of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hands {
    /// As many work at once.
    pub(crate) threads: usize,
    /// Items under way: one hard item must not leave the other threads idle.
    pub(crate) items: usize,
}

/// Hands every item to `work` on one of several threads, and the results in order to `take`.
///
/// Each thread makes a worker for itself when it has something to do. Whatever ends the call, threads are not
/// waited for, nor is an iterator that waits for its input.
///
/// # Errors
/// What `take` returns, or the system's refusal to start a thread.
///
/// # Panics
/// If the items, `make_worker` or `work` panic.
pub(crate) fn in_order<I, W, T, E>(
    items: impl Iterator<Item = I> + Send + 'static,
    hands: Hands,
    make_worker: impl Fn() -> W + Send + Sync + 'static,
    work: impl Fn(&mut W, I) -> T + Send + Sync + 'static,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send + 'static,
    W: 'static,
    T: Send + 'static,
    E: From<io::Error>,
{
    let Hands { threads, items: room } = hands;
    let (tickets, ticket) = bounded(room);
    let (tasks, task) = bounded(threads);
    let (results, result) = unbounded();
    spawn("reader", move || {
        let mut items = items;
        for sequence in 0u64.. {
            // A panic takes the place of the item: it must not pass for the end of the items.
            let item = match catch_unwind(AssertUnwindSafe(|| items.next())) {
                Ok(None) => return,
                Ok(Some(item)) => Ok(item),
                Err(panic) => Err(panic),
            };
            let is_panic = item.is_err();
            if ticket.recv().is_err() || tasks.send((sequence, item)).is_err() || is_panic {
                return;
            }
        }
    })?;
    let crew = Arc::new((make_worker, work));
    for number in 0..threads {
        let (crew, task, results) = (Arc::clone(&crew), task.clone(), results.clone());
        spawn(&format!("worker-{number}"), move || {
            let (make_worker, work) = &*crew;
            let mut worker = None;
            for (sequence, item) in task {
                let done = item.and_then(|item| {
                    catch_unwind(AssertUnwindSafe(|| {
                        work(worker.get_or_insert_with(make_worker), item)
                    }))
                });
                if results.send((sequence, done)).is_err() {
                    return;
                }
            }
        })?;
    }
    drop((task, results));
    // The reader has ended if nobody wants its tickets.
    let admit = || {
        let _ = tickets.try_send(());
    };
    (0..room).for_each(|_| admit());
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for (sequence, done) in result {
        waiting.insert(sequence, done);
        while let Some(done) = waiting.remove(&next) {
            take(done.unwrap_or_else(|panic| resume_unwind(panic)))?;
            admit();
            next += 1;
        }
    }
    Ok(())
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    builder.spawn(body).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hands(threads: usize) -> Hands {
        Hands { threads, items: 100 }
    }

    fn squares(threads: usize, items: std::ops::Range<u64>) -> Vec<u64> {
        let mut squares = Vec::new();
        let work = |busy: &mut u64, item: u64| {
            // Uneven work, so that results come out of order.
            (0..item % 7 * 1000).for_each(|n| *busy = busy.wrapping_mul(3).wrapping_add(n));
            item * item
        };
        in_order(
            items,
            hands(threads),
            || 0,
            work,
            |square| -> io::Result<()> {
                squares.push(square);
                Ok(())
            },
        )
        .expect("nothing fails");
        squares
    }

    #[test]
    fn results_are_in_order_whatever_the_threads() {
        let expected: Vec<u64> = (0..5000).map(|item| item * item).collect();
        for threads in [1, 2, 5] {
            assert_eq!(squares(threads, 0..5000), expected);
            assert!(squares(threads, 0..0).is_empty());
        }
    }

    #[test]
    fn an_error_of_the_taker_ends_an_endless_input() {
        let mut left = 10;
        let ended = in_order(
            0..,
            hands(2),
            || (),
            |(), item: u64| item,
            |_| {
                left -= 1;
                if left > 0 { Ok(()) } else { Err(io::Error::other("enough")) }
            },
        );
        assert_eq!(ended.unwrap_err().to_string(), "enough");
    }

    #[test]
    #[should_panic(expected = "item 3")]
    fn a_panic_of_a_worker_is_the_callers() {
        let work = |(): &mut (), item: u64| assert!(item != 3, "item {item}");
        let _ = in_order(0..10, hands(2), || (), work, |()| -> io::Result<()> { Ok(()) });
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_of_the_items_is_the_callers_and_not_their_end() {
        let items = (0..10).inspect(|&item| assert!(item != 7, "item {item}"));
        let _ = in_order(
            items,
            hands(2),
            || (),
            |(), item: u64| item,
            |_| -> io::Result<()> { Ok(()) },
        );
    }

    #[test]
    #[should_panic(expected = "no room")]
    fn a_worker_that_cannot_be_made_is_the_callers() {
        let work = |(): &mut (), _: u64| ();
        let _ = in_order(
            0..10,
            hands(2),
            || panic!("no room"),
            work,
            |()| -> io::Result<()> { Ok(()) },
        );
    }
}
