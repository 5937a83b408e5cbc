//! Errors of the library as exceptions of the package, with file, record and byte.

use std::error::Error;
use std::{fmt, io};

use kyokumen::format::DecodeError;
use kyokumen::shogi::PositionError;
use kyokumen::shogi::sfen::SfenError;
use kyokumen::{ErrorKind, Remedy};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Exception class of `kyokumen`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Usage,
    BadRecord,
    Position,
    /// A file cannot be read or written, or is damaged.
    File,
    NotFound,
    Other,
}

/// Why a call failed. Created without the interpreter; becomes an exception later.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    file: Option<String>,
    record: Option<u64>,
    byte: Option<u64>,
}

/// Message for a file whose last record is truncated, after `whole` complete ones.
pub(crate) fn cut_off(whole: u64) -> String {
    let records = if whole == 1 { "record stands" } else { "records stand" };
    format!("the last record is cut off; {whole} whole {records} before it")
}

impl Failure {
    fn new(kind: Kind, error: &(dyn Error + 'static)) -> Self {
        // In the style of the command line, with the names of arguments.
        let message = Remedy::explain(error, argument);
        Self { kind, message, file: None, record: None, byte: None }
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        let message = message.to_string();
        Self { kind: Kind::Usage, message, file: None, record: None, byte: None }
    }

    pub(crate) fn other(error: &(dyn Error + 'static)) -> Self {
        Self::new(Kind::Other, error)
    }

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

    /// The element at `index` of a list is not a usable position.
    pub(crate) fn bad_element(index: u64, reason: &dyn ToString) -> Self {
        let message = format!("position {index}: {}", reason.to_string());
        Self { kind: Kind::Position, message, file: None, record: Some(index), byte: None }
    }

    pub(crate) fn unreadable(file: &str, byte: u64, source: &io::Error) -> Self {
        Self::of_io(source, source).in_file(file).at(byte)
    }

    pub(crate) fn unwritable(message: String) -> Self {
        Self { kind: Kind::File, message, file: None, record: None, byte: None }
    }

    fn of_io(error: &(dyn Error + 'static), source: &io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => Kind::NotFound,
            _ => Kind::File,
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

/// What helps, with the names of arguments.
pub(crate) fn argument(remedy: Remedy) -> Option<String> {
    let text = match remedy {
        Remedy::Replace => "replace it with force=True",
        Remedy::StartAfresh => "start over with force=True",
        Remedy::ResumeOrStartAfresh => {
            "continue it with resume=True, or start over with force=True"
        }
        Remedy::ContinueOrStartAfresh => "use the same arguments, or start over with force=True",
        Remedy::Resume => "the same call with resume=True continues",
        Remedy::InputFormat => "give its format (from_=, format=)",
        Remedy::OutputFormat => "give the format with to=",
        Remedy::ReadAs { found, named } => {
            return Some(format!("give the format '{found}', or '{named}' to force it"));
        }
        Remedy::Rename(found) => return Some(format!("give it a name that ends in .{found}")),
        Remedy::ReadAnyway(named) => {
            return Some(format!("give the format '{named}' to read it all the same"));
        }
        _ => return None,
    };
    Some(text.to_owned())
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
        Kind::File => "FileError",
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

impl From<kyokumen::Error> for Failure {
    fn from(error: kyokumen::Error) -> Self {
        let failure = match (error.kind(), error.io_error()) {
            (ErrorKind::BadRecord(bad), _) => {
                return Self::bad_record(Some(&bad.file), bad.index, bad.offset, &bad.reason);
            }
            (ErrorKind::Io, Some(source)) => Self::of_io(&error, source),
            (ErrorKind::Io | ErrorKind::Changed | ErrorKind::Invalid | ErrorKind::Malformed, _) => {
                Self::new(Kind::File, &error)
            }
            _ if error.is_usage() => Self::new(Kind::Usage, &error),
            _ => Self::other(&error),
        };
        let file = error.file().map(ToOwned::to_owned);
        Self { file, byte: error.offset(), ..failure }
    }
}

impl From<SfenError> for Failure {
    fn from(error: SfenError) -> Self {
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
