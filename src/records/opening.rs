//! Opens inputs and plans outputs. Formats are determined and checked before any file is created.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::format::move16::Dialect;
use crate::format::{ConversionPlan, Field, Fields, Fill, Format, Survey, conversion_plan};
use crate::records::account::MANIFEST_SUFFIX;
use crate::records::bad_record::BadPolicy;
use crate::records::claims::check_once;
use crate::records::detection::Detected;
use crate::records::filters::RecordFilters;
use crate::records::format_name::{FormatName, without_compression};
use crate::records::output_kind::{BAD, OutputKind};
use crate::records::sink::OutputPlan;
use crate::records::source::{FirstBlock, Input, InputLocation};
use crate::records::{content, detection, evidence};
use crate::storage::compression::Compression;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::quantity::quantity;
use crate::storage::table::TableFormat;
use crate::storage::{files, parquet};

/// What to do with an input whose records mostly cannot be read in the format of its name, if no other format fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unreadable {
    /// Refuse it.
    #[default]
    Refused,
    /// Read it, with a warning.
    Accepted,
}

impl Unreadable {
    /// Accepts unreadable records only if the user requested a quarantine, and so expects bad records.
    pub fn from_policy(policy: Option<BadPolicy>) -> Self {
        if policy == Some(BadPolicy::Quarantine) { Self::Accepted } else { Self::Refused }
    }
}

/// Opens an input and determines its format and move encoding.
///
/// If `from` is `None`, the format is determined by name, or by content if the name shows none. If `dialect` is `None`,
/// the move encoding is determined from a sample of the records.
///
/// # Errors
/// [`Error`] if it does not exist, is a folder, has no recognisable format, or its content contradicts its name.
pub fn input(
    path: &Path,
    from: Option<FormatName>,
    dialect: Option<Dialect>,
) -> Result<Input, Error> {
    let (input, detected) = input_with(path, from, dialect, Unreadable::Refused)?;
    if let Some(detected) = detected {
        detected.warn(path);
    }
    if dialect.is_none() {
        evidence::warn_of_unusual_encodings(std::iter::once(&input));
    }
    Ok(input)
}

/// Also returns how the format was detected by content, if it was.
fn input_with(
    path: &Path,
    from: Option<FormatName>,
    dialect: Option<Dialect>,
    unreadable: Unreadable,
) -> Result<(Input, Option<Detected>), Error> {
    check_not_folder(path)?;
    let by_name = FormatName::from_file_name(&text_of(path)).filter(|_| from.is_none());
    let mut detected = None;
    let format = match from.or(by_name) {
        Some(format) => format,
        // A pipe cannot be sampled.
        None if !InputLocation::from_path(path).can_be_read_again() => {
            return Err(Error::unknown_format(text_of(path)));
        }
        None if text_of(path).ends_with(MANIFEST_SUFFIX) => {
            return Err(Error::usage(format!(
                "{} is a manifest, not a file of records; `kyokumen verify --manifest` compares files with it",
                text_of(path)
            )));
        }
        None => detected.insert(detection::format_of(path)?).format,
    };
    let mut input = Input::named(path, format);
    if input.compression == Compression::Parquet {
        check_parquet(input.format)?;
        if !input.location.can_be_read_again() {
            return Err(Error::read_once(
                input.display_name(),
                "Parquet is read from the end of the file",
            ));
        }
        if matches!(input.location, InputLocation::Object(_)) {
            return Err(Error::usage(format!(
                "{}: Parquet can be written to an object store but not read from it; copy the file to a disk first",
                input.name
            )));
        }
    }
    if let InputLocation::Object(object) = &input.location {
        // The object keeps this state for all its reads.
        let state = object.state().map(drop);
        state.map_err(|source| Error::io("open", &input.name, source))?;
    }
    evidence::add_sample(&mut input, from.is_some())?;
    if by_name.is_some() {
        // Files of quarantined records hold bad records by definition.
        let accepts_unreadable = unreadable == Unreadable::Accepted || is_quarantined(path);
        input = checked(input, path, accepts_unreadable)?;
    }
    evidence::settle_dialect(&mut input, dialect)?;
    log(&input, from.is_some(), by_name.is_some());
    Ok((input, detected))
}

fn log(input: &Input, is_given: bool, is_named: bool) {
    let origin = match (is_given, is_named) {
        (true, _) => "given by --from",
        (false, true) => "shown by its name",
        (false, false) => "detected by content",
    };
    let moves = if input.format.dialect() == input.dialect {
        String::new()
    } else {
        format!(", move encoding {}", input.dialect.name())
    };
    let sample = input.evidence.as_ref().map(|survey| {
        let Survey { records, unreadable, .. } = **survey;
        format!(
            "; {} of {} in a sample can be read",
            records - unreadable,
            quantity(records, "record")
        )
    });
    let (name, format) = (input.display_name(), input.format_name());
    tracing::info!("{name}: read as {format}, {origin}{moves}{}", sample.unwrap_or_default());
}

fn is_quarantined(path: &Path) -> bool {
    OutputKind::split_suffix(&text_of(path)).is_some_and(|(_, suffix)| suffix == BAD)
}

/// Checks the format of an input against its content. A pipe is checked later, at its first block.
fn checked(input: Input, path: &Path, accepts_unreadable: bool) -> Result<Input, Error> {
    if !input.location.can_be_read_again() {
        return Ok(Input { first_block: FirstBlock::Checked { accepts_unreadable }, ..input });
    }
    match detection::check_name(&input, path) {
        Ok(other) => Ok(other.unwrap_or(input)),
        Err(error) if accepts_unreadable && matches!(error.kind(), ErrorKind::Unreadable) => {
            tracing::warn!("{error}");
            Ok(input)
        }
        Err(error) => Err(error),
    }
}

/// Rejects a folder: the user must name its files, in order.
pub(crate) fn check_not_folder(path: &Path) -> Result<(), Error> {
    let is_standard_input = path == Path::new("-");
    if is_standard_input || files::is_object(path) || !path.is_dir() {
        return Ok(());
    }
    let names = files::names_in(path).unwrap_or_default();
    let mut formats: BTreeMap<String, (bool, u32)> = BTreeMap::new();
    for format in names.iter().filter_map(|name| FormatName::from_file_name(name)) {
        // jsonl files next to packed records are probably lists about these records.
        let is_packed = format.format.record_len().is_some();
        formats.entry(format.to_string()).or_insert((is_packed, 0)).1 += 1;
    }
    let most = formats.into_iter().max_by_key(|(_, weight)| *weight);
    let pattern = most.map_or("*".to_owned(), |(format, _)| format!("*.{format}"));
    let folder = text_of(path);
    Err(Error::usage(format!(
        "{} is a folder; give the files in it, for example {}/{pattern}",
        folder.trim_end_matches('/'),
        folder.trim_end_matches('/')
    )))
}

/// Called for all inputs first, so that a missing file is reported before any other error.
fn check_exists(path: &Path) -> Result<(), Error> {
    if let InputLocation::File(path) = InputLocation::from_path(path) {
        let metadata = path.metadata().map(drop);
        metadata.map_err(|source| Error::io("open", text_of(path), source))?;
    }
    Ok(())
}

/// Opens several inputs. A pipe must not be given twice.
pub(crate) fn inputs(
    paths: &[PathBuf],
    from: Option<FormatName>,
    dialect: Option<Dialect>,
    unreadable: Unreadable,
) -> Result<Vec<Input>, Error> {
    let inputs = inputs_or_errors(paths, from, dialect, unreadable)?;
    inputs.into_iter().collect::<Result<_, _>>()
}

/// Checks that all moves of the output have one encoding. Records of the inputs that are copied keep theirs; the others
/// are written in the encoding of the format `to`.
pub(crate) fn check_encodings(
    inputs: &[Input],
    to: Format,
    is_copied: impl Fn(&Input) -> bool,
) -> Result<(), Error> {
    let written = |input: &Input| if is_copied(input) { input.dialect } else { to.dialect() };
    let Some(first) = inputs.first() else { return Ok(()) };
    match inputs.iter().find(|input| written(input) != written(first)) {
        None => Ok(()),
        Some(other) => Err(Error::usage(format!(
            "the moves of {} and {} would be written in different encodings; convert both with `kyokumen convert --canonical`",
            first.display_name(),
            other.display_name()
        ))),
    }
}

/// Opens inputs whose format cannot be set with an option.
pub(crate) fn references(paths: &[PathBuf]) -> Result<Vec<Input>, Error> {
    let inputs = inputs_or_errors(paths, None, None, Unreadable::Refused)?;
    let inputs = inputs.into_iter().map(|input| input.map_err(content::without_option));
    inputs.collect::<Result<_, _>>()
}

/// Like [`inputs`], but a contradiction between name and content is an error of that input and does not end the call.
pub(crate) fn inputs_or_errors(
    paths: &[PathBuf],
    from: Option<FormatName>,
    dialect: Option<Dialect>,
    unreadable: Unreadable,
) -> Result<Vec<Result<Input, Error>>, Error> {
    paths.iter().try_for_each(|path| check_exists(path))?;
    let (mut inputs, mut all_detected) = (Vec::new(), Vec::new());
    for path in paths {
        inputs.push(match input_with(path, from, dialect, unreadable) {
            Ok((input, detected)) => {
                all_detected.extend(detected.map(|detected| (&**path, detected)));
                Ok(input)
            }
            Err(error) if error.is_about_content() => Err(error),
            Err(error) => return Err(error),
        });
    }
    Detected::warn_of_all(&all_detected);
    if dialect.is_none() {
        evidence::warn_of_unusual_encodings(inputs.iter().flatten());
    }
    if inputs.is_empty() {
        return Err(Error::no_input());
    }
    check_once(inputs.iter().flatten())?;
    Ok(inputs)
}

/// Checks that the format of an input stores the fields and endings that filters need.
///
/// # Errors
/// [`Error`] with the filter, and the field or ending that the format lacks.
pub fn check_filters(input: &Input, filters: &RecordFilters) -> Result<(), Error> {
    let (fields, format) = (input.format.fields(), input.format);
    let name = || input.display_name();
    if let Some((filter, field)) =
        filters.required_fields().find(|&(_, field)| !fields.contains(field))
    {
        return Err(match field {
            Field::EndPly => {
                let advice = if fields.contains(Field::BestMove) {
                    "; use `kyokumen convert`, which joins records into games"
                } else {
                    ""
                };
                Error::usage(format!(
                    "--{filter} cannot be used with {}: {format} records do not store the length of their game{advice}",
                    name()
                ))
            }
            _ => Error::filter_on_missing_field(filter, name(), format.name(), field),
        });
    }
    let stored = format.readable_endings();
    match filters.named_endings().find(|(_, ending)| !stored.contains(ending)) {
        Some((filter, ending)) => Err(Error::usage(format!(
            "--{filter}: {format} does not store the ending {}, so {} has no such games; it stores {}",
            ending.name(),
            name(),
            std::iter::once("normal")
                .chain(stored.iter().map(|ending| ending.name()))
                .collect::<Vec<_>>()
                .join(", ")
        ))),
        None => Ok(()),
    }
}

pub(crate) fn conversion(input: &Input, to: Format, fill: &Fill) -> Result<ConversionPlan, Error> {
    conversion_plan(input.format, to, fill)
        .map_err(|source| Error::conversion(input.display_name(), to, *fill, source))
}

/// Warns if evaluations or results are filled in. `conversions` has an entry for each input of one output.
pub(crate) fn warn_of_filled_in_labels<'a>(
    fill: &Fill,
    to: Fields,
    conversions: impl IntoIterator<Item = (&'a Input, &'a ConversionPlan)>,
) {
    let filled_in = conversions.into_iter().map(|(input, conversion)| {
        // In text formats each line may lack different fields.
        let by_line = if input.format.is_sparse() { to } else { Fields::NONE };
        fill.labels(conversion.filled_in.union(by_line))
    });
    let labels = filled_in.fold(Fields::NONE, Fields::union);
    if !labels.is_empty() {
        tracing::warn!(
            "{labels} filled in with fixed values; do not use these records for training"
        );
    }
}

/// Checks that the compression of an output can be written: zstd, Parquet or none.
pub(crate) fn check_compression(to: FormatName) -> Result<FormatName, Error> {
    match to.compression {
        Compression::Gzip | Compression::Xz => Err(Error::usage(format!(
            "{to} can be read but not written; write {} or {}.zst",
            to.format, to.format
        ))),
        Compression::None | Compression::Zstd => Ok(to),
        Compression::Parquet => check_parquet(to.format).map(|()| to),
    }
}

pub(crate) fn check_parquet(format: Format) -> Result<(), Error> {
    match (parquet::IS_BUILT_IN, format) {
        (false, _) => Err(Error::no_parquet()),
        (true, Format::Jsonl) => Ok(()),
        (true, _) => Err(Error::usage(format!(
            "{}.parquet is not a format: Parquet files always have the fields of jsonl; use `parquet`",
            format.name()
        ))),
    }
}

/// The base name of the outputs: `name`, or by default the name of the first input without its extension.
pub(crate) fn stem(name: Option<String>, first: Option<&InputLocation>) -> Result<String, Error> {
    let stem = match (name, first) {
        (Some(name), _) => name,
        (None, None | Some(InputLocation::Stdin)) => "stdin".to_owned(),
        (None, Some(location)) => {
            let name = text_of(location.file_name().unwrap_or_default());
            FormatName::stem(&name).into_owned()
        }
    };
    let is_file_name = Path::new(&stem).file_name() == Some(stem.as_ref());
    if is_file_name {
        Ok(stem)
    } else {
        Err(Error::usage(format!("{stem:?} cannot be the beginning of a file name")))
    }
}

/// Checks that outputs can be written to a folder. A new folder must not have the extension of a file format.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Error> {
    if folder == Path::new("-") {
        return Err(Error::usage(
            "the outputs need a folder, so they cannot be written to standard output (`-`)",
        ));
    }
    if folder.is_dir() {
        return Ok(());
    }
    if folder.exists() {
        return Err(Error::not_a_folder(folder));
    }
    let name = text_of(folder.file_name().unwrap_or_default());
    let shows_file = FormatName::from_file_name(&name).is_some()
        || TableFormat::of_columns(&name).is_some()
        || Path::new(without_compression(&name).0).extension() == Some("bin".as_ref());
    if !shows_file {
        return Ok(());
    }
    Err(Error::usage(format!(
        "the outputs need a folder, but {} has the name of a file; choose a name without an extension, or create the folder first",
        folder.display()
    )))
}

/// Quarantine outputs in the folder of `output`.
pub(crate) fn side_outputs(output: &Path, extension: &str, on_error: BadPolicy) -> Vec<OutputPlan> {
    if on_error != BadPolicy::Quarantine {
        return Vec::new();
    }
    let name = text_of(output.file_name().unwrap_or_default());
    let plan = |kind: OutputKind| {
        let name = format!("{}{}", FormatName::stem(&name), kind.suffix(extension));
        OutputPlan::plain(kind, output.with_file_name(path_of(&name)))
    };
    vec![plan(OutputKind::Quarantine), plan(OutputKind::QuarantineLines)]
}

pub(crate) fn check_table_format(format: TableFormat) -> Result<(), Error> {
    if format.is_built_in() { Ok(()) } else { Err(Error::no_parquet()) }
}
