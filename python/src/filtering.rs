//! `gen_filter`: positions with a proven forced mate removed, in shards and for days if need be.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kyokumen::jobs::estimate::estimate;
use kyokumen::jobs::filter;
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::previous_run::PreviousRun;
use kyokumen::jobs::run_files::RunRequest;
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
use crate::interrupt::{abandonable, interruptible_in_silence};
use crate::operations::{run, told};
use crate::options::{Options, Paths};

/// Removes positions with a proven forced mate; see `kyokumen filter --help`. The manifest of the run, with `was_done`:
/// whether it had been brought to its end before.
///
/// `retry_unknown` is the manifest of an earlier run, of which only what was unknown is searched again; `inputs` are
/// then None. With `dry_run` the report says what would be read and written, and how long it would take.
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
            let why = "either inputs are given, with or without config, or retry_unknown";
            return Err(Failure::usage(why).into());
        }
    };
    request.read_from = config.into_iter().collect();
    let (progress, dry_run) = (options.take("progress")?, options.flag("dry_run")?);
    options.end()?;
    if request.run.resume && request.run.force {
        return Err(Failure::usage("resume goes on with what force would replace").into());
    }
    let plan = abandonable(py, move |_| JobPlan::new(request))?.map_err(Failure::from)?;
    if dry_run {
        return would_do(py, &plan);
    }
    let metrics = plan.files.metrics.clone().map(|path| {
        (path, plan.files.stem.clone(), plan.files.shard.map(|shard| shard.to_string()))
    });
    let completed = run(py, progress, plan.records, |progress, cancel| {
        let progress = progress.with_verdicts();
        let mut progress = match metrics {
            Some((path, stem, shard)) => progress.with_metrics(path, &stem, shard.as_deref()),
            None => progress,
        };
        Ok(filter::filter(plan, &mut progress, cancel)?)
    })?;
    let report = told(py, &completed.manifest)?;
    report.set_item("was_done", completed.was_done)?;
    Ok(report)
}

fn request(options: &Options<'_>, inputs: Vec<PathBuf>, output: PathBuf) -> PyResult<JobRequest> {
    let (from, dialect) = options.reading()?;
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
        },
        from,
        dialect,
        to: options.parsed("to")?,
        previous_run: None,
        read_from: Vec::new(),
        unreadable: Unreadable::under(options.word("on_error")?),
        settings: Settings {
            search: options.search()?,
            mated: options.word("mated")?.unwrap_or_default(),
            unknown: options.word("unknown")?.unwrap_or_default(),
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
        return Err(Failure::usage("the shard is that of the earlier run").into());
    }
    let read = move |_: &AtomicBool| -> Result<_, kyokumen::Error> {
        Ok((PreviousRun::options(&manifest)?, PreviousRun::read(&manifest)?))
    };
    let (earlier, first) = abandonable(py, read)?.map_err(Failure::from)?;
    options.add(&earlier)?;
    let mut request = request(options, first.inputs(), output)?;
    let shard = first.shard().map(str::parse::<ShardChoice>).transpose();
    request.run.shard = shard.map_err(Failure::usage)?;
    Ok(JobRequest { previous_run: Some(Arc::new(first)), ..request })
}

/// Options in TOML by the long names of the command line. `output` and `progress` are ignored, because the call sets
/// them.
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

/// The inputs, outputs and estimated time of a plan.
fn would_do<'py>(py: Python<'py>, plan: &JobPlan) -> PyResult<Object<'py>> {
    let inputs = plan.ranges.iter().map(|part| {
        let (file, format) = (&part.input.name, part.input.format.name());
        json!({"file": file, "format": format, "from": part.from, "to": part.end()})
    });
    let files = &plan.files;
    let outputs = files.outputs.iter().map(|output| &output.path).chain([&files.manifest]);
    let outputs = outputs.map(|path| files.destination(path).display().to_string());
    let (inputs, outputs): (Vec<Value>, Vec<String>) = (inputs.collect(), outputs.collect());
    let search = plan.settings.search.clone();
    let judge = move || Judge::try_new(&search);
    let expected = interruptible_in_silence(py, |cancel| estimate(plan, judge, cancel))?;
    let said = json!({
        "inputs": inputs,
        "outputs": outputs,
        "records": plan.records,
        "estimate": expected.map_err(Failure::from)?,
    });
    told(py, &said)
}
