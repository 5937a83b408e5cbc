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

use crate::archive::Archive;
use crate::failure::Failure;

/// Any Python object.
pub(crate) type Object<'py> = Bound<'py, PyAny>;

/// Fixed-size records from a caller: an archive or an array.
pub(crate) struct Records<'py> {
    format: Format,
    dialect: Dialect,
    name: Option<String>,
    /// Number of the first record in its file.
    first: u64,
    content: ArrayOrArchive<'py>,
}

enum ArrayOrArchive<'py> {
    Archive(Arc<archive::Archive>, Range<u64>),
    Array(PyReadonlyArray1<'py, u8>),
}

impl<'py> Records<'py> {
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
                content: ArrayOrArchive::Archive(records, range),
            });
        }
        let Ok(array) = object.cast::<PyUntypedArray>() else {
            let class = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "expected an Archive or an array of records, not {class}"
            )));
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
        Ok(Self { format, dialect, name: None, first: 0, content: ArrayOrArchive::Array(bytes) })
    }

    pub(crate) const fn format(&self) -> Format {
        self.format
    }

    /// The bytes of the records, borrowed if they are in memory.
    pub(crate) fn bytes(&self) -> Result<RecordBytes<'_>, Failure> {
        let bytes = match &self.content {
            ArrayOrArchive::Archive(archive, range) => archive.slice(range.clone())?,
            ArrayOrArchive::Array(bytes) => {
                Cow::Borrowed(bytes.as_slice().map_err(|error| Failure::other(&error))?)
            }
        };
        let record_len = self.format.record_len().unwrap_or(1);
        Ok(RecordBytes {
            format: self.format,
            dialect: self.dialect,
            name: self.name.as_deref(),
            first: self.first,
            record_len,
            records: bytes.len().div_ceil(record_len),
            bytes,
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
    record_len: usize,
    records: usize,
    bytes: Cow<'a, [u8]>,
}

impl RecordBytes<'_> {
    pub(crate) const fn len(&self) -> usize {
        self.records
    }

    pub(crate) fn read<T, E: ToString>(
        &self,
        index: usize,
        read: impl FnOnce(&RecordRef<'_>) -> Result<T, E>,
    ) -> Result<T, Failure> {
        let from = index * self.record_len;
        let bytes = &self.bytes[from..(from + self.record_len).min(self.bytes.len())];
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
        Failure::bad_record(self.name, record, record * self.record_len as u64, reason)
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
