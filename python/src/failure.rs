//! Converts errors of the library to exceptions of the package, with file, record and byte.

use std::error::Error;
use std::{fmt, io};

use kyokumen::format::{self, DecodeError, Place, RecordPlace};
use kyokumen::shogi::PositionError;
use kyokumen::shogi::sfen::SfenError;
use kyokumen::{ErrorKind, Remedy};
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;

/// The error of a failed call. Created without the interpreter's lock and later converted to an exception.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exception class of `kyokumen`.
    class: &'static str,
    message: String,
    file: Option<String>,
    record: Option<u64>,
    byte: Option<u64>,
    /// Error number of the operating system.
    errno: Option<i32>,
}

const USAGE: &str = "UsageError";
const BAD_RECORD: &str = "BadRecordError";
const POSITION: &str = "PositionError";
/// A file cannot be read or written, or is damaged.
const FILE: &str = "FileError";
const NOT_FOUND: &str = "NotFoundError";
const OTHER: &str = "KyokumenError";

/// Message for a file whose last record is truncated, after `whole` complete records.
pub(crate) fn cut_off(whole: u64) -> String {
    let records = if whole == 1 { "record is" } else { "records are" };
    format!("the last record is cut off; {whole} {records} complete")
}

impl Failure {
    const fn new(class: &'static str, message: String) -> Self {
        Self { class, message, file: None, record: None, byte: None, errno: None }
    }

    fn from_error(class: &'static str, error: &(dyn Error + 'static)) -> Self {
        // The message of the command line, with names of arguments instead of options.
        Self::new(class, in_python(&Remedy::explain(error, argument)))
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new(USAGE, message.to_string())
    }

    /// A text is not a valid position.
    pub(crate) const fn position(message: String) -> Self {
        Self::new(POSITION, message)
    }

    pub(crate) fn other(error: &(dyn Error + 'static)) -> Self {
        Self::from_error(OTHER, error)
    }

    pub(crate) fn bad_record(
        file: Option<&str>,
        record: u64,
        byte: u64,
        reason: &dyn ToString,
    ) -> Self {
        let before = file.map_or(String::new(), |file| format!("{file}, "));
        let place = RecordPlace { index: record, offset: byte };
        let message = format!("{before}{place}: {}", reason.to_string());
        let file = file.map(ToOwned::to_owned);
        Self { file, record: Some(record), byte: Some(byte), ..Self::new(BAD_RECORD, message) }
    }

    /// The element at `index` of a list is not a valid position.
    pub(crate) fn bad_element(index: u64, reason: &dyn ToString) -> Self {
        let message = format!("position {index}: {}", reason.to_string());
        Self { record: Some(index), ..Self::new(POSITION, message) }
    }

    pub(crate) fn unreadable(file: &str, byte: u64, source: &io::Error) -> Self {
        let errno = source.raw_os_error();
        let failure = Self::from_error(io_class(source), source);
        let message = format!("{file}: {}", failure.message);
        Self { file: Some(file.to_owned()), byte: Some(byte), errno, message, ..failure }
    }

    /// An error of `kyokumen.open`, where `format` is what is `from_` elsewhere.
    pub(crate) fn with_format_argument(self) -> Self {
        Self { message: self.message.replace("from_=", "format="), ..self }
    }

    /// The length of a sequence is unknown.
    pub(crate) const fn unknown_length(message: String) -> Self {
        Self::new("UnknownLengthError", message)
    }

    pub(crate) fn in_file(self, file: &str) -> Self {
        let message = format!("{file}, {}", self.message);
        Self { file: Some(file.to_owned()), message, ..self }
    }

    pub(crate) const fn unwritable(message: String) -> Self {
        Self::new(FILE, message)
    }
}

/// The exception class of an I/O error.
fn io_class(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => NOT_FOUND,
        io::ErrorKind::PermissionDenied => "PermissionDeniedError",
        _ => FILE,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Failure {}

/// Replaces options of the command line, such as `--max-ply <N>`, by arguments, such as `max_ply`. Commands in
/// backticks stay.
pub(crate) fn in_python(text: &str) -> String {
    // Cargo does not install the package.
    let text = text.replace("install it with `cargo", "use a program installed with `cargo");
    let mut shown = String::new();
    for (number, part) in text.split('`').enumerate() {
        if number > 0 {
            shown.push('`');
        }
        if number % 2 == 1 && !part.starts_with("--") {
            shown += part;
        } else {
            with_arguments(part, &mut shown);
        }
    }
    shown
}

fn with_arguments(text: &str, shown: &mut String) {
    let mut pieces = text.split("--");
    shown.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        let (name, rest) = piece.split_at(end.unwrap_or(piece.len()));
        let rest = match rest.strip_prefix(" <").and_then(|rest| rest.split_once('>')) {
            Some((_, rest)) => rest.strip_prefix("...").unwrap_or(rest),
            None => rest,
        };
        match name {
            "" => shown.push_str("--"),
            "from" => shown.push_str("from_"),
            name => shown.push_str(&name.replace('-', "_")),
        }
        // A value such as `ply=0,eval=0` is a string in Python.
        let end = rest.find([')', ';']).unwrap_or(rest.len());
        let value = rest[..end].strip_prefix(' ').and_then(|value| value.split(' ').next());
        match value.map(|value| value.trim_end_matches(',')).filter(|value| value.contains('=')) {
            Some(value) => {
                shown.extend(["=\"", value, "\"", &rest[1 + value.len()..]]);
            }
            None => shown.push_str(rest),
        }
    }
}

/// Advice with names of Python arguments.
pub(crate) fn argument(remedy: Remedy) -> Option<String> {
    let text = match remedy {
        Remedy::Replace => "replace it with force=True",
        Remedy::Restart => "start over with force=True",
        Remedy::ResumeOrRestart => "continue it with resume=True, or start over with force=True",
        Remedy::ContinueOrRestart => "use the same arguments, or start over with force=True",
        Remedy::Resume => "repeat the call with resume=True to continue",
        Remedy::InputFormat => "set its format with from_=",
        Remedy::OutputFormat => "set the format with to=",
        Remedy::ReadAs { found, named } => {
            return Some(format!("set the format to '{found}', or to '{named}' to read it anyway"));
        }
        Remedy::Rename(found) => return Some(format!("rename it to end in .{found}")),
        Remedy::ReadAnyway(named) => {
            return Some(format!("set the format to '{named}' to read it anyway"));
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
    let Failure { class, message, file, record, byte, errno } = failure;
    let location = [("record", record), ("byte", byte)].into_py_dict(py)?;
    location.set_item("errno", errno)?;
    location.set_item("file", file)?;
    let class = py.import("kyokumen._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call((message,), Some(&location))?))
}

impl From<kyokumen::Error> for Failure {
    fn from(error: kyokumen::Error) -> Self {
        let class = match (error.kind(), error.io_error()) {
            (ErrorKind::BadRecord(bad), _) => {
                let reason = in_python(&bad.reason);
                return Self::bad_record(Some(&bad.file), bad.index, bad.offset, &reason);
            }
            (ErrorKind::Io, Some(source)) => io_class(source),
            (ErrorKind::Io | ErrorKind::Changed | ErrorKind::Invalid | ErrorKind::Malformed, _) => {
                FILE
            }
            (ErrorKind::Evaluation | ErrorKind::Exists | ErrorKind::Different(_), _) => USAGE,
            _ if error.is_usage() => USAGE,
            _ => OTHER,
        };
        let class = match error.remedy() {
            Some(Remedy::Replace) if class == USAGE => "ExistsError",
            _ => class,
        };
        let file = error.file().map(ToOwned::to_owned);
        let errno = error.io_error().and_then(io::Error::raw_os_error);
        Self { file, byte: error.offset(), errno, ..Self::from_error(class, &error) }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        let class = match error.downcast_ref::<io::Error>() {
            Some(source) => io_class(source),
            None => OTHER,
        };
        error
            .downcast::<kyokumen::Error>()
            .map_or_else(|error| Self::from_error(class, error.as_ref()), Self::from)
    }
}

impl From<SfenError> for Failure {
    fn from(error: SfenError) -> Self {
        Self::from_error(POSITION, &error)
    }
}

impl From<PositionError> for Failure {
    fn from(error: PositionError) -> Self {
        Self::from_error(POSITION, &error)
    }
}

impl From<format::Error> for Failure {
    fn from(error: format::Error) -> Self {
        let class = match &error.kind {
            format::ErrorKind::Io(source) => io_class(source),
            format::ErrorKind::Record(_) => BAD_RECORD,
            _ => OTHER,
        };
        let (record, byte) = match error.place {
            Some(Place::Input(place)) => (Some(place.index), Some(place.offset)),
            Some(Place::Output(index)) => (Some(index), None),
            _ => (None, None),
        };
        Self { record, byte, ..Self::from_error(class, &error) }
    }
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self { byte: Some(error.offset as u64), ..Self::from_error(BAD_RECORD, &error) }
    }
}
