//! A bound on the bytes of all blocks in flight, however large a single block is.
//!
//! Most blocks have at most a megabyte; a game without an end can have more, and few of those fit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Memory for the bytes of blocks.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    most: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A share of a [`MemoryBudget`], given back when it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryPermit {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl MemoryBudget {
    /// For so many bytes, and for what goes beyond with the last block.
    pub(crate) fn of_bytes(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::new(0), freed: Condvar::new() })
    }

    /// Waits until there is room.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> MemoryPermit {
        let mut taken = self.lock();
        while *taken > 0 && taken.saturating_add(bytes) > self.most {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        MemoryPermit { budget: Arc::clone(self), bytes }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for MemoryPermit {
    fn drop(&mut self) {
        *self.budget.lock() -= self.bytes;
        self.budget.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn what_is_given_back_makes_room() {
        let budget = MemoryBudget::of_bytes(10);
        // One that is too large for any room waits for all others.
        drop(budget.take(100));
        let (first, second) = (budget.take(6), budget.take(4));
        let (sender, receiver) = mpsc::channel();
        let other = Arc::clone(&budget);
        let waiting = thread::spawn(move || sender.send(other.take(5)).unwrap());
        drop(second);
        assert!(receiver.try_recv().is_err());
        drop(first);
        drop(receiver.recv().unwrap());
        waiting.join().unwrap();
        assert_eq!(*budget.lock(), 0);
    }
}
