//! The file formats of tables.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::storage::parquet;
use crate::storage::table::{Table, Value, json, packed_row};

/// The file format of a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum TableFormat {
    /// Apache Parquet, compressed.
    Parquet,
    /// JSON Lines: one JSON object per row.
    Jsonl,
    /// One file with one or more numpy arrays for each column.
    Npz,
}

impl TableFormat {
    /// The name of the format, which is also the extension of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Jsonl => "jsonl",
            Self::Npz => "npz",
        }
    }

    /// The columnar format that the extension of a file names. `None` for other extensions.
    pub(crate) fn of_columns(file: &str) -> Option<Self> {
        let (_, extension) = file.rsplit_once('.')?;
        [Self::Parquet, Self::Npz].into_iter().find(|format| format.name() == extension)
    }

    /// Whether this build can write the format.
    pub const fn is_built_in(self) -> bool {
        match self {
            Self::Parquet => parquet::IS_BUILT_IN,
            Self::Jsonl | Self::Npz => true,
        }
    }

    /// The table to build from the rows of [`Self::push_row`]. `None` if these rows already are the file.
    pub const fn deferred_table(self, table: &'static Table) -> Option<DeferredTable> {
        match self {
            Self::Jsonl => None,
            Self::Parquet | Self::Npz => Some(DeferredTable { table, format: self }),
        }
    }

    /// Appends a row to `out`: in the file format if the format is written row by row, otherwise in the temporary
    /// encoding of a deferred table.
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

/// A table whose file is built after all rows are written. A run cannot be resumed in the middle of a columnar file,
/// but it can be resumed in the middle of temporary rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeferredTable {
    /// The table.
    pub table: &'static Table,
    /// The format of the file.
    pub format: TableFormat,
}
