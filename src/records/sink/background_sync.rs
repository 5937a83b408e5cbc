//! A file that a thread syncs to disk while it is written, so that the last sync takes little time.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::storage::retry_interrupted::RetryInterrupted;

/// Bytes written between two syncs. Of 4 to 32 MiB, small values were slightly faster.
const STEP_BYTES: usize = 8 << 20;

/// Writes a file that a thread syncs after every [`STEP_BYTES`] bytes. Flushing waits for the thread and returns its
/// error.
pub(super) struct BackgroundSync {
    file: RetryInterrupted<File>,
    unsynced: usize,
    worker: Option<SyncThread>,
}

struct SyncThread {
    wake: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl BackgroundSync {
    pub(super) const fn new(file: File) -> Self {
        Self { file: RetryInterrupted(file), unsynced: 0, worker: None }
    }

    fn sync(&mut self) -> io::Result<()> {
        let worker = match &self.worker {
            Some(worker) => worker,
            None => self.worker.insert(SyncThread::start(self.file.0.try_clone()?)?),
        };
        // A full channel is fine: a sync covers all earlier writes, so one waiting request is enough. A closed channel
        // means that the thread failed; flushing returns its error.
        let _ = worker.wake.try_send(());
        Ok(())
    }
}

impl SyncThread {
    fn start(file: File) -> io::Result<Self> {
        let (wake, woken) = sync_channel(1);
        let work = move || woken.into_iter().try_for_each(|()| file.sync_data());
        let thread = std::thread::Builder::new().name("sync".into()).spawn(work)?;
        Ok(Self { wake, thread })
    }

    fn finish(self) -> io::Result<()> {
        drop(self.wake);
        // The system reports a failed write only once: an error that the thread receives must be returned here.
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the sync thread panicked")))
    }
}

impl Write for BackgroundSync {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.unsynced += written;
        if self.unsynced >= STEP_BYTES {
            self.unsynced = 0;
            self.sync()?;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.worker.take().map_or(Ok(()), SyncThread::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_syncs_while_the_file_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut ahead = BackgroundSync::new(File::create(&path).unwrap());
        let bytes: Vec<u8> = (0..=STEP_BYTES).map(|i| i as u8).collect();
        ahead.write_all(&bytes[..STEP_BYTES - 1]).unwrap();
        assert!(ahead.worker.is_none());
        ahead.write_all(&bytes[STEP_BYTES - 1..]).unwrap();
        assert!(ahead.worker.as_ref().is_some_and(|worker| !worker.thread.is_finished()));
        ahead.write_all(&bytes).unwrap();
        ahead.flush().unwrap();
        assert!(ahead.worker.is_none());
        assert_eq!(std::fs::read(&path).unwrap(), [&bytes[..], &bytes[..]].concat());
    }
}
