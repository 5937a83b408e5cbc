//! Stages between a source and the threads that process its blocks: checksums, memory limits, and the start of a
//! resumed run.

use std::cmp::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use sha2::{Digest, Sha256};

use super::{Block, RangeRead};
use crate::error::{Error, Remedy};

/// Limits the memory for the bytes of blocks.
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
    /// A budget of `most` bytes. A block that is larger than that is allowed while no other is held.
    pub(crate) fn of_bytes(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::new(0), freed: Condvar::new() })
    }

    /// Waits until `bytes` are available.
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

/// The blocks of a source as they are handed out: with the SHA-256 of all that was read of their input up to their end,
/// and without those that an interrupted run has processed.
pub(crate) struct HandedOut<S> {
    blocks: S,
    /// Of the part that is being read. `None` if no checksum is wanted.
    digest: Option<Sha256>,
    /// The state of reading after the last block to skip. `None` once it is reached.
    behind: Option<RangeRead>,
    /// The names of the inputs, for errors.
    inputs: Vec<String>,
    ranges_read: Arc<Mutex<Vec<RangeRead>>>,
}

impl<S: Iterator<Item = Result<Block, Error>>> HandedOut<S> {
    pub(crate) fn new(
        blocks: S,
        with_checksums: bool,
        behind: Option<RangeRead>,
        inputs: Vec<String>,
    ) -> Self {
        let digest = with_checksums.then(Sha256::new);
        Self { blocks, digest, behind, inputs, ranges_read: Arc::default() }
    }

    /// The bytes and records read of each part so far, skipped blocks included.
    pub(crate) fn ranges_read(&self) -> Arc<Mutex<Vec<RangeRead>>> {
        Arc::clone(&self.ranges_read)
    }

    /// Adds the checksum of a block and notes what was read of its part.
    fn note(&mut self, block: &mut Block) {
        let mut ranges_read = self.ranges_read.lock().unwrap_or_else(PoisonError::into_inner);
        if ranges_read.pop_if(|last| last.input == block.input).is_none() {
            self.digest = self.digest.take().map(|_| Sha256::new());
        }
        if let Some(digest) = &mut self.digest {
            digest.update(&block.bytes);
            block.read.sha256 = Some(digest.clone().into());
        }
        ranges_read.push(block.read);
    }

    /// Whether a block is skipped; there is none at the end of the input.
    fn is_skipped(&mut self, block: Option<&Block>) -> Result<bool, Error> {
        let Some(expected) = self.behind else { return Ok(false) };
        let order = block.map_or(Ordering::Greater, |Block { read, .. }| {
            let place = (read.input, read.bytes).cmp(&(expected.input, expected.bytes));
            if *read == expected { Ordering::Equal } else { place.then(Ordering::Greater) }
        });
        if order != Ordering::Less {
            self.behind = None;
        }
        if order == Ordering::Greater {
            let input = self.inputs.get(expected.input).cloned().unwrap_or_default();
            let message = format!("{input} is not what the interrupted run read");
            let error = Error::changed(message).in_file(&input);
            return Err(error.with_remedy(Remedy::StartAfresh));
        }
        Ok(true)
    }

    fn hand_out(&mut self) -> Result<Option<Block>, Error> {
        loop {
            let mut block = self.blocks.next().transpose()?;
            if let Some(block) = &mut block {
                self.note(block);
            }
            let is_skipped = self.is_skipped(block.as_ref())?;
            if !is_skipped && block.as_ref().is_none_or(|block| !block.bytes.is_empty()) {
                return Ok(block);
            }
        }
    }
}

impl<S: Iterator<Item = Result<Block, Error>>> Iterator for HandedOut<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        self.hand_out().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;
    use crate::records::format_name::FormatName;
    use crate::records::source::{Input, InputRange, Source};
    use std::fs;
    use std::sync::mpsc;
    use std::thread;
    use tempfile::TempDir;

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

    /// What was read up to the end of each block, with the bytes of the block.
    type Blocks = Vec<(RangeRead, Vec<u8>)>;

    fn blocks(source: impl Iterator<Item = Result<Block, Error>>) -> Blocks {
        let blocks = source.map(Result::unwrap);
        blocks.map(|block| (block.read(), block.bytes().to_vec())).collect()
    }

    /// The blocks after `place`.
    fn behind(
        source: Source,
        place: RangeRead,
        inputs: Vec<String>,
    ) -> HandedOut<impl Iterator<Item = Result<Block, Error>>> {
        HandedOut::new(source.with_boundary(Some(place)), false, Some(place), inputs)
    }

    #[test]
    fn blocks_of_any_size_go_on_where_those_of_another_size_stood() {
        let folder = TempDir::new().unwrap();
        // Games of two moves and of none, and positions of 32 bytes.
        let games = "PI\n+\n+7776FU\n-3334FU\n%TORYO\n/\nPI\n+\n%CHUDAN\n/\n".repeat(20);
        let files = [
            ("a.csa", Format::Csa, games.into_bytes()),
            ("a.hcp", Format::Hcp, (0..32 * 40_u32).map(|byte| byte.to_le_bytes()[0]).collect()),
        ];
        for (name, format, bytes) in files {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            let range = || InputRange::whole(Input::named(&path, FormatName::plain(format)));
            let source = |block_records| Source::new(vec![range(), range()], block_records);
            for (first, second) in [(5, 3), (3, 5), (1, 32), (32, 1), (7, 100)] {
                let all = blocks(source(first));
                for (number, (place, _)) in all.iter().enumerate() {
                    let rest = blocks(behind(source(second), *place, Vec::new()));
                    let rest = rest.into_iter().flat_map(|(_, bytes)| bytes);
                    let expected = all[number + 1..].iter().flat_map(|(_, bytes)| bytes.clone());
                    assert!(rest.eq(expected), "{name}: {first}, {second}, {number}");
                }
            }
        }
    }

    #[test]
    fn a_place_that_is_not_there_is_an_error() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.csa");
        fs::write(&path, "PI\n+\n+7776FU\n-3334FU\n%TORYO\n/\n".repeat(3)).unwrap();
        let range = || InputRange::whole(Input::named(&path, FormatName::plain(Format::Csa)));
        let place = blocks(Source::new(vec![range()], 2))[1].0;
        for bytes in [place.bytes - 1, place.bytes + 1, 1 << 20] {
            let place = RangeRead { bytes, ..place };
            let source = Source::new(vec![range()], 4);
            let told = behind(source, place, vec!["a.csa".to_owned()])
                .find_map(Result::err)
                .unwrap()
                .to_string();
            assert!(told.starts_with("a.csa is not what the interrupted run read"), "{told}");
        }
    }
}
