//! Writes outputs. A file gets its final name only when it is complete and on disk.
//!
//! Like a crash-safe database, it takes these steps: partial file, fsync, rename, fsync of the folder. Compressed files
//! follow RFC 8878 (Zstandard), which allows several frames in a file.

mod background_sync;
mod encoder;
mod output;
mod partial;
mod plan;
mod target;

use std::io::Write;
use std::path::{Path, PathBuf};

use self::output::{FinishedOutput, Output};
use self::target::{Target, sync_folder_of};
use crate::error::Error;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::storage::files;

pub use output::OutputState;
#[cfg_attr(
    not(feature = "cli"),
    expect(unused_imports, reason = "only the command line uses it")
)]
pub(crate) use output::is_standard_output;
pub(crate) use partial::{PARTIAL_SUFFIX, Partial, partial_path};
pub use plan::{OutputPlan, WrittenOutput};

/// The outputs of a run under their partial names. Dropping them before [`FinishedOutputs::commit`] removes the files.
#[derive(Debug)]
pub struct Sinks {
    outputs: Vec<Output>,
}

impl Sinks {
    /// Opens the partial file of every output.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be created or another process is writing it.
    pub fn create(plans: &[OutputPlan]) -> Result<Self, Error> {
        Self::create_with(plans, false)
    }

    pub(crate) fn create_with(plans: &[OutputPlan], checksums: bool) -> Result<Self, Error> {
        let create = |plan| Output::create(plan, checksums);
        Ok(Self { outputs: plans.iter().map(create).collect::<Result<_, _>>()? })
    }

    /// Continues the partial files of an interrupted run. They are kept even if this run fails.
    ///
    /// # Errors
    /// [`Error`] if a file has changed since the interruption.
    pub fn resume(plans: &[OutputPlan], states: Vec<OutputState>) -> Result<Self, Error> {
        let resume = |(plan, state)| Output::resume(plan, state);
        Ok(Self { outputs: plans.iter().zip(states).map(resume).collect::<Result<_, _>>()? })
    }

    /// Syncs the outputs to disk and returns the state from which each can be resumed.
    ///
    /// # Errors
    /// [`Error`] if the disk is full, for instance, or if an output cannot be resumed.
    pub fn sync(&mut self) -> Result<Vec<OutputState>, Error> {
        self.outputs.iter_mut().map(Output::sync).collect()
    }

    /// Keeps the partial files if the run ends early.
    pub fn keep(&mut self) {
        self.outputs.iter_mut().for_each(Output::keep);
    }

    /// Appends the records of a block to an output. Does nothing if the run does not have this output.
    ///
    /// # Errors
    /// [`Error`] if the disk is full, for instance.
    pub fn write(&mut self, kind: OutputKind, encoded: &EncodedRecords) -> Result<(), Error> {
        match self.outputs.iter_mut().find(|output| output.plan.kind == kind) {
            Some(output) => output.write(encoded),
            None => Ok(()),
        }
    }

    /// Number of records written to each output.
    pub fn records(&self) -> impl Iterator<Item = (OutputKind, u64)> {
        self.outputs.iter().map(|output| (output.plan.kind, output.records))
    }

    /// Completes every output on disk, under its partial name.
    ///
    /// # Errors
    /// [`Error`] if the disk is full, for instance.
    pub fn finish(self) -> Result<FinishedOutputs, Error> {
        self.finish_cancellable(&mut || false)
    }

    /// Like [`Self::finish`], but polls `wants_stop` while tables are built, which can take a long time.
    pub(crate) fn finish_cancellable(
        self,
        wants_stop: &mut dyn FnMut() -> bool,
    ) -> Result<FinishedOutputs, Error> {
        let outputs = self.outputs.into_iter().map(|output| output.finish(wants_stop));
        Ok(FinishedOutputs { outputs: outputs.collect::<Result<_, _>>()?, is_resumable: false })
    }

    pub(crate) fn has_deferred_tables(&self) -> bool {
        self.outputs.iter().any(|output| output.plan.deferred_table.is_some())
    }
}

/// Complete outputs on disk, under their partial names. Dropping them removes the files.
#[derive(Debug, Default)]
pub struct FinishedOutputs {
    outputs: Vec<FinishedOutput>,
    is_resumable: bool,
}

impl FinishedOutputs {
    /// The outputs.
    pub fn written(&self) -> impl Iterator<Item = &WrittenOutput> {
        self.outputs.iter().map(|output| &output.written)
    }

    /// Adds other outputs, so that all are committed together.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.outputs.extend(others.outputs);
        self
    }

    /// Makes a failed commit resumable: if a rename fails, all files keep their current names, and the partial manifest
    /// is kept. Another process can resume from there.
    #[must_use]
    pub(crate) fn resumable(self) -> Self {
        Self { is_resumable: true, ..self }
    }

    /// Renames the outputs to their final names. If a rename fails, removes the new files that were already renamed.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be renamed or a folder cannot be synced.
    pub fn commit(mut self) -> Result<(), Error> {
        self.rename(None)?;
        self.clear();
        Ok(())
    }

    /// Renames the outputs, then `last`.
    fn rename(&mut self, last: Option<Target>) -> Result<(), Error> {
        let targets: Vec<_> =
            self.outputs.iter_mut().filter_map(|output| output.target.take()).collect();
        let mut new = Vec::new();
        let all = rename_files(targets, &mut new).and_then(|()| rename_files(last, &mut new));
        if all.is_err() && !self.is_resumable {
            // In reverse order: as long as the last file exists, all exist.
            new.iter().rev().for_each(|path| remove_new_file(path));
        }
        all
    }

    /// Removes the rows of deferred tables.
    fn clear(self) {
        self.outputs.into_iter().filter_map(|output| output.rows).for_each(Partial::remove);
    }

    /// Renames the outputs, then the manifest: if the manifest exists, all outputs are complete.
    pub(crate) fn commit_with(
        mut self,
        manifest_path: &Path,
        manifest: &[u8],
    ) -> Result<(), Error> {
        let mut target = Target::create(manifest_path)?;
        let written = target.writer().and_then(|mut writer| {
            writer.write_all(manifest)?;
            writer.flush()
        });
        let written = written.and_then(|()| target.sync_all());
        written.map_err(|source| Error::io("write", manifest_path, source))?;
        if self.is_resumable {
            target.keep();
            self.outputs.iter_mut().for_each(FinishedOutput::keep);
        }
        files::remove(manifest_path)
            .map_err(|source| Error::io("replace", manifest_path, source))?;
        self.rename(Some(target))?;
        self.clear();
        Ok(())
    }
}

/// Renames files and syncs their folders. Adds the paths that did not exist before to `new`.
fn rename_files(
    targets: impl IntoIterator<Item = Target>,
    new: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for target in targets {
        let path = target.final_path().to_owned();
        // Objects are always replaced as a whole, and checking whether one exists is slow.
        let is_new = !files::is_object(&path) && path.symlink_metadata().is_err();
        target.commit()?;
        new.extend(is_new.then(|| path.clone()));
        paths.push(path);
    }
    paths.dedup_by(|one, other| one.parent() == other.parent());
    paths.iter().try_for_each(|path| sync_folder_of(path))
}

/// Removes a renamed file after another rename has failed.
fn remove_new_file(path: &Path) {
    if let Err(error) = files::remove(path) {
        tracing::warn!("cannot remove {}: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Cursor;

    use zeekstd::SeekTable;

    use super::*;
    use crate::storage::compression::{Compression, FRAME_BYTES, FRAME_RECORDS};

    /// Writes these blocks and returns the bytes of the file.
    fn file(blocks: &[EncodedRecords]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.zst");
        let plan = OutputPlan {
            compression: Compression::Zstd,
            ..OutputPlan::plain(OutputKind::Kept, path.clone())
        };
        let mut sinks = Sinks::create(&[plan]).unwrap();
        for block in blocks {
            sinks.write(OutputKind::Kept, block).unwrap();
        }
        sinks.finish().unwrap().commit().unwrap();
        let file = fs::read(&path).unwrap();
        let content = zstd::decode_all(&*file).unwrap();
        assert_eq!(content.len(), blocks.iter().map(|block| block.bytes().len()).sum::<usize>());
        file
    }

    fn number_of_frames(file: Vec<u8>) -> u32 {
        SeekTable::from_seekable(&mut Cursor::new(file)).unwrap().num_frames()
    }

    /// The number of frames in a file with twice `records` records of `bytes` bytes.
    fn frames(records: usize, bytes: usize) -> u32 {
        let mut encoded = EncodedRecords::default();
        (0..records).for_each(|_| encoded.push(&vec![7; bytes]));
        number_of_frames(file(&[encoded.clone(), encoded]))
    }

    #[test]
    fn frames_have_limits_of_records_and_bytes() {
        let whole = FRAME_RECORDS as usize;
        assert_eq!([frames(whole / 2, 1), frames(whole / 2 + 1, 1)], [1, 2]);
        assert_eq!([frames(1, FRAME_BYTES - 1), frames(1, FRAME_BYTES)], [1, 2]);
    }

    #[test]
    fn frames_do_not_depend_on_blocks() {
        let records = [&vec![1; FRAME_BYTES - 1], &vec![2; FRAME_BYTES / 2 + 1], &vec![3; 100]];
        let in_blocks_of = |size: usize| {
            let blocks = [0, 1, 2, 1, 2, 0].map(|number| records[number]);
            let block = |records: &[&Vec<u8>]| {
                let mut encoded = EncodedRecords::default();
                for record in records {
                    encoded.push(record);
                    // A game without moves.
                    encoded.open_record().push(4);
                    encoded.end_records(0);
                }
                encoded
            };
            file(&blocks.chunks(size).map(block).collect::<Vec<_>>())
        };
        let one_by_one = in_blocks_of(1);
        assert!([2, 3, 6].iter().all(|&size| in_blocks_of(size) == one_by_one));
        assert_eq!(number_of_frames(one_by_one), 3);
    }
}
