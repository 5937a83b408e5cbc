//! One writer for all table formats.
//!
//! The files do not depend on time or machine: equal rows make equal files.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::npz::Arrays;
use super::{Table, TableFormat, Value, json};
use crate::storage::parquet;
use crate::storage::quantity::quantity;

/// Writes a table row by row.
pub struct TableWriter<W: Write + Send> {
    table: &'static Table,
    writer: Writer<W>,
    line: Vec<u8>,
}

enum Writer<W: Write + Send> {
    Lines(BufWriter<W>),
    Arrays(Arrays<BufWriter<W>>),
    Columns(Box<parquet::Columns<W>>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Starts a table. Creates temporary files in `folder` if the format needs them.
    ///
    /// # Errors
    /// If this build cannot write the format, or the output or a temporary file cannot be written.
    pub fn new(
        format: TableFormat,
        table: &'static Table,
        output: W,
        folder: &Path,
    ) -> io::Result<Self> {
        let writer = match format {
            TableFormat::Jsonl => Writer::Lines(BufWriter::new(output)),
            TableFormat::Npz => Writer::Arrays(Arrays::new(BufWriter::new(output), table, folder)?),
            TableFormat::Parquet => {
                Writer::Columns(Box::new(parquet::Columns::new(output, table)?))
            }
        };
        Ok(Self { table, writer, line: Vec::new() })
    }

    /// Appends a row.
    ///
    /// # Errors
    /// If the row does not fit the table, or writing fails.
    pub fn push(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        self.check(row)?;
        match &mut self.writer {
            Writer::Lines(output) => {
                self.line.clear();
                json::push_line(self.table, row, &mut self.line);
                output.write_all(&self.line)
            }
            Writer::Arrays(arrays) => arrays.push(row),
            Writer::Columns(columns) => {
                if columns.is_full() {
                    columns.close_group()?;
                }
                columns.push(row);
                Ok(())
            }
        }
    }

    fn check(&self, row: &[Value<'_>]) -> io::Result<()> {
        let columns = self.table.columns;
        let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        if row.len() != columns.len() {
            return wrong(&format!(
                "the row has {} for {}",
                quantity(row.len(), "value"),
                quantity(columns.len(), "column")
            ));
        }
        match columns.iter().zip(row).find(|(column, value)| !column.holds(value)) {
            Some((column, value)) => {
                wrong(&format!("the column {} cannot hold {value:?}", column.name))
            }
            None => Ok(()),
        }
    }

    /// Finishes the file and returns the output.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> io::Result<W> {
        let output = match self.writer {
            Writer::Lines(output) => output,
            Writer::Arrays(arrays) => arrays.finish()?,
            Writer::Columns(columns) => return columns.finish(),
        };
        output.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{EVERYTHING, rows};
    use super::*;

    fn write(format: TableFormat, rows: &[Vec<Value<'_>>]) -> io::Result<Vec<u8>> {
        let folder = std::env::temp_dir();
        let mut writer = TableWriter::new(format, &EVERYTHING, Vec::new(), &folder)?;
        rows.iter().try_for_each(|row| writer.push(row))?;
        writer.finish()
    }

    fn formats() -> impl Iterator<Item = TableFormat> {
        let all = [TableFormat::Jsonl, TableFormat::Npz, TableFormat::Parquet];
        all.into_iter().filter(|format| format.is_built_in())
    }

    #[test]
    fn rows_that_do_not_fit_the_table_are_rejected() {
        for format in formats() {
            let mut row = rows().remove(0);
            row[7] = Value::Null;
            let error = write(format, &[row.clone()]).unwrap_err();
            assert_eq!(error.to_string(), "the column eval cannot hold Null");
            row.pop();
            assert!(write(format, &[row]).is_err());
        }
    }

    #[test]
    fn a_table_without_rows_can_be_written() {
        for format in formats() {
            assert!(write(format, &[]).unwrap().is_empty() == (format == TableFormat::Jsonl));
        }
    }
}
