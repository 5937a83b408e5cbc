//! Writes an object part by part; it has its name only when all of it is there.
//!
//! A store keeps the parts of an upload that was neither completed nor aborted, under no name: a rule of the
//! bucket can take them away after some days (`AbortIncompleteMultipartUpload` in S3).

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinSet};

use super::refusal::refused;
use super::store::{ObjectLocation, runtime};

/// Bytes of a part, unless the object needs larger ones.
const PART_BYTES: usize = 1 << 23;

/// Stores accept at most 10,000 parts. If the size of the object is unknown, the part size doubles after this many
/// parts, which allows 8 TiB.
const PARTS_OF_A_SIZE: u32 = 1000;

/// Parts in flight of all uploads together; fewer if they are larger than usual, because they are in memory.
const MAX_IN_FLIGHT: u32 = 4;

static IN_FLIGHT: Semaphore = Semaphore::const_new(MAX_IN_FLIGHT as usize);

/// An object being written. If it is dropped before [`Upload::commit`], nothing remains.
#[derive(Debug)]
pub(crate) struct Upload {
    path: PathBuf,
    parts: Arc<Mutex<UploadParts>>,
}

struct UploadParts {
    location: ObjectLocation,
    /// Whether the object existed at the beginning and is replaced. Otherwise it must not exist at the end.
    replaces: bool,
    /// Size of the object in bytes, if known.
    whole: Option<u64>,
    /// Bytes not sent yet.
    open: Vec<u8>,
    /// `None` until the first part is sent.
    upload: Option<Box<dyn MultipartUpload>>,
    begun: u32,
    under_way: JoinSet<object_store::Result<()>>,
}

impl Upload {
    /// `whole` is the size of the object in bytes, if known.
    pub(crate) fn begin(path: &Path, whole: Option<u64>) -> io::Result<Self> {
        let location = ObjectLocation::of(&path.to_string_lossy())?;
        let replaces = exists(&location)?;
        let parts = UploadParts {
            location,
            replaces,
            whole,
            open: Vec::new(),
            upload: None,
            begun: 0,
            under_way: JoinSet::new(),
        };
        Ok(Self { path: path.to_owned(), parts: Arc::new(Mutex::new(parts)) })
    }

    /// Checks that an object can be written: begins an upload and aborts it.
    pub(crate) fn check(path: &Path) -> io::Result<()> {
        let location = ObjectLocation::of(&path.to_string_lossy())?;
        location.ask(async |location| {
            location.store.lookup.put_multipart(&location.key).await?.abort().await
        })
    }

    /// Bytes stay in memory until a part is full.
    pub(crate) fn writer(&self) -> Box<dyn Write + Send> {
        Box::new(UploadWriter(Arc::clone(&self.parts)))
    }

    pub(crate) fn url(&self) -> &Path {
        &self.path
    }

    pub(crate) fn commit(self) -> io::Result<()> {
        lock(&self.parts).commit()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Err(error) = lock(&self.parts).abort() {
            let url = self.path.display();
            tracing::warn!("cannot take back what was sent of {url}: {error}");
        }
    }
}

struct UploadWriter(Arc<Mutex<UploadParts>>);

impl Write for UploadWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).take(bytes)
    }

    /// Only full parts can be sent.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for UploadParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("place", &self.location)
            .field("begun", &self.begun)
            .finish_non_exhaustive()
    }
}

impl UploadParts {
    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let full = part_bytes(self.whole, self.begun);
        if self.open.len() >= full {
            self.send()?;
        }
        let taken = bytes.len().min(full.saturating_sub(self.open.len()).max(1));
        self.open.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Sends the buffer as a part. Waits while too many parts are in flight.
    fn send(&mut self) -> io::Result<()> {
        while let Some(sent) = self.under_way.try_join_next() {
            self.check_sent(sent)?;
        }
        let bytes = std::mem::take(&mut self.open);
        let usual = u32::try_from(bytes.len().div_ceil(PART_BYTES)).unwrap_or(MAX_IN_FLIGHT);
        let room = IN_FLIGHT.acquire_many(usual.min(MAX_IN_FLIGHT));
        let room = runtime()?.block_on(room).map_err(io::Error::other)?;
        if self.upload.is_none() {
            let begun = async |location: &ObjectLocation| {
                location.store.transfer.put_multipart(&location.key).await
            };
            self.upload = Some(self.location.ask(begun)?);
        }
        if let Some(upload) = &mut self.upload {
            let part = upload.put_part(PutPayload::from(bytes));
            let part = async move {
                let _room = room;
                part.await
            };
            self.under_way.spawn_on(part, runtime()?.handle());
            self.begun += 1;
        }
        Ok(())
    }

    fn check_sent(&self, sent: Result<object_store::Result<()>, JoinError>) -> io::Result<()> {
        let sent = sent.map_err(io::Error::other)?;
        sent.map_err(|error| refused(self.location.kind, &error))
    }

    fn commit(&mut self) -> io::Result<()> {
        if self.upload.is_none() {
            let bytes = PutPayload::from(std::mem::take(&mut self.open));
            return put(&self.location, &bytes, self.replaces);
        }
        if !self.open.is_empty() {
            self.send()?;
        }
        while let Some(sent) = runtime()?.block_on(self.under_way.join_next()) {
            self.check_sent(sent)?;
        }
        if !self.replaces && exists(&self.location)? {
            return Err(made_meanwhile());
        }
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let completed = runtime()?.block_on(upload.complete());
        completed.map_err(|error| refused(self.location.kind, &error))?;
        self.upload = None;
        Ok(())
    }

    fn abort(&mut self) -> io::Result<()> {
        let Some(mut upload) = self.upload.take() else { return Ok(()) };
        let under_way = &mut self.under_way;
        self.location.ask(async |_| {
            // A part that comes after the end of its upload would stay.
            under_way.shutdown().await;
            upload.abort().await
        })
    }
}

/// Writes a small object in one step.
fn put(location: &ObjectLocation, bytes: &PutPayload, replaces: bool) -> io::Result<()> {
    let put = |mode: PutMode| {
        let bytes = bytes.clone();
        location.ask(async move |location| {
            let options = PutOptions::from(mode);
            location.store.transfer.put_opts(&location.key, bytes, options).await.map(drop)
        })
    };
    if replaces {
        return put(PutMode::Overwrite);
    }
    match put(PutMode::Create) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(made_meanwhile()),
        // The next best: to look before.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            if exists(location)? {
                Err(made_meanwhile())
            } else {
                put(PutMode::Overwrite)
            }
        }
        done => done,
    }
}

fn exists(location: &ObjectLocation) -> io::Result<bool> {
    match location.ask(async |location| location.store.lookup.head(&location.key).await) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn made_meanwhile() -> io::Error {
    let why = "somebody has made it meanwhile";
    io::Error::new(io::ErrorKind::AlreadyExists, why)
}

fn part_bytes(whole: Option<u64>, begun: u32) -> usize {
    let least = PART_BYTES as u64;
    let bytes = match whole {
        // One size for all, since some stores want that.
        Some(whole) => least.max(whole.div_ceil(9000).next_multiple_of(1 << 20)),
        None => least << (begun / PARTS_OF_A_SIZE).min(10),
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn lock(parts: &Mutex<UploadParts>) -> MutexGuard<'_, UploadParts> {
    parts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_few_enough_and_large_enough() {
        let most: u64 = 5 << 40;
        for whole in [1, 80 << 30, most] {
            let bytes = part_bytes(Some(whole), 0) as u64;
            assert!(bytes >= 5 << 20 && whole.div_ceil(bytes) <= 9000, "{whole}");
            assert_eq!(part_bytes(Some(whole), 5000) as u64, bytes);
        }
        let sizes = (0..10_000).map(|begun| part_bytes(None, begun) as u64);
        assert!(sizes.clone().all(|bytes| bytes >= 5 << 20));
        assert!(sizes.sum::<u64>() > most);
    }
}
