//! `Loader`: batches of arrays for training, prepared ahead on separate threads.
//!
//! One thread reads windows of records, one thread divides them into jobs, and several threads make the arrays. Batches
//! are returned in order. The records of a batch depend only on the files and the settings; see [`EpochOrder`].

mod making;
mod segments;
mod windows;

use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use kyokumen::engine::in_order::{Parallelism, process_in_order};
use kyokumen::format::EVAL_SCALE;
use kyokumen::records::epoch_order::EpochOrder;
use kyokumen::records::opening::check_filters;
use kyokumen::solver::STACK_BYTES;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::arguments::{Accepts, Given};
use crate::failure::Failure;
use crate::interrupt::{abandonable, next_message, no_thread, thread_count};
use crate::options::{Options as Keywords, Paths};
use crate::reading::policy;
use making::{BatchMaker, MadeBatch, Mirror, Pool};
use segments::{DataSet, Opening};
use windows::{Job, Jobs, RecordChoice, ResumePoint, Windows};

/// Options with the same names and types in Rust and Python.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
struct Options {
    features: String,
    planes: usize,
    dtype: String,
    /// Scale of evaluations; see [`EVAL_SCALE`].
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
    /// Number of batches prepared ahead.
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

struct LoaderSettings {
    options: Options,
    data: DataSet,
    pool: Arc<Pool>,
    choice: RecordChoice,
    maker: BatchMaker,
    threads: usize,
    ahead: usize,
}

/// Batches of arrays for training. `kyokumen.DataLoader` uses it.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Loader(Arc<LoaderSettings>);

#[pymethods]
impl Loader {
    #[new]
    #[pyo3(signature = (paths, **options))]
    fn new(
        py: Python<'_>,
        paths: Given<Paths>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let keywords = Keywords::new(py, options)?;
        let options: Options = keywords.fields(("", ""))?;
        let (from, dialect) = keywords.reading()?;
        let (segment, spool) = (u64::from(options.segment.get()), options.spool);
        let tmp_dir = keywords.take("tmp_dir")?;
        let opening = Opening { from, dialect, segment, spool, tmp_dir };
        let search = keywords.search()?;
        let on_error = keywords.take::<String>("on_error")?;
        let choice = RecordChoice {
            filters: keywords.filters("sample_seed")?,
            on_error: policy(on_error.as_deref().unwrap_or("stop"))?,
            search: options.drop_mated.then_some(search),
        };
        let maker = BatchMaker::new(&options, mirror(&keywords)?)?;
        let (threads, exclude) = (thread_count(keywords.threads()?), keywords.paths("exclude")?);
        keywords.end()?;
        if options.rank >= options.world_size {
            return Err(Failure::usage("rank must be less than world_size").into());
        }
        let paths = paths.0.into_vec();
        let data =
            abandonable(py, move |cancel| DataSet::open(&paths, &opening, &exclude, cancel))??;
        check(&data, &choice, maker)?;
        let batch_bytes = maker.bytes(data.format()).saturating_mul(options.batch_size.get());
        let ahead = options.ahead.unwrap_or_else(|| default_ahead(batch_bytes, threads));
        let (pool, ahead) = (Arc::default(), ahead.clamp(1, MAX_AHEAD));
        Ok(Self(Arc::new(LoaderSettings { options, data, pool, choice, maker, threads, ahead })))
    }

    /// Number of records in all files, including records that will be left out.
    #[getter]
    fn records(&self) -> u64 {
        self.0.data.records()
    }

    /// Number of batches in an epoch. Raises a TypeError if filters or the format make it unknown before the records
    /// are read.
    #[getter]
    fn batches(&self) -> PyResult<u64> {
        let settings = &*self.0;
        if settings.choice.may_leave_out(&settings.data) {
            let most =
                settings.records_of_rank().div_ceil(settings.options.batch_size.get() as u64);
            return Err(Failure::unknown_length(format!(
                "the number of batches is unknown, because filters or the format may leave out records; it is at most {most}"
            ))
            .into());
        }
        let (records, size) =
            (settings.records_of_rank(), settings.options.batch_size.get() as u64);
        let drop_last = settings.options.drop_last;
        Ok(if drop_last { records / size } else { records.div_ceil(size) })
    }

    /// A JSON object with all files and settings that determine the records of the batches.
    #[getter]
    fn identity(&self) -> String {
        let s = &*self.0;
        let Options { batch_size, segment, shuffle, seed, rank, world_size, drop_last, .. } =
            &s.options;
        let RecordChoice { filters, on_error, search } = &s.choice;
        let mut identity = json!({
            "files": s.data.names_and_lengths(),
            "exclude": s.data.excluded(),
            "batch_size": batch_size,
            "window": s.window_segments().saturating_mul(s.data.segment()),
            "segment": segment,
            "shuffle": shuffle,
            "seed": seed,
            "rank": rank,
            "world_size": world_size,
            "drop_last": drop_last,
            "on_error": on_error,
            "drop_mated": search,
        });
        let filters = serde_json::to_value(filters).unwrap_or_default();
        for (name, value) in filters.as_object().into_iter().flatten() {
            let name = if name == "seed" { "sample_seed" } else { name };
            identity[name.replace('-', "_")] = value.clone();
        }
        identity.to_string()
    }

    /// The batches of an epoch after a resume point: the window, the number of its records that are done, and the
    /// number of batches that are done.
    #[pyo3(signature = (epoch, window = 0, record = 0, batch = 0))]
    fn batches_of(
        &self,
        epoch: u64,
        window: u64,
        record: u32,
        batch: u64,
    ) -> PyResult<LoaderIterator> {
        LoaderIterator::new(&self.0, epoch, ResumePoint { window, record }, batch)
    }
}

/// Maximum number of batches prepared ahead.
const MAX_AHEAD: usize = 1 << 12;

/// Default number of batches prepared ahead: two per thread, fewer if they are large, at least one per thread.
fn default_ahead(batch_bytes: usize, threads: usize) -> usize {
    const AHEAD_BYTES: usize = 1 << 28;
    (AHEAD_BYTES / batch_bytes.max(1)).clamp(threads, 2 * threads)
}

/// Checks that all files have the fields that the filters and features need.
fn check(data: &DataSet, choice: &RecordChoice, maker: BatchMaker) -> Result<(), Failure> {
    for input in data.inputs() {
        check_filters(input, &choice.filters)?;
        maker.check(input.format)?;
    }
    let format = data.format();
    if maker.needs_one_format() && data.inputs().any(|input| input.format != format) {
        let message =
            "features=\"records\" needs files of one format, because each format has another dtype";
        return Err(Failure::usage(message));
    }
    Ok(())
}

fn mirror(keywords: &Keywords<'_>) -> PyResult<Mirror> {
    match keywords.take::<Given<MirrorLike>>("mirror")?.map(|mirror| mirror.0) {
        None | Some(MirrorLike::Always(false)) => Ok(Mirror::Never),
        Some(MirrorLike::Always(true)) => Ok(Mirror::Always),
        Some(MirrorLike::Named(name)) if name == "random" => Ok(Mirror::Random),
        Some(MirrorLike::Named(name)) => {
            let message = format!("mirror must be True, False or \"random\", not {name:?}");
            Err(Failure::usage(message).into())
        }
    }
}

#[derive(FromPyObject)]
enum MirrorLike {
    Always(bool),
    Named(String),
}

impl Accepts for MirrorLike {
    const ACCEPTED: &'static str = "True, False or \"random\"";
}

impl LoaderSettings {
    fn window_segments(&self) -> u64 {
        self.options.window.get().div_ceil(self.data.segment())
    }

    fn order(&self, epoch: u64) -> EpochOrder {
        let Options { shuffle, seed, rank, world_size, .. } = self.options;
        let order = EpochOrder::sequential(self.data.segments(), self.window_segments());
        let order = if shuffle { order.shuffled(seed, epoch) } else { order };
        order.for_rank(rank, world_size)
    }

    /// Maximum number of records that a rank reads. It is the same for all ranks, so that no rank waits for a batch
    /// that another rank does not have. The shorter segments at the ends of files may all belong to one rank.
    fn records_of_rank(&self) -> u64 {
        match self.options.world_size {
            1 => self.data.records(),
            _ => (self.order(0).segments() * self.data.segment())
                .saturating_sub(self.data.missing_of_segments()),
        }
    }

    /// [`Self::records_of_rank`] if it limits the batches, otherwise `u64::MAX`.
    fn bound(&self) -> u64 {
        let is_bound = self.options.world_size > 1 && !self.choice.may_leave_out(&self.data);
        if is_bound { self.records_of_rank() } else { u64::MAX }
    }
}

/// A batch and the resume point after it.
type Batch = Result<(MadeBatch, ResumePoint), Failure>;

/// The batches of an epoch, in order.
#[pyclass(module = "kyokumen")]
pub(crate) struct LoaderIterator {
    /// The process that started the threads. A forked process does not have these threads.
    process: u32,
    cancel: Arc<AtomicBool>,
    /// None after a failure.
    batches: Option<Mutex<Receiver<Batch>>>,
    resume_point: ResumePoint,
}

/// Starts a detached thread. It must end when its receiver is dropped.
fn start(name: &str, work: impl FnOnce() + Send + 'static) -> PyResult<()> {
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    thread.spawn(work).map(drop).map_err(no_thread)
}

impl LoaderIterator {
    fn new(
        settings: &Arc<LoaderSettings>,
        epoch: u64,
        resume_point: ResumePoint,
        batch: u64,
    ) -> PyResult<Self> {
        let cancel = Arc::new(AtomicBool::new(false));
        let (window_sender, windows) = sync_channel(1);
        let (shared, cancelled) = (Arc::clone(settings), Arc::clone(&cancel));
        start("windows", move || {
            let order = shared.order(epoch);
            let LoaderSettings { data, choice, threads, .. } = &*shared;
            let windows = resume_point.window..order.windows();
            let reader = Windows { data, choice, order, threads: *threads };
            for window in windows {
                let read = reader.read(window, &cancelled);
                let failed = read.is_err();
                if window_sender.send(read).is_err() || failed {
                    return;
                }
            }
        })?;
        let Options { batch_size, drop_last, .. } = settings.options;
        let batch_size = batch_size.get();
        let left = settings.bound().saturating_sub(batch.saturating_mul(batch_size as u64));
        let jobs = Jobs { windows, window: None, resume_point, batch_size, drop_last, left };
        let (sender, batches) = sync_channel(1);
        let (shared, cancelled) = (Arc::clone(settings), Arc::clone(&cancel));
        start("batches", move || {
            let made = make_batches(&shared, jobs, epoch, |batch| {
                let is_over = cancelled.load(Ordering::Relaxed)
                    || batch.is_some_and(|batch| sender.send(batch).is_err());
                if is_over { Err(Failure::usage("the iterator was dropped")) } else { Ok(()) }
            });
            // Sending fails if the iterator was dropped.
            drop(made.map_err(|failure| sender.send(Err(failure))));
        })?;
        let batches = Some(Mutex::new(batches));
        Ok(Self { process: std::process::id(), cancel, batches, resume_point })
    }
}

/// Makes the arrays of all jobs and passes them to `take` in order.
fn make_batches(
    settings: &Arc<LoaderSettings>,
    jobs: Jobs,
    epoch: u64,
    take: impl FnMut(Option<Batch>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let parallelism = Parallelism::new(settings.threads, settings.ahead);
    let settings = Arc::clone(settings);
    let work = move |(): &mut (), job: Result<Job, Failure>| {
        let (Job { records, resume_point }, seed) = (job?, settings.options.seed);
        let made = settings.maker.make(&settings.data, &settings.pool, &records, seed, epoch)?;
        Ok((made, resume_point))
    };
    process_in_order(jobs, parallelism, || Ok(()), work, take)
}

#[pymethods]
impl LoaderIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(
                "this iteration was started before the process was forked, and a forked process has no threads: start \
                 the iteration in the process that uses the batches",
            ));
        }
        let Some(batches) = &self.batches else { return Ok(None) };
        let Some(batch) = next_message(py, batches)? else { return Ok(None) };
        let (made, resume_point) = batch.inspect_err(|_| self.batches = None)?;
        self.resume_point = resume_point;
        made.into_arrays(py).map(Some)
    }

    /// The resume point after the last returned batch: the window, and the number of its records that are done.
    #[getter]
    fn place(&self) -> (u64, u32) {
        (self.resume_point.window, self.resume_point.record)
    }
}

impl Drop for LoaderIterator {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
