//! `Archive`: a file of records, read at random or from its start.

use std::collections::VecDeque;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

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

use crate::arrays::{Object, array_over, as_rows, dtype};
use crate::arrow::{Batches, Column};
use crate::failure::{self, Failure};
use crate::interrupt::abandonable;
use crate::moves::dialect_named;
use crate::reading::{Reading, each_record, policy};
use crate::record::Record;

/// Opens a file of records in any format: by its name, or by what is in it, unless `format` says it ("psv",
/// "hcpe.zst").
///
/// `dialect` says how packed moves are encoded where their records should not be asked.
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
            return Err(Failure::usage(format!("{} is no file: open one", input.name)));
        }
        let random = match archive::Archive::of_input(&input) {
            Ok(archive) => Some(Arc::new(archive)),
            Err(error) if matches!(error.kind(), ErrorKind::NoRandomAccess) => None,
            Err(error) => return Err(error.into()),
        };
        Ok((input, random))
    });
    let (input, random) = opened??;
    let asked =
        (path, format.map(ToOwned::to_owned), dialect.map(kyokumen::format::move16::Dialect::name));
    Ok(Archive { input, random, index: Arc::default(), range: None, asked })
}

pub(crate) fn format_named(name: &str) -> Result<FormatName, Failure> {
    name.parse().map_err(Failure::usage)
}

/// Records of a file, or a stretch of them. Nothing is in memory but what was asked for: a file of records of one size
/// is mapped, others are read from their start.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Archive {
    input: Input,
    /// None without random access.
    random: Option<Arc<archive::Archive>>,
    /// Built on first use, for files without random access.
    index: Arc<OnceLock<OffsetTable>>,
    /// None for the whole file.
    range: Option<Range<u64>>,
    /// Arguments of [`open`], for pickling.
    asked: (PathBuf, Option<String>, Option<&'static str>),
}

#[pymethods]
impl Archive {
    /// The path, as it was given.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.input.name
    }

    /// The format of the records, as `kyokumen formats` names it.
    #[getter]
    fn format(&self) -> String {
        self.input.format.to_string()
    }

    /// How packed moves are encoded: "apery", "yaneuraou" or "rshogi".
    #[getter]
    fn dialect(&self) -> &'static str {
        self.input.dialect.name()
    }

    /// Names of what the format holds besides positions, as `--fill` takes them.
    #[getter]
    fn fields(&self) -> Vec<&'static str> {
        use kyokumen::format::Field;
        let fields = self.input.format.fields();
        Field::ALL.into_iter().filter(|&field| fields.contains(field)).map(Field::name).collect()
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.all(py).map(|range| (range.end - range.start) as usize)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, place: Object<'py>) -> PyResult<Object<'py>> {
        if let Ok(slice) = place.cast::<PySlice>() {
            return Ok(Bound::new(py, self.stretch(py, slice)?)?.into_any());
        }
        let Ok(index) = place.extract::<i64>() else {
            if place.is_instance_of::<PyInt>() {
                return Err(PyIndexError::new_err(format!("no archive has a record {place}")));
            }
            let (given, expected) =
                (place.get_type().name()?, "an archive is indexed by an integer or a slice");
            return Err(PyTypeError::new_err(format!("{expected}, not by {given}")));
        };
        Ok(Bound::new(py, self.record(py, index)?)?.into_any())
    }

    fn __iter__(&self) -> RecordIterator {
        self.items(BadPolicy::Stop, Item::record)
    }

    /// The records as a structured array with the field names of cshogi: `hcp`; `hcp eval bestMove16 gameResult dummy`;
    /// `sfen score move gamePly game_result padding`.
    ///
    /// Of a file that is not compressed it is the file, mapped into memory, read-only, and nothing is copied; the map
    /// lives as long as any array. As with `numpy.memmap`, a file that becomes shorter meanwhile ends the process.
    fn numpy<'py>(this: &Bound<'py, Self>) -> PyResult<Object<'py>> {
        let py = this.py();
        let archive = this.get();
        let dtype = dtype(archive.input.format)?;
        let (random, range) = archive.random_access(py)?;
        if random.is_cut_off() && range.end == random.len() {
            let whole = range.end - 1;
            let reason =
                format!("{}: take what is whole by a slice, [:{whole}]", failure::cut_off(whole));
            return Err(Failure::bad_record(
                Some(archive.name()),
                whole,
                random.offset(whole),
                &reason,
            )
            .into());
        }
        let read = py.detach(|| random.slice(range).map_err(Failure::from))?;
        let bytes = match &read {
            std::borrow::Cow::Borrowed(mapped) => array_over(mapped, this.clone().into_any()),
            std::borrow::Cow::Owned(copied) => PyArray1::from_slice(py, copied),
        };
        // Not by a borrow: other threads may be reading the same map.
        bytes.call_method1("setflags", (false,))?;
        as_rows(&bytes, dtype)
    }

    /// numpy.asarray(archive).
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

    /// The positions as SFENs, one after another, read ahead of the caller. A record that cannot be read raises
    /// BadRecordError, or is left out with `on_error="skip"`.
    #[pyo3(signature = (*, on_error = "stop"))]
    fn sfens(&self, on_error: &str) -> PyResult<RecordIterator> {
        Ok(self.items(policy(on_error)?, Item::sfen))
    }

    /// The records as an Arrow stream, which `pyarrow.table`, polars, DuckDB and others take without copies. Columns:
    /// `sfen`, and of `move eval_cp ply result ending end_ply candidates for_training` those that the format holds,
    /// unless `columns` names others; also `index`, `hcp` and `psfen` (32 bytes).
    #[pyo3(signature = (*, columns = None, batch_size = 65536, on_error = "stop", threads = 0))]
    fn to_arrow(
        &self,
        columns: Option<Vec<String>>,
        batch_size: u64,
        on_error: &str,
        threads: usize,
    ) -> PyResult<Batches> {
        self.read_batches(columns, batch_size, on_error, threads)
    }

    /// The same, a batch at a time: each has `__arrow_c_array__`.
    #[pyo3(signature = (*, columns = None, batch_size = 65536, on_error = "stop", threads = 0))]
    fn read_batches(
        &self,
        columns: Option<Vec<String>>,
        batch_size: u64,
        on_error: &str,
        threads: usize,
    ) -> PyResult<Batches> {
        if batch_size == 0 {
            return Err(PyValueError::new_err("a batch has at least one record"));
        }
        let columns = match columns {
            Some(names) => {
                names.iter().map(|name| Column::named(name)).collect::<Result<_, _>>()?
            }
            None => Column::of_format(self.input.format),
        };
        let on_error = policy(on_error)?;
        Ok(Batches::new(Reading::new(self.part(), batch_size), columns, on_error, threads)?)
    }

    /// The stream of to_arrow by the PyCapsule interface.
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Object<'py>, Reopen)> {
        let reopen = py.import("kyokumen._archive")?.getattr("reopen")?;
        let (path, format, dialect) = self.asked.clone();
        let range = self.range.as_ref().map(|range| (range.start, range.end));
        Ok((reopen, (path, format, dialect, range)))
    }
}

/// Arguments of `reopen`, which opens the archive in another process.
type Reopen = (PathBuf, Option<String>, Option<&'static str>, Option<(u64, u64)>);

impl Archive {
    /// Record numbers in the file.
    fn all(&self, py: Python<'_>) -> PyResult<Range<u64>> {
        if let Some(range) = &self.range {
            return Ok(range.clone());
        }
        match &self.random {
            Some(archive) => Ok(0..archive.len()),
            None => Ok(0..self.index(py)?.records),
        }
    }

    fn index(&self, py: Python<'_>) -> PyResult<&OffsetTable> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let input = self.input.clone();
        let index = abandonable(py, move |_| OffsetTable::build(&input))?.map_err(Failure::from)?;
        Ok(self.index.get_or_init(|| index))
    }

    fn part(&self) -> InputRange {
        self.part_of(self.range.clone())
    }

    fn part_of(&self, range: Option<Range<u64>>) -> InputRange {
        match range {
            None => InputRange::whole(self.input.clone()),
            Some(range) => {
                let mut part = InputRange::range(self.input.clone(), range.start, Some(range.end));
                if let Some(index) = self.index.get() {
                    part.mark = index.mark_before(range.start);
                }
                part
            }
        }
    }

    /// Fails if the file has no random access.
    pub(crate) fn random_access(
        &self,
        py: Python<'_>,
    ) -> PyResult<(Arc<archive::Archive>, Range<u64>)> {
        let Some(archive) = &self.random else {
            return Err(Failure::usage(format!(
                "{} is {}, and can be read from its start only: take .sfens() or .to_arrow(), or write it anew with \
                 kyokumen.convert",
                self.name(),
                self.input.format
            ))
            .into());
        };
        Ok((Arc::clone(archive), self.all(py)?))
    }

    fn items(
        &self,
        on_error: BadPolicy,
        make: fn(u64, &RecordRef<'_>) -> Result<Item, DecodeError>,
    ) -> RecordIterator {
        /// Records per block.
        const BLOCK_RECORDS: u64 = 4096;
        let reading = Reading::new(self.part(), BLOCK_RECORDS);
        RecordIterator { reading, on_error, make, read: VecDeque::new() }
    }

    fn record(&self, py: Python<'_>, index: i64) -> PyResult<Record> {
        let all = self.all(py)?;
        let len = all.end - all.start;
        let place =
            if index < 0 { len.checked_add_signed(index) } else { Some(index.unsigned_abs()) };
        let Some(place) = place.filter(|&place| place < len) else {
            return Err(PyIndexError::new_err(format!("there is no record {index} of {len}")));
        };
        let index = all.start + place;
        Ok(py.detach(|| self.read_record(index))?)
    }

    fn read_record(&self, index: u64) -> Result<Record, Failure> {
        if let Some(archive) = &self.random {
            let found = archive.get(index)?;
            let Some(found) = found else {
                return Err(Failure::usage(format!("there is no record {index}")));
            };
            return found.read().and_then(|record| Record::new(index, &record)).map_err(|error| {
                Failure::bad_record(Some(self.name()), index, archive.offset(index), &error)
            });
        }
        let mut reading = Reading::new(self.part_of(Some(index..index + 1)), 1);
        let (mut found, never) = (None, AtomicBool::new(false));
        while let Some(block) = reading.block() {
            each_record(self.name(), &block?, BadPolicy::Stop, &never, |index, record| {
                found = Some(Record::new(index, record)?);
                Ok(())
            })?;
        }
        found.ok_or_else(|| Failure::usage(format!("{} has no record {index}", self.name())))
    }

    fn stretch(&self, py: Python<'_>, slice: &Bound<'_, PySlice>) -> PyResult<Self> {
        let all = self.all(py)?;
        let len = isize::try_from(all.end - all.start)?;
        let indices = slice.indices(len)?;
        if indices.step != 1 {
            return Err(PyValueError::new_err(
                "a stretch of an archive goes from record to record: take .numpy()[…] for other steps",
            ));
        }
        let from = all.start + indices.start.unsigned_abs() as u64;
        let range = from..from + indices.slicelength as u64;
        Ok(Self {
            input: self.input.clone(),
            random: self.random.clone(),
            index: Arc::clone(&self.index),
            range: Some(range),
            asked: self.asked.clone(),
        })
    }
}

/// What an archive is iterated as.
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

/// The records of an archive or their SFENs, one after another, read a block at a time.
#[pyclass(module = "kyokumen")]
pub(crate) struct RecordIterator {
    reading: Reading,
    on_error: BadPolicy,
    make: fn(u64, &RecordRef<'_>) -> Result<Item, DecodeError>,
    /// Items that were read. A failure follows the records before it.
    read: VecDeque<Result<Item, Failure>>,
}

#[pymethods]
impl RecordIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Item>> {
        let Self { reading, on_error, make, read } = self;
        let never = AtomicBool::new(false);
        py.detach(|| {
            while read.is_empty() {
                let Some(block) = reading.block() else { return };
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
        });
        Ok(read.pop_front().transpose()?)
    }
}
