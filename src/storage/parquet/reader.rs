//! Reads the rows of a Parquet file as lines of `jsonl`.
//!
//! Columns are identified by name; other columns are ignored. Values are not checked here, because the reader of the
//! lines checks them.

use std::fs::File;
use std::io::{self, Read};

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{AsBytes, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use serde::ser::Serializer as _;
use serde_json::Value;

use super::COLUMNS;
use crate::format::packed::{self, Family};
use crate::storage::caught_panic::catch;
use crate::storage::quantity::quantity;

const BATCH_ROWS: usize = 1 << 10;

/// Alternative column names and their `jsonl` keys: packed positions, and the evaluation as in `jsonl`.
const OTHER_NAMES: [(&str, &str); 3] = [("hcp", "sfen"), ("psfen", "sfen"), ("eval", "eval")];

pub(crate) struct LineReader {
    file: SerializedFileReader<File>,
    next_group: usize,
    group: Option<Group>,
    ready: Vec<u8>,
    /// Bytes of `ready` already read.
    taken: usize,
}

impl LineReader {
    pub(crate) fn open(file: File) -> io::Result<Self> {
        let file = guarded(|| SerializedFileReader::new(file))?;
        Ok(Self { file, next_group: 0, group: None, ready: Vec::new(), taken: 0 })
    }

    /// Fills `ready` with the lines of the next rows. Returns `false` at the end.
    fn next_lines(&mut self) -> Result<bool> {
        self.ready.clear();
        self.taken = 0;
        loop {
            let group = match &mut self.group {
                Some(group) => group,
                none if self.next_group < self.file.num_row_groups() => {
                    check_offsets(self.file.metadata().row_group(self.next_group))?;
                    let group = self.file.get_row_group(self.next_group)?;
                    self.next_group += 1;
                    none.insert(Group::open(&*group)?)
                }
                _ => return Ok(false),
            };
            if group.rows_left > 0 {
                group.append_lines(&mut self.ready)?;
                return Ok(true);
            }
            self.group = None;
        }
    }
}

impl Read for LineReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.ready.len() && !guarded(|| self.next_lines())? {
            return Ok(0);
        }
        let read = (&self.ready[self.taken..]).read(bytes)?;
        self.taken += read;
        Ok(read)
    }
}

/// Turns a panic into an error, because the column reader panics on some damaged files.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> io::Result<T> {
    match catch(read) {
        Ok(read) => read.map_err(io::Error::other),
        Err(_) => Err(io::Error::other("the file is damaged")),
    }
}

/// Checks that no offset or size of a column is negative.
fn check_offsets(group: &RowGroupMetaData) -> Result<()> {
    let is_valid = |column: &ColumnChunkMetaData| {
        let dictionary = column.dictionary_page_offset().unwrap_or(0);
        dictionary >= 0 && column.data_page_offset() >= 0 && column.compressed_size() >= 0
    };
    if group.columns().iter().all(is_valid) {
        return Ok(());
    }
    Err(ParquetError::General("the offset or size of a column is negative".to_owned()))
}

struct Group {
    /// In the order of [`COLUMNS`].
    columns: Vec<Column>,
    rows_left: usize,
}

impl Group {
    fn open(group: &dyn RowGroupReader) -> Result<Self> {
        let mut columns: Vec<Column> = Vec::new();
        for (i, metadata) in group.metadata().columns().iter().enumerate() {
            if let Some(key) = key_of(metadata.column_descr())
                && columns.iter().all(|column| column.key != key)
            {
                columns.push(Column::new(
                    key,
                    metadata.column_descr(),
                    group.get_column_reader(i)?,
                ));
            }
        }
        let (_, position) = COLUMNS[0];
        if columns.iter().all(|column| column.key != position) {
            let message = "no position column: expected sfen, hcp or psfen".to_owned();
            return Err(ParquetError::General(message));
        }
        columns.sort_by_key(|column| COLUMNS.iter().position(|&(_, key)| key == column.key));
        let rows_left = usize::try_from(group.metadata().num_rows()).map_err(|_| {
            ParquetError::General("the number of rows of a group is negative".to_owned())
        })?;
        Ok(Self { columns, rows_left })
    }

    fn append_lines(&mut self, lines: &mut Vec<u8>) -> Result<()> {
        let rows = self.rows_left.min(BATCH_ROWS);
        self.rows_left -= rows;
        let mut values: Vec<(&str, std::vec::IntoIter<Value>)> = Vec::new();
        for column in &mut self.columns {
            let read = column.read(rows)?;
            if read.len() != rows {
                let message = format!("the column {} ends before the others", column.key);
                return Err(ParquetError::General(message));
            }
            values.push((column.key, read.into_iter()));
        }
        for _ in 0..rows {
            let entries = values
                .iter_mut()
                .filter_map(|(key, values)| Some((*key, values.next()?)))
                .filter(|(_, value)| !value.is_null());
            serde_json::Serializer::new(&mut *lines)
                .collect_map(entries)
                .map_err(|error| ParquetError::External(error.into()))?;
            lines.push(b'\n');
        }
        Ok(())
    }
}

/// The `jsonl` key of a column. `None` for unknown columns and for lists.
fn key_of(column: &ColumnDescriptor) -> Option<&'static str> {
    let [name] = column.path().parts() else { return None };
    let mut names = COLUMNS.iter().chain(&OTHER_NAMES);
    let &(_, key) = names.find(|(known, _)| known == name)?;
    (column.max_rep_level() == 0).then_some(key)
}

struct Column {
    key: &'static str,
    /// Encoding of packed positions. `None` for other columns.
    family: Option<Family>,
    /// Definition level of a value that is not null; 0 if the column has no nulls.
    present: i16,
    reader: ColumnReader,
}

impl Column {
    fn new(key: &'static str, descriptor: &ColumnDescriptor, reader: ColumnReader) -> Self {
        let family = match descriptor.name() {
            "hcp" => Some(Family::Apery),
            "psfen" => Some(Family::YaneuraOu),
            _ => None,
        };
        Self { key, family, present: descriptor.max_def_level(), reader }
    }

    /// The values of the next rows; fewer than `rows` only at the end.
    fn read(&mut self, rows: usize) -> Result<Vec<Value>> {
        use ColumnReader::{
            BoolColumnReader, ByteArrayColumnReader, DoubleColumnReader,
            FixedLenByteArrayColumnReader, FloatColumnReader, Int32ColumnReader, Int64ColumnReader,
            Int96ColumnReader,
        };
        let (key, family, present) = (self.key, self.family, self.present);
        let bytes = |bytes: &[u8]| value_from_bytes(key, family, bytes);
        match &mut self.reader {
            BoolColumnReader(reader) => values(reader, present, rows, |b| (*b).into()),
            Int32ColumnReader(reader) => values(reader, present, rows, |n| (*n).into()),
            Int64ColumnReader(reader) => values(reader, present, rows, |n| (*n).into()),
            FloatColumnReader(reader) => {
                values(reader, present, rows, |n| value_from_float((*n).into()))
            }
            DoubleColumnReader(reader) => values(reader, present, rows, |n| value_from_float(*n)),
            ByteArrayColumnReader(reader) => values(reader, present, rows, |b| bytes(b.as_bytes())),
            FixedLenByteArrayColumnReader(reader) => {
                values(reader, present, rows, |b| bytes(b.as_bytes()))
            }
            Int96ColumnReader(_) => Err(ParquetError::General(format!(
                "the column {key} has the unsupported type INT96"
            ))),
        }
    }
}

fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    present: i16,
    rows: usize,
    value: impl Fn(&T::T) -> Value,
) -> Result<Vec<Value>> {
    let (mut levels, mut read) = (Vec::new(), Vec::new());
    reader.read_records(rows, Some(&mut levels), None, &mut read)?;
    let mut read = read.iter().map(value);
    if present == 0 {
        return Ok(read.collect());
    }
    let next = |level: i16| if level == present { read.next() } else { Some(Value::Null) };
    Ok(levels.into_iter().map_while(next).collect())
}

/// Converts whole numbers to integers, because some tools write an integer column with nulls as floats. NaN is null.
fn value_from_float(number: f64) -> Value {
    if number.is_nan() {
        return Value::Null;
    }
    // Other numbers stay floats, and the reader of the line rejects them.
    if number.fract() == 0.0 && number.abs() <= f64::from(i32::MAX) {
        return (number as i64).into();
    }
    number.into()
}

/// Text or a packed position. A position that cannot be decoded becomes a text that the reader of the line rejects.
fn value_from_bytes(key: &str, family: Option<Family>, bytes: &[u8]) -> Value {
    if let Some(family) = family {
        let packed = bytes.try_into().ok().map(|bytes| packed::decode(family, bytes));
        return match packed {
            Some(Ok(setup)) => setup.to_string().into(),
            Some(Err(error)) => error.to_string().into(),
            None => quantity(bytes.len(), "byte").into(),
        };
    }
    let text = String::from_utf8_lossy(bytes);
    if key == "candidates"
        && let Ok(value) = serde_json::from_str(&text)
    {
        return value;
    }
    text.into()
}
