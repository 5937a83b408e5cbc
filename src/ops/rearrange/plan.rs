//! The plan of an operation. All checks are done here, before any file is created.
//!
//! File names, formats and inputs that are also outputs follow the same rules as in [`crate::jobs::plan`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::chunks::ChunkReading;
use super::spill::Spill;
use crate::error::Error;
use crate::format::Format;
use crate::format::move16::Dialect;
use crate::records::account::{InputIdentity, MANIFEST_SUFFIX};
use crate::records::bad_record::BadPolicy;
use crate::records::claims::{
    FileClaim, FileClaims, check_absence, check_pipe, check_rereadable, is_pipe,
};
use crate::records::filters::RecordFilters;
use crate::records::format_name::{FormatName, without_compression};
use crate::records::lineage::{parts_of, warn_of_mixed_outputs};
use crate::records::opening::{
    self, Unreadable, check_compression, check_filters, check_folder, side_outputs, stem,
};
use crate::records::output_kind::OutputKind;
use crate::records::selection::{Selection, select_records};
use crate::records::sink::OutputPlan;
use crate::records::source::{Input, InputRange};
use crate::storage::compression::Compression;
use crate::storage::memory::Memory;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::{files, platform};

/// Resources that an operation may use. They do not affect the output.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Number of threads. 0: one per logical CPU.
    pub threads: usize,
    /// Memory for records.
    pub memory: Memory,
    /// Folder for temporary files. `None`: the folder of the output, or the system's folder for temporary files if the
    /// output is not a file.
    pub tmp_dir: Option<PathBuf>,
}

impl Default for Resources {
    fn default() -> Self {
        Self { threads: 0, memory: Memory::gib(2), tmp_dir: None }
    }
}

impl Resources {
    pub(super) fn folder(&self) -> PathBuf {
        self.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Checks that temporary files can be created.
    pub(super) fn check_folder(&self) -> Result<(), Error> {
        Spill::create(&self.folder()).map(drop)
    }

    pub(super) fn threads(&self) -> usize {
        platform::threads(self.threads)
    }

    /// Number of partitions that are read, sorted or waiting to be written at once.
    pub(super) fn partitions_in_flight(&self) -> usize {
        2 * self.threads() + 1
    }
}

/// The unchecked request of an operation.
#[derive(Clone, Debug, Default)]
pub struct RearrangeRequest {
    /// Position files, read as one sequence. `-` is standard input.
    pub inputs: Vec<PathBuf>,
    /// Reference files of dedup: records equal to a reference record are not written. They may have any formats.
    pub references: Vec<PathBuf>,
    /// The output, or the folder of several parts. `-` is standard output. A missing folder is created.
    pub output: PathBuf,
    /// Format of the inputs. `None`: detected by extension.
    pub from: Option<FormatName>,
    /// Encoding of 16-bit moves in the inputs. `None`: detected from the records.
    pub dialect: Option<Dialect>,
    /// Filters that select the records. References are not filtered.
    pub filters: RecordFilters,
    /// Format of the output. Its compression may differ from the inputs. `None`: determined from the file name of the
    /// output, or from the inputs if the name has no known extension or the output consists of parts.
    pub to: Option<FormatName>,
    /// Stem of the file names of parts. `None`: the stem of the first input.
    pub name: Option<String>,
    /// Replace existing outputs.
    pub force: bool,
    /// What to do with bad records.
    pub on_error: BadPolicy,
    /// Resources that the operation may use.
    pub resources: Resources,
}

/// Maximum number of parts, whose numbers have five digits in file names.
pub const MAX_PARTS: u32 = 99_999;

#[derive(Clone, Debug)]
pub(super) struct PartNames {
    folder: PathBuf,
    stem: String,
    force: bool,
}

/// A checked request.
#[derive(Clone, Debug)]
pub struct RearrangePlan {
    /// The input ranges to read, in order.
    pub ranges: Vec<InputRange>,
    /// The ranges to read from the reference files.
    pub references: Vec<InputRange>,
    /// Number of records to read, if known.
    pub records: Option<u64>,
    /// The outputs with records.
    pub outputs: Vec<OutputPlan>,
    /// The quarantine files. Empty if bad records are not quarantined.
    pub side_outputs: Vec<OutputPlan>,
    /// Path of the manifest. `None` if the output is a pipe.
    pub manifest: Option<PathBuf>,
    /// `None` unless the output consists of parts.
    pub(super) part_names: Option<PartNames>,
    /// Format of the output.
    pub to: FormatName,
    /// Filters that select the records.
    pub filters: RecordFilters,
    /// What to do with bad records.
    pub on_error: BadPolicy,
    /// Resources that the operation may use.
    pub resources: Resources,
}

impl RearrangePlan {
    /// Plans an operation with one output.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn new(request: RearrangeRequest) -> Result<Self, Error> {
        let inputs = inputs(&request)?;
        let references = match &*request.references {
            [] => Vec::new(),
            paths => opening::references(paths)?,
        };
        let RearrangeRequest { output, filters, force, on_error, resources, .. } = request;
        let is_pipe = is_pipe(&output)?;
        if is_pipe {
            check_pipe(&output, on_error)?;
        }
        let to = output_format(&output, request.to, inputs[0].format)?;
        let records = OutputPlan {
            compression: to.compression,
            header: to.format.header(),
            separator: to.format.separator(),
            is_pipe,
            ..OutputPlan::plain(OutputKind::Kept, output.clone())
        };
        let name = text_of(output.file_name().unwrap_or_default());
        let manifest =
            (!is_pipe).then(|| output.with_file_name(path_of(&(name + MANIFEST_SUFFIX))));
        let side_outputs = side_outputs(&output, to.format.name(), on_error);
        Self {
            ranges: Vec::new(),
            references: references.into_iter().map(InputRange::whole).collect(),
            records: None,
            outputs: vec![records],
            side_outputs,
            manifest,
            part_names: None,
            to,
            filters,
            on_error,
            resources,
        }
        .over(inputs, force)
    }

    /// Plans an operation whose output is split into `parts` files.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn in_parts(request: RearrangeRequest, parts: u32) -> Result<Self, Error> {
        Self::in_uncounted_parts(request)?.with_parts(parts)
    }

    /// Plans an operation whose output is split into files with these names after the stem.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs, or if a name cannot be part of a file name or
    /// occurs twice.
    pub fn in_named_parts(request: RearrangeRequest, names: &[String]) -> Result<Self, Error> {
        let mut known = BTreeSet::new();
        for name in names {
            if Path::new(name).file_name() != Some(name.as_ref()) {
                return Err(Error::usage(format!(
                    "--names: {name:?} cannot be part of a file name"
                )));
            }
            // Some file systems ignore case.
            if !known.insert(name.to_lowercase()) {
                return Err(Error::usage(format!("--names: {name:?} occurs twice")));
            }
        }
        Self::in_uncounted_parts(request)?.with_part_names(names.iter().cloned())
    }

    /// Plans an operation whose output is split into a number of files that is not known yet.
    ///
    /// # Errors
    /// [`Error`] if the request does not fit the inputs or the outputs.
    pub fn in_uncounted_parts(request: RearrangeRequest) -> Result<Self, Error> {
        let inputs = inputs(&request)?;
        let RearrangeRequest { output: folder, name, to, filters, force, .. } = request;
        let RearrangeRequest { on_error, resources, .. } = request;
        check_folder(&folder)?;
        let first = &inputs[0];
        let compression = first.compression.written();
        let to = to.unwrap_or(FormatName { format: first.format, compression });
        let to = output_format(&folder.join(to.to_string()), Some(to), first.format)?;
        let stem = stem(name, Some(&first.location))?;
        let manifest = Some(folder.join(path_of(&format!("{stem}{MANIFEST_SUFFIX}"))));
        let side_outputs = side_outputs(
            &folder.join(path_of(&format!("{stem}.{to}"))),
            to.format.name(),
            on_error,
        );
        Self {
            ranges: Vec::new(),
            references: Vec::new(),
            records: None,
            outputs: Vec::new(),
            side_outputs,
            manifest,
            part_names: Some(PartNames { folder, stem, force }),
            to,
            filters,
            on_error,
            resources,
        }
        .over(inputs, force)
    }

    /// Returns the plan unchanged if its output does not consist of parts.
    pub(super) fn with_parts(self, parts: u32) -> Result<Self, Error> {
        if parts > MAX_PARTS {
            return Err(Error::usage(format!("{parts} parts exceed the maximum of {MAX_PARTS}")));
        }
        self.with_part_names((1..=parts).map(|number| format!("{number:05}-of-{parts:05}")))
    }

    fn with_part_names(mut self, names: impl Iterator<Item = String>) -> Result<Self, Error> {
        let Some(PartNames { folder, stem, force }) = &self.part_names else { return Ok(self) };
        let to = self.to;
        let part_output = |name: String| {
            let path = folder.join(path_of(&format!("{stem}-{name}.{to}")));
            OutputPlan {
                compression: to.compression,
                header: to.format.header(),
                separator: to.format.separator(),
                ..OutputPlan::plain(OutputKind::Kept, path)
            }
        };
        self.outputs = names.map(part_output).collect();
        self.check_places(*force)?;
        self.check_former_parts(folder)?;
        Ok(self)
    }

    /// Sets the inputs and checks them against the outputs. By default, temporary files are created next to the output.
    fn over(self, inputs: Vec<Input>, force: bool) -> Result<Self, Error> {
        let Selection { ranges, records, .. } = select_records(inputs, None, None, None)?;
        let plan = Self { ranges, records, ..self };
        plan.check_places(force)?;
        let mut resources = plan.resources.clone();
        let local = plan.manifest.as_deref().filter(|manifest| !files::is_object(manifest));
        resources.tmp_dir =
            resources.tmp_dir.or(local.map(|manifest| platform::folder_of(manifest).into()));
        Ok(Self { resources, ..plan })
    }

    /// Checks that no output replaces an input or, without `force`, any other file.
    fn check_places(&self, force: bool) -> Result<(), Error> {
        let outputs = || self.outputs.iter().chain(&self.side_outputs);
        let claims =
            outputs().map(FileClaim::output).chain(self.manifest.iter().map(FileClaim::file));
        let read = self.ranges.iter().chain(&self.references).map(|range| range.input.clone());
        FileClaims::reading(&read.collect::<Vec<_>>())?.write(claims)?;
        if !force {
            let files = outputs().filter(|output| !output.is_pipe).map(|output| &output.path);
            check_absence(files.chain(&self.manifest))?;
        }
        Ok(())
    }

    /// Checks that no part of a replaced split stays, because a pattern like `all-*.psv` would match both.
    fn check_former_parts(&self, folder: &Path) -> Result<(), Error> {
        let former = self.manifest.as_deref().map_or(Vec::new(), parts_of);
        let is_replaced = |path: &PathBuf| self.outputs.iter().any(|output| output.path == *path);
        let is_alike = |path: &PathBuf| FormatName::from_file_name(&text_of(path)) == Some(self.to);
        let mut left =
            former.iter().filter(|path| is_alike(path) && !is_replaced(path) && path.is_file());
        let Some(first) = left.next() else { return Ok(()) };
        let more = match left.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Err(Error::usage(format!(
            "{}{more} of the replaced split would stay in {}; remove the old parts first, or choose another folder",
            first.display(),
            folder.display()
        )))
    }

    /// The format of all inputs and outputs.
    pub fn format(&self) -> Format {
        self.to.format
    }

    pub(super) fn reading(&self, on_error: BadPolicy) -> ChunkReading {
        // These operations keep moves that are not for training, because a game stays whole.
        let filters = RecordFilters { keep_untrained: true, ..self.filters };
        ChunkReading { to: self.format(), filters, on_error }
    }

    /// Identities of the inputs, determined without reading them.
    pub(super) fn identities(&self) -> Vec<InputIdentity> {
        self.ranges.iter().map(|range| InputIdentity::new(&range.input)).collect()
    }

    /// Checks that all inputs can be read twice. `why` is the reason for the error message.
    pub(super) fn check_twice(&self, why: &'static str) -> Result<(), Error> {
        check_rereadable(self.ranges.iter().map(|range| &range.input), why)
    }
}

/// Opens the inputs. All must have the same format and move encoding. Text encodings may differ.
fn inputs(request: &RearrangeRequest) -> Result<Vec<Input>, Error> {
    let RearrangeRequest { inputs, from, dialect, on_error, .. } = request;
    let unreadable = Unreadable::from_policy(Some(*on_error));
    let inputs = opening::inputs(inputs, *from, *dialect, unreadable)?;
    let first = inputs.first().ok_or_else(Error::no_input)?;
    if let Some(other) = inputs.iter().find(|input| !input.format.takes_chunks_of(first.format)) {
        let (first, second) = (first.name.clone(), other.name.clone());
        return Err(Error::different_formats(first, second));
    }
    opening::check_encodings(&inputs, first.format, |_| true)?;
    for input in &inputs {
        check_filters(input, &request.filters)?;
        let by_record = Some(request.filters).filter(RecordFilters::drops_within_games);
        let option = match by_record {
            Some(filters) if input.format.holds_games() => filters.first_option(),
            // The records of a group share their position.
            _ if input.format == Format::Db => request.filters.first_option(),
            _ => None,
        };
        if let Some(option) = option {
            return Err(Error::games_are_not_filtered(option, input.name.clone(), input.format));
        }
    }
    warn_of_mixed_outputs(&inputs);
    Ok(inputs)
}

/// Determines the format and compression of the output. The format must accept the chunks of the inputs.
fn output_format(
    output: &Path,
    to: Option<FormatName>,
    format: Format,
) -> Result<FormatName, Error> {
    let name = output.to_string_lossy();
    let place = if to.is_none() { format!(" to {name}") } else { String::new() };
    let requested = to.or_else(|| FormatName::from_file_name(&name));
    let mut to = requested.unwrap_or(FormatName::plain(format));
    if !to.format.takes_chunks_of(format) {
        return Err(Error::usage(format!(
            "cannot write {format} records{place} as {}, because this command does not change the format; use `kyokumen convert`",
            to.format
        )));
    }
    if to.compression == Compression::None {
        to.compression = without_compression(&name).1;
    }
    check_compression(to)
}
