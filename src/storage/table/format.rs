//! How a table is written.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::storage::parquet;
use crate::storage::table::{Table, Value, json, packed_row};

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
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

    /// `None` unless the extension is that of a columnar format.
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
    pub const fn deferred_table(self, table: &'static Table) -> Option<DeferredTable> {
        match self {
            Self::Jsonl => None,
            Self::Parquet | Self::Npz => Some(DeferredTable { table, format: self }),
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
pub struct DeferredTable {
    /// The table.
    pub table: &'static Table,
    /// The file.
    pub format: TableFormat,
}
