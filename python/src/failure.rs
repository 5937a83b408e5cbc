//! Errors of the library as exceptions of the package, with file, record and byte.

use std::error::Error;
use std::{fmt, io};

use kyokumen::format::DecodeError;
use kyokumen::shogi::PositionError;
use kyokumen::shogi::sfen::SfenError;
use kyokumen::{ErrorKind, Remedy};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

/// Why a call failed. Created without the interpreter; becomes an exception later.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exception class of `kyokumen`.
    class: &'static str,
    message: String,
    file: Option<String>,
    record: Option<u64>,
    byte: Option<u64>,
}

const USAGE: &str = "UsageError";
const BAD_RECORD: &str = "BadRecordError";
const POSITION: &str = "PositionError";
/// A file cannot be read or written, or is damaged.
const FILE: &str = "FileError";
const NOT_FOUND: &str = "NotFoundError";
const OTHER: &str = "KyokumenError";

/// Message for a file whose last record is truncated, after `whole` complete ones.
pub(crate) fn cut_off(whole: u64) -> String {
    let records = if whole == 1 { "record stands" } else { "records stand" };
    format!("the last record is cut off; {whole} whole {records} before it")
}

impl Failure {
    const fn new(class: &'static str, message: String) -> Self {
        Self { class, message, file: None, record: None, byte: None }
    }

    fn of(class: &'static str, error: &(dyn Error + 'static)) -> Self {
        // In the style of the command line, with the names of arguments.
        Self::new(class, Remedy::explain(error, argument))
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new(USAGE, message.to_string())
    }

    pub(crate) fn other(error: &(dyn Error + 'static)) -> Self {
        Self::of(OTHER, error)
    }

    pub(crate) fn bad_record(
        file: Option<&str>,
        record: u64,
        byte: u64,
        reason: &dyn ToString,
    ) -> Self {
        let before = file.map_or(String::new(), |file| format!("{file}, "));
        let message = format!("{before}record {record}, at byte {byte}: {}", reason.to_string());
        let file = file.map(ToOwned::to_owned);
        Self { file, record: Some(record), byte: Some(byte), ..Self::new(BAD_RECORD, message) }
    }

    /// The element at `index` of a list is not a usable position.
    pub(crate) fn bad_element(index: u64, reason: &dyn ToString) -> Self {
        let message = format!("position {index}: {}", reason.to_string());
        Self { record: Some(index), ..Self::new(POSITION, message) }
    }

    pub(crate) fn unreadable(file: &str, byte: u64, source: &io::Error) -> Self {
        let file = Some(file.to_owned());
        Self { file, byte: Some(byte), ..Self::of(class_of(source), source) }
    }

    pub(crate) const fn unwritable(message: String) -> Self {
        Self::new(FILE, message)
    }
}

fn class_of(source: &io::Error) -> &'static str {
    if source.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { FILE }
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
    let Failure { class, message, file, record, byte } = failure;
    let place = [("record", record), ("byte", byte)].into_py_dict(py)?;
    place.set_item("file", file)?;
    let class = py.import("kyokumen._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(&place))?))
}

impl From<kyokumen::Error> for Failure {
    fn from(error: kyokumen::Error) -> Self {
        let class = match (error.kind(), error.io_error()) {
            (ErrorKind::BadRecord(bad), _) => {
                return Self::bad_record(Some(&bad.file), bad.index, bad.offset, &bad.reason);
            }
            (ErrorKind::Io, Some(source)) => class_of(source),
            (ErrorKind::Io | ErrorKind::Changed | ErrorKind::Invalid | ErrorKind::Malformed, _) => {
                FILE
            }
            _ if error.is_usage() => USAGE,
            _ => OTHER,
        };
        let file = error.file().map(ToOwned::to_owned);
        Self { file, byte: error.offset(), ..Self::of(class, &error) }
    }
}

impl From<SfenError> for Failure {
    fn from(error: SfenError) -> Self {
        Self::of(POSITION, &error)
    }
}

impl From<PositionError> for Failure {
    fn from(error: PositionError) -> Self {
        Self::of(POSITION, &error)
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self { byte: Some(error.offset as u64), ..Self::of(BAD_RECORD, &error) }
    }
}
