//! Records as Arrow columns, exported through the PyCapsule interface.
//!
//! Source: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>. `docs/formats/parquet.md`
//! describes the columns.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread::{self, ThreadId};

use arrow_array::builder::{ListBuilder, StringBuilder, StructBuilder, UInt16Builder};
use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, Int16Array, RecordBatch,
    RecordBatchReader, StringArray, StructArray, UInt16Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use kyokumen::format::packed::{self, Family};
use kyokumen::format::{Ending, Field as RecordField, Format, GameResult, Record};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::source::Block;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrays::Object;
use crate::failure::Failure;
use crate::interrupt::{interruptible_without_messages, on_threads, thread_count};
use crate::reading::{Reading, each_record};

const PACKED_LEN: i32 = packed::LEN as i32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Column {
    Index,
    Sfen,
    Hcp,
    Psfen,
    Move,
    EvalCp,
    Ply,
    Result,
    Ending,
    EndPly,
    Candidates,
    ForTraining,
}

/// Columns, their names and, for columns that a format may lack, their fields.
const COLUMNS: [(Column, &str, Option<RecordField>); 12] = [
    (Column::Index, "index", None),
    (Column::Sfen, "sfen", None),
    (Column::Hcp, "hcp", None),
    (Column::Psfen, "psfen", None),
    (Column::Move, "move", Some(RecordField::BestMove)),
    (Column::EvalCp, "eval_cp", Some(RecordField::EvalCp)),
    (Column::Ply, "ply", Some(RecordField::Ply)),
    (Column::Result, "result", Some(RecordField::Result)),
    (Column::Ending, "ending", Some(RecordField::Ending)),
    (Column::EndPly, "end_ply", Some(RecordField::EndPly)),
    (Column::Candidates, "candidates", Some(RecordField::Candidates)),
    (Column::ForTraining, "for_training", Some(RecordField::Candidates)),
];

impl Column {
    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        let column = COLUMNS.into_iter().find(|(_, known, _)| *known == name);
        column.map(|(column, ..)| column).ok_or_else(|| {
            let names = COLUMNS.map(|(_, name, _)| name).join(", ");
            Failure::usage(format!("there is no column {name:?}: expected one or more of {names}"))
        })
    }

    /// The default columns: the position and the fields of the format.
    pub(crate) fn defaults(format: Format) -> Vec<Self> {
        let is_default = |&(column, _, field): &(Self, &str, Option<RecordField>)| {
            column == Self::Sfen || field.is_some_and(|field| format.fields().contains(field))
        };
        COLUMNS.into_iter().filter(is_default).map(|(column, ..)| column).collect()
    }

    fn field(self) -> Result<Field, ArrowError> {
        let is_nullable = !matches!(self, Self::Index | Self::Sfen | Self::ForTraining);
        let data_type = self.values(&[])?.data_type().clone();
        Ok(Field::new(COLUMNS[self as usize].1, data_type, is_nullable))
    }

    fn values(self, records: &[(u64, Record)]) -> Result<ArrayRef, ArrowError> {
        fn array<A: Array + FromIterator<T> + 'static, T>(
            values: impl Iterator<Item = T>,
        ) -> ArrayRef {
            Arc::new(values.collect::<A>())
        }
        let indices = records.iter().map(|(index, _)| *index);
        let records = records.iter().map(|(_, record)| record);
        Ok(match self {
            Self::Index => array::<UInt64Array, _>(indices),
            Self::Sfen => array::<StringArray, _>(records.map(|it| Some(it.setup.to_string()))),
            Self::Hcp => packed_positions(Family::Apery, records)?,
            Self::Psfen => packed_positions(Family::YaneuraOu, records)?,
            Self::Move => {
                array::<StringArray, _>(records.map(|it| it.best_move.map(|m| m.to_string())))
            }
            Self::EvalCp => array::<Int16Array, _>(records.map(|it| it.eval_cp)),
            Self::Ply => array::<UInt16Array, _>(records.map(|it| it.ply)),
            Self::Result => {
                array::<StringArray, _>(records.map(|it| it.result.map(GameResult::name)))
            }
            Self::Ending => array::<StringArray, _>(records.map(|it| it.ending.map(Ending::name))),
            Self::EndPly => array::<UInt16Array, _>(records.map(|it| it.end_ply)),
            Self::Candidates => candidates(records),
            Self::ForTraining => {
                array::<BooleanArray, _>(records.map(|it| Some(!it.is_not_for_training)))
            }
        })
    }
}

/// A column of packed positions, null if a position cannot be packed.
fn packed_positions<'a>(
    family: Family,
    records: impl Iterator<Item = &'a Record>,
) -> Result<ArrayRef, ArrowError> {
    let packed = records.map(|record| packed::encode(family, &record.setup).ok());
    let packed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(packed, PACKED_LEN)?;
    Ok(Arc::new(packed))
}

/// Fields of a candidate move.
fn candidate() -> Fields {
    [Field::new("move", DataType::Utf8, false), Field::new("visits", DataType::UInt16, false)]
        .into_iter()
        .collect()
}

/// A column of candidate lists, null if a record has no candidates.
fn candidates<'a>(records: impl Iterator<Item = &'a Record>) -> ArrayRef {
    let mut lists = ListBuilder::new(StructBuilder::from_fields(candidate(), 0));
    for record in records {
        for candidate in &record.candidates {
            let list = lists.values();
            if let Some(moves) = list.field_builder::<StringBuilder>(0) {
                moves.append_value(candidate.best_move.to_string());
            }
            if let Some(visits) = list.field_builder::<UInt16Builder>(1) {
                visits.append_value(candidate.visits);
            }
            list.append(true);
        }
        lists.append(!record.candidates.is_empty());
    }
    Arc::new(lists.finish())
}

/// Turns blocks into batches. Reads blocks one after another and decodes them on several threads.
struct Batching {
    reading: Reading,
    columns: Vec<Column>,
    schema: SchemaRef,
    on_error: BadPolicy,
    threads: usize,
    ready: VecDeque<Result<RecordBatch, Failure>>,
    /// The thread that exported the stream. Only this thread checks for signals, because it has held the interpreter's
    /// lock.
    owner: Option<ThreadId>,
}

impl Batching {
    fn next_batch(&mut self, cancel: &AtomicBool) -> Option<Result<RecordBatch, Failure>> {
        if self.ready.is_empty() {
            self.read_blocks(cancel);
        }
        let batch = self.ready.pop_front();
        if matches!(batch, Some(Err(_))) {
            self.ready.clear();
            self.reading.end();
        }
        batch
    }

    fn read_blocks(&mut self, cancel: &AtomicBool) {
        let mut blocks = Vec::new();
        while blocks.len() < self.threads
            && !cancel.load(Ordering::Relaxed)
            && let Some(block) = self.reading.block()
        {
            let failed = block.is_err();
            blocks.push(block);
            if failed {
                break;
            }
        }
        let decode = |(): &mut (), block: Result<Block, Failure>| self.decode(&block?, cancel);
        let decoded = on_threads(self.threads, blocks, cancel, || (), decode);
        self.ready.extend(decoded);
    }

    fn decode(&self, block: &Block, cancel: &AtomicBool) -> Result<RecordBatch, Failure> {
        let mut records = Vec::with_capacity((block.wanted.end - block.wanted.start) as usize);
        each_record(self.reading.name(), block, self.on_error, cancel, |index, record| {
            records.push((index, record.record()?));
            Ok(())
        })?;
        let columns = self.columns.iter().map(|column| column.values(&records));
        let batch = columns
            .collect::<Result<_, _>>()
            .and_then(|columns| RecordBatch::try_new(Arc::clone(&self.schema), columns));
        batch.map_err(|error| Failure::other(&error))
    }
}

impl Iterator for Batching {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.owner == Some(thread::current().id()) && Python::attach(is_interrupted) {
            return Some(Err(ArrowError::ComputeError("interrupted".to_owned())));
        }
        let never = AtomicBool::new(false);
        Some(
            self.next_batch(&never)?
                .map_err(|failure| ArrowError::ComputeError(failure.to_string())),
        )
    }
}

/// Whether Ctrl-C was pressed. If so, raises the signal again, because the consumer of the stream raises its own error
/// first.
fn is_interrupted(py: Python<'_>) -> bool {
    let repeat = |_| py.import("_thread").and_then(|thread| thread.call_method0("interrupt_main"));
    py.check_signals().map_err(repeat).is_err()
}

impl RecordBatchReader for Batching {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The records of an archive as Arrow batches. The stream can be read once, as a whole or batch by batch.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Batches {
    schema: SchemaRef,
    /// Locked while a batch is read. None after the last batch, or after the stream was exported.
    batching: Mutex<Option<Batching>>,
}

impl Batches {
    fn batching(&self) -> Result<MutexGuard<'_, Option<Batching>>, Failure> {
        match self.batching.try_lock() {
            Ok(batching) => Ok(batching),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::usage("another thread is reading the next of these batches"))
            }
        }
    }

    /// The names of the columns, separated by commas.
    fn names(schema: &Schema) -> String {
        let names: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        names.join(", ")
    }

    pub(crate) fn new(
        reading: Reading,
        columns: Vec<Column>,
        on_error: BadPolicy,
        threads: usize,
    ) -> Result<Self, Failure> {
        let fields = columns.iter().map(|column| column.field()).collect::<Result<Vec<_>, _>>();
        let schema = Arc::new(Schema::new(fields.map_err(|error| Failure::other(&error))?));
        let threads = thread_count(threads);
        let (ready, owner) = (VecDeque::new(), None);
        let batching = Batching {
            reading,
            columns,
            schema: Arc::clone(&schema),
            on_error,
            threads,
            ready,
            owner,
        };
        Ok(Self { schema, batching: Mutex::new(Some(batching)) })
    }
}

#[pymethods]
impl Batches {
    /// The rest of the stream. The consumer reads it without the interpreter's lock.
    #[pyo3(signature = (requested_schema = None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Object<'py>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to ignore the requested schema.
        drop(requested_schema);
        let consumed =
            || Failure::usage("the batches were already read: call to_arrow or read_batches again");
        let mut batching = self.batching()?.take().ok_or_else(consumed)?;
        batching.owner = Some(thread::current().id());
        PyCapsule::new_with_value(
            py,
            FFI_ArrowArrayStream::new(Box::new(batching)),
            c"arrow_array_stream",
        )
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema =
            FFI_ArrowSchema::try_from(&*self.schema).map_err(|error| Failure::other(&error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let mut place = self.batching()?;
        // Not put back after an interruption, because blocks may be missing then.
        let Some(mut batching) = place.take() else { return Ok(None) };
        let next = |cancel: &AtomicBool| (batching.next_batch(cancel), batching);
        let (batch, batching) = interruptible_without_messages(py, next)?;
        *place = Some(batching);
        Ok(batch.transpose()?.map(Batch))
    }

    fn __repr__(&self) -> String {
        format!("<kyokumen.Batches of {}>", Self::names(&self.schema))
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
}

/// Several records as Arrow columns. `pyarrow.record_batch(batch)` reads them without copies.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __repr__(&self) -> String {
        let names = Batches::names(self.0.schema_ref());
        format!("<kyokumen.Batch of {} records: {names}>", self.0.num_rows())
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Object<'py>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let rows = StructArray::from(self.0.clone());
        let (array, schema) = to_ffi(&rows.to_data()).map_err(|error| Failure::other(&error))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}
