//! What a run will read and write: everything is checked here, before anything is created.
//!
//! File names are those the command line documents: `STEM-00003-of-00010.hcp.mated` and so on.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::previous_run::PreviousRun;
use super::run_name::{CHECKPOINT_SUFFIX, LOCK_SUFFIX, RunName};
use super::settings::{MatedPolicy, Settings, UnknownPolicy};
use super::staging::Staging;
use crate::format::move16::Dialect;
use crate::format::{Field, Fill};
use crate::jobs::error::JobError;
use crate::jobs::settings::DatasetSettings;
use crate::jobs::solved_positions::SOLVED_POSITIONS;
use crate::records::account_file::MANIFEST_SUFFIX;
use crate::records::bad_record::BadPolicy;
use crate::records::claims::{FileClaim, FileClaims, check_absence, check_twice};
use crate::records::format_name::FormatName;
use crate::records::lineage::warn_of_mixed_streams;
use crate::records::opening;
use crate::records::opening::{
    Unreadable, check_compression, check_filters, check_folder, check_table_format, conversion,
    stem, warn_of_invented_labels,
};
use crate::records::plan_error::PlanError;
use crate::records::selection::{Selection, select_records};
use crate::records::shard::Shard;
use crate::records::sink::OutputPlan;
use crate::records::source::{Index, Input, InputLocation, Part};
use crate::records::stream::Stream;
use crate::storage::path_text::path_of;

/// Time between two checkpoints, if nothing else is asked for.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(10);

/// What the user asked for, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    /// Files of positions, read as one sequence; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Folder of the outputs; made if it is not there. Its URL if they are to be objects.
    pub output: PathBuf,
    /// Folder in which outputs are made that are to be objects; the system's for temporary files if nothing
    /// is said.
    pub tmp_dir: Option<PathBuf>,
    /// Format of the inputs, where their extensions do not say it.
    pub from: Option<FormatName>,
    /// How packed moves are encoded; as the records show if nothing is said.
    pub dialect: Option<Dialect>,
    /// Format of the outputs; that of the inputs if nothing is said.
    pub to: Option<FormatName>,
    /// Stem of the outputs' names; the first input's if nothing is said.
    pub name: Option<String>,
    /// Which part of the input to take; all of it if nothing is said.
    pub shard: Option<Shard>,
    /// Whether outputs that exist may be replaced.
    pub force: bool,
    /// Whether to go on where an interrupted run stood, if there was one.
    pub resume: bool,
    /// Time between two checkpoints; [`CHECKPOINT_EVERY`] if nothing is said.
    pub checkpoint_every: Option<Duration>,
    /// Where to say for Prometheus how far the run has come.
    pub metrics: Option<PathBuf>,
    /// What an earlier run found out, if only the rest is to be searched.
    pub previous_run: Option<Arc<PreviousRun>>,
    /// What to do with inputs whose records mostly cannot be read.
    pub unreadable: Unreadable,
    /// Files that this was read from, if it was: they must not be written over.
    pub read_from: Vec<PathBuf>,
    /// Everything else.
    pub settings: Settings,
}

/// A run that can begin.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// What is read, in order.
    pub parts: Vec<Part>,
    /// Records that will be read, where that is known before.
    pub records: Option<u64>,
    /// Number, over all inputs, of the first record that will be read.
    pub first_number: u64,
    /// Indexes of inputs that were made for this, and where they are to be kept for the next shard.
    pub indexes: Vec<(PathBuf, Index)>,
    /// Which part of the input this is.
    pub shard: Option<Shard>,
    /// What the names of the outputs of all shards begin with.
    pub stem: String,
    /// Folder of the outputs, on this machine.
    pub folder: PathBuf,
    /// The way of the outputs to their store, if they are to be objects.
    pub(crate) staging: Option<Staging>,
    /// The outputs but for the manifest.
    pub outputs: Vec<OutputPlan>,
    /// Where the manifest will be.
    pub manifest: PathBuf,
    /// Where checkpoints are kept; nowhere if the run cannot be resumed.
    pub checkpoint: Option<PathBuf>,
    /// Time between two of them.
    pub checkpoint_every: Duration,
    /// Whether to go on where an interrupted run stood, if there was one.
    pub resume: bool,
    /// What says that the outputs are being written.
    pub lock: PathBuf,
    /// Where to say for Prometheus how far the run has come.
    pub metrics: Option<PathBuf>,
    /// What an earlier run found out, if only the rest is to be searched.
    pub previous_run: Option<Arc<PreviousRun>>,
    /// What is made of the records.
    pub product: Product,
    /// The settings.
    pub settings: Settings,
}

/// What is made of the records that are judged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Product {
    /// They are sorted, and written in this format.
    Records(FormatName),
    /// Each becomes a row of the table of solved positions.
    Rows(DatasetSettings),
    /// They get new evaluations, and are written in this format.
    Evaluated(FormatName),
}

impl Product {
    /// Checks what is asked for.
    fn new(
        inputs: &[Input],
        to: Option<FormatName>,
        settings: &Settings,
        shard: Option<Shard>,
    ) -> Result<Self, PlanError> {
        let first = inputs.first().ok_or(PlanError::NoInput)?;
        if let Some(dataset) = settings.dataset {
            return check_table_format(dataset.format).map(|()| Self::Rows(dataset));
        }
        let to = output_format(first, inputs, to)?;
        if settings.relabel.is_some() {
            return evaluated(inputs, to, settings, shard).map(|()| Self::Evaluated(to));
        }
        if to.format.holds_games() {
            return Err(PlanError::NoRecords { to: to.format });
        }
        let conversions = inputs.iter().map(|input| conversion(input, to.format, &settings.fill));
        let conversions = conversions.collect::<Result<Vec<_>, _>>()?;
        let fields = to.format.fields();
        warn_of_invented_labels(&settings.fill, fields, inputs.iter().zip(&conversions));
        Ok(Self::Records(to))
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records(to) | Self::Evaluated(to) => to.fmt(f),
            Self::Rows(dataset) => dataset.format.fmt(f),
        }
    }
}

impl JobPlan {
    /// Where an output, or the manifest, will be in the end.
    pub fn destination(&self, path: &Path) -> PathBuf {
        self.staging.as_ref().map_or_else(|| path.to_owned(), |staging| staging.destination(path))
    }

    /// Checks a request. Reads inputs only to count their records, creates nothing.
    ///
    /// # Errors
    /// [`JobError`] with what is wrong.
    pub fn new(request: JobRequest) -> Result<Self, JobError> {
        let JobRequest { inputs, output, tmp_dir, from, dialect, to, name, shard, .. } = request;
        let JobRequest { force, resume, checkpoint_every, metrics, .. } = request;
        let JobRequest { previous_run, read_from, unreadable, settings, .. } = request;
        let staging = Staging::to(&output, tmp_dir);
        let folder = staging.as_ref().map_or(output, |staging| staging.folder.clone());
        settings.search.check()?;
        let inputs = opening::inputs(&inputs, from, dialect, unreadable)?;
        if shard.is_some() {
            check_twice(&inputs, "a shard needs files")?;
        }
        warn_of_mixed_streams(&inputs);
        inputs.iter().try_for_each(|input| check_filters(input, &settings.filters))?;
        let product = Product::new(&inputs, to, &settings, shard)?;
        let stem = stem(name, &inputs)?;
        let run = RunName::new(&stem, shard);
        let name = |suffix: &str| folder.join(path_of(&run.file(suffix)));
        let is_first = shard.is_none_or(|shard| shard.index() == 1);
        let outputs = outputs(&settings, &product, is_first, name);
        let (manifest, lock) = (name(MANIFEST_SUFFIX), name(LOCK_SUFFIX));
        let checkpoint =
            can_be_resumed(&inputs, &outputs, resume)?.then(|| name(CHECKPOINT_SUFFIX));
        let paths = || outputs.iter().map(|output| &output.path).chain([&manifest]);
        check_folder(&folder)?;
        let mut claims = claims(&inputs, &read_from, previous_run.as_deref())?;
        let indexes = index_paths(&inputs, shard, &folder);
        let others =
            [&manifest].into_iter().chain(&checkpoint).chain(&indexes).map(FileClaim::file);
        claims.write(outputs.iter().map(FileClaim::output).chain(others))?;
        claims.write([FileClaim::in_place(&lock)])?;
        claims.write(metrics.iter().map(FileClaim::file_or_stream))?;
        let is_new = !force && !resume;
        if let Some(staging) = &staging {
            let objects: Vec<_> = paths().map(|path| staging.destination(path)).collect();
            claims.write(objects.iter().map(FileClaim::in_place))?;
            check_unsent(&objects, is_new.then_some(&manifest))?;
        }
        if is_new {
            check_absence(paths())?;
            check_not_interrupted(checkpoint.as_ref())?;
        }
        let Selection { parts, records, first_number, indexes } =
            select_records(inputs, shard, settings.limit, Some(&folder))?;
        if let Some(first) = &previous_run {
            first.check_settings(&settings)?;
            first.check_inputs(&parts)?;
        }
        Ok(Self {
            parts,
            records,
            first_number,
            indexes,
            shard,
            stem,
            folder,
            staging,
            outputs,
            manifest,
            checkpoint,
            checkpoint_every: checkpoint_every.unwrap_or(CHECKPOINT_EVERY),
            resume,
            lock,
            metrics,
            previous_run,
            product,
            settings,
        })
    }
}

/// Whether evaluations can be written in a format, with what the inputs say besides.
fn evaluated(
    inputs: &[Input],
    to: FormatName,
    settings: &Settings,
    shard: Option<Shard>,
) -> Result<(), PlanError> {
    let to = to.format;
    if !to.fields().contains(Field::EvalCp) {
        return Err(PlanError::NoEvaluation { to });
    }
    let writes_policy = settings.relabel.as_ref().is_some_and(|relabel| relabel.policy);
    // What is found out need not be filled in.
    let no_move = settings.fill.no_move || writes_policy;
    let fill = Fill { eval_cp: Some(0), no_move, ..settings.fill };
    let mut conversions = Vec::new();
    for input in inputs {
        let stays_games = input.format.holds_games() && to.holds_games();
        if to.holds_games() && !stays_games {
            return Err(PlanError::NoRecords { to });
        }
        if stays_games && (settings.filters.leave_out() || settings.limit.is_some()) {
            return Err(PlanError::GamesAreNotFiltered { input: input.name.clone(), to });
        }
        if stays_games && shard.is_some() {
            return Err(PlanError::GamesInShards { input: input.name.clone(), to });
        }
        conversions.push(conversion(input, to, &fill).map_err(|error| match error {
            PlanError::Conversion { input, source, .. } => {
                PlanError::Conversion { input, fill: settings.fill, source }
            }
            error => error,
        })?);
    }
    warn_of_invented_labels(&settings.fill, to.fields(), inputs.iter().zip(&conversions));
    Ok(())
}

fn output_format(
    first: &Input,
    inputs: &[Input],
    to: Option<FormatName>,
) -> Result<FormatName, PlanError> {
    if let Some(to) = to {
        return check_compression(to);
    }
    if let Some(other) = inputs.iter().find(|input| input.format != first.format) {
        let (first, second) = (first.name.clone(), other.name.clone());
        return Err(PlanError::MixedFormats { first, second });
    }
    Ok(FormatName { format: first.format, compression: first.compression.written() })
}

fn outputs(
    settings: &Settings,
    product: &Product,
    is_first: bool,
    name: impl Fn(&str) -> PathBuf,
) -> Vec<OutputPlan> {
    let sorts_records = matches!(product, Product::Records(_));
    let writes_rows = matches!(product, Product::Rows(_));
    let is_wanted = |stream: &Stream| match stream {
        Stream::Kept => !writes_rows,
        Stream::MatedLines | Stream::UnknownLines => sorts_records,
        Stream::Mated => sorts_records && settings.mated == MatedPolicy::Split,
        Stream::Unknown => sorts_records && settings.unknown == UnknownPolicy::Split,
        Stream::Quarantine | Stream::QuarantineLines => settings.on_error == BadPolicy::Quarantine,
        Stream::Rows => writes_rows,
    };
    let extension = product.to_string();
    let output = |stream: Stream| {
        let plain = OutputPlan::plain(stream, name(&stream.suffix(&extension)));
        match product {
            Product::Records(to) | Product::Evaluated(to) if stream.holds_records() => {
                // A shard that goes on where another ends begins with its first record.
                let (header, separator): (&[u8], &[u8]) =
                    if is_first { (to.format.header(), to.format.separator()) } else { (b"", b"") };
                OutputPlan { compression: to.compression, header, separator, ..plain }
            }
            Product::Rows(dataset) if stream == Stream::Rows => OutputPlan {
                deferred_table: dataset.format.deferred_table(&SOLVED_POSITIONS),
                ..plain
            },
            Product::Records(_) | Product::Rows(_) | Product::Evaluated(_) => plain,
        }
    };
    Stream::ALL.into_iter().filter(is_wanted).map(output).collect()
}

/// What a run reads, inputs and all else.
fn claims(
    inputs: &[Input],
    read_from: &[PathBuf],
    previous_run: Option<&PreviousRun>,
) -> Result<FileClaims, PlanError> {
    let claims = FileClaims::reading(inputs)?.and_reading(read_from);
    let Some(first) = previous_run else { return Ok(claims) };
    // Standard input must be given again; its content is compared at the end.
    let named = inputs.iter().filter(|input| input.location != InputLocation::Stdin);
    check_twice(named, "an earlier run has read it")?;
    Ok(claims.and_reading(first.files()))
}

/// Where shards may keep what they find out about their inputs, of two of one name in the same place.
fn index_paths(inputs: &[Input], shard: Option<Shard>, folder: &Path) -> BTreeSet<PathBuf> {
    let inputs = inputs.iter().filter(|_| shard.is_some());
    inputs.filter_map(|input| Index::path(folder, input)).collect()
}

/// Whether another process can go on with a run.
fn can_be_resumed(
    inputs: &[Input],
    outputs: &[OutputPlan],
    is_asked: bool,
) -> Result<bool, PlanError> {
    let from_files = check_twice(inputs, "--resume needs files");
    let unable = outputs.iter().find(|output| !output.can_be_resumed());
    match unable {
        _ if is_asked && from_files.is_err() => from_files.map(|()| false),
        Some(output) if is_asked => Err(PlanError::NotResumable { output: output.path.clone() }),
        unable => Ok(from_files.is_ok() && unable.is_none()),
    }
}

/// No interrupted run may be waiting to be resumed.
pub(crate) fn check_not_interrupted(checkpoint: Option<&PathBuf>) -> Result<(), PlanError> {
    match checkpoint {
        Some(path) if path.exists() => Err(PlanError::Interrupted { checkpoint: path.clone() }),
        _ => Ok(()),
    }
}

/// Of a new run no object may exist, nor its manifest on this machine, beside what was made and not sent.
fn check_unsent(objects: &[PathBuf], manifest: Option<&PathBuf>) -> Result<(), PlanError> {
    let Some(manifest) = manifest else { return Ok(()) };
    check_absence(objects.iter())?;
    check_not_interrupted(Some(manifest))
}
