//! Where records go: files that have their final name only when they are whole and on disk.
//!
//! The order of steps (partial file, fsync, rename, fsync of the folder) is that of any database that
//! survives a crash; compressed files follow RFC 8878 (Zstandard), which lets frames stand in a row.

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
    expect(unused_imports, reason = "only the command line asks")
)]
pub(crate) use output::is_standard_output;
pub(crate) use partial::{PARTIAL_SUFFIX, Partial, partial_path};
pub use plan::{OutputPlan, WrittenOutput};

/// The outputs of a run while they have no final names. Dropped before [`FinishedOutputs::commit`], they vanish.
#[derive(Debug)]
pub struct Sinks {
    outputs: Vec<Output>,
}

impl Sinks {
    /// Opens the partial file of every output.
    ///
    /// # Errors
    /// [`Error`] if one cannot be created or is being written by another process.
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
    /// [`Error`] if one is not as it was left.
    pub fn resume(plans: &[OutputPlan], states: Vec<OutputState>) -> Result<Self, Error> {
        let resume = |(plan, state)| Output::resume(plan, state);
        Ok(Self { outputs: plans.iter().zip(states).map(resume).collect::<Result<_, _>>()? })
    }

    /// Syncs the outputs to disk and returns the state from which each can be resumed.
    ///
    /// # Errors
    /// [`Error`], a full disk for instance, or if one cannot be resumed.
    pub fn sync(&mut self) -> Result<Vec<OutputState>, Error> {
        self.outputs.iter_mut().map(Output::sync).collect()
    }

    /// From now on the partial files stay if the run ends before its time.
    pub fn keep(&mut self) {
        self.outputs.iter_mut().for_each(Output::keep);
    }

    /// Appends the records of a block to their stream.
    ///
    /// # Errors
    /// [`Error`], a full disk for instance.
    pub fn write(&mut self, kind: OutputKind, encoded: &EncodedRecords) -> Result<(), Error> {
        match self.outputs.iter_mut().find(|output| output.plan.kind == kind) {
            Some(output) => output.write(encoded),
            None => Ok(()),
        }
    }

    /// Records written to each output so far.
    pub fn records(&self) -> impl Iterator<Item = (OutputKind, u64)> {
        self.outputs.iter().map(|output| (output.plan.kind, output.records))
    }

    /// Brings every output to disk, without giving it its name.
    ///
    /// # Errors
    /// [`Error`], a full disk for instance.
    pub fn finish(self) -> Result<FinishedOutputs, Error> {
        self.finish_cancellable(&mut || false)
    }

    /// Like [`Self::finish`], but polls `wants_stop` while tables are built, which can take long.
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

/// Outputs that are whole and on disk, under their partial names. Dropped, they vanish.
#[derive(Debug, Default)]
pub struct FinishedOutputs {
    outputs: Vec<FinishedOutput>,
    is_resumable: bool,
}

impl FinishedOutputs {
    /// What was written.
    pub fn written(&self) -> impl Iterator<Item = &WrittenOutput> {
        self.outputs.iter().map(|output| &output.written)
    }

    /// These, then the others, as if they had been written together.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.outputs.extend(others.outputs);
        self
    }

    /// If a rename fails, all files keep the names they have by then, and the partial manifest stays. Another process
    /// can resume from there.
    #[must_use]
    pub(crate) fn resumable(self) -> Self {
        Self { is_resumable: true, ..self }
    }

    /// Gives the outputs their final names: all of them, or none that was not there before.
    ///
    /// # Errors
    /// [`Error`] if a file cannot be renamed or a folder not be synchronised.
    pub fn commit(mut self) -> Result<(), Error> {
        self.name(None)?;
        self.clear();
        Ok(())
    }

    /// Renames the outputs, then `last`.
    fn name(&mut self, last: Option<Target>) -> Result<(), Error> {
        let targets: Vec<_> =
            self.outputs.iter_mut().filter_map(|output| output.target.take()).collect();
        let mut named = Vec::new();
        let all = give_names(targets, &mut named).and_then(|()| give_names(last, &mut named));
        if all.is_err() && !self.is_resumable {
            // The last first: where it is, all are.
            named.iter().rev().for_each(|path| take_name(path));
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
        self.name(Some(target))?;
        self.clear();
        Ok(())
    }
}

/// Renames files and syncs their folders. Paths that did not exist before are added to `named`.
fn give_names(
    targets: impl IntoIterator<Item = Target>,
    named: &mut Vec<PathBuf>,
) -> Result<(), Error> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for target in targets {
        let path = target.final_path().to_owned();
        // An object is replaced whole at any time, and asking for it takes its time.
        let is_new = !files::is_object(&path) && path.symlink_metadata().is_err();
        target.commit()?;
        named.extend(is_new.then(|| path.clone()));
        paths.push(path);
    }
    paths.dedup_by(|one, other| one.parent() == other.parent());
    paths.iter().try_for_each(|path| sync_folder_of(path))
}

/// Removes a renamed file after another rename has failed.
fn take_name(path: &Path) {
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
    fn frames_end_by_records_or_by_bytes() {
        let whole = FRAME_RECORDS as usize;
        assert_eq!([frames(whole / 2, 1), frames(whole / 2 + 1, 1)], [1, 2]);
        assert_eq!([frames(1, FRAME_BYTES - 1), frames(1, FRAME_BYTES)], [1, 2]);
    }

    /// Another batch size gives blocks of another size.
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
                    encoded.end_group(0);
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
