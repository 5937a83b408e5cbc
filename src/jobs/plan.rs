//! What a run will read and write: everything is checked here, before anything is created.
//!
//! File names are those the command line documents: `STEM-00003-of-00010.hcp.mated` and so on.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::identity::{DATASET, FILTER, RELABEL};
use super::previous_run::PreviousRun;
use super::record_totals::output_kinds;
use super::run_files::{RunFiles, RunRequest};
use super::settings::Settings;
use crate::error::{Error, Remedy};
use crate::format::move16::Dialect;
use crate::format::{Field, Fill, conversion_plan};
use crate::jobs::settings::DatasetSettings;
use crate::jobs::solved_positions::SOLVED_POSITIONS;
use crate::records::claims::{FileClaims, check_twice};
use crate::records::format_name::FormatName;
use crate::records::lineage::warn_of_mixed_outputs;
use crate::records::opening::{
    self, Unreadable, check_compression, check_filters, check_table_format, conversion, stem,
    warn_of_invented_labels,
};
use crate::records::output_kind::OutputKind;
use crate::records::selection::{Selection, select_records};
use crate::records::shard::Shard;
use crate::records::sink::OutputPlan;
use crate::records::source::{Input, InputLocation, InputRange, OffsetTable};

/// What the user asked for, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    /// Files of positions, read as one sequence; `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Where the run writes, and whether it resumes.
    pub run: RunRequest,
    /// Format of the inputs, where their extensions do not say it.
    pub from: Option<FormatName>,
    /// How packed moves are encoded; as the records show if nothing is said.
    pub dialect: Option<Dialect>,
    /// Format of the outputs; that of the inputs if nothing is said.
    pub to: Option<FormatName>,
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
    pub ranges: Vec<InputRange>,
    /// Records that will be read, if known before.
    pub records: Option<u64>,
    /// Number, over all inputs, of the first record that will be read.
    pub first_number: u64,
    /// Indexes of inputs that were made for this run, and where to keep them for the next shard.
    pub offset_tables: Vec<(PathBuf, OffsetTable)>,
    /// The files of the run.
    pub files: RunFiles,
    /// Results of an earlier run, if only its unknown records are searched.
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
    ) -> Result<Self, Error> {
        let first = inputs.first().ok_or_else(Error::no_input)?;
        if let Some(dataset) = settings.dataset {
            return check_table_format(dataset.format).map(|()| Self::Rows(dataset));
        }
        let to = output_format(first, inputs, to)?;
        if settings.relabel.is_some() {
            return evaluated(inputs, to, settings, shard).map(|()| Self::Evaluated(to));
        }
        if to.format.holds_games() {
            return Err(Error::no_records(to.format));
        }
        let conversions = inputs.iter().map(|input| conversion(input, to.format, &settings.fill));
        let conversions = conversions.collect::<Result<Vec<_>, _>>()?;
        let fields = to.format.fields();
        warn_of_invented_labels(&settings.fill, fields, inputs.iter().zip(&conversions));
        Ok(Self::Records(to))
    }

    /// The command that makes it.
    pub(crate) const fn command(&self) -> &'static str {
        match self {
            Self::Records(_) => FILTER,
            Self::Rows(_) => DATASET,
            Self::Evaluated(_) => RELABEL,
        }
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
    /// Checks a request. Reads inputs only to count their records, and creates nothing.
    ///
    /// # Errors
    /// [`Error`] with the first problem.
    pub fn new(request: JobRequest) -> Result<Self, Error> {
        let JobRequest { inputs, run, from, dialect, to, .. } = request;
        let JobRequest { previous_run, read_from, unreadable, settings, .. } = request;
        let shard = run.shard()?;
        settings.search.check()?;
        let inputs = opening::inputs(&inputs, from, dialect, unreadable)?;
        if shard.is_some() {
            check_twice(&inputs, "a shard needs files")?;
        }
        warn_of_mixed_outputs(&inputs);
        inputs.iter().try_for_each(|input| check_filters(input, &settings.filters))?;
        let product = Product::new(&inputs, to, &settings, shard)?;
        let stem = stem(run.name.clone(), &inputs)?;
        let mut files =
            RunFiles::new(run, stem, shard, |path| outputs(&settings, &product, shard, path));
        files.check_resumable(&inputs)?;
        let mut claims = claims(&inputs, &read_from, previous_run.as_deref())?;
        files.claim(&mut claims, &index_paths(&inputs, shard, &files.folder))?;
        let Selection { ranges, records, first_number, offset_tables } =
            select_records(inputs, shard, settings.limit, Some(&files.folder))?;
        if let Some(first) = &previous_run {
            first.check_settings(&settings)?;
            first.check_inputs(&ranges)?;
        }
        Ok(Self {
            ranges,
            records,
            first_number,
            offset_tables,
            files,
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
) -> Result<(), Error> {
    let to = to.format;
    if !to.fields().contains(Field::EvalCp) {
        return Err(Error::usage(format!(
            "{to} holds no evaluations; `kyokumen formats` says which formats do, and --to takes one"
        )));
    }
    let writes_policy = settings.relabel.as_ref().is_some_and(|relabel| relabel.policy);
    // What is found out need not be filled in.
    let no_move = settings.fill.no_move || writes_policy;
    let fill = Fill { eval_cp: Some(0), no_move, ..settings.fill };
    let mut conversions = Vec::new();
    for input in inputs {
        let stays_games = input.format.holds_games() && to.holds_games();
        if to.holds_games() && !stays_games {
            return Err(Error::no_records(to));
        }
        if stays_games && (settings.filters.leave_out() || settings.limit.is_some()) {
            return Err(Error::games_are_not_filtered(input.name.clone(), to));
        }
        if stays_games && shard.is_some() {
            return Err(Error::usage(format!(
                "{} holds games, which {to} keeps whole: take ranges that `kyokumen split` makes, in place of shards",
                input.name
            )));
        }
        conversions.push(
            conversion_plan(input.format, to, &fill)
                .map_err(|source| Error::conversion(&input.name, to, settings.fill, source))?,
        );
    }
    warn_of_invented_labels(&settings.fill, to.fields(), inputs.iter().zip(&conversions));
    Ok(())
}

fn output_format(
    first: &Input,
    inputs: &[Input],
    to: Option<FormatName>,
) -> Result<FormatName, Error> {
    if let Some(to) = to {
        return check_compression(to);
    }
    if let Some(other) = inputs.iter().find(|input| input.format != first.format) {
        let (first, second) = (first.name.clone(), other.name.clone());
        let error = Error::usage(format!("{first} and {second} have different formats"));
        return Err(error.with_remedy(Remedy::OutputFormat));
    }
    Ok(FormatName { format: first.format, compression: first.compression.written() })
}

fn outputs(
    settings: &Settings,
    product: &Product,
    shard: Option<Shard>,
    path: &dyn Fn(&str) -> PathBuf,
) -> Vec<OutputPlan> {
    let extension = product.to_string();
    let output = |kind: OutputKind| {
        let plain = OutputPlan::plain(kind, path(&kind.suffix(&extension)));
        match product {
            Product::Records(to) | Product::Evaluated(to) if kind.holds_records() => {
                OutputPlan::records(*to, kind, plain.path, shard)
            }
            Product::Rows(dataset) if kind == OutputKind::Rows => OutputPlan {
                deferred_table: dataset.format.deferred_table(&SOLVED_POSITIONS),
                ..plain
            },
            Product::Records(_) | Product::Rows(_) | Product::Evaluated(_) => plain,
        }
    };
    let Settings { mated, unknown, on_error, .. } = *settings;
    output_kinds(product.command(), mated, unknown, on_error).map(output).collect()
}

/// What a run reads, inputs and all else.
fn claims(
    inputs: &[Input],
    read_from: &[PathBuf],
    previous_run: Option<&PreviousRun>,
) -> Result<FileClaims, Error> {
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
    inputs.filter_map(|input| OffsetTable::path(folder, input)).collect()
}
