//! How far a run has come, in a file from which another process can go on.
//!
//! It is written after the outputs it speaks of are on disk, and takes the place of the one before in one
//! step: whatever ends the process, one whole checkpoint is there. First a line of JSON, then what stands in
//! the open frames of compressed outputs, then the SHA-256 of all that in 32 bytes. One without blocks says
//! that a run has begun which is to replace what is there.

use std::path::Path;
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::JobError;
use super::identity::Identity;
use crate::mate::judge::MemoHits;
use crate::records::resume_point::ResumePoint;
use crate::records::sink::{OutputState, partial_path};
use crate::storage::checksum::Sha256Sum;
use crate::storage::{files, own_files, platform};

/// Everything that another process needs to go on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// What the run is.
    pub identity: Identity,
    /// How far it has come.
    pub place: ResumePoint,
    /// How far each output has come.
    pub outputs: Vec<OutputState>,
    /// Records of the whole run, where that is known.
    pub records: Option<u64>,
    /// How long the run took so far.
    pub elapsed_s: f64,
    /// Answers that took no search.
    pub saved: MemoHits,
    /// Records behind which processes before this one had gone on.
    pub resumed_from: Vec<u64>,
    /// Checksums of the manifests that the run is to replace: what they speak of is not its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<Sha256Sum>,
    /// When it was written, in seconds since 1970.
    pub written_unix_s: u64,
}

/// The first line of the file.
#[derive(Serialize, Deserialize)]
struct Head<C> {
    checkpoint: C,
    /// Bytes in the open frame of each output.
    open_frame_bytes: Vec<usize>,
}

impl Checkpoint {
    /// That of a run which has done nothing yet.
    pub fn begun(identity: Identity, replaces: Vec<Sha256Sum>) -> Self {
        Self {
            identity,
            place: ResumePoint::default(),
            outputs: Vec::new(),
            records: None,
            elapsed_s: 0.0,
            saved: MemoHits::default(),
            resumed_from: Vec::new(),
            replaces,
            written_unix_s: platform::now_unix_s(),
        }
    }

    /// Whether nothing of its run is written down but that it began.
    pub(crate) const fn is_beginning(&self) -> bool {
        self.place.blocks == 0
    }

    /// Whether its run is to replace the manifest that is there.
    ///
    /// # Errors
    /// If the manifest cannot be read.
    pub(crate) fn is_to_replace(&self, manifest: &Path) -> io::Result<bool> {
        is_one_of(&self.replaces, manifest)
    }
}

/// Whether the manifest exists and has one of these checksums.
pub(crate) fn is_one_of(sums: &[Sha256Sum], manifest: &Path) -> io::Result<bool> {
    if sums.is_empty() {
        return Ok(false);
    }
    Ok(sum_if_there(manifest)?.is_some_and(|sum| sums.contains(&sum)))
}

/// The checksum of a manifest. `None` if it does not exist.
pub(crate) fn sum_if_there(manifest: &Path) -> io::Result<Option<Sha256Sum>> {
    match files::read(manifest) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(|bytes| Some(Sha256Sum::of(&bytes))),
    }
}

impl CheckpointContent for Checkpoint {
    fn outputs(&self) -> &[OutputState] {
        &self.outputs
    }

    fn outputs_mut(&mut self) -> &mut [OutputState] {
        &mut self.outputs
    }
}

/// What is kept of a run, and goes into a file and comes back.
pub trait CheckpointContent: Serialize + DeserializeOwned {
    /// How far each output has come.
    fn outputs(&self) -> &[OutputState];

    /// The same, to be filled with what the file holds behind the line of JSON.
    fn outputs_mut(&mut self) -> &mut [OutputState];

    /// Puts it into the place of the one before, and on disk.
    ///
    /// # Errors
    /// [`JobError::Io`], a full disk for instance; the one before stays.
    fn write(&self, path: &Path) -> Result<(), JobError> {
        let partial = partial_path(path);
        let failed = |source| JobError::Io { verb: "write", path: path.to_owned(), source };
        let bytes = self.to_bytes();
        let result = bytes
            .and_then(|bytes| own_files::write_anew(&partial, &bytes)?.sync_all())
            .and_then(|()| platform::rename(&partial, path))
            .and_then(|()| platform::sync_folder(platform::folder_of(path)));
        result.map_err(|error| {
            // It says nothing that the one before does not.
            drop(fs::remove_file(&partial));
            failed(error)
        })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// Those of making JSON.
    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let open_frame_bytes =
            self.outputs().iter().map(|output| output.open_frame.len()).collect::<Vec<_>>();
        let mut bytes = serde_json::to_vec(&Head { checkpoint: self, open_frame_bytes })?;
        bytes.push(b'\n');
        for output in self.outputs() {
            bytes.extend_from_slice(&output.open_frame);
        }
        bytes.extend_from_slice(Sha256Sum::of(&bytes).bytes());
        Ok(bytes)
    }

    /// Reads one; `None` if there is none.
    ///
    /// # Errors
    /// [`JobError`] if it cannot be read or is damaged.
    fn read(path: &Path) -> Result<Option<Self>, JobError> {
        let bytes = match files::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(JobError::Io { verb: "read", path: path.to_owned(), source });
            }
        };
        let parsed = Self::from_bytes(&bytes);
        parsed.map(Some).map_err(|why| JobError::DamagedCheckpoint { path: path.to_owned(), why })
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// What is wrong with them.
    fn from_bytes(bytes: &[u8]) -> Result<Self, &'static str> {
        let (content, sum) = bytes.split_last_chunk().ok_or("it is cut off")?;
        if Sha256Sum::of(content).bytes() != sum {
            return Err("its checksum does not hold");
        }
        let end = memchr::memchr(b'\n', content).ok_or("its first line does not end")?;
        let (head, mut frames) = (&content[..end], &content[end + 1..]);
        let head: Head<Self> =
            serde_json::from_slice(head).map_err(|_| "another version of the program wrote it")?;
        let mut checkpoint = head.checkpoint;
        for (output, len) in checkpoint.outputs_mut().iter_mut().zip(head.open_frame_bytes) {
            let (frame, rest) = frames.split_at_checked(len).ok_or("a frame is cut off")?;
            output.open_frame = frame.to_vec();
            frames = rest;
        }
        Ok(checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::jobs::identity::RunDescription;
    use crate::records::counts::Counts;
    use crate::records::shard::Shard;
    use crate::records::source::PartRead;
    use crate::records::stream::Stream;

    fn checkpoint() -> Checkpoint {
        let run = RunDescription::new("filter", Map::new(), Shard::new(3, 10));
        let identity = Identity { run, inputs: Vec::new() };
        let output = |stream, open_frame: &[u8]| OutputState {
            stream,
            records: 70_000,
            bytes: 1000,
            sha256: Some(Sha256Sum::of(b"outputs")),
            frames: vec![(1000, 2_097_152)],
            records_in_frame: 4464,
            open_frame: open_frame.to_vec(),
        };
        let read = PartRead { part: 0, records: 5, offset: 0, bytes: 160, sha256: None };
        let mut place = ResumePoint::default();
        place.advance(&Counts { input: 5, kept: 5, ..Counts::default() }, read);
        Checkpoint {
            identity,
            place,
            outputs: vec![output(Stream::Kept, b"one\nopen\xff"), output(Stream::Mated, b"")],
            records: Some(100_000),
            elapsed_s: 12.5,
            saved: MemoHits::default(),
            resumed_from: vec![3],
            replaces: vec![Sha256Sum::of(b"manifest")],
            written_unix_s: 1_700_000_000,
        }
    }

    #[test]
    fn it_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        assert_eq!(Checkpoint::read(&path).unwrap(), None);
        for blocks in [1, 2] {
            let mut written = checkpoint();
            written.place.blocks = blocks;
            written.write(&path).unwrap();
            assert_eq!(Checkpoint::read(&path).unwrap(), Some(written));
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn no_damage_goes_unnoticed() {
        let bytes = checkpoint().to_bytes().unwrap();
        assert!(Checkpoint::from_bytes(&bytes).is_ok());
        for len in 0..bytes.len() {
            assert!(Checkpoint::from_bytes(&bytes[..len]).is_err(), "{len}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Checkpoint::from_bytes(&damaged).is_err(), "{at}");
        }
    }
}
