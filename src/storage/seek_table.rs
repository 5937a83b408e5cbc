//! The seek table at the end of a seekable zstd file. It contains the compressed and uncompressed size of each frame.
//!
//! Format: <https://github.com/facebook/zstd>, `contrib/seekable_format`, version 0.1.0. Ordinary decoders skip the
//! table. No checksum protects it, so a reader that uses it must compare it with the frames that it reads.
//!
//! The tests compare with the crate `zeekstd` (0.6.3). Using that crate here would save 68 lines, but it enables the
//! default features of `zstd-safe`. These add seven decoders for formats older than zstd 1.0, which make the program
//! 245 kB larger and take 7 s of CPU time to build.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// First bytes of the skippable frame that holds the table.
const FRAME_MAGIC: u32 = 0x184D_2A5E;

/// Last bytes of a seekable file.
const TABLE_MAGIC: u32 = 0x8F92_EAB1;

/// Size of the head of the skippable frame: magic number and length.
const HEAD_BYTES: u64 = 8;

/// Size of the foot of the table: number of frames, descriptor and magic number.
const FOOT_BYTES: u64 = 9;

/// Maximum number of frames in one file.
const MAX_FRAMES: u32 = 0x800_0000;

/// Descriptor bit: in each entry a checksum of the frame's content follows the sizes.
const WITH_CHECKSUMS: u8 = 1 << 7;

/// Descriptor bits that the format leaves unused. They may have any value.
const UNUSED_BITS: u8 = 0b11;

/// Compressed and uncompressed size of a frame, in bytes.
pub(crate) type FrameSizes = (u32, u32);

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct SeekTable {
    ends: Vec<FrameOffset>,
}

/// The end of a frame, in bytes from the start of the first frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct FrameOffset {
    compressed: u64,
    content: u64,
}

/// Location of one frame, in bytes from the start of the first frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    pub(crate) compressed: Range<u64>,
    /// In the decompressed content of all frames.
    pub(crate) content: Range<u64>,
}

impl SeekTable {
    pub(crate) fn push(&mut self, sizes: FrameSizes) -> io::Result<()> {
        if self.ends.len() >= MAX_FRAMES as usize {
            return Err(io::Error::other("a seekable zstd file has at most 134,217,728 frames"));
        }
        let end = self.end();
        self.ends.push(FrameOffset {
            compressed: end.compressed + u64::from(sizes.0),
            content: end.content + u64::from(sizes.1),
        });
        Ok(())
    }

    /// Reads the table at the end of a file. `None` if there is no table, or if it does not cover the whole file. At
    /// the end of several concatenated files, the table covers only the last of them.
    pub(crate) fn read(file: &mut (impl Read + Seek), file_bytes: u64) -> io::Result<Option<Self>> {
        let Some(foot_at) = file_bytes.checked_sub(FOOT_BYTES) else { return Ok(None) };
        let mut foot = [0; FOOT_BYTES as usize];
        file.seek(SeekFrom::Start(foot_at))?;
        file.read_exact(&mut foot)?;
        let (frames, descriptor) = (u32_at(&foot, 0), foot[4]);
        let with_checksums = descriptor & WITH_CHECKSUMS != 0;
        let is_table = u32_at(&foot, 5) == TABLE_MAGIC
            && descriptor & !(WITH_CHECKSUMS | UNUSED_BITS) == 0
            && frames <= MAX_FRAMES;
        let entry_bytes = if with_checksums { 12 } else { 8 };
        let table_bytes = u64::from(frames) * entry_bytes + FOOT_BYTES;
        let Some(start) = file_bytes.checked_sub(HEAD_BYTES + table_bytes) else { return Ok(None) };
        if !is_table {
            return Ok(None);
        }
        let mut bytes = vec![0; (HEAD_BYTES + table_bytes - FOOT_BYTES) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        let (head, entries) = bytes.split_at(HEAD_BYTES as usize);
        if u32_at(head, 0) != FRAME_MAGIC || u64::from(u32_at(head, 4)) != table_bytes {
            return Ok(None);
        }
        let mut table = Self::default();
        for entry in entries.chunks_exact(entry_bytes as usize) {
            table.push((u32_at(entry, 0), u32_at(entry, 4)))?;
        }
        Ok((table.end().compressed == start).then_some(table))
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let frames = self.ends.len() as u32;
        let table_bytes = 8 * frames + FOOT_BYTES as u32;
        let mut bytes = Vec::with_capacity((HEAD_BYTES + u64::from(table_bytes)) as usize);
        let mut push = |value: u32| bytes.extend_from_slice(&value.to_le_bytes());
        push(FRAME_MAGIC);
        push(table_bytes);
        for (compressed, content) in self.sizes() {
            push(compressed);
            push(content);
        }
        push(frames);
        bytes.push(0);
        bytes.extend_from_slice(&TABLE_MAGIC.to_le_bytes());
        bytes
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(crate) fn sizes(&self) -> impl Iterator<Item = FrameSizes> {
        let starts = std::iter::once(FrameOffset::default()).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| {
            ((end.compressed - start.compressed) as u32, (end.content - start.content) as u32)
        })
    }

    /// Whether every frame in the table has content. An empty frame is never read, so a wrong entry for it would not be
    /// noticed.
    pub(crate) fn has_no_empty_frame(&self) -> bool {
        self.sizes().all(|(_, content)| content > 0)
    }

    /// Decompressed size of all frames.
    pub(crate) fn content_bytes(&self) -> u64 {
        self.end().content
    }

    /// Number, from 0, of the frame that holds this byte.
    pub(crate) fn frame_of(&self, content_byte: u64) -> usize {
        self.ends.partition_point(|end| end.content <= content_byte)
    }

    pub(crate) fn frame(&self, number: usize) -> Option<Frame> {
        let end = self.ends.get(number)?;
        let start =
            number.checked_sub(1).map_or_else(FrameOffset::default, |before| self.ends[before]);
        Some(Frame {
            compressed: start.compressed..end.compressed,
            content: start.content..end.content,
        })
    }

    fn end(&self) -> FrameOffset {
        self.ends.last().copied().unwrap_or_default()
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use zeekstd::BytesWrapper;

    use super::*;

    fn table(sizes: &[FrameSizes]) -> SeekTable {
        let mut table = SeekTable::default();
        for &sizes in sizes {
            table.push(sizes).unwrap();
        }
        table
    }

    /// A file with frames of these sizes and arbitrary content.
    fn file(table: &SeekTable) -> Vec<u8> {
        let mut file = vec![0; table.end().compressed as usize];
        file.extend(table.to_bytes());
        file
    }

    fn read(file: &[u8]) -> Option<SeekTable> {
        SeekTable::read(&mut Cursor::new(file), file.len() as u64).unwrap()
    }

    #[test]
    fn tables_equal_those_of_zeekstd() {
        let sizes = [(20, 100), (1, 2), (300, u32::MAX), (13, 0)];
        for count in 0..=sizes.len() {
            let table = table(&sizes[..count]);
            let mut theirs = zeekstd::SeekTable::new();
            sizes[..count].iter().for_each(|&(c, d)| theirs.log_frame(c, d).unwrap());
            let mut bytes = Vec::new();
            io::copy(&mut theirs.clone().into_serializer(), &mut bytes).unwrap();
            assert_eq!(table.to_bytes(), bytes);
            let file = file(&table);
            assert_eq!(read(&file).as_ref(), Some(&table));
            let read = zeekstd::SeekTable::from_seekable(&mut BytesWrapper::new(&file));
            assert_eq!(read.unwrap(), theirs);
        }
    }

    #[test]
    fn frame_of_returns_the_frame_that_contains_a_byte() {
        let table = table(&[(20, 100), (1, 2), (300, 50)]);
        assert_eq!(
            [0, 99, 100, 101, 102, 151].map(|byte| table.frame_of(byte)),
            [0, 0, 1, 1, 2, 2]
        );
        assert_eq!(table.frame(1), Some(Frame { compressed: 20..21, content: 100..102 }));
        assert_eq!(table.frame(table.frame_of(152)), None);
        assert_eq!((table.content_bytes(), table.has_no_empty_frame()), (152, true));
    }

    #[test]
    fn checksums_in_entries_are_skipped() {
        let table = table(&[(20, 100), (1, 2)]);
        let mut file = vec![0; 21];
        file.extend(FRAME_MAGIC.to_le_bytes());
        file.extend((2 * 12 + FOOT_BYTES as u32).to_le_bytes());
        for (compressed, content) in [(20_u32, 100_u32), (1, 2)] {
            for value in [compressed, content, 7] {
                file.extend(value.to_le_bytes());
            }
        }
        file.extend(2_u32.to_le_bytes());
        file.push(WITH_CHECKSUMS);
        file.extend(TABLE_MAGIC.to_le_bytes());
        assert_eq!(read(&file), Some(table));
    }

    #[test]
    fn a_table_that_does_not_cover_the_whole_file_is_ignored() {
        let whole = file(&table(&[(20, 100), (1, 2)]));
        assert!(read(&whole).is_some());
        assert_eq!(read(&[&[0][..], &whole].concat()), None, "a byte before the file");
        assert_eq!(read(&[&whole[..], &whole].concat()), None, "two files");
        for len in 0..whole.len() {
            assert_eq!(read(&whole[..len]), None, "cut at {len}");
        }
        let mut many = whole.clone();
        let at = many.len() - FOOT_BYTES as usize;
        many[at..at + 4].copy_from_slice(&MAX_FRAMES.to_le_bytes());
        assert_eq!(read(&many), None, "more frames than fit into the file");
    }
}
