//! The error of this crate: what kind it is, where it happened, and its cause.

use std::error::Error as StdError;
use std::path::Path;
use std::{fmt, io, iter};

use crate::format::{EncodeError, Field, Fill, Format};
use crate::jobs::identity::IdentityDifference;
use crate::records::bad_record::BadRecord;
use crate::records::format_name::FormatName;
use crate::search::TableError;
use crate::storage::caught_panic::CaughtPanic;
use crate::storage::compression::Compression;
use crate::storage::quantity::quantity;

/// The error of the functions of this crate.
///
/// [`Display`](fmt::Display) gives the message without the cause, which is the [`source`](StdError::source).
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
    /// Empty where the error displays as its source.
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
    /// The request does not fit the inputs, the outputs or itself. A call with other arguments
    /// can succeed.
    Usage,
    /// Neither the name nor the content of an input shows one format.
    UnknownFormat,
    /// The content of an input is in this format, not in the one its name says.
    OtherFormat(FormatName),
    /// The content of an input is a container such as a ZIP archive, not records.
    NotRecords,
    /// Most records of an input cannot be read, in any format.
    Unreadable,
    /// The input can only be read from its start: it has no table of frames, or its records have no fixed size.
    NoRandomAccess,
    /// The caller cancelled the operation.
    Interrupted,
    /// The caller cancelled the run, which can be resumed after this many records.
    Suspended(u64),
    /// A record is bad, and the first bad record ends the run.
    BadRecord(Box<BadRecord>),
    /// The run to resume, or the complete run found, has another identity.
    Different(Box<IdentityDifference>),
    /// An input changed, or a file is not as an interrupted run left it or as its index says.
    Changed,
    /// A manifest, list, proof or record is damaged, incomplete or contradicts itself.
    Invalid,
    /// A manifest or checkpoint cannot be parsed.
    Malformed,
    /// Another process writes the outputs.
    Busy,
    /// The operating system or the object store reported an error.
    Io,
    /// There is not enough memory, or the system starts no thread.
    Resources,
    /// The program of an engine, which is the [`file`](Error::file), cannot be started.
    NotStarted,
    /// An engine did not answer in time.
    TimedOut,
    /// An engine violated its protocol.
    Protocol,
    /// An engine or a network gives no evaluations.
    Evaluation,
    /// A fault of this program.
    Internal,
}

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Remedy {
    /// Allow existing outputs to be replaced.
    Replace,
    /// Begin the run again, which replaces what it has written.
    StartAfresh,
    /// Resume the interrupted run, or begin it again.
    ResumeOrStartAfresh,
    /// Use the settings that the run began with, or begin it again.
    ContinueOrStartAfresh,
    /// Resume the interrupted run.
    Resume,
    /// Say in which format the input is.
    InputFormat,
    /// Say which format to write.
    OutputFormat,
    /// Say that the input is in the format `found`, or in `named` as its name says.
    ReadAs {
        /// The format that fits the content.
        found: FormatName,
        /// The format that the name says.
        named: FormatName,
    },
    /// Give the input a name with the extension of this format.
    Rename(FormatName),
    /// Say that the input is in this format, although most of its records cannot be read in it.
    ReadAnyway(FormatName),
}

impl Remedy {
    /// Formats an error with its causes, and after each cause that has a remedy what `advice` returns for it.
    pub fn explain<T: fmt::Display>(
        error: &(dyn StdError + 'static),
        advice: impl Fn(Self) -> Option<T>,
    ) -> String {
        let causes = iter::successors(Some(error), |&cause| cause.source());
        let explained = causes.map(|cause| {
            let remedy = cause.downcast_ref().and_then(Error::remedy);
            match remedy.and_then(&advice) {
                Some(advice) => format!("{cause}; {advice}"),
                None => cause.to_string(),
            }
        });
        explained.collect::<Vec<_>>().join(": ")
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

    /// `verb` completes "cannot …" and says what was tried.
    pub(crate) fn io(verb: &str, path: impl AsRef<Path>, source: io::Error) -> Self {
        let path = path.as_ref().display();
        Self::new(ErrorKind::Io, format!("cannot {verb} {path}")).in_file(&path).with_source(source)
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

    /// The error of a [`PositionEvaluator`](crate::relabel::evaluator::PositionEvaluator). It displays as its source.
    pub fn from_evaluator(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::evaluation("").with_source(source)
    }

    /// The kind.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The file or object concerned, as it was named.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// What the caller can do about it, where that is known. The message does not say it, since each interface has its
    /// own names for options.
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// The byte offset in the file, uncompressed, where it is known.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Whether the caller cancelled the operation.
    pub fn is_interruption(&self) -> bool {
        matches!(self.kind(), ErrorKind::Interrupted | ErrorKind::Suspended(_))
    }

    /// Whether other arguments help, as opposed to another state of the disk.
    pub fn is_usage(&self) -> bool {
        self.is_about_content()
            || matches!(
                self.kind(),
                ErrorKind::Usage
                    | ErrorKind::UnknownFormat
                    | ErrorKind::NoRandomAccess
                    | ErrorKind::Different(_)
            )
    }

    /// Whether the content of an input contradicts its name.
    pub(crate) fn is_about_content(&self) -> bool {
        use ErrorKind::{NotRecords, OtherFormat, Unreadable};
        matches!(self.kind(), OtherFormat(_) | NotRecords | Unreadable)
    }

    /// The error of the operating system or the object store that is the cause.
    pub fn io_error(&self) -> Option<&io::Error> {
        self.0.source.as_ref()?.downcast_ref()
    }

    /// Whether a file is missing.
    pub fn is_not_found(&self) -> bool {
        self.io_error().is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    /// Whether the operating system reported it, as opposed to a decompressor.
    pub(crate) fn is_of_system(&self) -> bool {
        self.io_error().is_some_and(|error| error.raw_os_error().is_some())
    }
}

/// Errors that occur in several places.
impl Error {
    pub(crate) fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted; unfinished outputs were removed")
    }

    pub(crate) fn evaluation_interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "the evaluation was interrupted")
    }

    pub(crate) fn sending_interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted while outputs were sent")
            .with_remedy(Remedy::Resume)
    }

    pub(crate) fn threads(source: io::Error) -> Self {
        Self::new(ErrorKind::Resources, "cannot start threads").with_source(source)
    }

    pub(crate) fn reader_panicked(panic: &CaughtPanic) -> Self {
        Self::internal(format!("internal error while reading: {panic}"))
    }

    /// An inconsistency in what this program itself has counted.
    pub(crate) fn fault(self) -> Self {
        Self::internal("internal error").with_source(self)
    }

    pub(crate) fn no_input() -> Self {
        Self::usage("no input")
    }

    /// Standard input, a pipe or a device cannot be measured or read again.
    pub(crate) fn read_once(input: impl fmt::Display, why: &str) -> Self {
        Self::usage(format!(
            "{input} can be read only once, as a whole and from its start: {why}; write it to a file first"
        ))
    }

    pub(crate) fn changed_while_read(input: impl fmt::Display) -> Self {
        Self::changed(format!("{input} changed while it was read")).in_file(&input)
    }

    /// `offset` counts the bytes of records, uncompressed.
    pub(crate) fn read(
        input: &str,
        offset: u64,
        compression: Compression,
        source: io::Error,
    ) -> Self {
        let of_what = match compression {
            Compression::None => "",
            _ => " of the uncompressed data",
        };
        Self::new(ErrorKind::Io, format!("cannot read {input} after byte {offset}{of_what}"))
            .in_file(&input)
            .at_byte(offset)
            .with_source(source)
    }

    pub(crate) fn unknown_format(input: impl fmt::Display) -> Self {
        let message = format!("the name of {input} does not say its format");
        Self::new(ErrorKind::UnknownFormat, message).with_remedy(Remedy::InputFormat)
    }

    pub(crate) fn no_parquet() -> Self {
        Self::usage(
            "this program was built without Parquet; `cargo install --path . --features parquet` builds it in",
        )
    }

    /// Two inputs where records are not converted.
    pub(crate) fn different_formats(first: impl fmt::Display, second: impl fmt::Display) -> Self {
        Self::usage(format!(
            "{first} and {second} have different formats; bring them to one with `kyokumen convert`"
        ))
    }

    /// The output format has fields that an input lacks, or is never written.
    pub(crate) fn conversion(
        input: impl fmt::Display,
        to: Format,
        fill: Fill,
        source: EncodeError,
    ) -> Self {
        let advice = match source {
            EncodeError::NeverHeld { fields, .. } => {
                let fill = fill.or(Fill::neutral(fields));
                let labels = fill.labels(fields);
                let caution = if labels.is_empty() {
                    String::new()
                } else {
                    format!(" (invents {labels}: not for training)")
                };
                format!(" without --fill {fill}{caution}")
            }
            _ => format!(" to {to}"),
        };
        Self::usage(format!("cannot convert {input}{advice}")).with_source(source)
    }

    pub(crate) fn filter_on_missing_field(
        filter: &str,
        input: impl fmt::Display,
        format: &str,
        field: Field,
    ) -> Self {
        Self::usage(format!(
            "--{filter} cannot be asked of {input}: {format} records have no {field}"
        ))
    }

    pub(crate) fn games_are_not_filtered(input: impl fmt::Display, to: Format) -> Self {
        Self::usage(format!(
            "{input} and {to} hold games, out of which no record can be left; write records first, as psv or hcpe"
        ))
    }

    pub(crate) fn output_exists(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!("{output} exists")).in_file(&output).with_remedy(Remedy::Replace)
    }

    pub(crate) fn output_is_input(output: impl AsRef<Path>, input: impl fmt::Display) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!("{output} would be written over the input {input}"))
    }

    pub(crate) fn written_twice(path: impl AsRef<Path>, other: impl AsRef<Path>) -> Self {
        let (path, other) = (path.as_ref().display(), other.as_ref().display());
        Self::usage(format!(
            "{path} would be written over {other}, which is written by the same run; name another file"
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
            "{output} is a device or a pipe, or a link to one; here a file is needed: name another, or take it away"
        ))
    }

    /// A file of columns is built from rows that are kept on the same disk.
    pub(crate) fn table_object(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!("{output} cannot be an object: write it to a disk, and copy it"))
    }

    /// A format that holds games where records are sorted.
    pub(crate) fn no_records(to: Format) -> Self {
        Self::usage(format!(
            "records cannot be sorted into files of games; say with --to which format of records to write, not {to}"
        ))
    }

    pub(crate) fn unaccounted(output: impl AsRef<Path>) -> Self {
        let output = output.as_ref().display();
        Self::usage(format!("{output} exists without a manifest"))
            .in_file(&output)
            .with_remedy(Remedy::Replace)
    }

    pub(crate) fn not_as_said(output: &Path, manifest: &Path) -> Self {
        let output = output.display();
        Self::usage(format!("{output} is not as {} says", manifest.display()))
            .in_file(&output)
            .with_remedy(Remedy::StartAfresh)
    }

    pub(crate) fn output_not_as_left(partial: impl AsRef<Path>) -> Self {
        let partial = partial.as_ref().display();
        Self::changed(format!("{partial} is not as the interrupted run left it"))
            .in_file(&partial)
            .with_remedy(Remedy::StartAfresh)
    }

    pub(crate) fn busy(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().display();
        Self::new(ErrorKind::Busy, format!("{path} is being written by another process"))
            .in_file(&path)
    }

    pub(crate) fn number_of_outputs(found: usize, expected: &str) -> Self {
        Self::invalid(format!("it has {}, and should have {expected}", quantity(found, "output")))
    }

    pub(crate) fn unreadable_output(path: &Path, error: &io::Error) -> Self {
        Self::invalid(format!("{} cannot be read: {error}", path.display()))
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
        let (message, file, byte) = (bad.to_string(), bad.file.clone(), bad.offset);
        Self::new(ErrorKind::BadRecord(Box::new(bad)), message).in_file(&file).at_byte(byte)
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self::new(ErrorKind::Resources, "cannot begin to search").with_source(error)
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
