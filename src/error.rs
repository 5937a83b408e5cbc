//! The error type of this crate: kind, place and cause.

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io, iter};

use crate::format::{EncodeError, Field, Fields, Fill, Format};
use crate::jobs::identity::IdentityDifference;
use crate::records::bad_record::BadRecord;
use crate::records::format_name::FormatName;
use crate::search::TableError;
use crate::storage::caught_panic::CaughtPanic;
use crate::storage::compression::Compression;
use crate::storage::path_text::input_name;
use crate::storage::quantity::quantity;

/// The error type of this crate.
///
/// [`Display`](fmt::Display) shows the message without its cause; [`source`](StdError::source) returns the cause.
///
/// ```
/// use std::path::Path;
///
/// use kyokumen::ErrorKind;
/// use kyokumen::records::archive::Archive;
///
/// let error = Archive::open(Path::new("missing.hcp")).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Io));
/// assert_eq!(error.file(), Some("missing.hcp"));
/// assert_eq!(error.to_string(), "cannot open missing.hcp");
/// ```
pub struct Error(Box<Parts>);

struct Parts {
    kind: ErrorKind,
    /// If empty, the error displays as its source.
    message: String,
    remedy: Option<Remedy>,
    file: Option<String>,
    offset: Option<u64>,
    source: Option<Cause>,
}

type Cause = Box<dyn StdError + Send + Sync>;

/// The kind of an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request contradicts the inputs, the outputs or itself. A call with other arguments can succeed.
    Usage,
    /// The format of an input cannot be determined from its name or content.
    UnknownFormat,
    /// The content of an input has this format, not the format of its name.
    OtherFormat(FormatName),
    /// The content of an input is a container such as a ZIP archive, not records.
    NotRecords,
    /// Most records of an input cannot be read in any format.
    Unreadable,
    /// The input does not support random access: it has no frame table, or its records have variable length.
    NoRandomAccess,
    /// The caller cancelled the operation.
    Interrupted,
    /// The caller cancelled the run after this many records. It can be resumed.
    Suspended(u64),
    /// A record is bad, and the settings end the run at the first bad record.
    BadRecord(Box<BadRecord>),
    /// An output exists, or existing files belong to an interrupted run or to another one.
    Exists,
    /// The interrupted or finished run has other settings, inputs or versions.
    Different(Box<IdentityDifference>),
    /// An input changed, or a file differs from the state that an interrupted run or an offset table recorded.
    Changed,
    /// A manifest, list, proof or record is damaged, incomplete or contradicts itself.
    Invalid,
    /// A manifest or checkpoint cannot be parsed.
    Malformed,
    /// Another process is writing the outputs.
    Busy,
    /// The operating system or the object store reported an error.
    Io,
    /// There is not enough memory, or a thread cannot be started.
    Resources,
    /// The program of an engine, named by [`file`](Error::file), cannot be started.
    NotStarted,
    /// An engine did not answer in time.
    TimedOut,
    /// An engine violated its protocol.
    Protocol,
    /// An engine or a network cannot evaluate positions.
    Evaluation,
    /// A bug in this program.
    Internal,
}

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Remedy {
    /// Allow existing outputs to be replaced.
    Replace,
    /// Start the run again and replace its outputs.
    Restart,
    /// Resume the interrupted run, or start it again.
    ResumeOrRestart,
    /// Use the original settings of the run, or start it again.
    ContinueOrRestart,
    /// Resume the interrupted run.
    Resume,
    /// Specify the format of the input.
    InputFormat,
    /// Specify the format of the output.
    OutputFormat,
    /// Specify the format of the input: `found` as in its content, or `named` as in its name.
    ReadAs {
        /// The format of the content.
        found: FormatName,
        /// The format of the name.
        named: FormatName,
    },
    /// Rename the input to have the extension of this format.
    Rename(FormatName),
    /// Specify this format for the input, although most of its records are unreadable in it.
    ReadAnyway(FormatName),
}

impl Remedy {
    /// Formats an error with its causes, then the text that `advice` returns for each remedy.
    pub fn explain<T: fmt::Display>(
        error: &(dyn StdError + 'static),
        advice: impl Fn(Self) -> Option<T>,
    ) -> String {
        let causes = || iter::successors(Some(error), |&cause| cause.source());
        let messages: Vec<_> = causes().map(ToString::to_string).collect();
        let remedies = causes().filter_map(|cause| cause.downcast_ref().and_then(Error::remedy));
        let advice = remedies.filter_map(advice).map(|advice| format!("; {advice}"));
        messages.join(": ") + &advice.collect::<String>()
    }
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(Parts {
            kind,
            message,
            remedy: None,
            file: None,
            offset: None,
            source: None,
        }))
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    pub(crate) fn exists(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exists, message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn changed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Changed, message)
    }

    pub(crate) fn evaluation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Evaluation, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The message is "cannot {verb} {path}".
    pub(crate) fn io(verb: &str, path: impl AsRef<Path>, source: io::Error) -> Self {
        let path = path.as_ref().display();
        let place = match (path.to_string().as_str(), verb) {
            ("-", "write") => "to standard output".to_owned(),
            (name, _) => input_name(name).to_owned(),
        };
        Self::new(ErrorKind::Io, format!("cannot {verb} {place}"))
            .in_file(&path)
            .with_source(source)
    }

    pub(crate) fn in_file(mut self, file: &(impl ToString + ?Sized)) -> Self {
        self.0.file = Some(file.to_string());
        self
    }

    pub(crate) fn at_byte(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<Cause>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Wraps the error of a [`PositionEvaluator`](crate::relabel::evaluator::PositionEvaluator). It displays as its
    /// source.
    pub fn from_evaluator(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::evaluation("").with_source(source)
    }

    /// Returns the kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the name of the file or object, as the caller gave it.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Returns the remedy, if one is known. It is not part of the message, because each interface names its options
    /// differently.
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// Returns the byte offset in the uncompressed file, if known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Whether the caller cancelled the operation.
    pub fn is_interruption(&self) -> bool {
        matches!(self.kind(), ErrorKind::Interrupted | ErrorKind::Suspended(_))
    }

    /// Whether the arguments must change, as opposed to the state of the disk.
    pub fn is_usage(&self) -> bool {
        self.is_about_content()
            || matches!(
                self.kind(),
                ErrorKind::Usage | ErrorKind::UnknownFormat | ErrorKind::NoRandomAccess
            )
    }

    /// Whether the content of an input contradicts its name.
    pub(crate) fn is_about_content(&self) -> bool {
        use ErrorKind::{NotRecords, OtherFormat, Unreadable};
        matches!(self.kind(), OtherFormat(_) | NotRecords | Unreadable)
    }

    /// Returns the cause if it is an error of the operating system or the object store.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.0.source.as_ref()?.downcast_ref()
    }

    /// Whether a file is missing.
    pub fn is_not_found(&self) -> bool {
        self.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the cause is an error of the operating system, as opposed to a decompressor.
    pub(crate) fn is_system_error(&self) -> bool {
        self.io_error().is_some_and(|error| error.raw_os_error().is_some())
    }
}

/// Errors that several modules report.
impl Error {
    pub(crate) fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted; unfinished outputs were removed")
    }

    pub(crate) fn evaluation_interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "the evaluation was interrupted")
    }

    pub(crate) fn search_interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "the search was interrupted")
    }

    pub(crate) fn sending_interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted while sending outputs")
            .with_remedy(Remedy::Resume)
    }

    pub(crate) fn threads(source: io::Error) -> Self {
        Self::new(ErrorKind::Resources, "cannot start threads").with_source(source)
    }

    pub(crate) fn reader_panicked(panic: &CaughtPanic) -> Self {
        Self::internal(format!("internal error while reading: {panic}"))
    }

    /// Turns an inconsistency in the program's own counts into an internal error.
    pub(crate) fn fault(self) -> Self {
        Self::internal("internal error").with_source(self)
    }

    pub(crate) fn no_input() -> Self {
        Self::usage("no input")
    }

    /// For standard input, pipes and devices, whose size is unknown and which cannot be read again.
    pub(crate) fn read_once(input: impl fmt::Display, why: &str) -> Self {
        Self::usage(format!(
            "{input} can only be read once, from its start to its end: {why}; write the data to a file first"
        ))
    }

    pub(crate) fn changed_while_read(input: impl fmt::Display) -> Self {
        Self::changed(format!("{input} changed while it was read")).in_file(&input)
    }

    /// `offset` is in bytes of the uncompressed data.
    pub(crate) fn read(
        input: &str,
        offset: u64,
        compression: Compression,
        source: io::Error,
    ) -> Self {
        let place = match compression {
            _ if offset == 0 => String::new(),
            Compression::None => format!(" after byte {offset}"),
            _ => format!(" after byte {offset} of the uncompressed data"),
        };
        Self::new(ErrorKind::Io, format!("cannot read {}{place}", input_name(input)))
            .in_file(&input)
            .at_byte(offset)
            .with_source(source)
    }

    pub(crate) fn unknown_format(input: impl fmt::Display) -> Self {
        let message = match input.to_string().as_str() {
            "-" => "standard input has no name that shows its format".to_owned(),
            input => format!("cannot determine the format of {input} from its name"),
        };
        Self::new(ErrorKind::UnknownFormat, message).with_remedy(Remedy::InputFormat)
    }

    pub(crate) fn unknown_output_format(output: impl AsRef<Path>) -> Self {
        let message = match output.as_ref().display().to_string().as_str() {
            "-" => "standard output has no name that shows its format".to_owned(),
            output => format!("cannot determine the format of {output} from its name"),
        };
        Self::usage(message).with_remedy(Remedy::OutputFormat)
    }

    pub(crate) fn no_parquet() -> Self {
        Self::usage(
            "this build does not support Parquet; install it with `cargo install --path . --features parquet`",
        )
    }

    /// For commands that do not convert records and get inputs in two formats.
    pub(crate) fn different_formats(first: impl fmt::Display, second: impl fmt::Display) -> Self {
        Self::usage(format!(
            "{first} and {second} have different formats; convert them to one format with `kyokumen convert`"
        ))
    }

    /// The output format needs fields that an input lacks, or cannot be written.
    pub(crate) fn conversion(
        input: impl fmt::Display,
        to: Format,
        fill: Fill,
        source: EncodeError,
    ) -> Self {
        let message = format!("cannot convert {input} to {to}");
        let EncodeError::NeverHeld { fields, .. } = source else {
            return Self::usage(message).with_source(source);
        };
        let others = if fill == Fill::default() { "" } else { " and --fill does not give" };
        let fill = fill.or(Fill::neutral(fields));
        let labels = fill.labels(Fields::ALL);
        let caution = if labels.is_empty() {
            String::new()
        } else {
            format!(" (do not train with the filled-in {labels})")
        };
        Self::usage(format!("{message}: {source}{others}; use --fill {fill}{caution}"))
    }

    pub(crate) fn filter_on_missing_field(
        filter: &str,
        input: impl fmt::Display,
        format: &str,
        field: Field,
    ) -> Self {
        Self::usage(format!(
            "--{filter} cannot be used with {input}: {format} records have no {field}"
        ))
    }

    /// `option` is the long name of an option that removes records.
    pub(crate) fn games_are_not_filtered(
        option: &str,
        input: impl fmt::Display,
        to: Format,
    ) -> Self {
        Self::usage(format!(
            "--{option} cannot be used, because {input} and the output ({to}) hold whole games; convert to a record format such as psv or hcpe first"
        ))
    }

    pub(crate) fn output_exists(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::exists(format!("{output} exists")).in_file(&output).with_remedy(Remedy::Replace)
    }

    /// `input` is a description, such as `the input a.psv`.
    pub(crate) fn output_is_input(output: impl AsRef<Path>, input: impl fmt::Display) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!("{output} would overwrite {input}; choose another output"))
    }

    pub(crate) fn written_twice(path: impl AsRef<Path>, other: impl AsRef<Path>) -> Self {
        let (path, other) = (path.as_ref().display(), other.as_ref().display());
        Self::usage(format!(
            "{path} would overwrite {other}, another output of the same run; choose a different name"
        ))
    }

    pub(crate) fn is_a_folder(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!("{output} is a folder"))
    }

    pub(crate) fn not_a_folder(folder: impl AsRef<Path>) -> Self {
        let folder = folder.as_ref().display();
        Self::usage(format!("{folder} is not a folder"))
    }

    pub(crate) fn not_a_file(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!(
            "{output} is a device or a pipe, or a link to one, but a file is needed; choose another name or remove it"
        ))
    }

    /// A column file is built from rows that are stored next to it, so it must be on a local disk.
    pub(crate) fn table_object(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!(
            "{output} cannot be written to an object store; write it to a local disk and copy it"
        ))
    }

    /// The output format holds games, but the command writes single records.
    pub(crate) fn needs_record_format(to: Format) -> Self {
        Self::usage(format!(
            "this command writes single records, but {to} holds whole games; choose a record format with --to, such as psv or hcpe"
        ))
    }

    pub(crate) fn output_without_manifest(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::exists(format!("{output} exists without a manifest"))
            .in_file(&output)
            .with_remedy(Remedy::Replace)
    }

    pub(crate) fn output_differs_from_manifest(output: &Path, manifest: &Path) -> Self {
        let output = output.display();
        Self::exists(format!("{output} does not match {}", manifest.display()))
            .in_file(&output)
            .with_remedy(Remedy::Restart)
    }

    pub(crate) fn partial_output_changed(partial: impl AsRef<Path>) -> Self {
        let partial = partial.as_ref().display();
        Self::changed(format!("{partial} changed since the run was interrupted"))
            .in_file(&partial)
            .with_remedy(Remedy::Restart)
    }

    pub(crate) fn partial_output_missing(partial: impl AsRef<Path>) -> Self {
        let partial = partial.as_ref().display();
        Self::changed(format!("cannot resume the run, because {partial} is missing"))
            .in_file(&partial)
            .with_remedy(Remedy::Restart)
    }

    pub(crate) fn busy(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().display();
        Self::new(ErrorKind::Busy, format!("{path} is being written by another process"))
            .in_file(&path)
    }

    pub(crate) fn number_of_outputs(found: usize, expected: &str) -> Self {
        Self::invalid(format!("it has {}, expected {expected}", quantity(found, "output")))
    }

    pub(crate) fn unreadable_output(path: &Path, error: &io::Error) -> Self {
        Self::invalid(format!("cannot read {}: {error}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.source {
            Some(source) if self.0.message.is_empty() => write!(f, "{source}"),
            _ => f.write_str(&self.0.message),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { kind, file, offset, source, remedy, .. } = &*self.0;
        f.debug_struct("Error")
            .field("kind", kind)
            .field("message", &self.to_string())
            .field("remedy", remedy)
            .field("file", file)
            .field("offset", offset)
            .field("source", source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        let source = self.0.source.as_deref()?;
        if self.0.message.is_empty() { source.source() } else { Some(source) }
    }
}

impl From<BadRecord> for Error {
    fn from(bad: BadRecord) -> Self {
        let (message, file, byte) = (bad.described(), bad.file.clone(), bad.offset);
        Self::new(ErrorKind::BadRecord(Box::new(bad)), message).in_file(&file).at_byte(byte)
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self::new(ErrorKind::Resources, "cannot start the search").with_source(error)
    }
}

#[cfg(feature = "network")]
impl From<kyokumen_network::NetworkError> for Error {
    fn from(error: kyokumen_network::NetworkError) -> Self {
        use kyokumen_network::NetworkError::{Cancelled, Read, Start};
        match error {
            Cancelled => Self::evaluation_interrupted(),
            Read { path, source } => Self::io("read", path, source),
            Start { program, source } => {
                let message = format!("cannot start {program}");
                Self::evaluation(message).in_file(&program).with_source(source)
            }
            error => Self::from_evaluator(error),
        }
    }
}
