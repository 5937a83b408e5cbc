//! Inputs and outputs as they are asked for: looked at, with their formats settled, before anything is created.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::format::move16::Dialect;
use crate::format::{ConversionPlan, Field, Fields, Fill, Format, Survey, conversion_plan};
use crate::records::bad_record::BadPolicy;
use crate::records::claims::check_once;
use crate::records::content::ContentError;
use crate::records::filters::RecordFilters;
use crate::records::format_name::FormatName;
use crate::records::plan_error::PlanError;
use crate::records::sink::OutputPlan;
use crate::records::source::{FirstBlock, Input, InputLocation, SourceError};
use crate::records::stream::{BAD, Stream};
use crate::records::{detection, evidence};
use crate::storage::compression::Compression;
use crate::storage::files;
use crate::storage::parquet;
use crate::storage::path_text::{path_of, text_of};
use crate::storage::quantity::quantity;
use crate::storage::table::TableFormat;

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
    /// Only those who ask for a quarantine expect bad records.
    pub fn under(asked: Option<BadPolicy>) -> Self {
        if asked == Some(BadPolicy::Quarantine) { Self::Accepted } else { Self::Refused }
    }
}

/// Looks at an input: its format by name or content where none is given, how its moves are encoded by its records.
///
/// # Errors
/// [`PlanError`] if it does not exist, is a folder, has no recognisable format, or its content contradicts its name.
pub fn input(
    path: &Path,
    from: Option<FormatName>,
    dialect: Option<Dialect>,
) -> Result<Input, PlanError> {
    input_with(path, from, dialect, Unreadable::Refused)
}

fn input_with(
    path: &Path,
    from: Option<FormatName>,
    dialect: Option<Dialect>,
    unreadable: Unreadable,
) -> Result<Input, PlanError> {
    check_not_folder(path)?;
    let by_name = FormatName::from_file_name(&text_of(path)).filter(|_| from.is_none());
    let format = match from.or(by_name) {
        Some(format) => format,
        // What is read only once cannot be looked at before.
        None if !InputLocation::of(path).can_be_read_again() => {
            return Err(PlanError::UnknownFormat { input: text_of(path) });
        }
        None => {
            let detected = detection::format_of(path)?;
            detected.warn(path);
            detected.format
        }
    };
    let mut input = Input::named(path, format);
    if input.compression == Compression::Parquet {
        check_parquet(input.format)?;
        if !input.location.can_be_read_again() {
            return Err(PlanError::ReadOnce {
                input: input.display_name(),
                why: "Parquet is read from its end",
            });
        }
        if matches!(input.location, InputLocation::Object(_)) {
            return Err(PlanError::ParquetObject { input: input.name });
        }
    }
    if let InputLocation::Object(object) = &input.location {
        // Looked at once, for all that will be read of it.
        let looked = object.state().map(drop);
        looked.map_err(|source| SourceError::Open { input: input.name.clone(), source })?;
    }
    evidence::add_sample(&mut input, from.is_some())?;
    if by_name.is_some() {
        // Files of quarantined records hold bad records by definition.
        let accepts_unreadable = unreadable == Unreadable::Accepted || is_quarantined(path);
        input = checked(input, path, accepts_unreadable)?;
    }
    evidence::settle_dialect(&mut input, dialect)?;
    log(&input, from.is_some(), by_name.is_some());
    Ok(input)
}

/// Logs the format that was chosen for an input, and why.
fn log(input: &Input, is_given: bool, is_named: bool) {
    let by = match (is_given, is_named) {
        (true, _) => "as --from says",
        (false, true) => "by its name",
        (false, false) => "by its content",
    };
    let moves = if input.format.dialect() == input.dialect {
        String::new()
    } else {
        format!(", moves encoded as by {}", input.dialect.name())
    };
    let sample = input.evidence.as_ref().map(|survey| {
        let Survey { records, unreadable, .. } = **survey;
        format!(
            "; {} of {} of a sample can be read",
            records - unreadable,
            quantity(records, "record")
        )
    });
    let (name, format) = (input.display_name(), input.format_name());
    tracing::info!("{name}: read as {format}, {by}{moves}{}", sample.unwrap_or_default());
}

/// Whether the file name is that of quarantined records.
fn is_quarantined(path: &Path) -> bool {
    Stream::taken_out(&text_of(path)).is_some_and(|(_, word)| word == BAD)
}

/// Checks the format of an input against its content. An input that can be read only once is checked at its first
/// block.
fn checked(input: Input, path: &Path, accepts_unreadable: bool) -> Result<Input, PlanError> {
    if !input.location.can_be_read_again() {
        return Ok(Input { first_block: FirstBlock::Checked { accepts_unreadable }, ..input });
    }
    match detection::check_name(&input, path) {
        Ok(other) => Ok(other.unwrap_or(input)),
        Err(PlanError::Content(error @ ContentError::Unreadable { .. })) if accepts_unreadable => {
            tracing::warn!("{error}");
            Ok(input)
        }
        Err(error) => Err(error),
    }
}

/// An input is a file, not a folder of them: which of the files in it are meant, and in which order, is the user's to
/// say.
pub(crate) fn check_not_folder(path: &Path) -> Result<(), PlanError> {
    if files::is_object(path) || !path.is_dir() {
        return Ok(());
    }
    let names = files::names_in(path).unwrap_or_default();
    let mut formats: BTreeMap<String, (bool, u32)> = BTreeMap::new();
    for format in names.iter().filter_map(|name| FormatName::from_file_name(name)) {
        // Lines of JSON are likely to be about records in a packed format.
        let is_packed = format.format.record_len().is_some();
        formats.entry(format.to_string()).or_insert((is_packed, 0)).1 += 1;
    }
    let most = formats.into_iter().max_by_key(|(_, weight)| *weight);
    let pattern = most.map_or("*".to_owned(), |(format, _)| format!("*.{format}"));
    let folder = text_of(path);
    Err(PlanError::InputIsAFolder { folder: folder.trim_end_matches('/').to_owned(), pattern })
}

/// What else is asked for is of no interest while the input is not there.
fn check_is_there(path: &Path) -> Result<(), PlanError> {
    if let InputLocation::File(path) = InputLocation::of(path) {
        let looked = path.metadata().map(drop);
        looked.map_err(|source| SourceError::Open { input: text_of(path), source })?;
    }
    Ok(())
}

/// Several inputs, none of which is read twice if it can be read only once.
pub(crate) fn inputs(
    paths: &[PathBuf],
    from: Option<FormatName>,
    dialect: Option<Dialect>,
    unreadable: Unreadable,
) -> Result<Vec<Input>, PlanError> {
    let inputs = inputs_or_errors(paths, from, dialect, unreadable)?;
    Ok(inputs.into_iter().collect::<Result<_, _>>()?)
}

/// Inputs for which the command has no format option.
pub(crate) fn references(paths: &[PathBuf]) -> Result<Vec<Input>, PlanError> {
    let inputs = inputs_or_errors(paths, None, None, Unreadable::Refused)?;
    let inputs = inputs.into_iter().map(|input| input.map_err(ContentError::without_option));
    Ok(inputs.collect::<Result<_, _>>()?)
}

/// The same, but a contradiction between name and content is returned for each input instead of ending the call.
pub(crate) fn inputs_or_errors(
    paths: &[PathBuf],
    from: Option<FormatName>,
    dialect: Option<Dialect>,
    unreadable: Unreadable,
) -> Result<Vec<Result<Input, ContentError>>, PlanError> {
    paths.iter().try_for_each(|path| check_is_there(path))?;
    let mut inputs = Vec::new();
    for path in paths {
        inputs.push(match input_with(path, from, dialect, unreadable) {
            Ok(input) => Ok(input),
            Err(PlanError::Content(error)) => Err(error),
            Err(error) => return Err(error),
        });
    }
    if inputs.is_empty() {
        return Err(PlanError::NoInput);
    }
    check_once(inputs.iter().flatten())?;
    Ok(inputs)
}

/// Whether an input has the fields that conditions ask for.
///
/// # Errors
/// [`PlanError`] with the condition and what the format does not say.
pub fn check_filters(input: &Input, filters: &RecordFilters) -> Result<(), PlanError> {
    let (fields, format) = (input.format.fields(), input.format);
    let name = || input.name.clone();
    if let Some((filter, field)) = filters.asked().find(|&(_, field)| !fields.contains(field)) {
        return Err(match field {
            Field::EndPly => PlanError::GamesNotTold { filter, input: name(), format },
            _ => PlanError::FilterOnMissingField {
                filter,
                input: name(),
                format: format.name(),
                field,
            },
        });
    }
    let said = format.endings();
    match filters.asked_endings().find(|(_, ending)| !said.contains(ending)) {
        Some((filter, ending)) => {
            Err(PlanError::EndingNotSaid { filter, input: name(), format, ending })
        }
        None => Ok(()),
    }
}

pub(crate) fn conversion(
    input: &Input,
    to: Format,
    fill: &Fill,
) -> Result<ConversionPlan, PlanError> {
    conversion_plan(input.format, to, fill).map_err(|source| PlanError::Conversion {
        input: input.name.clone(),
        fill: *fill,
        source,
    })
}

/// Warns if evaluations or results are filled in. `conversions` are those of the inputs of one output.
pub(crate) fn warn_of_invented_labels<'a>(
    fill: &Fill,
    to: Fields,
    conversions: impl IntoIterator<Item = (&'a Input, &'a ConversionPlan)>,
) {
    let invented = conversions.into_iter().map(|(input, conversion)| {
        // In text formats each line may lack different fields.
        let by_line = if input.format.is_sparse() { to } else { Fields::NONE };
        fill.labels(conversion.invented.union(by_line))
    });
    let labels = invented.fold(Fields::NONE, Fields::union);
    if !labels.is_empty() {
        tracing::warn!("{labels} filled in: such records are not for training");
    }
}

/// Outputs are compressed with zstd or not at all.
///
/// # Errors
/// [`PlanError::OnlyReadCompression`].
pub(crate) fn check_compression(to: FormatName) -> Result<FormatName, PlanError> {
    match to.compression {
        Compression::Gzip | Compression::Xz => Err(PlanError::OnlyReadCompression { to }),
        Compression::None | Compression::Zstd => Ok(to),
        Compression::Parquet => check_parquet(to.format).map(|()| to),
    }
}

/// Whether a Parquet file can hold this format, and this program handles such files.
pub(crate) fn check_parquet(format: Format) -> Result<(), PlanError> {
    match (parquet::IS_BUILT_IN, format) {
        (false, _) => Err(PlanError::NoParquet),
        (true, Format::Jsonl) => Ok(()),
        (true, _) => Err(PlanError::NotInParquet { format: format.name() }),
    }
}

pub(crate) fn stem(name: Option<String>, inputs: &[Input]) -> Result<String, PlanError> {
    let stem = match (name, inputs.first().map(|input| &input.location)) {
        (Some(name), _) => name,
        (None, None | Some(InputLocation::Stdin)) => "stdin".to_owned(),
        (None, Some(place)) => {
            let name = text_of(place.file_name().unwrap_or_default());
            FormatName::stem(&name).into_owned()
        }
    };
    let is_file_name = Path::new(&stem).file_name() == Some(stem.as_ref());
    if is_file_name { Ok(stem) } else { Err(PlanError::Name { name: stem }) }
}

pub(crate) fn check_folder(folder: &Path) -> Result<(), PlanError> {
    if folder.exists() && !folder.is_dir() {
        return Err(PlanError::NotAFolder { folder: folder.to_owned() });
    }
    Ok(())
}

/// Where bad records go that stand beside an output.
pub(crate) fn side_outputs(output: &Path, extension: &str, on_error: BadPolicy) -> Vec<OutputPlan> {
    if on_error != BadPolicy::Quarantine {
        return Vec::new();
    }
    let name = text_of(output.file_name().unwrap_or_default());
    let beside = |stream: Stream| {
        let name = format!("{}{}", FormatName::stem(&name), stream.suffix(extension));
        OutputPlan::plain(stream, output.with_file_name(path_of(&name)))
    };
    vec![beside(Stream::Quarantine), beside(Stream::QuarantineLines)]
}

/// Whether this program writes tables in this format.
pub(crate) const fn check_table_format(format: TableFormat) -> Result<(), PlanError> {
    if format.is_built_in() { Ok(()) } else { Err(PlanError::NoParquet) }
}
