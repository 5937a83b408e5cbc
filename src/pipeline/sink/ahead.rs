//! A file that goes to disk while it is still being written, so that little is left to wait for at its end.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Bytes after which the disk is asked for again: of 4 to 32 MiB the smaller did best, by little.
const STEP_BYTES: usize = 8 << 20;

/// Writes a file, and has a thread bring it to disk every few megabytes.
///
/// This is for speed alone. What the thread fails to do, the last sync of the owner does or reports: the
/// thread has opened the file for itself, and the system keeps a failed write for everybody who has.
pub(super) struct Ahead {
    file: File,
    /// The thread's own opening, until there is a thread.
    idle: Option<File>,
    unsynced: usize,
    worker: Option<Worker>,
}

struct Worker {
    wake: SyncSender<()>,
    thread: JoinHandle<()>,
}

impl Ahead {
    pub(super) fn new(file: File, path: &Path) -> io::Result<Self> {
        Ok(Self { file, idle: Some(File::open(path)?), unsynced: 0, worker: None })
    }

    fn sync(&mut self) {
        if let Some(file) = self.idle.take() {
            // One in waiting is enough: a sync takes along all that was written before it.
            let (wake, woken) = sync_channel(1);
            let work = move || woken.into_iter().for_each(|()| drop(file.sync_data()));
            let thread = std::thread::Builder::new().name("sync".into()).spawn(work);
            self.worker = thread.ok().map(|thread| Worker { wake, thread });
        }
        if let Some(worker) = &self.worker {
            // Full: it will see to these bytes too. Closed: the last sync will.
            let _ = worker.wake.try_send(());
        }
    }
}

impl Write for Ahead {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.unsynced += written;
        if self.unsynced >= STEP_BYTES {
            self.unsynced = 0;
            self.sync();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if let Some(Worker { wake, thread }) = self.worker.take() {
            drop(wake);
            // It panics nowhere, and there is nothing of it to hand on.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_syncs_what_is_still_being_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut ahead = Ahead::new(File::create(&path).unwrap(), &path).unwrap();
        let bytes: Vec<u8> = (0..=STEP_BYTES).map(|i| i as u8).collect();
        ahead.write_all(&bytes[..STEP_BYTES - 1]).unwrap();
        assert!(ahead.worker.is_none());
        ahead.write_all(&bytes[STEP_BYTES - 1..]).unwrap();
        assert!(ahead.worker.as_ref().is_some_and(|worker| !worker.thread.is_finished()));
        ahead.write_all(&bytes).unwrap();
        drop(ahead);
        assert_eq!(std::fs::read(&path).unwrap(), [&bytes[..], &bytes[..]].concat());
    }
}
