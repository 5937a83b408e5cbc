//! Writes an object part by part. The object appears under its name when the upload is complete.
//!
//! A store keeps the parts of an upload that was neither completed nor aborted, without a name. A lifecycle rule of the
//! bucket can remove them after some days (`AbortIncompleteMultipartUpload` in S3).

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

/// Stores accept at most 10,000 parts. If the size of the object is unknown, the part size doubles after each group of
/// this many parts, which allows 8 TiB.
const PARTS_OF_A_SIZE: u32 = 1000;

/// Maximum number of parts in flight in all uploads together. Larger parts count several times, because parts in flight
/// are in memory.
const MAX_IN_FLIGHT: u32 = 4;

static IN_FLIGHT: Semaphore = Semaphore::const_new(MAX_IN_FLIGHT as usize);

/// An object being written. Dropping it before [`Upload::commit`] aborts the upload.
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
    /// Bytes of the next part.
    open: Vec<u8>,
    /// `None` until the first part is sent.
    upload: Option<Box<dyn MultipartUpload>>,
    /// Number of parts sent or in flight.
    begun: u32,
    in_flight: JoinSet<object_store::Result<()>>,
}

impl Upload {
    /// `whole` is the size of the object in bytes, if known.
    pub(crate) fn begin(path: &Path, whole: Option<u64>) -> io::Result<Self> {
        let location = ObjectLocation::parse(&path.to_string_lossy())?;
        let replaces = exists(&location)?;
        let parts = UploadParts {
            location,
            replaces,
            whole,
            open: Vec::new(),
            upload: None,
            begun: 0,
            in_flight: JoinSet::new(),
        };
        Ok(Self { path: path.to_owned(), parts: Arc::new(Mutex::new(parts)) })
    }

    /// Checks that an object can be written. Begins an upload and aborts it.
    pub(crate) fn check(path: &Path) -> io::Result<()> {
        let location = ObjectLocation::parse(&path.to_string_lossy())?;
        location.request(async |location| {
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
            tracing::warn!("cannot abort the upload of {url}: {error}");
        }
    }
}

struct UploadWriter(Arc<Mutex<UploadParts>>);

impl Write for UploadWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        lock(&self.0).take(bytes)
    }

    /// Does nothing, because only full parts can be sent.
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
        while let Some(sent) = self.in_flight.try_join_next() {
            self.check_sent(sent)?;
        }
        let bytes = std::mem::take(&mut self.open);
        let usual = u32::try_from(bytes.len().div_ceil(PART_BYTES)).unwrap_or(MAX_IN_FLIGHT);
        let permit = IN_FLIGHT.acquire_many(usual.min(MAX_IN_FLIGHT));
        let permit = runtime()?.block_on(permit).map_err(io::Error::other)?;
        if self.upload.is_none() {
            let begun = async |location: &ObjectLocation| {
                location.store.transfer.put_multipart(&location.key).await
            };
            self.upload = Some(self.location.request(begun)?);
        }
        if let Some(upload) = &mut self.upload {
            let part = upload.put_part(PutPayload::from(bytes));
            let part = async move {
                let _permit = permit;
                part.await
            };
            self.in_flight.spawn_on(part, runtime()?.handle());
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
        while let Some(sent) = runtime()?.block_on(self.in_flight.join_next()) {
            self.check_sent(sent)?;
        }
        if !self.replaces && exists(&self.location)? {
            return Err(created_meanwhile());
        }
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let completed = runtime()?.block_on(upload.complete());
        completed.map_err(|error| refused(self.location.kind, &error))?;
        self.upload = None;
        Ok(())
    }

    fn abort(&mut self) -> io::Result<()> {
        let Some(mut upload) = self.upload.take() else { return Ok(()) };
        let in_flight = &mut self.in_flight;
        self.location.request(async |_| {
            // A part that arrives after the upload was aborted would remain in the store.
            in_flight.shutdown().await;
            upload.abort().await
        })
    }
}

/// Writes a small object in one step.
fn put(location: &ObjectLocation, bytes: &PutPayload, replaces: bool) -> io::Result<()> {
    let put = |mode: PutMode| {
        let bytes = bytes.clone();
        location.request(async move |location| {
            let options = PutOptions::from(mode);
            location.store.transfer.put_opts(&location.key, bytes, options).await.map(drop)
        })
    };
    if replaces {
        return put(PutMode::Overwrite);
    }
    match put(PutMode::Create) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(created_meanwhile()),
        // The store cannot create objects atomically. Checking first is the next best.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            if exists(location)? {
                Err(created_meanwhile())
            } else {
                put(PutMode::Overwrite)
            }
        }
        done => done,
    }
}

fn exists(location: &ObjectLocation) -> io::Result<bool> {
    match location.request(async |location| location.store.lookup.head(&location.key).await) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn created_meanwhile() -> io::Error {
    let message = "another process has created the object in the meantime";
    io::Error::new(io::ErrorKind::AlreadyExists, message)
}

fn part_bytes(whole: Option<u64>, begun: u32) -> usize {
    let least = PART_BYTES as u64;
    let bytes = match whole {
        // All parts have the same size, because some stores require it.
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
    fn part_sizes_satisfy_the_limits_of_stores_for_any_object_size() {
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
