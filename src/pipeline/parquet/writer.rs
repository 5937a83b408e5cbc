//! Lines of `jsonl` as the rows of a Parquet file.
//!
//! Row groups end where the caller says, and nothing of the file depends on time or machine: equal lines
//! make equal files.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use serde::Deserialize;
use serde_json::value::RawValue;

const SCHEMA: &str = "
message kyokumen {
    REQUIRED BYTE_ARRAY sfen (STRING);
    OPTIONAL BYTE_ARRAY move (STRING);
    OPTIONAL INT32 eval_cp (INTEGER(16, true));
    OPTIONAL INT32 ply;
    OPTIONAL BYTE_ARRAY result (STRING);
    OPTIONAL BYTE_ARRAY ending (STRING);
    OPTIONAL INT32 end_ply;
    OPTIONAL BYTE_ARRAY candidates (STRING);
    OPTIONAL BOOLEAN for_training;
}";

/// Level of the zstd compression of the columns, as of other outputs.
const ZSTD_LEVEL: i32 = 3;

/// A file that is being written.
pub(in crate::pipeline) struct Table<W: Write + Send> {
    file: SerializedFileWriter<W>,
    rows: Rows,
}

/// A line.
#[derive(Deserialize)]
struct Row<'a> {
    sfen: String,
    #[serde(rename = "move")]
    best_move: Option<String>,
    eval: Option<i32>,
    ply: Option<i32>,
    result: Option<String>,
    ending: Option<String>,
    end_ply: Option<i32>,
    #[serde(borrow)]
    candidates: Option<&'a RawValue>,
    for_training: Option<bool>,
}

/// The rows of a group, column by column.
#[derive(Default)]
struct Rows {
    sfen: Values<ByteArray>,
    best_move: Values<ByteArray>,
    eval_cp: Values<i32>,
    ply: Values<i32>,
    result: Values<ByteArray>,
    ending: Values<ByteArray>,
    end_ply: Values<i32>,
    candidates: Values<ByteArray>,
    for_training: Values<bool>,
}

/// A column: the values that are there, and for each row whether one is.
struct Values<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<W: Write + Send> Table<W> {
    pub(in crate::pipeline) fn new(output: W) -> io::Result<Self> {
        Ok(Self { file: create(output).map_err(io::Error::other)?, rows: Rows::default() })
    }

    /// Takes whole lines.
    pub(in crate::pipeline) fn take(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            self.rows.push(serde_json::from_slice(line)?);
        }
        Ok(())
    }

    /// Writes the rows that were taken as a group.
    pub(in crate::pipeline) fn close_group(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let write = || rows.write(self.file.next_row_group()?);
        write().map_err(io::Error::other)
    }

    /// Writes what is left and the end of the file.
    pub(in crate::pipeline) fn finish(mut self) -> io::Result<W> {
        if !self.rows.sfen.levels.is_empty() {
            self.close_group()?;
        }
        self.file.into_inner().map_err(io::Error::other)
    }
}

fn create<W: Write + Send>(output: W) -> Result<SerializedFileWriter<W>> {
    let properties = WriterProperties::builder()
        .set_created_by("kyokumen".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        // Positions hardly ever come twice within a group.
        .set_column_dictionary_enabled(ColumnPath::from("sfen"), false)
        .build();
    let schema = parse_message_type(SCHEMA)?;
    SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties))
}

impl Rows {
    fn push(&mut self, row: Row<'_>) {
        let candidates = row.candidates.map(RawValue::get).filter(|&all| all != "[]");
        self.sfen.push(Some(row.sfen.into_bytes()));
        self.best_move.push(row.best_move.map(String::into_bytes));
        self.eval_cp.push(row.eval);
        self.ply.push(row.ply);
        self.result.push(row.result.map(String::into_bytes));
        self.ending.push(row.ending.map(String::into_bytes));
        self.end_ply.push(row.end_ply);
        self.candidates.push(candidates.map(|all| all.as_bytes().to_vec()));
        self.for_training.push(row.for_training);
    }

    fn write<W: Write + Send>(self, mut group: SerializedRowGroupWriter<'_, W>) -> Result<()> {
        self.sfen.write::<ByteArrayType, _>(&mut group)?;
        self.best_move.write::<ByteArrayType, _>(&mut group)?;
        self.eval_cp.write::<Int32Type, _>(&mut group)?;
        self.ply.write::<Int32Type, _>(&mut group)?;
        self.result.write::<ByteArrayType, _>(&mut group)?;
        self.ending.write::<ByteArrayType, _>(&mut group)?;
        self.end_ply.write::<Int32Type, _>(&mut group)?;
        self.candidates.write::<ByteArrayType, _>(&mut group)?;
        self.for_training.write::<BoolType, _>(&mut group)?;
        group.close().map(drop)
    }
}

impl<T> Default for Values<T> {
    fn default() -> Self {
        Self { values: Vec::new(), levels: Vec::new() }
    }
}

impl<T> Values<T> {
    fn push(&mut self, value: Option<impl Into<T>>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value.map(Into::into));
    }

    /// Writes them as the next column of a group.
    fn write<P, W>(&self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()>
    where
        P: DataType<T = T>,
        W: Write + Send,
    {
        let no_column = || ParquetError::General("the schema has fewer columns".to_owned());
        let mut column = group.next_column()?.ok_or_else(no_column)?;
        column.typed::<P>().write_batch(&self.values, Some(&self.levels), None)?;
        column.close()
    }
}
