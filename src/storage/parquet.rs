//! Parquet files. Writes tables of any kind; reads records as lines of `jsonl`.
//!
//! Format: <https://parquet.apache.org/docs/file-format/>. `docs/formats/parquet.md` describes the columns.
//!
//! The caller ends row groups. The files do not depend on time or machine: equal rows make equal files. Lists have the
//! three levels of <https://github.com/apache/parquet-format/blob/master/LogicalTypes.md>.

mod reader;
mod writer;

use std::fmt::{self, Write as _};
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int64Type,
};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::storage::compression::{FRAME_BYTES, FRAME_RECORDS, ZSTD_LEVEL};
use crate::storage::table::{Column, ColumnType, Table, Value};

pub(crate) use reader::LineReader;
pub(crate) use writer::RecordColumns;

pub(crate) const IS_BUILT_IN: bool = true;

/// Columns and their `jsonl` keys, in order. The first column is the position.
const COLUMNS: [(&str, &str); 9] = [
    ("sfen", "sfen"),
    ("move", "move"),
    ("eval_cp", "eval"),
    ("ply", "ply"),
    ("result", "result"),
    ("ending", "ending"),
    ("end_ply", "end_ply"),
    ("candidates", "candidates"),
    ("for_training", "for_training"),
];

/// Approximate size of a value in bytes, with its levels and without its text or bytes.
const VALUE_BYTES: usize = 8;

pub(crate) struct Columns<W: Write + Send> {
    file: SerializedFileWriter<W>,
    /// Columns of the open row group.
    open: Vec<Values>,
    rows_in_group: u64,
    bytes_in_group: usize,
}

impl<W: Write + Send> Columns<W> {
    pub(crate) fn new(output: W, table: &Table) -> io::Result<Self> {
        Ok(Self {
            file: create(output, table).map_err(io::Error::other)?,
            open: table.columns.iter().map(Values::new).collect(),
            rows_in_group: 0,
            bytes_in_group: 0,
        })
    }

    /// Adds a row. The values must fit the columns.
    pub(crate) fn push(&mut self, row: &[Value<'_>]) {
        self.rows_in_group += 1;
        for (column, value) in self.open.iter_mut().zip(row) {
            self.bytes_in_group += column.push(value);
        }
    }

    /// Whether the row group is complete: it has [`FRAME_RECORDS`] rows, or fewer rows of [`FRAME_BYTES`] in total.
    pub(crate) const fn is_full(&self) -> bool {
        self.rows_in_group == FRAME_RECORDS || self.bytes_in_group >= FRAME_BYTES
    }

    pub(crate) fn close_group(&mut self) -> io::Result<()> {
        self.write_group().map_err(io::Error::other)
    }

    fn write_group(&mut self) -> Result<()> {
        (self.rows_in_group, self.bytes_in_group) = (0, 0);
        let mut group = self.file.next_row_group()?;
        self.open.iter_mut().try_for_each(|column| column.write(&mut group))?;
        group.close().map(drop)
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.rows_in_group > 0 {
            self.close_group()?;
        }
        self.file.into_inner().map_err(io::Error::other)
    }
}

fn create<W: Write + Send>(output: W, table: &Table) -> Result<SerializedFileWriter<W>> {
    let mut properties = WriterProperties::builder()
        .set_created_by("kyokumen".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?));
    for column in table.columns.iter().filter(|column| column.is_distinct) {
        properties = properties.set_column_dictionary_enabled(ColumnPath::from(column.name), false);
    }
    let schema = parse_message_type(&schema(table))?;
    SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties.build()))
}

/// The schema in the message syntax of Parquet.
fn schema(table: &Table) -> String {
    let mut schema = format!("message {} {{\n", table.name);
    for &Column { name, kind, is_nullable, .. } in table.columns {
        let presence = if is_nullable { "OPTIONAL" } else { "REQUIRED" };
        let written = match kind {
            ColumnType::Text => writeln!(schema, "{presence} BYTE_ARRAY {name} (STRING);"),
            ColumnType::Texts => write_list(&mut schema, name, "BYTE_ARRAY element (STRING)"),
            ColumnType::Int8s => write_list(&mut schema, name, "INT32 element (INTEGER(8, true))"),
            ColumnType::Bytes(len) => {
                writeln!(schema, "{presence} FIXED_LEN_BYTE_ARRAY({len}) {name};")
            }
            ColumnType::Bool => writeln!(schema, "{presence} BOOLEAN {name};"),
            ColumnType::Int8 => writeln!(schema, "{presence} INT32 {name} (INTEGER(8, true));"),
            ColumnType::Int16 => writeln!(schema, "{presence} INT32 {name} (INTEGER(16, true));"),
            ColumnType::UInt16 => writeln!(schema, "{presence} INT32 {name} (INTEGER(16, false));"),
            ColumnType::Int32 => writeln!(schema, "{presence} INT32 {name};"),
            ColumnType::Int64 => writeln!(schema, "{presence} INT64 {name};"),
        };
        written.expect("writing to a String succeeds");
    }
    schema + "}"
}

fn write_list(schema: &mut String, name: &str, element: &str) -> fmt::Result {
    writeln!(
        schema,
        "REQUIRED GROUP {name} (LIST) {{ REPEATED GROUP list {{ REQUIRED {element}; }} }}"
    )
}

/// A column of the row group: the non-null values and the levels of all values.
struct Values {
    present: Physical,
    /// 1 for each value and 0 for null. In lists 1 for each element and 0 for an empty list.
    definitions: Vec<i16>,
    /// Lists only: 0 at the start of a list, 1 for each further element.
    repetitions: Option<Vec<i16>>,
}

/// Values by physical type.
enum Physical {
    Texts(Vec<ByteArray>),
    Bytes(Vec<FixedLenByteArray>),
    Bools(Vec<bool>),
    Int32s(Vec<i32>),
    Int64s(Vec<i64>),
}

impl Values {
    fn new(column: &Column) -> Self {
        let present = match column.kind {
            ColumnType::Text | ColumnType::Texts => Physical::Texts(Vec::new()),
            ColumnType::Bytes(_) => Physical::Bytes(Vec::new()),
            ColumnType::Bool => Physical::Bools(Vec::new()),
            ColumnType::Int8
            | ColumnType::Int8s
            | ColumnType::Int16
            | ColumnType::UInt16
            | ColumnType::Int32 => Physical::Int32s(Vec::new()),
            ColumnType::Int64 => Physical::Int64s(Vec::new()),
        };
        let repetitions = column.kind.is_list().then(Vec::new);
        Self { present, definitions: Vec::new(), repetitions }
    }

    /// Adds a value. Returns its approximate size in bytes.
    fn push(&mut self, value: &Value<'_>) -> usize {
        match value {
            Value::Texts(texts) => {
                self.begin_list(texts.len());
                let present = &mut self.present;
                VALUE_BYTES + texts.iter().map(|text| present.push_text(text)).sum::<usize>()
            }
            Value::Ints(numbers) => {
                self.begin_list(numbers.len());
                let present = &mut self.present;
                let push = |&number| present.push(&Value::Int(number));
                VALUE_BYTES + numbers.iter().map(push).sum::<usize>()
            }
            _ => {
                self.definitions.push((*value != Value::Null).into());
                self.present.push(value)
            }
        }
    }

    fn begin_list(&mut self, elements: usize) {
        if let Some(repetitions) = &mut self.repetitions {
            repetitions.extend((0..elements.max(1)).map(|i| i16::from(i > 0)));
        }
        let definitions = if elements == 0 { vec![0] } else { vec![1; elements] };
        self.definitions.extend(definitions);
    }

    /// Writes the values as the next column of a row group and clears them.
    fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<()> {
        let levels = (&self.definitions[..], self.repetitions.as_deref());
        match &mut self.present {
            Physical::Texts(values) => write::<ByteArrayType, W>(values, levels, group),
            Physical::Bytes(values) => write::<FixedLenByteArrayType, W>(values, levels, group),
            Physical::Bools(values) => write::<BoolType, W>(values, levels, group),
            Physical::Int32s(values) => write::<Int32Type, W>(values, levels, group),
            Physical::Int64s(values) => write::<Int64Type, W>(values, levels, group),
        }?;
        self.definitions.clear();
        self.repetitions.iter_mut().for_each(Vec::clear);
        Ok(())
    }
}

impl Physical {
    fn push(&mut self, value: &Value<'_>) -> usize {
        match (self, value) {
            (texts @ Self::Texts(_), Value::Text(text)) => return texts.push_text(text),
            (Self::Bytes(all), Value::Bytes(bytes)) => {
                all.push(bytes.to_vec().into());
                return VALUE_BYTES + bytes.len();
            }
            (Self::Bools(all), Value::Bool(is_so)) => all.push(*is_so),
            (Self::Int32s(all), Value::Int(number)) => all.push(*number as i32),
            (Self::Int64s(all), Value::Int(number)) => all.push(*number),
            // Null. The caller has excluded values that do not fit the column.
            _ => {}
        }
        VALUE_BYTES
    }

    fn push_text(&mut self, text: &str) -> usize {
        if let Self::Texts(all) = self {
            all.push(text.as_bytes().to_vec().into());
        }
        VALUE_BYTES + text.len()
    }
}

fn write<P: DataType, W: Write + Send>(
    values: &mut Vec<P::T>,
    (definitions, repetitions): (&[i16], Option<&[i16]>),
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<()> {
    let no_column = || ParquetError::General("the schema has fewer columns".to_owned());
    let mut column = group.next_column()?.ok_or_else(no_column)?;
    column.typed::<P>().write_batch(values, Some(definitions), repetitions)?;
    values.clear();
    column.close()
}
