//! Parquet, files of columns: tables of any kind are written; what is read are records, as lines of `jsonl`.
//!
//! The file format is that of <https://parquet.apache.org/docs/file-format/>; `docs/formats/parquet.md` has
//! the columns.

mod columns;
mod reader;
mod writer;

pub(crate) use columns::Columns;
pub(crate) use reader::LineReader;
pub(crate) use writer::RecordColumns;

pub(crate) const IS_BUILT_IN: bool = true;
