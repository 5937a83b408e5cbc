//! The table of all solved positions of marubatsu (tic-tac-toe), one row per position.

use crate::marubatsu::Solved;
use crate::storage::table::{Column, ColumnType, Table, Value};

/// The table. `docs/datasets.md` describes its columns.
pub const SOLVED_MARUBATSU: Table = Table {
    name: "solved_marubatsu",
    columns: &[
        Column::new("board", ColumnType::Text).distinct(),
        Column::new("to_move", ColumnType::Text),
        Column::new("value", ColumnType::Int8),
        Column::new("distance", ColumnType::Int8),
        Column::new("best_moves", ColumnType::Int8s),
        Column::new("symmetry_class", ColumnType::Int16),
    ],
};

/// The row of a position.
pub fn marubatsu_row(solved: &Solved) -> [Value<'static>; SOLVED_MARUBATSU.columns.len()] {
    [
        Value::Text(solved.board.to_string().into()),
        Value::Text(solved.to_move.to_string().into()),
        Value::Int(solved.value.into()),
        Value::Int(solved.distance.into()),
        Value::Ints(solved.best_moves.iter().map(|square| square.number().into()).collect()),
        Value::Int(solved.symmetry_class.into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marubatsu::Solution;
    use crate::storage::table::TableFormat;

    #[test]
    fn rows_match_the_columns_and_the_documented_start_position() {
        let solution = Solution::new();
        let mut lines = Vec::new();
        for solved in solution.positions() {
            let row = marubatsu_row(solved);
            for (column, value) in SOLVED_MARUBATSU.columns.iter().zip(&row) {
                assert!(column.holds(value), "{}: {value:?}", column.name);
            }
            TableFormat::Jsonl.push_row(&SOLVED_MARUBATSU, &row, &mut lines);
        }
        let lines: Vec<&str> = std::str::from_utf8(&lines).unwrap().lines().collect();
        assert_eq!(lines.len(), 5478);
        let start = "{\"board\":\".../.../...\",\"to_move\":\"o\",\"value\":0,\"distance\":9,\
                     \"best_moves\":[0,1,2,3,4,5,6,7,8],\"symmetry_class\":0}";
        assert_eq!(lines[0], start);
    }
}
