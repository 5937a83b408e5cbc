//! `Loader`: batches of arrays for a training, made ahead of it on threads of their own.
//!
//! One thread reads windows of records, one cuts them into jobs, others make the arrays; batches come in order.
//! Which records are in a batch depends on the files and the settings only, see [`EpochOrder`].

mod making;
mod segments;
mod windows;

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use kyokumen::engine::in_order::{Parallelism, in_order};
use kyokumen::format::EVAL_SCALE;
use kyokumen::records::epoch_order::EpochOrder;
use kyokumen::records::opening::check_filters;
use kyokumen::solver::STACK_BYTES;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::interrupt::{abandonable, next_message, no_thread, threads_of};
use crate::options::{Options as Given, Paths};
use crate::reading::policy;
use making::{Made, Making, Mirror, Pool};
use segments::{DataSet, Opening};
use windows::{Choosing, Job, Jobs, Place, Windows};

/// Options that are the same here and in Python.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct Options {
    features: String,
    planes: usize,
    dtype: String,
    /// Of evaluations.
    scale: f32,
    policy: bool,
    batch_size: NonZeroUsize,
    /// Records that are read together.
    segment: NonZeroU32,
    /// Records that are shuffled together.
    window: NonZeroU64,
    shuffle: bool,
    seed: u64,
    rank: u64,
    world_size: u64,
    drop_last: bool,
    /// Batches made ahead.
    ahead: Option<usize>,
    spool: bool,
    drop_mated: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            features: "dlshogi".to_owned(),
            planes: 57,
            dtype: "float32".to_owned(),
            scale: EVAL_SCALE,
            policy: false,
            batch_size: const { NonZeroUsize::new(4096).unwrap() },
            segment: const { NonZeroU32::new(256).unwrap() },
            window: const { NonZeroU64::new(1 << 20).unwrap() },
            shuffle: true,
            seed: 1,
            rank: 0,
            world_size: 1,
            drop_last: false,
            ahead: None,
            spool: true,
            drop_mated: false,
        }
    }
}

struct Setting {
    options: Options,
    data: DataSet,
    pool: Arc<Pool>,
    choosing: Choosing,
    making: Making,
    threads: usize,
    ahead: usize,
}

/// Batches of arrays for a training; `kyokumen.DataLoader` is made of it.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Loader(Arc<Setting>);

#[pymethods]
impl Loader {
    #[new]
    #[pyo3(signature = (paths, **options))]
    fn new(py: Python<'_>, paths: Paths, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let given = Given::new(py, options)?;
        let options: Options = given.fields(("", ""))?;
        let (from, dialect) = given.reading()?;
        let (segment, spool) = (u64::from(options.segment.get()), options.spool);
        let opening = Opening { from, dialect, segment, spool, tmp_dir: given.take("tmp_dir")? };
        let search = given.search()?;
        let choosing = Choosing {
            filters: given.filters("sample_seed")?,
            on_error: policy(given.take::<String>("on_error")?.as_deref().unwrap_or("stop"))?,
            search: options.drop_mated.then_some(search),
        };
        let making = Making::new(&options, mirror(&given)?)?;
        let (threads, exclude) = (threads_of(given.threads()?), given.paths("exclude")?);
        given.end()?;
        if options.rank >= options.world_size {
            return Err(Failure::usage("rank is below world_size").into());
        }
        let paths = paths.into_vec();
        let data =
            abandonable(py, move |cancel| DataSet::open(&paths, &opening, &exclude, cancel))??;
        check(&data, &choosing, making)?;
        let batch_bytes = making.bytes(data.format()).saturating_mul(options.batch_size.get());
        let ahead = options.ahead.unwrap_or_else(|| ahead_of(batch_bytes, threads));
        let (pool, ahead) = (Arc::default(), ahead.clamp(1, MOST_AHEAD));
        Ok(Self(Arc::new(Setting { options, data, pool, choosing, making, threads, ahead })))
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
        let (records, size) = (setting.records_of_rank(), setting.options.batch_size.get() as u64);
        let is_whole = setting.options.drop_last;
        Ok(if is_whole { records / size } else { records.div_ceil(size) })
    }

    /// What decides which records are in which batch.
    #[getter]
    fn identity(&self) -> String {
        let s = &*self.0;
        let Options { batch_size, segment, shuffle, seed, rank, world_size, drop_last, .. } =
            &s.options;
        format!(
            "{} batch_size={batch_size} window={} segment={segment} shuffle={shuffle} seed={seed} rank={rank}/{world_size} \
             drop_last={drop_last} {}",
            s.data.identity(),
            s.window_segments(),
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

/// The most batches made ahead.
const MOST_AHEAD: usize = 1 << 12;

/// Number of batches made ahead: two per thread, fewer if they are large, at least one per thread.
fn ahead_of(batch_bytes: usize, threads: usize) -> usize {
    const AHEAD_BYTES: usize = 1 << 28;
    (AHEAD_BYTES / batch_bytes.max(1)).clamp(threads, 2 * threads)
}

/// Fails if a file lacks a field that the filters or features need.
fn check(data: &DataSet, choosing: &Choosing, making: Making) -> Result<(), Failure> {
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

fn mirror(given: &Given<'_>) -> PyResult<Mirror> {
    match given.take::<MirrorLike>("mirror")? {
        None | Some(MirrorLike::Always(false)) => Ok(Mirror::Never),
        Some(MirrorLike::Always(true)) => Ok(Mirror::Always),
        Some(MirrorLike::Word(word)) if word == "random" => Ok(Mirror::Random),
        Some(MirrorLike::Word(word)) => {
            let why = format!("mirror is True, False or \"random\", not {word:?}");
            Err(Failure::usage(why).into())
        }
    }
}

#[derive(FromPyObject)]
enum MirrorLike {
    Always(bool),
    Word(String),
}

impl Setting {
    fn window_segments(&self) -> u64 {
        self.options.window.get().div_ceil(self.data.segment())
    }

    fn order(&self, epoch: u64) -> EpochOrder {
        let Options { shuffle, seed, rank, world_size, .. } = self.options;
        let order = EpochOrder::sequential(self.data.segments(), self.window_segments());
        let order = if shuffle { order.shuffled(seed, epoch) } else { order };
        order.of_rank(rank, world_size)
    }

    /// The most records that a rank reads. Equal for all ranks, so that no rank waits for a batch that another does not
    /// have. The shorter segments at the ends of files may all belong to one rank.
    fn records_of_rank(&self) -> u64 {
        match self.options.world_size {
            1 => self.data.records(),
            _ => (self.order(0).segments() * self.data.segment())
                .saturating_sub(self.data.missing_of_segments()),
        }
    }

    /// [`Self::records_of_rank`] if it limits the batches, otherwise `u64::MAX`.
    fn bound(&self) -> u64 {
        let is_bound = self.options.world_size > 1 && !self.choosing.leave_out(&self.data);
        if is_bound { self.records_of_rank() } else { u64::MAX }
    }
}

/// A batch, and the place after it.
type Batch = Result<(Made, Place), Failure>;

/// The batches of an epoch, in order.
#[pyclass(module = "kyokumen")]
pub(crate) struct LoaderIterator {
    /// Process that started the threads. They do not exist in a forked process.
    process: u32,
    cancel: Arc<AtomicBool>,
    /// None after a failure.
    batches: Option<Mutex<Receiver<Batch>>>,
    place: Place,
}

/// Starts a detached thread. It must end when its receiver is gone.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    thread.spawn(work).map(drop).map_err(no_thread)
}

impl LoaderIterator {
    fn new(setting: &Arc<Setting>, epoch: u64, place: Place, batch: u64) -> PyResult<Self> {
        let cancel = Arc::new(AtomicBool::new(false));
        let (window_sender, windows) = sync_channel(1);
        let (reading, cancelled) = (Arc::clone(setting), Arc::clone(&cancel));
        start("windows", move || {
            let order = reading.order(epoch);
            let Setting { data, choosing, threads, .. } = &*reading;
            let windows = place.window..order.windows();
            let reader = Windows { data, choosing, order, threads: *threads };
            for window in windows {
                let read = reader.read(window, &cancelled);
                let failed = read.is_err();
                if window_sender.send(read).is_err() || failed {
                    return;
                }
            }
        })?;
        let Options { batch_size, drop_last, .. } = setting.options;
        let batch_size = batch_size.get();
        let left = setting.bound().saturating_sub(batch.saturating_mul(batch_size as u64));
        let jobs = Jobs { windows, window: None, place, batch_size, drop_last, left };
        let (sender, batches) = sync_channel(1);
        let (making, cancelled) = (Arc::clone(setting), Arc::clone(&cancel));
        start("batches", move || {
            let made = make_batches(&making, jobs, epoch, |batch| {
                let is_over = cancelled.load(Ordering::Relaxed)
                    || batch.is_some_and(|batch| sender.send(batch).is_err());
                if is_over { Err(Failure::usage("nobody takes the batches")) } else { Ok(()) }
            });
            // Nobody listens if that is why it ended.
            drop(made.map_err(|failure| sender.send(Err(failure))));
        })?;
        let batches = Some(Mutex::new(batches));
        Ok(Self { process: std::process::id(), cancel, batches, place })
    }
}

/// Makes the arrays of all jobs and hands them to `take` in order.
fn make_batches(
    setting: &Arc<Setting>,
    jobs: Jobs,
    epoch: u64,
    take: impl FnMut(Option<Batch>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let parallelism = Parallelism::new(setting.threads, setting.ahead);
    let setting = Arc::clone(setting);
    let work = move |(): &mut (), job: Result<Job, Failure>| {
        let (Job { records, behind }, seed) = (job?, setting.options.seed);
        let made = setting.making.make(&setting.data, &setting.pool, &records, seed, epoch)?;
        Ok((made, behind))
    };
    in_order(jobs, parallelism, || Ok(()), work, take)
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
        let Some(batches) = &self.batches else { return Ok(None) };
        let Some(batch) = next_message(py, batches)? else { return Ok(None) };
        let (made, behind) = batch.inspect_err(|_| self.batches = None)?;
        self.place = behind;
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
