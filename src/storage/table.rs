//! Tables of typed columns, and their files in Parquet, npz and JSON Lines.
//!
//! Parquet, numpy and JSON can all represent the column types. `docs/datasets.md` describes how each of them represents
//! values, lists and nulls.

mod format;
mod json;
mod npy;
mod npz;
pub(crate) mod packed_row;
mod schema;
mod writer;
mod zip;

pub use format::{DeferredTable, TableFormat};
pub use schema::{Column, ColumnType, Table, Value};
pub use writer::TableWriter;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A table with a column of every type, some of them nullable.
    pub(crate) const EVERYTHING: Table = Table {
        name: "everything",
        columns: &[
            Column::new("text", ColumnType::Text).distinct(),
            Column::new("word", ColumnType::Text).nullable(),
            Column::new("texts", ColumnType::Texts),
            Column::new("bytes", ColumnType::Bytes(3)),
            Column::new("code", ColumnType::Bytes(2)).nullable().distinct(),
            Column::new("flag", ColumnType::Bool),
            Column::new("sign", ColumnType::Int8).nullable(),
            Column::new("eval", ColumnType::Int16),
            Column::new("plies", ColumnType::Int32).nullable(),
            Column::new("nodes", ColumnType::Int64),
            Column::new("bits", ColumnType::UInt16),
            Column::new("steps", ColumnType::Int8s),
        ],
    };

    /// Rows of [`EVERYTHING`]: a full row, an empty row, and the full row again.
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
    fn columns_accept_only_values_of_their_type_and_range() {
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
