//! How many bytes of blocks are under way at once, however large a block is.
//!
//! Most blocks have a megabyte at the most; a game that does not end has more, and of those few fit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Memory for the bytes of blocks.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A share of a [`Room`], given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    room: Arc<Room>,
    bytes: usize,
}

impl Room {
    /// For so many bytes, and for what goes beyond with the last block.
    pub(crate) fn of_bytes(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::new(0), freed: Condvar::new() })
    }

    /// Waits until there is room.
    pub(crate) fn take(self: &Arc<Self>, bytes: usize) -> Share {
        let mut taken = self.lock();
        while *taken > 0 && taken.saturating_add(bytes) > self.most {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += bytes;
        Share { room: Arc::clone(self), bytes }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.room.lock() -= self.bytes;
        self.room.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn what_is_given_back_makes_room() {
        let room = Room::of_bytes(10);
        // One that is too large for any room waits for all others.
        drop(room.take(100));
        let (first, second) = (room.take(6), room.take(4));
        let (sender, receiver) = mpsc::channel();
        let other = Arc::clone(&room);
        let waiting = thread::spawn(move || sender.send(other.take(5)).unwrap());
        drop(second);
        assert!(receiver.try_recv().is_err());
        drop(first);
        drop(receiver.recv().unwrap());
        waiting.join().unwrap();
        assert_eq!(*room.lock(), 0);
    }
}
