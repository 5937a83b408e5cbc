//! Errors of the library as exceptions of the package, with file, record and byte.

use std::error::Error;
use std::fmt;
use std::io;

use kyokumen::engine::error::RunError;
use kyokumen::format::DecodeError;
use kyokumen::jobs::error::JobError;
use kyokumen::jobs::previous_run::PreviousRunError;
use kyokumen::ops::error::OperationError;
use kyokumen::ops::verify::VerifyProofsError;
use kyokumen::records::account_file::ManifestError;
use kyokumen::records::archive::ArchiveError;
use kyokumen::records::bad_record::BadRecord;
use kyokumen::records::plan_error::PlanError;
use kyokumen::records::source::SourceError;
use kyokumen::shogi::PositionError;
use kyokumen::shogi::sfen::ParsePositionError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Which exception of `kyokumen` is raised.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `UsageError`: what is asked for cannot be.
    Usage,
    /// `BadRecordError`: bytes that are no record.
    BadRecord,
    /// `PositionError`: no position of a game.
    Position,
    /// `ReadError`: the system, or a damaged file.
    Read,
    /// `NotFoundError`: what should be read is not there.
    NotFound,
    /// `KyokumenError`: all else.
    Other,
}

/// Why a call failed, made where the interpreter is not at hand.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    file: Option<String>,
    record: Option<u64>,
    byte: Option<u64>,
}

/// What is wrong with a file whose last record is cut off, behind so many whole ones.
pub(crate) fn cut_off(whole: u64) -> String {
    let records = if whole == 1 { "record stands" } else { "records stand" };
    format!("the last record is cut off; {whole} whole {records} before it")
}

impl Failure {
    fn new(kind: Kind, error: &(dyn Error + 'static)) -> Self {
        Self { kind, message: with_causes(error), file: None, record: None, byte: None }
    }

    /// What is asked for cannot be.
    pub(crate) fn usage(message: impl ToString) -> Self {
        let message = message.to_string();
        Self { kind: Kind::Usage, message, file: None, record: None, byte: None }
    }

    /// All else.
    pub(crate) fn other(error: &(dyn Error + 'static)) -> Self {
        Self::new(Kind::Other, error)
    }

    /// The record with this number, which begins at this byte, cannot be read.
    pub(crate) fn bad_record(
        file: Option<&str>,
        record: u64,
        byte: u64,
        reason: &dyn ToString,
    ) -> Self {
        let before = file.map_or(String::new(), |file| format!("{file}, "));
        let message = format!("{before}record {record}, at byte {byte}: {}", reason.to_string());
        let (file, record, byte) = (file.map(ToOwned::to_owned), Some(record), Some(byte));
        Self { kind: Kind::BadRecord, message, file, record, byte }
    }

    /// What stands at this place of a list is no position that can be used.
    pub(crate) fn bad_element(index: u64, reason: &dyn ToString) -> Self {
        let message = format!("position {index}: {}", reason.to_string());
        Self { kind: Kind::Position, message, file: None, record: Some(index), byte: None }
    }

    /// A file that the system does not let be read at this byte.
    pub(crate) fn unreadable(file: &str, byte: u64, source: &io::Error) -> Self {
        Self::of_io(source, source).in_file(file).at(byte)
    }

    /// What the system does not let be written.
    pub(crate) fn unwritable(message: String) -> Self {
        Self { kind: Kind::Read, message, file: None, record: None, byte: None }
    }

    fn of_io(error: &(dyn Error + 'static), source: &io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            _ => Kind::Read,
        };
        Self::new(kind, error)
    }

    fn in_file(self, file: &str) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }

    fn at(self, byte: u64) -> Self {
        Self { byte: Some(byte), ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

/// The message with what lies behind it, as the command line tells it.
fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    message
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| exception(py, failure).unwrap_or_else(|error| error))
    }
}

fn exception(py: Python<'_>, failure: Failure) -> PyResult<PyErr> {
    let Failure { kind, message, file, record, byte } = failure;
    let name = match kind {
        Kind::Usage => "UsageError",
        Kind::BadRecord => "BadRecordError",
        Kind::Position => "PositionError",
        Kind::Read => "ReadError",
        Kind::NotFound => "NotFoundError",
        Kind::Other => "KyokumenError",
    };
    let place = PyDict::new(py);
    place.set_item("file", file)?;
    place.set_item("record", record)?;
    place.set_item("byte", byte)?;
    let class = py.import("kyokumen._errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call((message,), Some(&place))?))
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        match &error {
            ArchiveError::Plan(_) => {
                let ArchiveError::Plan(error) = error else { unreachable!("it is one") };
                error.into()
            }
            ArchiveError::Open { input, source } => Self::of_io(&error, source).in_file(input),
            ArchiveError::Io { input, offset, source } => {
                Self::of_io(&error, source).in_file(input).at(*offset)
            }
            ArchiveError::NotOfOneSize { input, .. }
            | ArchiveError::NoFrames { input }
            | ArchiveError::NotAFile { input } => Self::new(Kind::Usage, &error).in_file(input),
            _ => Self::other(&error),
        }
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        match &error {
            SourceError::Open { input, source } => Self::of_io(&error, source).in_file(input),
            SourceError::Read { input, offset, source, .. } => {
                Self::of_io(&error, source).in_file(input).at(*offset)
            }
            SourceError::NotAsLeft { input }
            | SourceError::Count { input, .. }
            | SourceError::Changed { input } => Self::new(Kind::Read, &error).in_file(input),
            _ => Self::other(&error),
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Source(error) => error.into(),
            PlanError::Look { ref name, ref source } => Self::of_io(&error, source).in_file(name),
            error => Self::new(Kind::Usage, &error),
        }
    }
}

impl From<BadRecord> for Failure {
    fn from(bad: BadRecord) -> Self {
        let BadRecord { ref file, index, offset, ref reason, .. } = bad;
        Self::bad_record(Some(file), index, offset, reason)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::BadRecord(bad) => bad.into(),
            RunError::Source(error) => error.into(),
            error => Self::other(&error),
        }
    }
}

impl From<OperationError> for Failure {
    fn from(error: OperationError) -> Self {
        match error {
            OperationError::Plan(error) => error.into(),
            OperationError::Run(error) => error.into(),
            error => Self::other(&error),
        }
    }
}

impl From<PreviousRunError> for Failure {
    fn from(error: PreviousRunError) -> Self {
        match &error {
            PreviousRunError::Manifest(ManifestError::Io { path, source })
            | PreviousRunError::Io { path, source } => {
                Self::of_io(&error, source).in_file(&path.to_string_lossy())
            }
            _ => JobError::from(error).into(),
        }
    }
}

impl From<VerifyProofsError> for Failure {
    fn from(error: VerifyProofsError) -> Self {
        match &error {
            VerifyProofsError::Open { file, source } => Self::of_io(&error, source).in_file(file),
            VerifyProofsError::Read { file, .. } | VerifyProofsError::Fault { file, .. } => {
                Self::other(&error).in_file(file)
            }
            _ => Self::other(&error),
        }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Plan(error) => error.into(),
            JobError::Run(error) => error.into(),
            error if error.is_usage() => Self::new(Kind::Usage, &error),
            error => Self::other(&error),
        }
    }
}

impl From<ParsePositionError> for Failure {
    fn from(error: ParsePositionError) -> Self {
        Self::new(Kind::Position, &error)
    }
}

impl From<PositionError> for Failure {
    fn from(error: PositionError) -> Self {
        Self::new(Kind::Position, &error)
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        let byte = error.offset as u64;
        Self::new(Kind::BadRecord, &error).at(byte)
    }
}
