//! Operations on archives, with the options of the command line. Each operation plans a request, runs the plan and
//! returns a report.

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
use kyokumen::ops::language::Language;
use kyokumen::ops::rearrange::{
    self, DedupKey, DedupSettings, PartLimit, RearrangePlan, RearrangeRequest, Resources, SplitBy,
    SplitSettings, Weights,
};
use kyokumen::ops::stats::{StatsPlan, StatsRequest};
use kyokumen::ops::stats_page::write_stats_page;
use kyokumen::ops::verify::{VerifyPlan, VerifyRequest, verify_proofs};
use kyokumen::ops::{convert as conversion, stats as statistics, verify as verification};
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
struct ProgressSender(Sender<Snapshot>);

impl ProgressDisplay for ProgressSender {
    fn pause(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn show(&mut self, snapshot: &Snapshot) {
        // Sending fails if the call has ended.
        let _ = self.0.send(snapshot.clone());
    }

    fn finish(&mut self, last: &Snapshot) {
        self.show(last);
    }
}

/// Converts a report of the library to a `Report` of the Python package.
pub(crate) fn to_report<'py>(py: Python<'py>, report: &impl Serialize) -> PyResult<Object<'py>> {
    let text = serde_json::to_string(report).map_err(|error| Failure::other(&error))?;
    py.import("kyokumen._report")?.getattr("report")?.call1((text,))
}

/// Runs `work` and calls `progress` with its snapshots. Ctrl-C and an exception of the callback cancel it.
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
        |cancel, sender| work(Progress::new(Box::new(ProgressSender(sender)), records), cancel),
        |py, snapshot| match &callback {
            Some(callback) => callback.call1(py, (to_report(py, &snapshot)?,)).map(drop),
            None => Ok(()),
        },
    )?;
    Ok(done?)
}

/// Plans and runs an operation, and returns its report. `options` may contain only `progress`.
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
    to_report(py, &report)
}

/// Converts records from any format to any other format; see `kyokumen convert --help`.
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
            eval_scale: options.parsed("eval_scale")?,
            mirror: options.flag("mirror")?,
            check: options.variant("check")?.unwrap_or_default(),
            strict: options.flag("strict")?,
            fill: options.fill()?,
            canonical: options.flag("canonical")?,
            make_games: options.variant("make_games")?.unwrap_or_default(),
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
        Ok(conversion::convert(plan, progress, cancel)?)
    })
}

fn family_named(name: &str) -> Option<Family> {
    match name {
        "apery" => Some(Family::Apery),
        "yaneuraou" => Some(Family::YaneuraOu),
        _ => None,
    }
}

/// The common options of shuffle, dedup and split.
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
        filters: options.filters("seed")?,
        to: options.parsed("to")?,
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

/// The value of `seed`, which is also the seed of the filter `sample` and stays to be taken with the filters.
fn seed(options: &Options<'_>) -> PyResult<u64> {
    Ok(options.peek("seed")?.unwrap_or(1))
}

/// Shuffles the records of archives; see `kyokumen shuffle --help`.
#[pyfunction(signature = (inputs, output, **options))]
pub(crate) fn shuffle<'py>(
    py: Python<'py>,
    inputs: Paths,
    output: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let seed = seed(&options)?;
    let request = rearrangement(&options, inputs, output)?;
    let plan = move || RearrangePlan::new(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |plan, progress, cancel| {
        Ok(rearrange::shuffle(&plan, seed, progress, cancel)?)
    })
}

/// Removes repeated records from archives; see `kyokumen dedup --help`.
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

/// Distributes the records of archives over several files; see `kyokumen split --help`.
///
/// Set one of `parts` (number of files), `size` (maximum bytes of a file) and `records` (maximum records of a file), or
/// with `by="game"` and `by="position"` the `weights` of the parts.
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
    let by = options.variant::<SplitBy>("by")?;
    let weights = options.parsed::<Weights>("weights")?;
    let names = options.take::<Vec<String>>("names")?.unwrap_or_default();
    let (name, seed) = (options.take("name")?, seed(&options)?);
    let request = RearrangeRequest { name, ..rearrangement(&options, inputs, output)? };
    let parts = parts.map(NonZeroU32::get);
    let parts =
        parts.or_else(|| u32::try_from(weights.as_ref().map_or(names.len(), Weights::len)).ok());
    let limit = match (parts.filter(|&parts| parts > 0), size, records) {
        (Some(parts), None, None) => {
            if !names.is_empty() && names.len() != parts as usize {
                return Err(Failure::usage("names needs one name per part").into());
            }
            let plan = move || {
                let plan = match &*names {
                    [] => RearrangePlan::in_parts(request, parts),
                    names => RearrangePlan::in_named_parts(request, names),
                };
                plan.map(|plan| (plan.records, plan))
            };
            let settings = SplitSettings { by: by.unwrap_or_default(), weights, seed };
            return operate(py, options, plan, move |plan, progress, cancel| {
                Ok(rearrange::split(&plan, &settings, progress, cancel)?)
            });
        }
        (None, Some(size), None) => PartLimit::Bytes(size.memory()?.bytes()),
        (None, None, Some(records)) => PartLimit::Records(records.get()),
        _ => return Err(Failure::usage("set exactly one of parts, size and records").into()),
    };
    if by.is_some() {
        return Err(Failure::usage("by requires parts or weights").into());
    }
    let plan = move || RearrangePlan::in_uncounted_parts(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |plan, progress, cancel| {
        Ok(rearrange::split_up_to(&plan, limit, progress, cancel)?)
    })
}

/// Checks all records of the `inputs`, the outputs that a `manifest` lists, or the proofs in a `proof` file; see
/// `kyokumen verify --help`. Returns a report for each file or manifest.
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
            reports.map_err(Failure::from)?.iter().map(|report| to_report(py, report)).collect()
        }
        (None, None, Some(proofs)) => {
            options.end()?;
            let check = |path: PathBuf| {
                let report = abandonable(py, move |_| verify_proofs(&path, threads))?;
                to_report(py, &report.map_err(Failure::from)?)
            };
            proofs.into_vec().into_iter().map(check).collect()
        }
        _ => Err(Failure::usage("set exactly one of inputs, manifest and proof").into()),
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
        let message = "limit cannot be combined with quarantine, which must not lose records";
        return Err(Failure::usage(message).into());
    }
    let plans = abandonable(py, move |_| VerifyPlan::new(request))?.map_err(Failure::from)?;
    let mut reports = Vec::new();
    for plan in plans {
        let advice = plan.remedy().and_then(argument);
        let mut report = run(py, progress.clone(), plan.records, |mut progress, cancel| {
            Ok(verification::verify(plan, &mut progress, cancel)?)
        })?;
        if let Some(advice) = advice {
            report.advise(&advice);
        }
        reports.push(to_report(py, &report)?);
    }
    Ok(reports)
}

/// Statistics of files: evaluations, plies, results, moves, pieces, repetitions; see `kyokumen stats --help`.
///
/// With `html`, also writes a page with plots to this file, in English or in the language `lang`.
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
    let language: Language = options.variant("lang")?.unwrap_or_default();
    let plan = move || StatsPlan::new(request).map(|plan| (plan.records, plan));
    operate(py, options, plan, |mut plan, progress, cancel| {
        let page = plan.page.take();
        let report = statistics::stats(plan, progress, cancel)?;
        if let Some(page) = page {
            write_stats_page(page, &report, language).map_err(|error| Failure::other(&error))?;
        }
        Ok(report)
    })
}
