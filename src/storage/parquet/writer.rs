//! Writes lines of `jsonl` as the rows of a Parquet file.
//!
//! `docs/formats/parquet.md` describes the columns.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Columns;
use crate::storage::table::{Column, ColumnType, Table, Value};

/// The columns, in the order of [`COLUMNS`](super::COLUMNS).
const RECORDS: Table = Table {
    name: "kyokumen",
    columns: &[
        Column::new("sfen", ColumnType::Text).distinct(),
        Column::new("move", ColumnType::Text).nullable(),
        Column::new("eval_cp", ColumnType::Int16).nullable(),
        Column::new("ply", ColumnType::Int32).nullable(),
        Column::new("result", ColumnType::Text).nullable(),
        Column::new("ending", ColumnType::Text).nullable(),
        Column::new("end_ply", ColumnType::Int32).nullable(),
        Column::new("candidates", ColumnType::Text).nullable(),
        Column::new("for_training", ColumnType::Bool).nullable(),
    ],
};

pub(crate) struct RecordColumns<W: Write + Send> {
    columns: Columns<W>,
}

#[derive(Deserialize)]
struct Row<'a> {
    sfen: String,
    #[serde(rename = "move")]
    best_move: Option<String>,
    eval: Option<i16>,
    ply: Option<i32>,
    result: Option<String>,
    ending: Option<String>,
    end_ply: Option<i32>,
    #[serde(borrow)]
    candidates: Option<&'a RawValue>,
    for_training: Option<bool>,
}

impl<W: Write + Send> RecordColumns<W> {
    pub(crate) fn new(output: W) -> io::Result<Self> {
        Ok(Self { columns: Columns::new(output, &RECORDS)? })
    }

    /// Adds rows. `lines` must be whole lines.
    pub(crate) fn take(&mut self, lines: &[u8]) -> io::Result<()> {
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            self.columns.push(&serde_json::from_slice::<Row<'_>>(line)?.values());
        }
        Ok(())
    }

    pub(crate) fn close_group(&mut self) -> io::Result<()> {
        self.columns.close_group()
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        self.columns.finish()
    }
}

impl<'a> Row<'a> {
    fn values(self) -> [Value<'a>; RECORDS.columns.len()] {
        let candidates = self.candidates.map(RawValue::get).filter(|&all| all != "[]");
        [
            Value::Text(self.sfen.into()),
            Value::text(self.best_move),
            Value::int(self.eval),
            Value::int(self.ply),
            Value::text(self.result),
            Value::text(self.ending),
            Value::int(self.end_ply),
            Value::text(candidates),
            self.for_training.map_or(Value::Null, Value::Bool),
        ]
    }
}
