//! Operations on archives with the options of the command line: a request is planned, carried out, and told as a
//! report.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::Duration;

use kyokumen::engine::progress::{Progress, ProgressDisplay};
use kyokumen::engine::snapshot::Snapshot;
use kyokumen::format::packed::Family;
use kyokumen::format::{CsaVersion, TextEncoding};
use kyokumen::jobs::output_verification::verify_outputs;
use kyokumen::ops::convert::{ConvertPlan, ConvertRequest, ConvertSettings};
use kyokumen::ops::rearrange::{
    self, DedupKey, DedupSettings, PartLimit, RearrangePlan, RearrangeRequest, Resources, SplitBy,
};
use kyokumen::ops::stats::{StatsPlan, StatsRequest};
use kyokumen::ops::stats_page::write_stats_page;
use kyokumen::ops::verify::{VerifyPlan, VerifyRequest, verify_proofs};
use kyokumen::ops::{convert as converting, stats as figures, verify as verifying};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::storage::memory::Memory;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;

use crate::arrays::Object;
use crate::failure::{Failure, argument};
use crate::interrupt::{abandonable, interruptible};
use crate::options::{Amount, Options, Paths};

/// Sends progress snapshots to the thread that calls Python.
struct Sending(Sender<Snapshot>);

impl ProgressDisplay for Sending {
    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn show(&mut self, snapshot: &Snapshot) {
        // Nobody listens any more if the call is over.
        let _ = self.0.send(snapshot.clone());
    }

    fn finish(&mut self, last: &Snapshot) {
        self.show(last);
    }
}

/// Converts a report to an object of the Python package.
pub(crate) fn told<'py>(py: Python<'py>, report: &impl Serialize) -> PyResult<Object<'py>> {
    let text = serde_json::to_string(report).map_err(|error| Failure::other(&error))?;
    py.import("kyokumen._report")?.getattr("report")?.call1((text,))
}

/// Runs `work`. Ctrl-C and an exception of the callback cancel it.
pub(crate) fn run<'py, T: Send>(
    py: Python<'py>,
    progress: Option<Object<'py>>,
    records: Option<u64>,
    work: impl FnOnce(Progress, &AtomicBool) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let callback =
        py.import("kyokumen._report")?.getattr("callback")?.call1((progress, records))?;
    let callback = (!callback.is_none()).then(|| callback.unbind());
    let done = interruptible(
        py,
        |cancel, sender| work(Progress::new(Box::new(Sending(sender)), records), cancel),
        |py, snapshot| match &callback {
            Some(callback) => callback.call1(py, (told(py, &snapshot)?,)).map(drop),
            None => Ok(()),
        },
    )?;
    Ok(done?)
}

/// Plans and runs an operation, and returns its report. Only `progress` may be left in `options`.
fn operate<'py, P: Send + 'static, R: Serialize + Send>(
    py: Python<'py>,
    options: Options<'py>,
    plan: impl FnOnce() -> Result<(Option<u64>, P), kyokumen::Error> + Send + 'static,
    work: impl FnOnce(P, &mut Progress, &AtomicBool) -> Result<R, Failure> + Send,
) -> PyResult<Object<'py>> {
    let progress = options.take("progress")?;
    options.end()?;
    let (records, plan) = abandonable(py, |_| plan())?.map_err(Failure::from)?;
    let report =
        run(py, progress, records, |mut progress, cancel| work(plan, &mut progress, cancel))?;
    told(py, &report)
}

/// Converts files of records from any format to any other; see `kyokumen convert --help`.
#[pyfunction(signature = (inputs, output, **options))]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    inputs: Paths,
    output: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let (from, dialect) = options.reading()?;
    let request = ConvertRequest {
        inputs: inputs.into_vec(),
        output,
        from,
        dialect,
        to: options.parsed("to")?,
        family: options.named("family", family_named, "\"apery\" or \"yaneuraou\"")?,
        encoding: options.named(
            "encoding",
            TextEncoding::from_name,
            "\"utf-8\" or \"shift_jis\"",
        )?,
        force: options.flag("force")?,
        checksums: options.flag("checksums")?,
        settings: ConvertSettings {
            filters: options.filters("seed")?,
            dedup: options.flag("dedup")?,
            memory: options.memory("memory")?.unwrap_or(Memory::gib(1)),
            mirror: options.flag("mirror")?,
            check: options.word("check")?.unwrap_or_default(),
            strict: options.flag("strict")?,
            fill: options.fill()?,
            canonical: options.flag("canonical")?,
            make_games: options.word("make_games")?.unwrap_or_default(),
            csa_version: options.named(
                "csa_version",
                CsaVersion::from_name,
                "\"2.2\" or \"3.0\"",
            )?,
            limit: options.take("limit")?,
            on_error: options.on_error(BadPolicy::Stop)?,
            threads: options.threads()?,
        },
    };
    let plan = move || ConvertPlan::new(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |plan, progress, cancel| {
        Ok(converting::convert(plan, progress, cancel)?)
    })
}

fn family_named(name: &str) -> Option<Family> {
    match name {
        "apery" => Some(Family::Apery),
        "yaneuraou" => Some(Family::YaneuraOu),
        _ => None,
    }
}

/// The common options of operations that move records.
fn rearrangement(
    options: &Options<'_>,
    inputs: Paths,
    output: PathBuf,
) -> PyResult<RearrangeRequest> {
    let (from, dialect) = options.reading()?;
    Ok(RearrangeRequest {
        inputs: inputs.into_vec(),
        references: Vec::new(),
        output,
        from,
        dialect,
        to: None,
        name: None,
        force: options.flag("force")?,
        on_error: options.on_error(BadPolicy::Stop)?,
        resources: Resources {
            threads: options.threads()?,
            memory: options.memory("memory")?.unwrap_or(Memory::gib(2)),
            tmp_dir: options.take("tmp_dir")?,
        },
    })
}

/// Brings the records of archives into a random order; see `kyokumen shuffle --help`.
#[pyfunction(signature = (inputs, output, *, seed = 1, **options))]
pub(crate) fn shuffle<'py>(
    py: Python<'py>,
    inputs: Paths,
    output: PathBuf,
    seed: u64,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let request = rearrangement(&options, inputs, output)?;
    let plan = move || RearrangePlan::new(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |plan, progress, cancel| {
        Ok(rearrange::shuffle(&plan, seed, progress, cancel)?)
    })
}

/// Leaves out repeated records of archives; see `kyokumen dedup --help`.
#[pyfunction(signature = (inputs, output, **options))]
pub(crate) fn dedup<'py>(
    py: Python<'py>,
    inputs: Paths,
    output: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let key = options.parsed::<DedupKey>("key")?.unwrap_or_default();
    let settings = DedupSettings { key, average: options.flag("average")? };
    let references = options.paths("reference")?;
    let request = RearrangeRequest { references, ..rearrangement(&options, inputs, output)? };
    let plan = move || RearrangePlan::new(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |plan, progress, cancel| {
        Ok(rearrange::dedup(&plan, settings, progress, cancel)?)
    })
}

/// Deals the records of archives out to several files: so many `parts`, or as many as it takes with at most `size`
/// bytes or `records` each; see `kyokumen split --help`.
#[pyfunction(signature = (inputs, output, *, parts = None, size = None, records = None, **options))]
pub(crate) fn split<'py>(
    py: Python<'py>,
    inputs: Paths,
    output: PathBuf,
    parts: Option<NonZeroU32>,
    size: Option<Amount>,
    records: Option<NonZeroU64>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let by = options.word::<SplitBy>("by")?;
    let (to, name) = (options.parsed("to")?, options.take("name")?);
    let request = RearrangeRequest { to, name, ..rearrangement(&options, inputs, output)? };
    let limit = match (parts, size, records) {
        (Some(parts), None, None) => {
            let plan = move || {
                RearrangePlan::in_parts(request, parts.get()).map(|plan| (plan.records, plan))
            };
            return operate(py, options, plan, |plan, progress, cancel| {
                Ok(rearrange::split(&plan, by.unwrap_or_default(), progress, cancel)?)
            });
        }
        (None, Some(size), None) => PartLimit::Bytes(size.memory()?.bytes()),
        (None, None, Some(records)) => PartLimit::Records(records.get()),
        _ => return Err(Failure::usage("one of parts, size and records is given").into()),
    };
    if by.is_some() {
        return Err(Failure::usage("by goes with parts").into());
    }
    let plan = move || RearrangePlan::in_uncounted_parts(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |plan, progress, cancel| {
        Ok(rearrange::split_up_to(&plan, limit, progress, cancel)?)
    })
}

/// Checks every record of files, the outputs of `manifest`s, or the proofs in files of them (`proof`); see
/// `kyokumen verify --help`. A report for each file, or each run.
#[pyfunction(signature = (inputs = None, **options))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    inputs: Option<Paths>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<Object<'py>>> {
    let options = Options::new(py, options)?;
    let (manifests, proofs) = (options.take::<Paths>("manifest")?, options.take::<Paths>("proof")?);
    let threads = options.threads()?;
    match (inputs, manifests, proofs) {
        (Some(inputs), None, None) => verify_records(py, inputs, threads, options),
        (None, Some(manifests), None) => {
            options.end()?;
            let manifests = manifests.into_vec();
            let reports = abandonable(py, move |_| verify_outputs(&manifests))?;
            reports.map_err(Failure::from)?.iter().map(|report| told(py, report)).collect()
        }
        (None, None, Some(proofs)) => {
            options.end()?;
            let checked = |path: PathBuf| {
                let report = abandonable(py, move |_| verify_proofs(&path, threads))?;
                told(py, &report.map_err(Failure::from)?)
            };
            proofs.into_vec().into_iter().map(checked).collect()
        }
        _ => Err(Failure::usage("one of inputs, manifest and proof is given").into()),
    }
}

fn verify_records<'py>(
    py: Python<'py>,
    inputs: Paths,
    threads: usize,
    options: Options<'py>,
) -> PyResult<Vec<Object<'py>>> {
    let (from, dialect) = options.reading()?;
    let request = VerifyRequest {
        inputs: inputs.into_vec(),
        from,
        dialect,
        limit: options.take("limit")?,
        quarantine: options.take("quarantine")?,
        force: options.flag("force")?,
        strict: options.flag("strict")?,
        threads,
    };
    let progress: Option<Object<'py>> = options.take("progress")?;
    options.end()?;
    if request.limit.is_some() && request.quarantine.is_some() {
        let why = "limit goes not with quarantine, which is to lose no record";
        return Err(Failure::usage(why).into());
    }
    let plans = abandonable(py, move |_| VerifyPlan::new(request))?.map_err(Failure::from)?;
    let mut reports = Vec::new();
    for plan in plans {
        let advice = plan.remedy().and_then(argument);
        let mut report = run(py, progress.clone(), plan.records, |mut progress, cancel| {
            Ok(verifying::verify(plan, &mut progress, cancel)?)
        })?;
        if let Some(advice) = advice {
            report.advise(&advice);
        }
        reports.push(told(py, &report)?);
    }
    Ok(reports)
}

/// Figures about files: evaluations, plies, results, moves, pieces, repetitions, as a page with plots, too, in the file
/// `html`; see `kyokumen stats --help`.
#[pyfunction(signature = (inputs, **options))]
pub(crate) fn stats<'py>(
    py: Python<'py>,
    inputs: Paths,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let (from, dialect) = options.reading()?;
    let request = StatsRequest {
        inputs: inputs.into_vec(),
        from,
        dialect,
        filters: options.filters("seed")?,
        limit: options.take("limit")?,
        memory: options.memory("memory")?.unwrap_or(Memory::gib(1)),
        page: options.take("html")?,
        force: options.flag("force")?,
        threads: options.threads()?,
    };
    let plan = move || StatsPlan::new(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |mut plan, progress, cancel| {
        let page = plan.page.take();
        let report = figures::stats(plan, progress, cancel)?;
        if let Some(page) = page {
            write_stats_page(page, &report).map_err(|error| Failure::other(&error))?;
        }
        Ok(report)
    })
}
