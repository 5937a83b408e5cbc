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

/// A share of a [`MemoryBudget`]. Dropping it returns the share.
#[derive(Debug)]
pub(crate) struct MemoryPermit {
    budget: Arc<MemoryBudget>,
    bytes: usize,
}

impl MemoryBudget {
    /// A budget of `most` bytes. A larger block is allowed while no other block has a permit.
    pub(crate) fn new(most: usize) -> Arc<Self> {
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

/// The blocks of a source, as they are delivered to the workers. Each has the SHA-256 of its input range up to its end.
/// Blocks that an interrupted run has processed are skipped.
pub(crate) struct DeliveredBlocks<S> {
    blocks: S,
    /// Digest of the current input range. `None` without checksums.
    digest: Option<Sha256>,
    /// How much is read after the last block to skip. `None` after that block.
    resume_after: Option<RangeRead>,
    /// The names of the inputs, for errors.
    inputs: Vec<String>,
    ranges_read: Arc<Mutex<Vec<RangeRead>>>,
}

impl<S: Iterator<Item = Result<Block, Error>>> DeliveredBlocks<S> {
    pub(crate) fn new(
        blocks: S,
        with_checksums: bool,
        resume_after: Option<RangeRead>,
        inputs: Vec<String>,
    ) -> Self {
        let digest = with_checksums.then(Sha256::new);
        Self { blocks, digest, resume_after, inputs, ranges_read: Arc::default() }
    }

    /// How much was read of each input range, including skipped blocks.
    pub(crate) fn ranges_read(&self) -> Arc<Mutex<Vec<RangeRead>>> {
        Arc::clone(&self.ranges_read)
    }

    /// Adds the checksum to a block, and records how much of its input range was read.
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

    /// Whether to skip a block. `block` is `None` at the end of the input.
    ///
    /// # Errors
    /// [`Error`] if no block ends where the interrupted run stopped.
    fn is_skipped(&mut self, block: Option<&Block>) -> Result<bool, Error> {
        let Some(expected) = self.resume_after else { return Ok(false) };
        let order = block.map_or(Ordering::Greater, |Block { read, .. }| {
            let place = (read.input, read.bytes).cmp(&(expected.input, expected.bytes));
            if *read == expected { Ordering::Equal } else { place.then(Ordering::Greater) }
        });
        if order != Ordering::Less {
            self.resume_after = None;
        }
        if order == Ordering::Greater {
            let input = self.inputs.get(expected.input).cloned().unwrap_or_default();
            let message = format!("{input} differs from the input of the interrupted run");
            let error = Error::changed(message).in_file(&input);
            return Err(error.with_remedy(Remedy::Restart));
        }
        Ok(true)
    }

    fn next_block(&mut self) -> Result<Option<Block>, Error> {
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

impl<S: Iterator<Item = Result<Block, Error>>> Iterator for DeliveredBlocks<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        self.next_block().transpose()
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
    fn a_dropped_permit_frees_memory() {
        let budget = MemoryBudget::new(10);
        // A permit above the budget needs all other permits to be dropped.
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

    /// The range read up to the end of each block, with the bytes of the block.
    type Blocks = Vec<(RangeRead, Vec<u8>)>;

    fn blocks(source: impl Iterator<Item = Result<Block, Error>>) -> Blocks {
        let blocks = source.map(Result::unwrap);
        blocks.map(|block| (block.read(), block.bytes().to_vec())).collect()
    }

    /// The blocks after `place`.
    fn blocks_after(
        source: Source,
        place: RangeRead,
        inputs: Vec<String>,
    ) -> DeliveredBlocks<impl Iterator<Item = Result<Block, Error>>> {
        DeliveredBlocks::new(source.with_boundary(Some(place)), false, Some(place), inputs)
    }

    #[test]
    fn blocks_resume_after_blocks_of_any_other_size() {
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
                    let rest = blocks(blocks_after(source(second), *place, Vec::new()));
                    let rest = rest.into_iter().flat_map(|(_, bytes)| bytes);
                    let expected = all[number + 1..].iter().flat_map(|(_, bytes)| bytes.clone());
                    assert!(rest.eq(expected), "{name}: {first}, {second}, {number}");
                }
            }
        }
    }

    #[test]
    fn an_unreachable_resume_point_is_an_error() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.csa");
        fs::write(&path, "PI\n+\n+7776FU\n-3334FU\n%TORYO\n/\n".repeat(3)).unwrap();
        let range = || InputRange::whole(Input::named(&path, FormatName::plain(Format::Csa)));
        let place = blocks(Source::new(vec![range()], 2))[1].0;
        for bytes in [place.bytes - 1, place.bytes + 1, 1 << 20] {
            let place = RangeRead { bytes, ..place };
            let source = Source::new(vec![range()], 4);
            let error = blocks_after(source, place, vec!["a.csa".to_owned()])
                .find_map(Result::err)
                .unwrap()
                .to_string();
            assert!(
                error.starts_with("a.csa differs from the input of the interrupted run"),
                "{error}"
            );
        }
    }
}
