//! Partitions on disk, in one unnamed temporary file. The system deletes it when the process ends, even after a crash.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::partitioned::{ItemLen, KeyedItems, PARTITIONS, PartitionedItems};
use crate::error::{Error, ErrorKind};
use crate::storage::platform;

pub(super) struct Spill {
    file: File,
    folder: PathBuf,
    end: u64,
    extents: Vec<Vec<Extent>>,
}

/// Consecutive items of one partition: their keys, their lengths unless the length is fixed, and their bytes.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    offset: u64,
    items: u64,
    bytes: u64,
}

impl Spill {
    pub(super) fn create(folder: &Path) -> Result<Self, Error> {
        let file =
            tempfile::tempfile_in(folder).map_err(|source| error("create", folder, source))?;
        let (extents, folder) = (vec![Vec::new(); PARTITIONS], folder.to_owned());
        Ok(Self { file, folder, end: 0, extents })
    }

    /// Appends the items of one partition.
    pub(super) fn append(
        &mut self,
        partition: usize,
        all: &[PartitionedItems],
    ) -> Result<(), Error> {
        let mut extent = Extent { offset: self.end, items: 0, bytes: 0 };
        let mut words = Vec::new();
        for (keys, _, bytes) in all.iter().map(|partitioned| partitioned.partition(partition)) {
            words.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
            extent.items += keys.len() as u64;
            extent.bytes += bytes.len() as u64;
        }
        if extent.items == 0 {
            return Ok(());
        }
        for (_, lens, _) in all.iter().map(|partitioned| partitioned.partition(partition)) {
            words.extend(lens.iter().flat_map(|len| len.to_le_bytes()));
        }
        let mut written = self.file.write_all(&words);
        // Gather small pieces: copying them is faster than one system call for each.
        let mut gathered = words;
        gathered.clear();
        for (_, _, bytes) in all.iter().map(|partitioned| partitioned.partition(partition)) {
            gathered.extend_from_slice(bytes);
        }
        written = written.and_then(|()| self.file.write_all(&gathered));
        written.map_err(|source| error("write", &self.folder, source))?;
        self.end += extent.items * size_of::<u64>() as u64 + extent.bytes;
        if all.iter().any(|partitioned| !partitioned.partition(partition).1.is_empty()) {
            self.end += extent.items * size_of::<u32>() as u64;
        }
        self.extents[partition].push(extent);
        Ok(())
    }

    /// The extents of a partition in the order in which they were written.
    pub(super) fn extents(&self, partition: usize) -> impl Iterator<Item = Extent> {
        self.extents[partition].iter().copied()
    }

    /// Number of items and bytes of a partition.
    pub(super) fn count(&self, partition: usize) -> (u64, u64) {
        let add = |(items, bytes), extent: Extent| (items + extent.items, bytes + extent.bytes);
        self.extents(partition).fold((0, 0), add)
    }

    /// Appends the items of an extent to `items`.
    pub(super) fn load(
        &self,
        extent: Extent,
        len: ItemLen,
        items: &mut KeyedItems,
    ) -> Result<(), Error> {
        self.try_load(extent, len, items).map_err(|source| error("read", &self.folder, source))
    }

    fn try_load(&self, extent: Extent, len: ItemLen, items: &mut KeyedItems) -> io::Result<()> {
        let count = extent.items as usize;
        let mut offset = extent.offset;
        let mut words = vec![0; count * size_of::<u64>()];
        platform::read_exact_at(&self.file, &mut words, offset)?;
        offset += words.len() as u64;
        let (keys, _) = words.as_chunks();
        items.keys.extend(keys.iter().map(|key| u64::from_le_bytes(*key)));
        if len.is_none() {
            let words = &mut words[..count * size_of::<u32>()];
            platform::read_exact_at(&self.file, words, offset)?;
            offset += words.len() as u64;
            let (lens, _) = words.as_chunks();
            items.lens.extend(lens.iter().map(|len| u32::from_le_bytes(*len)));
        }
        let start = items.bytes.len();
        items.bytes.resize(start + extent.bytes as usize, 0);
        platform::read_exact_at(&self.file, &mut items.bytes[start..], offset)
    }
}

fn error(verb: &'static str, folder: &Path, source: io::Error) -> Error {
    let folder = folder.display();
    let message = format!("cannot {verb} temporary files in {folder} (see --tmp-dir)");
    Error::new(ErrorKind::Io, message).in_file(&folder).with_source(source)
}
