//! Outputs at a URL. They are written to a local folder, where the run can be resumed, and sent when all are complete.
//! `checkpoint_copies` lets another machine resume the run.
//! The manifest is sent last, so its presence shows that all files have been sent.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, ErrorKind, Remedy};
use crate::jobs::checkpoint::RunProgress;
use crate::jobs::checkpoint_copies::CheckpointCopies;
use crate::jobs::identity::Identity;
use crate::jobs::manifest::{Manifest, Totals};
use crate::jobs::run_files::RunFiles;
use crate::jobs::start::ResumeState;
use crate::records::sink::partial_path;
use crate::records::source::OFFSET_TABLE_SUFFIX;
use crate::storage::checksum::{RunningChecksum, Sha256Sum};
use crate::storage::files;
use crate::storage::lock::Lock;
use crate::storage::objects::Upload;
use crate::storage::path_text::path_of;
use crate::storage::retry_interrupted::RetryInterrupted;

/// Number of hexadecimal digits of the URL's checksum in the name of the local folder.
const DIGITS: usize = 16;

/// The local folder and the destination of outputs at a URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Staging {
    /// The URL of the destination folder.
    pub url: PathBuf,
    /// The local folder.
    pub folder: PathBuf,
}

impl Staging {
    /// Stages outputs in a subfolder of `temporary`, or of the system's temporary folder. The URL determines the name
    /// of the subfolder, so that a resumed run finds it. `None` if `url` is a local path.
    pub(crate) fn to(url: &Path, temporary: Option<PathBuf>) -> Option<Self> {
        if !files::is_object(url) {
            return None;
        }
        let text = url.to_string_lossy();
        let sum = Sha256Sum::of(text.trim_end_matches('/').as_bytes()).to_string();
        let name = format!("kyokumen-{}", &sum[..DIGITS]);
        let folder = temporary.unwrap_or_else(std::env::temp_dir).join(name);
        Some(Self { url: url.to_owned(), folder })
    }

    /// The URL of a local file of the run.
    pub(crate) fn destination(&self, path: &Path) -> PathBuf {
        self.url.join(path.file_name().unwrap_or_default())
    }
}

/// Bytes per read and write.
const CHUNK_BYTES: usize = 1 << 20;

impl Staging {
    /// The manifest at the destination. `None` if this run has not been sent completely.
    pub(crate) fn find_sent<T: Totals, P: RunProgress>(
        &self,
        run: &RunFiles,
        identity: &Identity,
        resume_state: &ResumeState<P>,
    ) -> Result<Option<Manifest<T>>, Error> {
        let path = self.destination(&run.manifest);
        let Some(manifest) = resume_state.manifest::<T>(&path)? else { return Ok(None) };
        if manifest.identity().difference(identity).is_some() {
            return Ok(None);
        }
        manifest.check_files(&path)?;
        Ok(Some(manifest))
    }

    /// Checks that the destination accepts files. A run may send its outputs only days later.
    pub(crate) fn check_writable(&self, run: &RunFiles) -> Result<(), Error> {
        let path = self.destination(&run.manifest);
        Upload::check(&path).map_err(|source| Error::io("write", &path, source))
    }

    /// Checks that a new run would not overwrite objects at the destination.
    pub(crate) fn check_unsent<T: Totals>(
        &self,
        run: &RunFiles,
        identity: &Identity,
    ) -> Result<(), Error> {
        let path = self.destination(&run.manifest);
        if let Some(manifest) = Manifest::<T>::read_if_there(&path)? {
            return manifest.identity().check_same(&path, identity);
        }
        for output in &run.outputs {
            let path = self.destination(&output.path);
            match files::exists(&path) {
                Ok(false) => {}
                Ok(true) => return Err(Error::output_without_manifest(path)),
                Err(source) => {
                    return Err(Error::io("access", &path, source));
                }
            }
        }
        Ok(())
    }

    /// Sends all outputs listed in the manifest, then the manifest.
    pub(crate) fn send<T>(
        &self,
        run: &RunFiles,
        manifest: &Manifest<T>,
        lock: &mut Lock,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        let sent_manifest = self.destination(&run.manifest);
        files::remove(&sent_manifest)
            .map_err(|source| self.failed("replace", &sent_manifest, source))?;
        for output in &manifest.outputs {
            let path = self.folder.join(path_of(&output.file));
            self.send_file(&path, output.sha256, lock, cancel)?;
        }
        self.send_file(&run.manifest, None, lock, cancel)
    }

    /// Sends a file. Compares its checksum with `expected`, if given.
    fn send_file(
        &self,
        path: &Path,
        expected: Option<Sha256Sum>,
        lock: &mut Lock,
        cancel: &AtomicBool,
    ) -> Result<(), Error> {
        let url = self.destination(path);
        let reading = |source| self.failed("read", path, source);
        let writing = |source| self.failed("write", &url, source);
        let file = File::open(path).map_err(reading)?;
        let bytes = file.metadata().map_err(reading)?.len();
        let upload = Upload::begin(&url, Some(bytes)).map_err(writing)?;
        let (mut file, mut writer) = (RetryInterrupted(file), upload.writer());
        let (mut checksum, mut chunk) =
            (RunningChecksum::new(expected.is_some()), vec![0; CHUNK_BYTES]);
        loop {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::sending_interrupted());
            }
            lock.heartbeat();
            let read = file.read(&mut chunk).map_err(reading)?;
            if read == 0 {
                break;
            }
            checksum.update(&chunk[..read]);
            writer.write_all(&chunk[..read]).map_err(writing)?;
        }
        if checksum.sum() != expected {
            let path = path.display();
            let message = format!("{path} has changed: its SHA-256 differs from the manifest");
            let error = Error::changed(message).in_file(&path);
            return Err(error.with_remedy(Remedy::Restart));
        }
        upload.commit().map_err(writing)
    }

    /// Removes the local files and the checkpoint copies of a run that was sent, then the lock. Removes the folder too unless other shards use
    /// it.
    pub(crate) fn clean_up(&self, run: &RunFiles, lock: Lock) {
        let outputs = run.outputs.iter();
        let outputs =
            outputs.flat_map(|output| output.partial_paths().chain([output.path.clone()]));
        let metadata = [&run.manifest].into_iter().chain(&run.checkpoint);
        let metadata = metadata.flat_map(|path| [path.clone(), partial_path(path)]);
        for path in outputs.chain(metadata) {
            if let Err(error) = files::remove(&path) {
                tracing::warn!("cannot remove {}: {error}", path.display());
            }
        }
        if let Some(copies) = CheckpointCopies::new(run) {
            copies.remove();
        }
        drop(lock);
        let is_offset_table = |name: &String| {
            name.strip_suffix(".partial").unwrap_or(name).ends_with(OFFSET_TABLE_SUFFIX)
        };
        let names = files::names_in(&self.folder).unwrap_or_default();
        if names.iter().all(is_offset_table) {
            // Another shard may start now or remove the same files, so errors are ignored.
            for name in names {
                drop(fs::remove_file(self.folder.join(path_of(&name))));
            }
            drop(fs::remove_dir(&self.folder));
        }
    }

    fn failed(&self, verb: &'static str, path: &Path, source: io::Error) -> Error {
        let message = format!(
            "cannot {verb} {}; the complete outputs are in {}",
            path.display(),
            self.folder.display()
        );
        Error::new(ErrorKind::Io, message)
            .in_file(&path.display())
            .with_source(source)
            .with_remedy(Remedy::Resume)
    }
}
