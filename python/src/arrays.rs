//! The bytes of records that callers pass as archives or numpy arrays.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use kyokumen::format::move16::Dialect;
use kyokumen::format::{Format, RecordRef};
use kyokumen::records::archive;
use kyokumen::shogi::{Position, Setup};
use numpy::ndarray::ArrayView1;
use numpy::{
    Element, PyArray1, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::archive::Archive;
use crate::arguments::{Given, wrong_type};
use crate::failure::Failure;
use crate::position::PositionLike;

/// Any Python object.
pub(crate) type Object<'py> = Bound<'py, PyAny>;

/// Records from a caller: an archive or an array of fixed-size records, or positions.
pub(crate) struct Records<'py> {
    format: Format,
    dialect: Dialect,
    name: Option<String>,
    /// Number of the first record in its file.
    first: u64,
    content: Content<'py>,
}

enum Content<'py> {
    Archive(Arc<archive::Archive>, Range<u64>),
    Array(PyReadonlyArray1<'py, u8>),
    /// Positions as SFENs.
    Sfens(Vec<String>),
}

impl<'py> Records<'py> {
    /// Like [`Self::from_object`]. `object` may also be an archive without random access, or a list or an iterator of
    /// [`PositionLike`] objects.
    pub(crate) fn of_positions(object: &Object<'py>) -> PyResult<Self> {
        let items = match object.cast::<Archive>() {
            Ok(archive) if !archive.get().has_random_access() => {
                object.call_method0("sfens")?.try_iter()
            }
            Err(_) if !object.is_instance_of::<PyUntypedArray>() => object.try_iter(),
            _ => return Self::from_object(object),
        };
        let items = match items {
            Ok(items) if !object.is_instance_of::<PyString>() => items,
            _ => {
                let several = "an Archive, an array of records or a list of positions";
                return Err(wrong_type(object, several));
            }
        };
        let sfen = |(index, item): (usize, PyResult<Object<'py>>)| {
            let Given(position) = item?.extract::<Given<PositionLike<'_>>>().map_err(|error| {
                PyTypeError::new_err(format!("position {index}: {}", error.value(object.py())))
            })?;
            let sfen = position.into_sfen();
            Ok(sfen.map_err(|failure| Failure::bad_element(index as u64, &failure))?)
        };
        let sfens = items.enumerate().map(sfen).collect::<PyResult<_>>()?;
        let (format, dialect) = (Format::Sfen, Format::Sfen.dialect());
        Ok(Self { format, dialect, name: None, first: 0, content: Content::Sfens(sfens) })
    }

    /// `object` is an [`Archive`] or an array with one of the [`DTYPES`].
    pub(crate) fn from_object(object: &Object<'py>) -> PyResult<Self> {
        if let Ok(archive) = object.cast::<Archive>() {
            let archive = archive.get();
            let (records, range) = archive.random_access(object.py())?;
            return Ok(Self {
                format: records.format(),
                dialect: records.dialect(),
                name: Some(archive.name().to_owned()),
                first: range.start,
                content: Content::Archive(records, range),
            });
        }
        let Ok(array) = object.cast::<PyUntypedArray>() else {
            return Err(wrong_type(object, "an Archive or an array of records"));
        };
        if array.ndim() != 1 {
            return Err(PyValueError::new_err(format!(
                "expected a one-dimensional array of records, not {} dimensions",
                array.ndim()
            )));
        }
        let format = format_of(array)?;
        let bytes = bytes_of(array)?;
        let dialect = format.dialect();
        Ok(Self { format, dialect, name: None, first: 0, content: Content::Array(bytes) })
    }

    pub(crate) const fn format(&self) -> Format {
        self.format
    }

    /// The bytes of the records, borrowed if they are in memory.
    pub(crate) fn bytes(&self) -> Result<RecordBytes<'_>, Failure> {
        let record_len = self.format.record_len().unwrap_or(1);
        let content = match &self.content {
            Content::Archive(archive, range) => {
                RecordContent::FixedSize(record_len, archive.slice(range.clone())?)
            }
            Content::Array(bytes) => {
                let bytes = bytes.as_slice().map_err(|error| Failure::other(&error))?;
                RecordContent::FixedSize(record_len, Cow::Borrowed(bytes))
            }
            Content::Sfens(sfens) => RecordContent::Sfens(sfens),
        };
        Ok(RecordBytes {
            format: self.format,
            dialect: self.dialect,
            name: self.name.as_deref(),
            first: self.first,
            content,
        })
    }
}

fn format_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Format> {
    let (dtypes, dtype) = (array.py().import("kyokumen.dtypes")?, array.dtype());
    for (format, name) in DTYPES {
        if dtypes.getattr(name)?.eq(&dtype)? {
            return Ok(format);
        }
    }
    let mut names = DTYPES.map(|(_, name)| format!("kyokumen.dtypes.{name}")).to_vec();
    names.dedup();
    Err(PyTypeError::new_err(format!(
        "{} is not a dtype of records: expected one of {}, which equal the dtypes of cshogi",
        dtype.repr()?,
        names.join(", ")
    )))
}

/// The bytes of an array, copied only if it is not contiguous.
fn bytes_of<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<PyReadonlyArray1<'py, u8>> {
    let py = array.py();
    let numpy = py.import("numpy")?;
    let dense = numpy.call_method1("ascontiguousarray", (array,))?;
    if array.len() == 0 {
        // numpy cannot view an empty array as bytes.
        return Ok(PyArray1::<u8>::zeros(py, 0, false).readonly());
    }
    let bytes = dense.call_method1("view", (numpy.getattr("uint8")?,))?;
    let bytes = bytes.cast_into::<PyArray1<u8>>()?.try_readonly();
    Ok(bytes.map_err(|error| Failure::usage(format!("the array cannot be read: {error}")))?)
}

pub(crate) struct RecordBytes<'a> {
    format: Format,
    dialect: Dialect,
    name: Option<&'a str>,
    first: u64,
    content: RecordContent<'a>,
}

enum RecordContent<'a> {
    /// The length of a record and the bytes of all records.
    FixedSize(usize, Cow<'a, [u8]>),
    Sfens(&'a [String]),
}

impl RecordBytes<'_> {
    pub(crate) fn len(&self) -> usize {
        match &self.content {
            RecordContent::FixedSize(record_len, bytes) => bytes.len().div_ceil(*record_len),
            RecordContent::Sfens(sfens) => sfens.len(),
        }
    }

    pub(crate) fn read<T, E: ToString>(
        &self,
        index: usize,
        read: impl FnOnce(&RecordRef<'_>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let bytes = match &self.content {
            RecordContent::FixedSize(record_len, bytes) => {
                let from = index * record_len;
                &bytes[from..(from + record_len).min(bytes.len())]
            }
            RecordContent::Sfens(sfens) => sfens[index].as_bytes(),
        };
        let record = RecordRef::with_dialect(self.format, self.dialect, bytes);
        let record = record.map_err(|error| self.bad(index, &error))?;
        read(&record).map_err(|error| self.bad(index, &error))
    }

    pub(crate) fn setup(&self, index: usize) -> Result<Setup, Failure> {
        self.read(index, |record| record.setup())
    }

    pub(crate) fn position(&self, index: usize) -> Result<Position, Failure> {
        Position::try_from(self.setup(index)?).map_err(|error| self.bad(index, &error))
    }

    pub(crate) fn bad(&self, index: usize, reason: &dyn ToString) -> Failure {
        let record = self.first + index as u64;
        match &self.content {
            RecordContent::FixedSize(record_len, _) => {
                Failure::bad_record(self.name, record, record * *record_len as u64, reason)
            }
            RecordContent::Sfens(_) => Failure::bad_element(record, reason),
        }
    }
}

/// An array over `numbers` that keeps their owner alive.
pub(crate) fn array_over<'py, T: Element>(
    numbers: &[T],
    owner: Object<'py>,
) -> Bound<'py, PyArray1<T>> {
    let view = ArrayView1::from(numbers);
    #[expect(
        unsafe_code,
        reason = "creating an array over memory that numpy does not own is always unsafe"
    )]
    // SAFETY: both callers pass numbers that belong to `owner`, a frozen Python object. It becomes the base of the
    // array and therefore lives as long as the array. If the owner is an `Archive`, the numbers are a memory map in an
    // `Arc`, which never moves, and the array is made read-only before it is returned to Python. If the owner is a
    // `Memory`, the numbers are a `Vec` that nothing touches until the owner is dropped: Python code may write to the
    // array, and no Rust reference to the numbers exists.
    unsafe {
        PyArray1::borrow_from_array(&view, owner)
    }
}

/// Formats that have a dtype, with its name in `kyokumen.dtypes`.
pub(crate) const DTYPES: [(Format, &str); 5] = [
    (Format::Hcp, "hcp"),
    (Format::Hcpe, "hcpe"),
    (Format::Hcpe2, "hcpe"),
    (Format::Hcpe42, "hcpe42"),
    (Format::Psv, "psv"),
];

/// The name of the dtype of a format's records.
pub(crate) fn dtype(format: Format) -> Result<&'static str, Failure> {
    let name = DTYPES.iter().find(|(known, _)| *known == format).map(|(_, name)| *name);
    name.ok_or_else(|| {
        Failure::usage(format!(
            "{format} has variable-length records and therefore no dtype: use .to_arrow(), or convert the file to psv \
             or hcpe"
        ))
    })
}

/// A view of bytes as records with a dtype of `kyokumen.dtypes`.
pub(crate) fn as_rows<'py>(bytes: &Object<'py>, dtype: &str) -> PyResult<Object<'py>> {
    let dtype = bytes.py().import("kyokumen.dtypes")?.getattr(dtype)?;
    bytes.call_method1("reshape", (-1,))?.call_method1("view", (dtype,))
}
