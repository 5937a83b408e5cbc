//! Arrays with one row for each record, written on several threads. The arrays are new or belong to the caller.

use numpy::{PyArray1, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::arrays::{Object, RecordBytes, Records};
use crate::failure::Failure;
use crate::interrupt::in_parallel;

/// The name, number type and row shape of an array.
pub(crate) struct Layout {
    pub(crate) name: &'static str,
    /// numpy's code of the number type: a letter, and the number of bytes.
    pub(crate) dtype: &'static str,
    /// Shape of a row.
    row: Vec<usize>,
}

impl Layout {
    pub(crate) fn new(name: &'static str, dtype: &'static str, row: &[usize]) -> Self {
        Self { name, dtype, row: row.to_vec() }
    }

    /// Bytes of a row.
    pub(crate) fn bytes(&self) -> usize {
        usize::from(self.dtype.as_bytes()[1] - b'0') * self.row.iter().product::<usize>()
    }

    pub(crate) fn shape(&self, rows: usize) -> Vec<usize> {
        [rows].iter().chain(&self.row).copied().collect()
    }

    /// A new array with unspecified values.
    fn array<'py>(&self, py: Python<'py>, rows: usize) -> PyResult<Object<'py>> {
        py.import("numpy")?.call_method1("empty", (self.shape(rows), self.dtype))
    }

    /// Whether the numbers of an array have this type.
    pub(crate) fn matches(&self, array: &Object<'_>) -> PyResult<bool> {
        let dtype = array.py().import("numpy")?.call_method1("dtype", (self.dtype,))?;
        Ok(array.is_instance_of::<PyUntypedArray>() && array.getattr("dtype")?.eq(dtype)?)
    }

    /// Checks that an array of the caller has this type and shape and can be written to.
    fn check(&self, array: &Object<'_>, rows: usize) -> PyResult<()> {
        let name = self.name;
        if !self.matches(array)? {
            let dtype = array.getattr("dtype").unwrap_or_else(|_| array.get_type().into_any());
            let expected = self.dtype;
            return Err(PyTypeError::new_err(format!(
                "{name} must be an array of {expected}, not of {dtype}"
            )));
        }
        let (untyped, expected) = (array.cast::<PyUntypedArray>()?, self.shape(rows));
        let shape = untyped.shape();
        if shape != expected {
            let message = format!("{name} must have the shape {expected:?}, not {shape:?}");
            return Err(PyValueError::new_err(message));
        }
        if !untyped.is_c_contiguous() || !array.getattr("flags")?.getattr("aligned")?.extract()? {
            let message = format!("{name} must be contiguous and aligned in memory");
            return Err(Failure::usage(message).into());
        }
        Ok(())
    }
}

/// The rows of consecutive records. One row is written at a time.
pub(crate) struct Rows<'a> {
    /// The bytes of each array, and the number of bytes of a row.
    arrays: Vec<(&'a mut [u8], usize)>,
    row: usize,
}

impl<'a> Rows<'a> {
    pub(crate) const fn new(arrays: Vec<(&'a mut [u8], usize)>) -> Self {
        Self { arrays, row: 0 }
    }

    /// Calls `write` with each row.
    pub(crate) fn each<E>(
        &mut self,
        mut write: impl FnMut(usize, &mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let rows = self.arrays.first().map_or(0, |(bytes, width)| bytes.len() / width);
        (0..rows).try_for_each(|row| {
            self.row = row;
            write(row, self)
        })
    }

    /// The current row in the array number `array`.
    pub(crate) fn numbers<T: FromBytes + IntoBytes + Immutable>(
        &mut self,
        array: usize,
    ) -> &mut [T] {
        let (bytes, width) = &mut self.arrays[array];
        let row = &mut bytes[self.row * *width..][..*width];
        <[T]>::mut_from_bytes(row).expect("arrays are aligned and hold these numbers")
    }

    /// Writes the only number of the current row.
    pub(crate) fn set<T: FromBytes + IntoBytes + Immutable>(&mut self, array: usize, number: T) {
        self.numbers(array)[0] = number;
    }
}

/// Calls `write` for each of `rows` rows of new arrays, or of the arrays in `out`.
pub(crate) fn write_rows<'py>(
    py: Python<'py>,
    rows: usize,
    threads: usize,
    layouts: &[Layout],
    out: Option<Bound<'py, PyTuple>>,
    write: impl Fn(usize, &mut Rows<'_>) -> Result<(), Failure> + Send + Sync,
) -> PyResult<Bound<'py, PyTuple>> {
    // Small enough that the rows of a job stay in the cache.
    const JOB_BYTES: usize = 1 << 20;
    let arrays = if let Some(out) = out {
        out.iter().zip(layouts).try_for_each(|(array, layout)| layout.check(&array, rows))?;
        out
    } else {
        let arrays = layouts.iter().map(|layout| layout.array(py, rows));
        PyTuple::new(py, arrays.collect::<PyResult<Vec<_>>>()?)?
    };
    let bytes = |array: Object<'py>| {
        let flat = array.call_method1("reshape", (-1,))?.call_method1("view", ("u1",))?;
        let flat = flat.cast_into::<PyArray1<u8>>()?.try_readwrite();
        let failed = |error| Failure::usage(format!("an array cannot be written to: {error}"));
        Ok(flat.map_err(failed)?)
    };
    let mut writing = arrays.iter().map(bytes).collect::<PyResult<Vec<_>>>()?;
    let row_bytes: usize = layouts.iter().map(Layout::bytes).sum();
    let job_rows = (JOB_BYTES / row_bytes).clamp(128, 1024);
    let mut jobs: Vec<Vec<_>> = (0..rows.div_ceil(job_rows)).map(|_| Vec::new()).collect();
    for (array, layout) in writing.iter_mut().zip(layouts) {
        let (bytes, width) = (array.as_slice_mut(), layout.bytes());
        let bytes = bytes.map_err(|error| Failure::other(&error))?.chunks_mut(job_rows * width);
        jobs.iter_mut().zip(bytes).for_each(|(job, bytes)| job.push((bytes, width)));
    }
    in_parallel(py, threads, jobs.into_iter().enumerate().collect(), |(job, arrays)| {
        Rows::new(arrays).each(|row, rows| write(job * job_rows + row, rows))
    })?;
    drop(writing);
    Ok(arrays)
}

/// Like [`write_rows`], with one row for each record.
pub(crate) fn rows_for_records<'py>(
    py: Python<'py>,
    records: &Records<'py>,
    threads: usize,
    layouts: &[Layout],
    out: Option<Bound<'py, PyTuple>>,
    write: impl Fn(&RecordBytes<'_>, usize, &mut Rows<'_>) -> Result<(), Failure> + Send + Sync,
) -> PyResult<Bound<'py, PyTuple>> {
    let records = records.bytes()?;
    write_rows(py, records.len(), threads, layouts, out, |i, rows| write(&records, i, rows))
}
