//! Records as columns of Arrow, handed on by the PyCapsule interface.
//!
//! Source: <https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>. The columns are those of
//! `docs/formats/parquet.md`.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::builder::{ListBuilder, StringBuilder, StructBuilder, UInt16Builder};
use arrow_array::ffi::{FFI_ArrowSchema, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, Int16Array, RecordBatch,
    RecordBatchReader, StringArray, StructArray, UInt16Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema, SchemaRef};
use kyokumen::format::packed::{self, Family};
use kyokumen::format::{Ending, Format, GameResult, Record};
use kyokumen::records::bad_record::BadPolicy;
use kyokumen::records::source::Block;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::failure::Failure;
use crate::interrupt::{on_threads, threads_of};
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

impl Column {
    const ALL: [(Self, &'static str); 12] = [
        (Self::Index, "index"),
        (Self::Sfen, "sfen"),
        (Self::Hcp, "hcp"),
        (Self::Psfen, "psfen"),
        (Self::Move, "move"),
        (Self::EvalCp, "eval_cp"),
        (Self::Ply, "ply"),
        (Self::Result, "result"),
        (Self::Ending, "ending"),
        (Self::EndPly, "end_ply"),
        (Self::Candidates, "candidates"),
        (Self::ForTraining, "for_training"),
    ];

    pub(crate) fn named(name: &str) -> Result<Self, Failure> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(column, _)| column).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name).join(", ");
            Failure::usage(format!("there is no column {name:?}: expected some of {names}"))
        })
    }

    /// The default columns: the position and the fields of the format.
    pub(crate) fn of_format(format: Format) -> Vec<Self> {
        use kyokumen::format::Field as Said;
        let fields = format.fields();
        let said = [
            (Self::Move, Said::BestMove),
            (Self::EvalCp, Said::EvalCp),
            (Self::Ply, Said::Ply),
            (Self::Result, Said::Result),
            (Self::Ending, Said::Ending),
            (Self::EndPly, Said::EndPly),
            (Self::Candidates, Said::Candidates),
            (Self::ForTraining, Said::Candidates),
        ];
        let said = said.into_iter().filter(|&(_, field)| fields.contains(field));
        [Self::Sfen].into_iter().chain(said.map(|(column, _)| column)).collect()
    }

    fn field(self) -> Field {
        let name = Self::ALL[self as usize].1;
        let (data_type, is_nullable) = match self {
            Self::Index => (DataType::UInt64, false),
            Self::Sfen => (DataType::Utf8, false),
            Self::Hcp | Self::Psfen => (DataType::FixedSizeBinary(PACKED_LEN), true),
            Self::Move | Self::Result | Self::Ending => (DataType::Utf8, true),
            Self::EvalCp => (DataType::Int16, true),
            Self::Ply | Self::EndPly => (DataType::UInt16, true),
            Self::Candidates => (DataType::new_list(DataType::Struct(candidate()), true), true),
            Self::ForTraining => (DataType::Boolean, false),
        };
        Field::new(name, data_type, is_nullable)
    }

    fn values(self, records: &[(u64, Record)]) -> Result<ArrayRef, ArrowError> {
        let said = records.iter().map(|(_, record)| record);
        Ok(match self {
            Self::Index => {
                Arc::new(records.iter().map(|(index, _)| *index).collect::<UInt64Array>())
            }
            Self::Sfen => {
                Arc::new(said.map(|it| Some(it.setup.to_string())).collect::<StringArray>())
            }
            Self::Hcp => packed_positions(Family::Apery, said)?,
            Self::Psfen => packed_positions(Family::YaneuraOu, said)?,
            Self::Move => Arc::new(
                said.map(|it| it.best_move.map(|m| m.to_string())).collect::<StringArray>(),
            ),
            Self::EvalCp => Arc::new(said.map(|it| it.eval_cp).collect::<Int16Array>()),
            Self::Ply => Arc::new(said.map(|it| it.ply).collect::<UInt16Array>()),
            Self::Result => {
                Arc::new(said.map(|it| it.result.map(GameResult::name)).collect::<StringArray>())
            }
            Self::Ending => {
                Arc::new(said.map(|it| it.ending.map(Ending::name)).collect::<StringArray>())
            }
            Self::EndPly => Arc::new(said.map(|it| it.end_ply).collect::<UInt16Array>()),
            Self::Candidates => candidates(said),
            Self::ForTraining => {
                Arc::new(said.map(|it| Some(!it.is_not_for_training)).collect::<BooleanArray>())
            }
        })
    }
}

/// None where a position cannot be packed.
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

/// None where no search tried a move.
fn candidates<'a>(records: impl Iterator<Item = &'a Record>) -> ArrayRef {
    let mut lists = ListBuilder::new(StructBuilder::from_fields(candidate(), 0));
    for record in records {
        for tried in &record.candidates {
            let of_one = lists.values();
            if let Some(moves) = of_one.field_builder::<StringBuilder>(0) {
                moves.append_value(tried.best_move.to_string());
            }
            if let Some(visits) = of_one.field_builder::<UInt16Builder>(1) {
                visits.append_value(tried.visits);
            }
            of_one.append(true);
        }
        lists.append(!record.candidates.is_empty());
    }
    Arc::new(lists.finish())
}

/// Turns blocks into batches. Blocks are read one after another and decoded on several threads.
struct Batching {
    reading: Reading,
    columns: Vec<Column>,
    schema: SchemaRef,
    on_error: BadPolicy,
    threads: usize,
    ready: VecDeque<Result<RecordBatch, Failure>>,
}

impl Batching {
    fn next_batch(&mut self) -> Option<Result<RecordBatch, Failure>> {
        if self.ready.is_empty() {
            self.read_on();
        }
        let batch = self.ready.pop_front();
        if matches!(batch, Some(Err(_))) {
            // What stands behind a failure is not delivered.
            self.ready.clear();
        }
        batch
    }

    fn read_on(&mut self) {
        let mut blocks = Vec::new();
        while blocks.len() < self.threads
            && let Some(block) = self.reading.block()
        {
            let failed = block.is_err();
            blocks.push(block);
            if failed {
                break;
            }
        }
        let never = AtomicBool::new(false);
        let decode = |(): &mut (), block: Result<Block, Failure>| self.decode(&block?);
        let decoded = on_threads(self.threads, blocks, &never, || (), decode);
        self.ready.extend(decoded);
    }

    fn decode(&self, block: &Block) -> Result<RecordBatch, Failure> {
        let mut records = Vec::with_capacity((block.wanted.end - block.wanted.start) as usize);
        each_record(self.reading.name(), block, self.on_error, |index, record| {
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
        Some(self.next_batch()?.map_err(|failure| ArrowError::ComputeError(failure.to_string())))
    }
}

impl RecordBatchReader for Batching {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Records of an archive as batches of Arrow: a stream that is taken once, as a whole or a batch at a time.
#[pyclass(module = "kyokumen")]
pub(crate) struct Batches {
    schema: SchemaRef,
    batching: Option<Batching>,
}

impl Batches {
    pub(crate) fn new(
        reading: Reading,
        columns: Vec<Column>,
        on_error: BadPolicy,
        threads: usize,
    ) -> Self {
        let fields: Fields = columns.iter().map(|column| column.field()).collect();
        let schema = Arc::new(Schema::new(fields));
        let threads = threads_of(threads);
        let ready = VecDeque::new();
        let batching =
            Batching { reading, columns, schema: Arc::clone(&schema), on_error, threads, ready };
        Self { schema, batching: Some(batching) }
    }
}

#[pymethods]
impl Batches {
    /// The stream, which a consumer reads on without the interpreter's lock.
    #[pyo3(signature = (requested_schema = None))]
    pub(crate) fn __arrow_c_stream__<'py>(
        &mut self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A wish that need not be fulfilled.
        drop(requested_schema);
        let taken =
            || Failure::usage("the batches were taken already: ask the archive for them again");
        let batching = self.batching.take().ok_or_else(taken)?;
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

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let Some(batching) = &mut self.batching else { return Ok(None) };
        let batch = py.detach(|| batching.next_batch()).transpose()?;
        Ok(batch.map(Batch))
    }

    /// Names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }
}

/// Some records as columns of Arrow: `pyarrow.record_batch(batch)` takes it without copies.
#[pyclass(frozen, module = "kyokumen")]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
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
