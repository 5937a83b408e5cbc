//! Checkpoints: files with the progress of a run, from which another process can resume it.
//!
//! A checkpoint is written after the outputs that it describes are on disk. It replaces the previous one atomically, so
//! that a complete checkpoint exists even if the process is killed. The file consists of a line of JSON, the content of
//! the open frames of compressed outputs, and the SHA-256 of both in 32 bytes. A copy at a URL also contains the end of
//! each output before the checksum.

use std::path::Path;
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::identity::Identity;
use crate::error::{Error, ErrorKind, Remedy};
use crate::records::sink::{OutputState, partial_path};
use crate::storage::checksum::Sha256Sum;
use crate::storage::{files, own_files, platform};

/// The progress of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint<P> {
    /// The identity of the run.
    pub identity: Identity,
    /// The work done.
    pub progress: P,
    /// The state of each output. Empty in a checkpoint written before any output. Only runs that replace existing
    /// outputs write one.
    pub outputs: Vec<OutputState>,
    /// Records or games of the whole run, if known.
    pub planned: Option<u64>,
    /// Duration of all processes so far, in seconds.
    pub elapsed_s: f64,
    /// For each resumption: the number of records or games that were done.
    pub resumed_from: Vec<u64>,
    /// Checksums of manifests that the run will replace. Outputs that these manifests list were written by earlier
    /// runs, so this run must not continue them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<Sha256Sum>,
    /// When the checkpoint was written, in seconds since 1970.
    pub written_unix_s: u64,
    /// Whether its process ends after this checkpoint. Only copies at a URL state it, because there are no locks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_last: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// The progress of the work of a run.
pub trait RunProgress: Clone + Default + Serialize + DeserializeOwned {
    /// Records or games done.
    fn done(&self) -> u64;
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head<C> {
    checkpoint: C,
    /// Bytes in the open frame of each output.
    open_frame_bytes: Vec<usize>,
    /// In a copy at a URL: bytes at the end of each output that the file contains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tail_bytes: Vec<usize>,
}

/// A checkpoint and, from a copy at a URL, the end of each output.
type WithTails<C> = (C, Vec<Vec<u8>>);

/// Why a checkpoint cannot be read.
#[derive(PartialEq, Debug)]
enum Unreadable {
    Damaged(&'static str),
    OtherVersion,
}

impl<P: Default> Checkpoint<P> {
    /// A run that has done nothing yet.
    pub fn begun(identity: Identity, planned: Option<u64>, replaces: Vec<Sha256Sum>) -> Self {
        Self {
            identity,
            progress: P::default(),
            outputs: Vec::new(),
            planned,
            elapsed_s: 0.0,
            resumed_from: Vec::new(),
            replaces,
            written_unix_s: platform::now_unix_s(),
            is_last: false,
        }
    }
}

impl<P: Serialize + DeserializeOwned> Checkpoint<P> {
    /// Whether the run has written nothing but this checkpoint.
    pub(crate) const fn is_beginning(&self) -> bool {
        self.outputs.is_empty()
    }

    /// Whether the run will replace this manifest.
    ///
    /// # Errors
    /// [`io::Error`] if the manifest cannot be read.
    pub(crate) fn will_replace(&self, manifest: &Path) -> io::Result<bool> {
        if self.replaces.is_empty() {
            return Ok(false);
        }
        Ok(checksum_if_exists(manifest)?.is_some_and(|sum| self.replaces.contains(&sum)))
    }

    /// Writes the checkpoint to a file, which it replaces atomically.
    ///
    /// # Errors
    /// [`Error`]. The file then still contains one complete checkpoint, the old or the new one.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let partial = partial_path(path);
        let bytes = self.to_bytes(&[]);
        let result = bytes
            .and_then(|bytes| own_files::replace(&partial, &bytes)?.sync_all())
            .and_then(|()| platform::rename(&partial, path))
            .and_then(|()| platform::sync_folder(platform::folder_of(path)));
        result.map_err(|source| {
            drop(fs::remove_file(&partial));
            Error::io("write", path, source)
        })
    }

    /// The content of the file. `tails` has the end of each output, for a copy at a URL.
    pub(crate) fn to_bytes(&self, tails: &[Vec<u8>]) -> io::Result<Vec<u8>> {
        let open_frame_bytes =
            self.outputs.iter().map(|output| output.open_frame.len()).collect::<Vec<_>>();
        let tail_bytes = tails.iter().map(Vec::len).collect();
        let head = Head { checkpoint: self, open_frame_bytes, tail_bytes };
        let mut bytes = serde_json::to_vec(&head)?;
        bytes.push(b'\n');
        for frame in self.outputs.iter().map(|output| &output.open_frame).chain(tails) {
            bytes.extend_from_slice(frame);
        }
        bytes.extend_from_slice(Sha256Sum::of(&bytes).bytes());
        Ok(bytes)
    }

    /// Reads a checkpoint. `None` if there is no file.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be read, is damaged, or was written by another version of the program.
    pub fn read(path: &Path) -> Result<Option<Self>, Error> {
        Ok(Self::read_with_tails(path)?.map(|(checkpoint, _)| checkpoint))
    }

    /// Reads a checkpoint and, from a copy at a URL, the end of each output.
    pub(crate) fn read_with_tails(path: &Path) -> Result<Option<WithTails<Self>>, Error> {
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(Error::io("read", path, source));
            }
        };
        let parsed = Self::from_bytes(&bytes);
        parsed.map(Some).map_err(|unreadable| {
            let path = path.display();
            let message = match unreadable {
                Unreadable::Damaged(why) => {
                    format!("{path} is damaged: {why}; its run cannot be resumed")
                }
                Unreadable::OtherVersion => format!(
                    "{path} was written by another version of kyokumen, and only that version can resume its run"
                ),
            };
            Error::new(ErrorKind::Malformed, message).in_file(&path).with_remedy(Remedy::Restart)
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<WithTails<Self>, Unreadable> {
        use Unreadable::{Damaged, OtherVersion};
        let (content, sum) = bytes.split_last_chunk().ok_or(Damaged("it is cut off"))?;
        if Sha256Sum::of(content).bytes() != sum {
            return Err(Damaged("its checksum is wrong"));
        }
        let end = memchr::memchr(b'\n', content).ok_or(Damaged("its first line has no end"))?;
        let (head, mut frames) = (&content[..end], &content[end + 1..]);
        let head: Head<Self> = serde_json::from_slice(head).map_err(|_| OtherVersion)?;
        let mut checkpoint = head.checkpoint;
        let mut next = |len| {
            let (frame, rest) =
                frames.split_at_checked(len).ok_or(Damaged("a frame is cut off"))?;
            frames = rest;
            Ok(frame.to_vec())
        };
        for (output, len) in checkpoint.outputs.iter_mut().zip(head.open_frame_bytes) {
            output.open_frame = next(len)?;
        }
        let tails = head.tail_bytes.into_iter().map(next).collect::<Result<_, _>>()?;
        Ok((checkpoint, tails))
    }
}

/// The checksum of a file. `None` if there is no file.
pub(crate) fn checksum_if_exists(path: &Path) -> io::Result<Option<Sha256Sum>> {
    match files::open(path).and_then(Sha256Sum::of_reader) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        sum => sum.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::jobs::identity::RunDescription;
    use crate::jobs::record_totals::RecordProgress;
    use crate::mate::judge::MemoHits;
    use crate::records::counts::Counts;
    use crate::records::counts::ResumePoint;
    use crate::records::output_kind::OutputKind;
    use crate::records::shard::Shard;
    use crate::records::source::RangeRead;

    fn checkpoint() -> Checkpoint<RecordProgress> {
        let run = RunDescription::new("filter", Map::new(), Shard::new(3, 10));
        let identity = Identity { run, inputs: Vec::new() };
        let output = |kind, open_frame: &[u8]| OutputState {
            kind,
            records: 70_000,
            bytes: 1000,
            sha256: Some(Sha256Sum::of(b"outputs")),
            frames: vec![(1000, 2_097_152)],
            records_in_frame: 4464,
            open_frame: open_frame.to_vec(),
        };
        let read = RangeRead { input: 0, records: 5, offset: 0, bytes: 160, sha256: None };
        let mut resume_point = ResumePoint::default();
        resume_point.advance(&Counts { input: 5, kept: 5, ..Counts::default() }, read);
        Checkpoint {
            identity,
            progress: RecordProgress { resume_point, saved: MemoHits::default() },
            outputs: vec![
                output(OutputKind::Kept, b"one\nopen\xff"),
                output(OutputKind::Mated, b""),
            ],
            planned: Some(100_000),
            elapsed_s: 12.5,
            resumed_from: vec![3],
            replaces: vec![Sha256Sum::of(b"manifest")],
            written_unix_s: 1_700_000_000,
            is_last: true,
        }
    }

    #[test]
    fn a_written_checkpoint_is_read_back_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        assert_eq!(Checkpoint::<RecordProgress>::read(&path).unwrap(), None);
        for blocks in [1, 2] {
            let mut written = checkpoint();
            written.progress.resume_point.blocks = blocks;
            written.write(&path).unwrap();
            assert_eq!(Checkpoint::read(&path).unwrap(), Some(written));
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_checkpoint_of_another_version_is_not_called_damaged() {
        let mut bytes = b"{\"checkpoint\":{},\"open_frame_bytes\":[]}\n".to_vec();
        bytes.extend_from_slice(Sha256Sum::of(&bytes).bytes());
        let read = Checkpoint::<RecordProgress>::from_bytes(&bytes);
        assert_eq!(read, Err(Unreadable::OtherVersion));
    }

    #[test]
    fn any_cut_or_flipped_byte_is_detected() {
        let tails = vec![b"end\n\0".to_vec(), Vec::new()];
        let bytes = checkpoint().to_bytes(&tails).unwrap();
        assert_eq!(Checkpoint::from_bytes(&bytes).unwrap(), (checkpoint(), tails));
        for len in 0..bytes.len() {
            assert!(Checkpoint::<RecordProgress>::from_bytes(&bytes[..len]).is_err(), "{len}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Checkpoint::<RecordProgress>::from_bytes(&damaged).is_err(), "{at}");
        }
    }
}
