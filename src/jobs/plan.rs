//! The plan of a run: its inputs, outputs and settings. Everything is checked here, before any file is created.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::identity::{DATASET, FILTER, RELABEL, SOLVE};
use super::previous_run::PreviousRun;
use super::record_totals::output_kinds;
use super::run_files::{RunFiles, RunRequest};
use super::settings::Settings;
use crate::error::{Error, Remedy};
use crate::format::move16::Dialect;
use crate::format::{Field, Fill, conversion_plan};
use crate::jobs::settings::DatasetSettings;
use crate::jobs::solved_positions::SOLVED_POSITIONS;
use crate::records::claims::{FileClaims, check_rereadable};
use crate::records::format_name::FormatName;
use crate::records::lineage::warn_of_mixed_outputs;
use crate::records::opening::{
    self, Unreadable, check_compression, check_filters, check_table_format, conversion, stem,
    warn_of_filled_in_labels,
};
use crate::records::output_kind::OutputKind;
use crate::records::selection::{Selection, select_records};
use crate::records::shard::Shard;
use crate::records::sink::OutputPlan;
use crate::records::source::{Input, InputLocation, InputRange, OffsetTable};
use crate::storage::table::TableFormat;

/// The user's request, not yet checked.
#[derive(Clone, Debug, Default)]
pub struct JobRequest {
    /// Input files, read in order as one sequence. `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Destination, shard and resumption.
    pub run: RunRequest,
    /// Format of the inputs. `None` determines it from the extension, or else from the content.
    pub from: Option<FormatName>,
    /// Move encoding of the inputs. `None` determines it from a sample of the records.
    pub dialect: Option<Dialect>,
    /// Format of the outputs. `None` selects the format of the inputs.
    pub to: Option<FormatName>,
    /// The previous run, if only its unknown records are to be searched again.
    pub previous_run: Option<Arc<PreviousRun>>,
    /// What to do with inputs whose records are mostly unreadable.
    pub unreadable: Unreadable,
    /// The configuration files with options of the request. The run must not overwrite them.
    pub config_files: Vec<PathBuf>,
    /// The settings.
    pub settings: Settings,
}

/// A checked run.
#[derive(Clone, Debug)]
pub struct JobPlan {
    /// The input ranges, in order.
    pub ranges: Vec<InputRange>,
    /// The names of the inputs in lists and manifest, if an earlier process of the run has determined them.
    pub(crate) first_names: OnceLock<Vec<String>>,
    /// Number of records in the ranges, if known before they are read.
    pub records: Option<u64>,
    /// Number of the first record of the ranges, counted over all inputs.
    pub first_number: u64,
    /// Offset tables that were built for this plan, with the paths where they are saved for other shards.
    pub offset_tables: Vec<(PathBuf, OffsetTable)>,
    /// The files of the run.
    pub files: RunFiles,
    /// The previous run, if only its unknown records are searched.
    pub previous_run: Option<Arc<PreviousRun>>,
    /// The product of the run.
    pub product: Product,
    /// The settings.
    pub settings: Settings,
}

/// The product that a run makes from the records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Product {
    /// Records in this format, divided by verdict.
    Records(FormatName),
    /// A table of solved positions with one row per record.
    Rows(DatasetSettings),
    /// Verdicts and proofs of the leaves of a position.
    Leaves,
    /// Records in this format with new evaluations.
    Evaluated(FormatName),
}

impl Product {
    /// Determines the product. Checks that the inputs can be converted to it.
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
        if settings.split.is_some() {
            return Ok(Self::Leaves);
        }
        let to = output_format(first, inputs, to)?;
        opening::check_encodings(inputs, to.format, |input| {
            to.format.takes_chunks_of(input.format)
        })?;
        if settings.relabel.is_some() {
            return check_relabel_target(inputs, to, settings, shard).map(|()| Self::Evaluated(to));
        }
        if to.format.holds_games() {
            return Err(Error::needs_record_format(to.format));
        }
        let conversions = inputs.iter().map(|input| conversion(input, to.format, &settings.fill));
        let conversions = conversions.collect::<Result<Vec<_>, _>>()?;
        let fields = to.format.fields();
        warn_of_filled_in_labels(&settings.fill, fields, inputs.iter().zip(&conversions));
        Ok(Self::Records(to))
    }

    /// The command that makes this product.
    pub(crate) const fn command(&self) -> &'static str {
        match self {
            Self::Records(_) => FILTER,
            Self::Rows(_) => DATASET,
            Self::Leaves => SOLVE,
            Self::Evaluated(_) => RELABEL,
        }
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records(to) | Self::Evaluated(to) => to.fmt(f),
            Self::Rows(dataset) => dataset.format.fmt(f),
            Self::Leaves => TableFormat::Jsonl.fmt(f),
        }
    }
}

impl JobPlan {
    /// Checks a request. Creates no files. Reads inputs only to determine their formats, move encodings and numbers of
    /// records.
    ///
    /// # Errors
    /// [`Error`] with the first problem.
    pub fn new(request: JobRequest) -> Result<Self, Error> {
        let JobRequest { inputs, run, from, dialect, to, .. } = request;
        let JobRequest { previous_run, config_files, unreadable, settings, .. } = request;
        let shard = run.shard()?;
        settings.search.check()?;
        let inputs = opening::inputs(&inputs, from, dialect, unreadable)?;
        if shard.is_some() {
            check_rereadable(&inputs, "--shard needs random access")?;
        }
        warn_of_mixed_outputs(&inputs);
        inputs.iter().try_for_each(|input| check_filters(input, &settings.filters))?;
        let product = Product::new(&inputs, to, &settings, shard)?;
        let stem = stem(run.name.clone(), inputs.first().map(|input| &input.location))?;
        let mut files =
            RunFiles::new(run, stem, shard, |path| output_plans(&settings, &product, shard, path));
        files.check_resumable(&inputs)?;
        let mut claims = claim_read_files(&inputs, &config_files, previous_run.as_deref())?;
        files.claim(&mut claims, &offset_table_paths(&inputs, shard, &files.folder))?;
        let Selection { ranges, records, first_number, offset_tables } =
            select_records(inputs, shard, settings.limit, Some(&files.folder))?;
        if let Some(previous_run) = &previous_run {
            previous_run.check_settings(&settings)?;
            previous_run.check_inputs(&ranges)?;
        }
        Ok(Self {
            ranges,
            first_names: OnceLock::new(),
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

impl JobPlan {
    /// The name of an input in lists and manifest. A resumed run may be given another path to the same file.
    pub(crate) fn listed_name(&self, input: usize) -> &String {
        let first = self.first_names.get().and_then(|names| names.get(input));
        first.unwrap_or(&self.ranges[input].input.name)
    }
}

/// Checks that the format `to` can hold the records of all inputs with their new evaluations.
fn check_relabel_target(
    inputs: &[Input],
    to: FormatName,
    settings: &Settings,
    shard: Option<Shard>,
) -> Result<(), Error> {
    let to = to.format;
    if !to.fields().contains(Field::EvalCp) {
        return Err(Error::usage(format!(
            "{to} holds no evaluations; choose another format with --to (`kyokumen formats` lists the fields of each)"
        )));
    }
    let writes_policy = settings.relabel.as_ref().is_some_and(|relabel| relabel.policy);
    // Fields that the run sets need no --fill.
    let no_move = settings.fill.no_move || writes_policy;
    let fill = Fill { eval_cp: Some(0), no_move, ..settings.fill };
    let reuses_eval = settings.relabel.as_ref().is_some_and(|relabel| relabel.keep_eval);
    let mut conversions = Vec::new();
    for input in inputs {
        if reuses_eval && !input.format.fields().contains(Field::EvalCp) {
            let (name, format) = (input.name.clone(), input.format.name());
            return Err(Error::filter_on_missing_field("keep-eval", name, format, Field::EvalCp));
        }
        let keeps_games = input.format.holds_games() && to.holds_games();
        if to.holds_games() && !keeps_games {
            return Err(Error::needs_record_format(to));
        }
        let removes = settings.limit.map(|_| "limit").or_else(|| settings.filters.first_option());
        if let Some(option) = removes.filter(|_| keeps_games) {
            return Err(Error::games_are_not_filtered(option, input.display_name(), to));
        }
        if keeps_games && shard.is_some() {
            return Err(Error::usage(format!(
                "--shard cannot be used, because {} and the output ({to}) hold whole games; divide the input with \
                 `kyokumen split` instead",
                input.display_name()
            )));
        }
        conversions.push(conversion_plan(input.format, to, &fill).map_err(|source| {
            Error::conversion(input.display_name(), to, settings.fill, source)
        })?);
    }
    warn_of_filled_in_labels(&settings.fill, to.fields(), inputs.iter().zip(&conversions));
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
        let error = Error::usage(format!(
            "{first} and {second} have different formats, so all records must be converted to one format"
        ));
        return Err(error.with_remedy(Remedy::OutputFormat));
    }
    Ok(FormatName { format: first.format, compression: first.compression.written() })
}

fn output_plans(
    settings: &Settings,
    product: &Product,
    shard: Option<Shard>,
    path: &dyn Fn(&str) -> PathBuf,
) -> Vec<OutputPlan> {
    let extension = product.to_string();
    let plan = |kind: OutputKind| {
        let plain = OutputPlan::plain(kind, path(&kind.suffix(&extension)));
        match product {
            Product::Records(to) | Product::Evaluated(to) if kind.holds_records() => {
                OutputPlan::records(*to, kind, plain.path, shard)
            }
            Product::Rows(dataset) if kind == OutputKind::Rows => OutputPlan {
                deferred_table: dataset.format.deferred_table(&SOLVED_POSITIONS),
                ..plain
            },
            _ => plain,
        }
    };
    let Settings { mated, unknown, on_error, .. } = *settings;
    output_kinds(product.command(), mated, unknown, on_error).map(plan).collect()
}

/// Registers all files that the run reads, so that no output may overwrite them.
fn claim_read_files(
    inputs: &[Input],
    config_files: &[PathBuf],
    previous_run: Option<&PreviousRun>,
) -> Result<FileClaims, Error> {
    let claims = FileClaims::reading(inputs)?.and_reading(config_files);
    let Some(previous_run) = previous_run else { return Ok(claims) };
    // Standard input cannot be checked here. The user provides it again, and its checksum is compared at the end.
    let named = inputs.iter().filter(|input| input.location != InputLocation::Stdin);
    check_rereadable(named, "the previous run has read it")?;
    Ok(claims.and_retrying(previous_run.files()))
}

/// The offset tables that the shards may write. A set, because inputs with the same file name have the same path here.
fn offset_table_paths(inputs: &[Input], shard: Option<Shard>, folder: &Path) -> BTreeSet<PathBuf> {
    let inputs = inputs.iter().filter(|_| shard.is_some());
    inputs.filter_map(|input| OffsetTable::path(folder, input)).collect()
}
