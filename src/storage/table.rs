//! Tables: columns described by data, rows of values, and the files that hold them.
//!
//! The types are those that Parquet, numpy and JSON have in common; `docs/datasets.md` says how each of them
//! writes a value, a list, and nothing.

mod json;
mod npy;
mod npz;
pub(crate) mod packed_row;
mod writer;
mod zip;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::parquet;

pub use writer::TableWriter;

/// What a table is: its name and its columns, in order.
#[derive(PartialEq, Eq, Debug)]
pub struct Table {
    /// Name of the schema where a file has one.
    pub name: &'static str,
    /// The columns.
    pub columns: &'static [Column],
}

/// A column of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Column {
    /// Its name, the same in every format.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether a row may have nothing there. Lists are empty instead.
    pub is_nullable: bool,
    /// Whether hardly any value comes twice, so that looking for equal ones is lost time.
    pub is_distinct: bool,
}

/// What the values of a column are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// A list of texts.
    Texts,
    /// So many bytes.
    Bytes(usize),
    /// True or false.
    Bool,
    /// A number of 8 bits with a sign.
    Int8,
    /// A list of such numbers.
    Int8s,
    /// A number of 16 bits with a sign.
    Int16,
    /// A number of 32 bits with a sign.
    Int32,
    /// A number of 64 bits with a sign.
    Int64,
    /// A number of 16 bits without a sign.
    UInt16,
}

/// A value in a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// Of [`Kind::Text`].
    Text(Cow<'a, str>),
    /// Of [`Kind::Texts`].
    Texts(Vec<Cow<'a, str>>),
    /// Of [`Kind::Bytes`].
    Bytes(Cow<'a, [u8]>),
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of any kind of number.
    Int(i64),
    /// Of [`Kind::Int8s`].
    Ints(Vec<i64>),
}

impl Kind {
    /// Whether a row has any number of them.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Texts | Self::Int8s)
    }
}

impl Column {
    /// A column in which every row has a value.
    pub const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, is_nullable: false, is_distinct: false }
    }

    /// The same, but rows may have nothing there.
    #[must_use]
    pub const fn nullable(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    /// The same, with values hardly any of which comes twice.
    #[must_use]
    pub const fn distinct(self) -> Self {
        Self { is_distinct: true, ..self }
    }

    /// Whether a value can stand in it.
    pub fn holds(&self, value: &Value<'_>) -> bool {
        let is_within = |number: &i64, low: i64, high: i64| (low..=high).contains(number);
        match (self.kind, value) {
            (_, Value::Null) => self.is_nullable,
            (Kind::Bytes(len), Value::Bytes(bytes)) => bytes.len() == len,
            (Kind::Int8, Value::Int(n)) => is_within(n, i8::MIN.into(), i8::MAX.into()),
            (Kind::Int8s, Value::Ints(all)) => {
                all.iter().all(|n| is_within(n, i8::MIN.into(), i8::MAX.into()))
            }
            (Kind::Int16, Value::Int(n)) => is_within(n, i16::MIN.into(), i16::MAX.into()),
            (Kind::Int32, Value::Int(n)) => is_within(n, i32::MIN.into(), i32::MAX.into()),
            (Kind::UInt16, Value::Int(n)) => is_within(n, 0, u16::MAX.into()),
            (Kind::Int64, Value::Int(_))
            | (Kind::Text, Value::Text(_))
            | (Kind::Texts, Value::Texts(_))
            | (Kind::Bool, Value::Bool(_)) => true,
            _ => false,
        }
    }
}

impl<'a> Value<'a> {
    /// A text, or nothing.
    pub fn text(text: Option<impl Into<Cow<'a, str>>>) -> Self {
        text.map_or(Self::Null, |text| Self::Text(text.into()))
    }

    /// A number, or nothing.
    pub fn int(number: Option<impl Into<i64>>) -> Self {
        number.map_or(Self::Null, |number| Self::Int(number.into()))
    }
}

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    /// Columns in groups of rows, compressed.
    Parquet,
    /// A JSON object a line.
    Jsonl,
    /// An array of numpy for each column, together in one file.
    Npz,
}

impl TableFormat {
    /// Its name, which is the extension of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Jsonl => "jsonl",
            Self::Npz => "npz",
        }
    }

    /// The format of a file of columns with this name.
    pub(crate) fn of_columns(file: &str) -> Option<Self> {
        let (_, extension) = file.rsplit_once('.')?;
        [Self::Parquet, Self::Npz].into_iter().find(|format| format.name() == extension)
    }

    /// Whether this build writes it.
    pub const fn is_built_in(self) -> bool {
        match self {
            Self::Parquet => parquet::IS_BUILT_IN,
            Self::Jsonl | Self::Npz => true,
        }
    }

    /// What becomes of the rows that [`Self::push_row`] wrote: nothing where they are the file already.
    pub const fn making(self, table: &'static Table) -> Option<Making> {
        match self {
            Self::Jsonl => None,
            Self::Parquet | Self::Npz => Some(Making { table, format: self }),
        }
    }

    /// Appends a row as it waits for its file, or stands in it.
    pub fn push_row(self, table: &Table, row: &[Value<'_>], out: &mut Vec<u8>) {
        match self {
            Self::Jsonl => json::push_line(table, row, out),
            Self::Parquet | Self::Npz => packed_row::push(row, out),
        }
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is made of rows when all are there: nobody can go on in the middle of a file of columns, but in the
/// middle of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Making {
    /// The table.
    pub table: &'static Table,
    /// The file.
    pub format: TableFormat,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A column of every kind, and of every kind that may be missing.
    pub(crate) const EVERYTHING: Table = Table {
        name: "everything",
        columns: &[
            Column::new("text", Kind::Text).distinct(),
            Column::new("word", Kind::Text).nullable(),
            Column::new("texts", Kind::Texts),
            Column::new("bytes", Kind::Bytes(3)),
            Column::new("code", Kind::Bytes(2)).nullable().distinct(),
            Column::new("flag", Kind::Bool),
            Column::new("sign", Kind::Int8).nullable(),
            Column::new("eval", Kind::Int16),
            Column::new("plies", Kind::Int32).nullable(),
            Column::new("nodes", Kind::Int64),
            Column::new("bits", Kind::UInt16),
            Column::new("steps", Kind::Int8s),
        ],
    };

    /// Rows of [`EVERYTHING`]: the one has all there is, the other as little as can be.
    pub(crate) fn rows() -> Vec<Vec<Value<'static>>> {
        let full = vec![
            Value::Text("局面 \"1\"".into()),
            Value::text(Some("win")),
            Value::Texts(vec!["7g7f".into(), "G*5b".into()]),
            Value::Bytes(vec![0, 0x7f, 0xff].into()),
            Value::Bytes(vec![1, 0].into()),
            Value::Bool(true),
            Value::int(Some(-1)),
            Value::Int(-32768),
            Value::int(Some(i32::MAX)),
            Value::Int(1 << 40),
            Value::Int(65535),
            Value::Ints(vec![-128, 0, 127]),
        ];
        let empty = vec![
            Value::Text("".into()),
            Value::Null,
            Value::Texts(Vec::new()),
            Value::Bytes(vec![0; 3].into()),
            Value::Null,
            Value::Bool(false),
            Value::Null,
            Value::Int(0),
            Value::Null,
            Value::Int(i64::MIN),
            Value::Int(0),
            Value::Ints(Vec::new()),
        ];
        vec![full.clone(), empty, full]
    }

    #[test]
    fn columns_hold_what_they_are_for() {
        for row in rows() {
            for (column, value) in EVERYTHING.columns.iter().zip(&row) {
                assert!(column.holds(value), "{}: {value:?}", column.name);
            }
        }
        let [eval, bits] = [EVERYTHING.columns[7], EVERYTHING.columns[10]];
        for (column, value) in [
            (eval, Value::Null),
            (eval, Value::Int(32768)),
            (bits, Value::Int(-1)),
            (bits, Value::Bool(true)),
            (EVERYTHING.columns[11], Value::Ints(vec![0, 128])),
            (EVERYTHING.columns[3], Value::Bytes(vec![0; 2].into())),
        ] {
            assert!(!column.holds(&value), "{}: {value:?}", column.name);
        }
    }
}
