//! `gen_filter`: removes mated positions, where the side to move can force mate or is being mated by force.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen::jobs::estimate::estimate;
use kyokumen::jobs::filter;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::previous_run::PreviousRun;
use kyokumen::jobs::run_files::{RunRequest, listen_address};
use kyokumen::jobs::settings::Settings;
use kyokumen::mate::judge::Judge;
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::opening::Unreadable;
use kyokumen::records::shard_choice::ShardChoice;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};

use crate::arrays::Object;
use crate::failure::Failure;
use crate::interrupt::{abandonable, interruptible_without_messages};
use crate::operations::{run, to_report};
use crate::options::{Options, Paths};

/// Removes positions with a proven forced mate; see `kyokumen filter --help`.
///
/// Returns the manifest of the run as a report, with the additional key `was_done`: whether the run had already been
/// completed earlier. With `retry_unknown`, the manifest of an earlier run, only its positions with unknown verdicts
/// are searched again; `inputs` must be None. With `dry_run`, returns the inputs, the outputs and the estimated time,
/// and does not write anything.
#[pyfunction(signature = (inputs, output, **options))]
pub(crate) fn gen_filter<'py>(
    py: Python<'py>,
    inputs: Option<Paths>,
    output: PathBuf,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Object<'py>> {
    let options = Options::new(py, options)?;
    let config = options.take::<PathBuf>("config")?;
    let mut request = match (inputs, options.take::<PathBuf>("retry_unknown")?, &config) {
        (Some(inputs), None, config) => {
            if let Some(path) = config {
                let path = path.clone();
                options.add(&abandonable(py, move |_| read_config(&path))??)?;
            }
            request(&options, inputs.into_vec(), output)?
        }
        (None, Some(manifest), None) => retry(py, &options, manifest, output)?,
        _ => {
            let message = "expected either inputs, with or without config, or retry_unknown";
            return Err(Failure::usage(message).into());
        }
    };
    request.config_files = config.into_iter().collect();
    let (progress, dry_run) = (options.take("progress")?, options.flag("dry_run")?);
    options.end()?;
    if request.run.resume && request.run.force {
        let message =
            "resume and force exclude each other: force would replace the outputs to resume";
        return Err(Failure::usage(message).into());
    }
    let plan = abandonable(py, move |_| JobPlan::new(request))?.map_err(Failure::from)?;
    if dry_run {
        return dry_run_report(py, &plan);
    }
    let (metrics, stem) = (plan.files.metrics.clone(), plan.files.stem.clone());
    let shard = plan.files.shard.map(|shard| shard.to_string());
    let completed = run(py, progress, plan.records, |progress, cancel| {
        let progress = progress.with_verdicts();
        let mut progress = progress.with_metrics(&metrics, &stem, shard.as_deref())?;
        Ok(filter::filter(plan, &mut progress, cancel)?)
    })?;
    let report = to_report(py, &completed.manifest)?;
    report.set_item("was_done", completed.was_done)?;
    Ok(report)
}

fn request(options: &Options<'_>, inputs: Vec<PathBuf>, output: PathBuf) -> PyResult<JobRequest> {
    let (from, dialect) = options.reading()?;
    let listen = options.take::<String>("metrics_listen")?.map(|text| listen_address(&text));
    let seconds = options.take::<f64>("checkpoint_every")?.map(Duration::try_from_secs_f64);
    Ok(JobRequest {
        inputs,
        run: RunRequest {
            output,
            tmp_dir: options.take("tmp_dir")?,
            name: options.take("name")?,
            shard: options.parsed("shard")?,
            force: options.flag("force")?,
            resume: options.flag("resume")?,
            checkpoint_every: seconds.transpose().map_err(Failure::usage)?,
            metrics: options.take("metrics")?,
            metrics_listen: listen.transpose().map_err(Failure::usage)?,
        },
        from,
        dialect,
        to: options.parsed("to")?,
        previous_run: None,
        config_files: Vec::new(),
        unreadable: Unreadable::from_policy(options.variant("on_error")?),
        settings: Settings {
            search: options.search()?,
            mated: options.variant("mated")?.unwrap_or_default(),
            unknown: options.variant("unknown")?.unwrap_or_default(),
            on_error: options.on_error(BadPolicy::Quarantine)?,
            filters: options.filters("seed")?,
            limit: options.take("limit")?,
            fill: options.fill()?,
            threads: options.threads()?,
            ..Settings::default()
        },
    })
}

/// A second pass over the unknown records of an earlier run. Options that are not given come from its manifest.
fn retry(
    py: Python<'_>,
    options: &Options<'_>,
    manifest: PathBuf,
    output: PathBuf,
) -> PyResult<JobRequest> {
    if options.has("shard")? {
        return Err(Failure::usage("shard cannot be set: the earlier run determines it").into());
    }
    let read = move |_: &AtomicBool| -> Result<_, kyokumen::Error> {
        Ok((PreviousRun::options(&manifest)?, PreviousRun::read(&manifest)?))
    };
    let (earlier_options, previous_run) = abandonable(py, read)?.map_err(Failure::from)?;
    options.add(&earlier_options)?;
    let mut request = request(options, previous_run.inputs(), output)?;
    let shard = previous_run.shard().map(str::parse::<ShardChoice>).transpose();
    request.run.shard = shard.map_err(Failure::usage)?;
    Ok(JobRequest { previous_run: Some(Arc::new(previous_run)), ..request })
}

/// Reads options in TOML, by their long names on the command line. Ignores `output` and `progress`, because the call
/// sets them.
fn read_config(path: &Path) -> Result<Map<String, Value>, Failure> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Failure::unreadable(&path.to_string_lossy(), 0, &error))?;
    let options: Result<Map<String, Value>, _> = toml::from_str(&text);
    let mut options =
        options.map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    options.remove("output");
    options.remove("progress");
    Ok(options)
}

/// The inputs, the outputs and the estimated time of a plan.
fn dry_run_report<'py>(py: Python<'py>, plan: &JobPlan) -> PyResult<Object<'py>> {
    let inputs = plan.ranges.iter().map(|range| {
        let (file, format) = (&range.input.name, range.input.format.name());
        json!({"file": file, "format": format, "from": range.from, "to": range.end()})
    });
    let files = &plan.files;
    let outputs = files.outputs.iter().map(|output| &output.path).chain([&files.manifest]);
    let outputs = outputs.map(|path| files.destination(path).display().to_string());
    let (inputs, outputs): (Vec<Value>, Vec<String>) = (inputs.collect(), outputs.collect());
    let search = plan.settings.search.clone();
    let judge = move || Judge::try_new(&search);
    let estimate = interruptible_without_messages(py, |cancel| estimate(plan, judge, cancel))?;
    let report = json!({
        "inputs": inputs,
        "outputs": outputs,
        "records": plan.records,
        "estimate": estimate.map_err(Failure::from)?,
    });
    to_report(py, &report)
}
