//! `Archive`: a file of records with random or sequential access.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use kyokumen::ErrorKind;
use kyokumen::format::{DecodeError, RecordRef};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::format_name::FormatName;
use kyokumen::records::source::{Input, InputLocation, InputRange, OffsetTable};
use kyokumen::records::{archive, opening};
use numpy::PyArray1;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyInt, PySlice};

use crate::arguments::number;
use crate::arrays::{Object, array_over, as_rows, dtype};
use crate::arrow::{Batches, Column};
use crate::failure::{self, Failure};
use crate::interrupt::{abandonable, lock};
use crate::moves::dialect_named;
use crate::position::escaped;
use crate::reading::{Reading, each_record, policy};
use crate::record::Record;

/// Opens a file of records in any format.
///
/// `format` ("psv", "hcpe.zst") is detected from the file name or the content by default. `dialect` is the encoding of
/// packed moves ("apery", "yaneuraou", "rshogi"); it is detected from the records by default.
#[pyfunction(signature = (path, *, format = None, dialect = None))]
pub(crate) fn open(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    dialect: Option<&str>,
) -> PyResult<Archive> {
    let from = format.map(format_named).transpose()?;
    let dialect = dialect.map(dialect_named).transpose()?;
    let opened_path = path.clone();
    let opened = abandonable(py, move |_| -> Result<_, Failure> {
        let input = opening::input(&opened_path, from, dialect)?;
        if !matches!(input.location, InputLocation::File(_)) {
            return Err(Failure::usage(format!("{} is not a file", input.name)));
        }
        let seekable = match archive::Archive::from_input(&input) {
            Ok(archive) => Some(Arc::new(archive)),
            Err(error) if matches!(error.kind(), ErrorKind::NoRandomAccess) => None,
            Err(error) => return Err(error.into()),
        };
        Ok((input, seekable))
    });
    let (input, seekable) = opened?.map_err(Failure::with_format_argument)?;
    let arguments =
        (path, format.map(ToOwned::to_owned), dialect.map(kyokumen::format::move16::Dialect::name));
    Ok(Archive { input, seekable, offset_table: Arc::default(), range: None, arguments })
}

pub(crate) fn format_named(name: &str) -> Result<FormatName, Failure> {
    name.parse().map_err(Failure::usage)
}

/// The records of a file, or a slice of them.
///
/// Only requested records are in memory. A file of fixed-size records is memory-mapped; other files are read from the
/// start.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Archive {
    input: Input,
    /// None without random access.
    seekable: Option<Arc<archive::Archive>>,
    /// Built on first use, for files without random access.
    offset_table: Arc<OnceLock<OffsetTable>>,
    /// None for the whole file.
    range: Option<Range<u64>>,
    /// Arguments of [`open`], for pickling.
    arguments: (PathBuf, Option<String>, Option<&'static str>),
}

#[pymethods]
impl Archive {
    /// The path that was given to `open`.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.input.name
    }

    /// The format of the records, by its name in `kyokumen formats`.
    #[getter]
    fn format(&self) -> String {
        self.input.format.to_string()
    }

    /// The encoding of packed moves: "apery", "yaneuraou" or "rshogi".
    #[getter]
    fn dialect(&self) -> &'static str {
        self.input.dialect.name()
    }

    /// Names of the fields of the format besides the position, as in `--fill`.
    #[getter]
    fn fields(&self) -> Vec<&'static str> {
        use kyokumen::format::Field;
        let fields = self.input.format.fields();
        Field::ALL.into_iter().filter(|&field| fields.contains(field)).map(Field::name).collect()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.numbers(py).map(|range| (range.end - range.start) as usize)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: Object<'py>) -> PyResult<Object<'py>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            return Ok(Bound::new(py, self.slice(py, slice)?)?.into_any());
        }
        let Ok(index) = index.extract::<i64>() else {
            if index.is_instance_of::<PyInt>() {
                return Err(PyIndexError::new_err(format!("record {index} is out of range")));
            }
            let given = index.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "archive indices must be integers or slices, not {given}"
            )));
        };
        Ok(Bound::new(py, self.record(py, index)?)?.into_any())
    }

    fn __iter__(&self) -> RecordIterator {
        self.items(BadPolicy::Stop, Item::record)
    }

    /// The records as a structured array with the field names of cshogi: `hcp`; `hcp eval bestMove16 gameResult dummy`;
    /// `sfen score move gamePly game_result padding`.
    ///
    /// If the file is not compressed, the array is the memory-mapped file itself: read-only and without a copy. The map
    /// lives as long as any array over it. As with `numpy.memmap`, the process ends if the file is shortened meanwhile.
    fn numpy<'py>(this: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        let py = this.py();
        let archive = this.get();
        let dtype = dtype(archive.input.format)?;
        let (seekable, range) = archive.random_access(py)?;
        if seekable.is_cut_off() && range.end == seekable.len() {
            let whole = range.end - 1;
            let reason = format!("{}; select them with [:{whole}]", failure::cut_off(whole));
            return Err(Failure::bad_record(
                Some(archive.name()),
                whole,
                seekable.offset(whole),
                &reason,
            )
            .into());
        }
        let read = py.detach(|| seekable.slice(range).map_err(Failure::from))?;
        let bytes = match &read {
            std::borrow::Cow::Borrowed(mapped) => array_over(mapped, this.clone().into_any()),
            std::borrow::Cow::Owned(copied) => PyArray1::from_slice(py, copied),
        };
        // Not through a numpy borrow, because other threads may read the same map.
        bytes.call_method1("setflags", (false,))?;
        as_rows(&bytes, dtype)
    }

    /// Implements numpy.asarray(archive).
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        this: &Bound<'py, Self>,
        dtype: Option<Object<'py>>,
        copy: Option<bool>,
    ) -> PyResult<Object<'py>> {
        let array = Self::numpy(this)?;
        match (dtype, copy) {
            (Some(dtype), _) => array.call_method1("astype", (dtype,)),
            (None, Some(true)) => array.call_method0("copy"),
            (None, _) => Ok(array),
        }
    }

    /// Iterates over the positions as SFENs. An unreadable record raises BadRecordError; with `on_error="skip"` it is
    /// skipped.
    #[pyo3(signature = (*, on_error = "stop"))]
    fn sfens(&self, on_error: &str) -> PyResult<RecordIterator> {
        Ok(self.items(policy(on_error)?, Item::sfen))
    }

    /// The records as an Arrow stream. `pyarrow.table`, polars, DuckDB and other tools read it without copies.
    ///
    /// `columns` selects the columns: `index`, `sfen`, `hcp` and `psfen` (32 bytes), `move`, `eval_cp`, `ply`,
    /// `result`, `ending`, `end_ply`, `candidates`, `for_training`. By default, the stream has `sfen` and the fields of
    /// the format.
    #[pyo3(signature = (*, columns = None, batch_size = 65536, on_error = "stop", threads = 0))]
    fn to_arrow(
        &self,
        columns: Option<Vec<String>>,
        #[pyo3(from_py_with = number::batch_size)] batch_size: u64,
        on_error: &str,
        #[pyo3(from_py_with = number::threads)] threads: usize,
    ) -> PyResult<Batches> {
        self.read_batches(columns, batch_size, on_error, threads)
    }

    /// Like to_arrow, for iteration over batches. Each batch has `__arrow_c_array__`.
    #[pyo3(signature = (*, columns = None, batch_size = 65536, on_error = "stop", threads = 0))]
    fn read_batches(
        &self,
        columns: Option<Vec<String>>,
        #[pyo3(from_py_with = number::batch_size)] batch_size: u64,
        on_error: &str,
        #[pyo3(from_py_with = number::threads)] threads: usize,
    ) -> PyResult<Batches> {
        if batch_size == 0 {
            return Err(PyValueError::new_err("batch_size must be at least 1"));
        }
        let columns = match columns {
            Some(names) => {
                names.iter().map(|name| Column::named(name)).collect::<Result<_, _>>()?
            }
            None => Column::defaults(self.input.format),
        };
        let on_error = policy(on_error)?;
        let reading = Reading::new(self.input_range(), batch_size);
        Ok(Batches::new(reading, columns, on_error, threads)?)
    }

    /// The stream of to_arrow, for the PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Object<'py>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        self.read_batches(None, 65536, "stop", 0)?.__arrow_c_stream__(py, requested_schema)
    }

    fn __repr__(&self) -> String {
        let range = self.range.as_ref();
        let range = range.map_or(String::new(), |range| format!("[{}:{}]", range.start, range.end));
        format!("<kyokumen.Archive {:?}{range}, {}>", self.name(), self.input.format)
    }

    /// A table of the first five records for notebooks.
    fn _repr_html_(this: &Bound<'_, Self>) -> PyResult<String> {
        let caption = escaped(this.py(), &this.get().__repr__())?;
        let records = this.try_iter()?.take(5).map_while(Result::ok);
        let rows = records.map(|record| {
            let record = record.cast::<Record>()?.get();
            let (index, sfen, fields) = (record.index(), record.sfen(), record.fields());
            Ok(format!("<tr><td>{index}</td><td>{sfen}</td><td>{fields}</td></tr>"))
        });
        let rows = rows.collect::<PyResult<String>>()?;
        Ok(format!("<table><caption>{caption}</caption>{rows}</table>"))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, Reopen)> {
        let reopen = py.import("kyokumen._archive")?.getattr("reopen")?;
        let (path, format, dialect) = self.arguments.clone();
        let range = self.range.as_ref().map(|range| (range.start, range.end));
        Ok((reopen, (path, format, dialect, range)))
    }
}

/// Arguments of `reopen`, which opens a pickled archive.
type Reopen = (PathBuf, Option<String>, Option<&'static str>, Option<(u64, u64)>);

impl Archive {
    /// The numbers of the records in the file.
    fn numbers(&self, py: Python<'_>) -> PyResult<Range<u64>> {
        if let Some(range) = &self.range {
            return Ok(range.clone());
        }
        match &self.seekable {
            Some(archive) => Ok(0..archive.len()),
            None => Ok(0..self.offset_table(py)?.records),
        }
    }

    fn offset_table(&self, py: Python<'_>) -> PyResult<&OffsetTable> {
        if let Some(table) = self.offset_table.get() {
            return Ok(table);
        }
        let input = self.input.clone();
        let table = abandonable(py, move |_| OffsetTable::build(&input))?.map_err(Failure::from)?;
        Ok(self.offset_table.get_or_init(|| table))
    }

    fn input_range(&self) -> InputRange {
        match &self.range {
            None => InputRange::whole(self.input.clone()),
            Some(range) => self.input_range_of(range.clone()),
        }
    }

    fn input_range_of(&self, numbers: Range<u64>) -> InputRange {
        let mut range = InputRange::range(self.input.clone(), numbers.start, Some(numbers.end));
        if let Some(table) = self.offset_table.get() {
            range.mark = table.mark_before(numbers.start);
        }
        range
    }

    pub(crate) const fn has_random_access(&self) -> bool {
        self.seekable.is_some()
    }

    /// The archive and the record numbers. Fails if the file has no random access.
    pub(crate) fn random_access(
        &self,
        py: Python<'_>,
    ) -> PyResult<(Arc<archive::Archive>, Range<u64>)> {
        let Some(archive) = &self.seekable else {
            let (name, format) = (self.name(), self.input.format);
            let reason = if format.record_len().is_some() {
                // A damaged file may have lost the table of its frames. Reading it reports the damage.
                self.offset_table(py)?;
                format!("{name} is compressed without a table of its frames")
            } else {
                format!("{format} has variable-length records")
            };
            return Err(Failure::usage(format!(
                "{reason}, so random access is not supported: use .sfens() or .to_arrow(), or convert it with \
                 kyokumen.convert to hcpe or psv"
            ))
            .into());
        };
        Ok((Arc::clone(archive), self.numbers(py)?))
    }

    fn items(
        &self,
        on_error: BadPolicy,
        make: fn(u64, &RecordRef<'_>) -> Result<Item, DecodeError>,
    ) -> RecordIterator {
        /// Records per block.
        const BLOCK_RECORDS: u64 = 4096;
        let reading = Reading::new(self.input_range(), BLOCK_RECORDS);
        RecordIterator(Mutex::new(Items { reading, on_error, make, read: VecDeque::new() }))
    }

    fn record(&self, py: Python<'_>, index: i64) -> PyResult<Record> {
        let numbers = self.numbers(py)?;
        let len = numbers.end - numbers.start;
        let offset =
            if index < 0 { len.checked_add_signed(index) } else { Some(index.unsigned_abs()) };
        let Some(offset) = offset.filter(|&offset| offset < len) else {
            return Err(PyIndexError::new_err(format!(
                "record {index} is out of range: the length is {len}"
            )));
        };
        Ok(py.detach(|| self.read_record(numbers.start + offset))?)
    }

    fn read_record(&self, index: u64) -> Result<Record, Failure> {
        let missing = || Failure::usage(format!("{} has no record {index}", self.name()));
        if let Some(archive) = &self.seekable {
            let record = archive.get(index)?.ok_or_else(missing)?;
            return record.read().and_then(|record| Record::new(index, &record)).map_err(|error| {
                Failure::bad_record(Some(self.name()), index, archive.offset(index), &error)
            });
        }
        let mut reading = Reading::new(self.input_range_of(index..index + 1), 1);
        let (mut read, never) = (None, AtomicBool::new(false));
        while let Some(block) = reading.block() {
            each_record(self.name(), &block?, BadPolicy::Stop, &never, |index, record| {
                read = Some(Record::new(index, record)?);
                Ok(())
            })?;
        }
        read.ok_or_else(missing)
    }

    fn slice(&self, py: Python<'_>, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let numbers = self.numbers(py)?;
        let len = isize::try_from(numbers.end - numbers.start)?;
        let indices = slice.indices(len)?;
        if indices.step != 1 {
            return Err(PyValueError::new_err(
                "slices of archives must have step 1: use .numpy()[…] for other steps",
            ));
        }
        let from = numbers.start + indices.start.unsigned_abs() as u64;
        let range = from..from + indices.slicelength as u64;
        Ok(Self {
            input: self.input.clone(),
            seekable: self.seekable.clone(),
            offset_table: Arc::clone(&self.offset_table),
            range: Some(range),
            arguments: self.arguments.clone(),
        })
    }
}

/// One element of an iteration over an archive.
#[derive(IntoPyObject)]
enum Item {
    Record(Record),
    Sfen(String),
}

impl Item {
    fn record(index: u64, record: &RecordRef<'_>) -> Result<Self, DecodeError> {
        Record::new(index, record).map(Self::Record)
    }

    fn sfen(_: u64, record: &RecordRef<'_>) -> Result<Self, DecodeError> {
        record.setup().map(|setup| Self::Sfen(setup.to_string()))
    }
}

/// Iterates over the records of an archive or their SFENs. Reads one block at a time. Several threads can share it.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct RecordIterator(Mutex<Items>);

struct Items {
    reading: Reading,
    on_error: BadPolicy,
    make: fn(u64, &RecordRef<'_>) -> Result<Item, DecodeError>,
    /// Items that were read and not returned. A failure comes after the records before it.
    read: VecDeque<Result<Item, Failure>>,
}

#[pymethods]
impl RecordIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        // The lock is only held without the interpreter's lock.
        Ok(py.detach(|| lock(&self.0).next()).transpose()?)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let name = py.detach(|| lock(&self.0).reading.name().to_owned());
        format!("<kyokumen.RecordIterator {name:?}>")
    }
}

impl Items {
    fn next(&mut self) -> Option<Result<Item, Failure>> {
        let Self { reading, on_error, make, read } = self;
        let never = AtomicBool::new(false);
        while read.is_empty() {
            let block = reading.block()?;
            let taken = block.and_then(|block| {
                each_record(reading.name(), &block, *on_error, &never, |index, record| {
                    read.push_back(Ok(make(index, record)?));
                    Ok(())
                })
            });
            if let Err(failure) = taken {
                reading.end();
                read.push_back(Err(failure));
            }
        }
        read.pop_front()
    }
}
