//! `Loader`: batches of arrays for a training, made ahead of it on threads of their own.
//!
//! One thread reads windows of records, one cuts them into batches, others make the arrays; batches come in order.
//! Which records are in a batch depends on the files and the settings only, see [`EpochOrder`].

mod chunks;
mod making;
mod windows;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kyokumen::format::EVAL_SCALE;
use kyokumen::records::epoch_order::EpochOrder;
use kyokumen::records::opening::check_filters;
use kyokumen::solver::STACK_BYTES;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::Failure;
use crate::interrupt::{interruptible_in_silence, lock, threads_of};
use crate::options::{Options, Paths};
use crate::reading::policy;
use chunks::{DataSet, Opening};
use making::{Made, Making, Mirror, Pool};
use windows::{Choosing, Job, Place, Windows};

struct Setting {
    data: DataSet,
    pool: Arc<Pool>,
    choosing: Choosing,
    making: Making,
    batch_size: usize,
    window_chunks: u64,
    shuffle: bool,
    seed: u64,
    rank: u64,
    world_size: u64,
    drop_last: bool,
    threads: usize,
    ahead: usize,
}

/// Batches of arrays for a training; `kyokumen.DataLoader` is made of it.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Loader(Arc<Setting>);

/// Default number of records per chunk.
const CHUNK: u64 = 256;
/// Default number of records per window, which are shuffled together.
const WINDOW: u64 = 1 << 20;
/// Memory for batches made ahead. Each thread makes at least one, however large.
const AHEAD_BYTES: usize = 1 << 28;

#[pymethods]
impl Loader {
    #[new]
    #[pyo3(signature = (paths, **options))]
    fn new(py: Python<'_>, paths: Paths, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let options = Options::new(py, options)?;
        let (from, dialect) = options.reading()?;
        let paths: Vec<PathBuf> = paths.into_vec();
        let chunk = options.take("chunk")?.unwrap_or(CHUNK).max(1);
        let opening = Opening {
            from,
            dialect,
            chunk,
            spool: options.take("spool")?.unwrap_or(true),
            tmp_dir: options.take("tmp_dir")?,
        };
        let window = options.take("window")?.unwrap_or(WINDOW).max(1);
        let choosing = choosing(&options)?;
        let making = making(&options)?;
        let threads = threads_of(options.threads()?);
        let batch_size: usize = options.take("batch_size")?.unwrap_or(4096);
        let exclude = options.take::<Paths>("exclude")?.map_or_else(Vec::new, Paths::into_vec);
        let (rank, world_size) =
            (options.take("rank")?.unwrap_or(0), options.take("world_size")?.unwrap_or(1));
        let (shuffle, seed) =
            (options.take("shuffle")?.unwrap_or(true), options.take("seed")?.unwrap_or(1));
        let (drop_last, ahead) = (options.flag("drop_last")?, options.take("ahead")?);
        options.end()?;
        if batch_size == 0 || rank >= world_size {
            return Err(Failure::usage(
                "a batch has at least one record, and rank is below world_size",
            )
            .into());
        }
        let open = |cancel: &AtomicBool| DataSet::open(&paths, &opening, &exclude, cancel);
        let data = interruptible_in_silence(py, open)??;
        check(&data, &choosing, &making)?;
        let batch_bytes = making.bytes(data.format()).saturating_mul(batch_size);
        Ok(Self(Arc::new(Setting {
            data,
            pool: Arc::default(),
            choosing,
            making,
            batch_size,
            window_chunks: window.div_ceil(chunk),
            shuffle,
            seed,
            rank,
            world_size,
            drop_last,
            threads,
            ahead: ahead.unwrap_or_else(|| ahead_of(batch_bytes, threads)).max(1),
        })))
    }

    /// Number of all records, before any are left out.
    #[getter]
    fn records(&self) -> u64 {
        self.0.data.records()
    }

    /// Number of batches of an epoch. Raises TypeError where that shows only when records are read.
    #[getter]
    fn batches(&self) -> PyResult<u64> {
        let setting = &*self.0;
        if setting.choosing.leave_out(&setting.data) {
            return Err(PyTypeError::new_err(
                "how many records the filters leave shows only when they are read",
            ));
        }
        let (records, size) = (setting.records_of_rank(), setting.batch_size as u64);
        Ok(if setting.drop_last { records / size } else { records.div_ceil(size) })
    }

    /// What decides which records are in which batch.
    #[getter]
    fn identity(&self) -> String {
        let s = &*self.0;
        format!(
            "{} batch_size={} window={} chunk={} shuffle={} seed={} rank={}/{} drop_last={} {}",
            s.data.identity(),
            s.batch_size,
            s.window_chunks,
            s.data.chunk(),
            s.shuffle,
            s.seed,
            s.rank,
            s.world_size,
            s.drop_last,
            s.choosing.identity(),
        )
    }

    /// The batches of an epoch, from a place on: the window, how many of its records are behind it, and how many
    /// batches.
    #[pyo3(signature = (epoch, window = 0, record = 0, batch = 0))]
    fn batches_of(
        &self,
        epoch: u64,
        window: u64,
        record: u32,
        batch: u64,
    ) -> PyResult<LoaderIterator> {
        LoaderIterator::new(&self.0, epoch, Place { window, record }, batch)
    }
}

/// Number of batches made ahead: two per thread, fewer if they are large, at least one per thread.
fn ahead_of(batch_bytes: usize, threads: usize) -> usize {
    (AHEAD_BYTES / batch_bytes.max(1)).clamp(threads, 2 * threads)
}

/// Fails if a file lacks a field that the filters or features need.
fn check(data: &DataSet, choosing: &Choosing, making: &Making) -> Result<(), Failure> {
    for input in data.inputs() {
        check_filters(input, &choosing.filters)?;
        making.check(input.format)?;
    }
    let format = data.format();
    if making.needs_one_format() && data.inputs().any(|input| input.format != format) {
        return Err(Failure::usage("files of several formats have no one dtype"));
    }
    Ok(())
}

fn choosing(options: &Options<'_>) -> PyResult<Choosing> {
    let on_error = options.take::<String>("on_error")?;
    let on_error = policy(on_error.as_deref().unwrap_or("stop"))?;
    let drop_mated = options.flag("drop_mated")?;
    let search = options.search()?;
    Ok(Choosing {
        filters: options.filters("sample_seed")?,
        on_error,
        search: drop_mated.then_some(search),
    })
}

fn making(options: &Options<'_>) -> PyResult<Making> {
    let features = options.take::<String>("features")?;
    let dtype = options.take::<String>("dtype")?;
    let (planes, mirror) =
        (options.take("planes")?.unwrap_or(57), options.take::<MirrorLike>("mirror")?);
    let mirror = match mirror {
        None | Some(MirrorLike::Always(false)) => Mirror::Never,
        Some(MirrorLike::Always(true)) => Mirror::Always,
        Some(MirrorLike::Word(word)) if word == "random" => Mirror::Random,
        Some(MirrorLike::Word(word)) => {
            return Err(Failure::usage(format!(
                "mirror is True, False or \"random\", not {word:?}"
            ))
            .into());
        }
    };
    let features = features.as_deref().unwrap_or("dlshogi");
    let dtype = dtype.as_deref().unwrap_or("float32");
    let scale = options.take("scale")?.unwrap_or(EVAL_SCALE);
    let policy = options.flag("policy")?;
    Ok(Making::new(features, planes, dtype, mirror, scale, policy)?)
}

#[derive(FromPyObject)]
enum MirrorLike {
    Always(bool),
    Word(String),
}

impl Setting {
    fn order(&self, epoch: u64) -> EpochOrder {
        let order = EpochOrder::sequential(self.data.chunks(), self.window_chunks);
        let order = if self.shuffle { order.shuffled(self.seed, epoch) } else { order };
        order.of_rank(self.rank, self.world_size)
    }

    /// The most records that a rank reads. Equal for all ranks, so that no rank waits for a batch that another does not
    /// have. The shorter chunks at the ends of files may all belong to one rank.
    fn records_of_rank(&self) -> u64 {
        match self.world_size {
            1 => self.data.records(),
            _ => (self.order(0).chunks() * self.data.chunk())
                .saturating_sub(self.data.missing_of_chunks()),
        }
    }

    /// [`Self::records_of_rank`] if it limits the batches, otherwise `u64::MAX`.
    fn bound(&self) -> u64 {
        let is_bound = self.world_size > 1 && !self.choosing.leave_out(&self.data);
        if is_bound { self.records_of_rank() } else { u64::MAX }
    }
}

/// The number of a batch, the batch, and the place after it.
type Numbered = (u64, Result<(Made, Place), Failure>);

/// The batches of an epoch, in order.
#[pyclass(module = "kyokumen")]
pub(crate) struct LoaderIterator {
    /// Process that started the threads. They do not exist in a forked process.
    process: u32,
    cancel: Arc<AtomicBool>,
    results: Mutex<Receiver<Numbered>>,
    permits: SyncSender<()>,
    waiting: BTreeMap<u64, Result<(Made, Place), Failure>>,
    next: u64,
    place: Place,
}

/// Starts a detached thread. It must end when its receiver is gone.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    let started = thread.spawn(work).map(drop);
    started.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))
}

impl LoaderIterator {
    fn new(setting: &Arc<Setting>, epoch: u64, place: Place, batch: u64) -> PyResult<Self> {
        let cancel = Arc::new(AtomicBool::new(false));
        let (window_sender, windows) = sync_channel(1);
        let (reading, cancelled) = (Arc::clone(setting), Arc::clone(&cancel));
        start("windows", move || {
            let order = reading.order(epoch);
            let reader = Windows::new(&reading.data, &reading.choosing, order, reading.threads);
            for window in place.window..order.windows() {
                let read = reader.read(window, &cancelled);
                let failed = read.is_err();
                if window_sender.send(read).is_err() || failed {
                    return;
                }
            }
        })?;
        let (permits, permit) = sync_channel(setting.ahead);
        for _ in 0..setting.ahead {
            // There is room for all of them.
            let _ = permits.try_send(());
        }
        let (job_sender, jobs) = sync_channel(setting.ahead);
        let cutting = Arc::clone(setting);
        start("batches", move || {
            let Setting { batch_size, drop_last, .. } = *cutting;
            let mut number = 0;
            let left = cutting.bound().saturating_sub(batch * batch_size as u64);
            windows::cut(&windows, place, batch_size, drop_last, left, |job| {
                let sent = permit.recv().is_ok() && job_sender.send((number, job)).is_ok();
                number += 1;
                sent
            });
        })?;
        let jobs = Arc::new(Mutex::new(jobs));
        let (result_sender, results) = channel();
        for _ in 0..setting.threads {
            let (setting, jobs) = (Arc::clone(setting), Arc::clone(&jobs));
            let (results, cancel) = (result_sender.clone(), Arc::clone(&cancel));
            start("arrays", move || make_arrays(&setting, epoch, &jobs, &results, &cancel))?;
        }
        let (process, results) = (std::process::id(), Mutex::new(results));
        let waiting = BTreeMap::new();
        Ok(Self { process, cancel, results, permits, waiting, next: 0, place })
    }

    /// Waits for the next result; None at the end.
    fn wait(&mut self, py: Python<'_>) -> PyResult<Option<Result<(Made, Place), Failure>>> {
        const LOOK_EVERY: Duration = Duration::from_millis(20);
        loop {
            if let Some(made) = self.waiting.remove(&self.next) {
                self.next += 1;
                return Ok(Some(made));
            }
            let results = self.results.get_mut().unwrap_or_else(PoisonError::into_inner);
            // Nobody shares it: `get_mut` says so.
            let shared = Mutex::new(results);
            let received = py.detach(|| lock(&shared).recv_timeout(LOOK_EVERY));
            match received {
                Ok((number, made)) => drop(self.waiting.insert(number, made)),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
        }
    }
}

/// Makes batches until there are no more jobs, or no receiver.
fn make_arrays(
    setting: &Setting,
    epoch: u64,
    jobs: &Mutex<Receiver<(u64, Result<Job, Failure>)>>,
    results: &Sender<Numbered>,
    cancel: &AtomicBool,
) {
    loop {
        let job = lock(jobs).recv();
        let Ok((number, job)) = job else { return };
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        let made = job.and_then(|Job { records, behind }| {
            Ok((
                setting.making.make(&setting.data, &setting.pool, &records, setting.seed, epoch)?,
                behind,
            ))
        });
        if results.send((number, made)).is_err() {
            return;
        }
    }
}

#[pymethods]
impl LoaderIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(
                "the loader was begun before this process was forked, and its threads are not here: begin to iterate in \
                 the process that takes the batches",
            ));
        }
        let Some(made) = self.wait(py)? else { return Ok(None) };
        let (made, behind) = made?;
        self.place = behind;
        // There is room: one was taken for this batch.
        let _ = self.permits.try_send(());
        made.into_arrays(py).map(Some)
    }

    /// The place behind the batch that was taken last: the window, and how many of its records are behind it.
    #[getter]
    fn place(&self) -> (u64, u32) {
        (self.place.window, self.place.record)
    }
}

impl Drop for LoaderIterator {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
