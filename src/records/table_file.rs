//! Writes a table to a file. Like every output, the file is complete or does not exist.
//!
//! The steps are the same as in [`Sinks`].

use std::path::Path;

use crate::error::Error;
use crate::records::claims::FileClaims;
use crate::records::opening::check_table_format;
use crate::records::output_kind::{EncodedRecords, OutputKind};
use crate::records::sink::{OutputPlan, Sinks};
use crate::storage::files;
use crate::storage::table::{Table, TableFormat, Value};

/// A table being written. Dropping it before [`Self::finish`] removes the file.
///
/// ```
/// use kyokumen::records::table_file::TableFile;
/// use kyokumen::storage::table::{Column, ColumnType, Table, TableFormat, Value};
///
/// const SQUARES: Table = Table {
///     name: "squares",
///     columns: &[Column::new("number", ColumnType::Int32), Column::new("square", ColumnType::Int64)],
/// };
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("squares.jsonl");
/// let plan = TableFile::plan(&path, &SQUARES, TableFormat::Jsonl, false)?;
/// let mut file = TableFile::create(plan, &SQUARES, TableFormat::Jsonl)?;
/// for number in 1..=3 {
///     file.push(&[Value::Int(number), Value::Int(number * number)])?;
/// }
/// file.finish()?;
/// let lines = std::fs::read_to_string(&path)?;
/// assert_eq!(lines.lines().nth(2), Some(r#"{"number":3,"square":9}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TableFile {
    sinks: Sinks,
    table: &'static Table,
    format: TableFormat,
}

impl TableFile {
    /// Plans the file.
    ///
    /// # Errors
    /// [`Error`] if this build does not support the format, the file exists and `force` is not set, or the format
    /// cannot be written to an object or a pipe.
    pub fn plan(
        path: &Path,
        table: &'static Table,
        format: TableFormat,
        force: bool,
    ) -> Result<OutputPlan, Error> {
        check_table_format(format)?;
        let path = path.to_owned();
        if files::is_object(&path) && format.deferred_table(table).is_some() {
            return Err(Error::table_object(path));
        }
        let plan = FileClaims::reading(&[])?.lone_output(OutputKind::Rows, &path, force)?;
        let deferred_table = format.deferred_table(table);
        if plan.is_pipe && deferred_table.is_some() {
            return Err(Error::not_a_file(path));
        }
        Ok(OutputPlan { deferred_table, ..plan })
    }

    /// Opens the partial file.
    ///
    /// # Errors
    /// [`Error`] if the file cannot be created or another process is writing it.
    pub fn create(
        plan: OutputPlan,
        table: &'static Table,
        format: TableFormat,
    ) -> Result<Self, Error> {
        Ok(Self { sinks: Sinks::create(&[plan])?, table, format })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// [`Error`] if the disk is full, for instance.
    pub fn push(&mut self, row: &[Value<'_>]) -> Result<(), Error> {
        let mut encoded = EncodedRecords::default();
        self.format.push_row(self.table, row, encoded.open_record());
        encoded.end_record();
        self.sinks.write(OutputKind::Rows, &encoded)
    }

    /// Completes the file and renames it to its final name.
    ///
    /// # Errors
    /// [`Error`] if the disk is full, for instance.
    pub fn finish(self) -> Result<(), Error> {
        self.sinks.finish()?.commit()
    }
}
