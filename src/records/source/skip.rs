//! Skips the blocks that an interrupted run has already processed.
//!
//! Reading from the start shows that the input is still the same, and costs nothing beside the work that is not done
//! again. Blocks may have had another size then: the source has to end a block at the place of the interruption, see
//! [`Source::with_boundary`](super::Source::with_boundary).

use std::cmp::Ordering;

use super::{Delivery, PartRead, SourceError};

/// Leaves out the first blocks of a source.
pub(crate) struct SkipBlocks<S> {
    source: S,
    /// What had been read up to the last skipped block. `None` once that is reached.
    expected: Option<PartRead>,
    inputs: Vec<String>,
}

impl<S> SkipBlocks<S> {
    /// Leaves out the blocks up to this place.
    pub(crate) const fn new(source: S, behind: Option<PartRead>, inputs: Vec<String>) -> Self {
        Self { source, expected: behind, inputs }
    }
}

impl<S: Iterator<Item = Result<Delivery, SourceError>>> Iterator for SkipBlocks<S> {
    type Item = S::Item;

    fn next(&mut self) -> Option<S::Item> {
        while let Some(expected) = self.expected {
            let order = match self.source.next() {
                Some(Ok(Delivery::Block(block))) => {
                    let read = block.read();
                    let place = (read.part, read.bytes).cmp(&(expected.part, expected.bytes));
                    if read == expected { Ordering::Equal } else { place.then(Ordering::Greater) }
                }
                None => Ordering::Greater,
                other => return other,
            };
            if order != Ordering::Less {
                self.expected = None;
            }
            if order == Ordering::Greater {
                let input = self.inputs.get(expected.part).cloned().unwrap_or_default();
                return Some(Err(SourceError::NotAsLeft { input }));
            }
        }
        self.source.next()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use crate::format::Format;
    use crate::records::format_name::FormatName;
    use crate::records::source::{Input, Part, Source};

    /// What was read up to the end of each block, with the bytes of the block.
    type Blocks = Vec<(PartRead, Vec<u8>)>;

    fn blocks(source: impl Iterator<Item = Result<Delivery, SourceError>>) -> Blocks {
        let mut blocks = Vec::new();
        for delivery in source {
            if let Delivery::Block(block) = delivery.unwrap() {
                blocks.push((block.read(), block.bytes().to_vec()));
            }
        }
        blocks
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
            let part = || Part::whole(Input::named(&path, FormatName::plain(format)));
            let source = |block_records| Source::new(vec![part(), part()], block_records);
            for (first, second) in [(5, 3), (3, 5), (1, 32), (32, 1), (7, 100)] {
                let all = blocks(source(first));
                for (number, (place, _)) in all.iter().enumerate() {
                    let bounded = source(second).with_boundary(Some(*place));
                    let skipping = SkipBlocks::new(bounded, Some(*place), Vec::new());
                    let rest = blocks(skipping).into_iter().flat_map(|(_, bytes)| bytes);
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
        let part = || Part::whole(Input::named(&path, FormatName::plain(Format::Csa)));
        let place = blocks(Source::new(vec![part()], 2))[1].0;
        for bytes in [place.bytes - 1, place.bytes + 1, 1 << 20] {
            let place = PartRead { bytes, ..place };
            let source = Source::new(vec![part()], 4).with_boundary(Some(place));
            let mut skipping = SkipBlocks::new(source, Some(place), vec!["a.csa".to_owned()]);
            let told = skipping.find_map(Result::err).unwrap().to_string();
            assert!(told.starts_with("a.csa is not what the interrupted run read"), "{told}");
        }
    }
}
