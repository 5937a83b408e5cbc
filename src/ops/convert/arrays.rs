//! Records as rows of NumPy arrays (`.npz` files of `kyokumen convert`).
//!
//! Columns shared with `kyokumen dataset` have the same names and types. `docs/formats/npz.md` lists all columns. A
//! field that no record has makes no array.

use crate::format::move16::{self, Dialect};
use crate::format::packed::{self, Family};
use crate::format::{
    ConversionPlan, Field, FieldChanges, Fields, Fill, Format, GameResult, Record, RecordRef,
};
use crate::records::reading::RecordError;
use crate::shogi::{Color, Move};
use crate::storage::table::{Column, ColumnType, Table, TableFormat, Value};

pub(crate) const FORMAT: TableFormat = TableFormat::Npz;

const EVAL: Column = Column::new("eval_cp", ColumnType::Int16).optional();
const PLY: Column = Column::new("ply", ColumnType::Int32).optional();
const RESULT: Column = Column::new("result", ColumnType::Int8).optional();

const APERY: Table = Table {
    name: "records",
    columns: &[
        Column::new("hcp", ColumnType::Bytes(packed::LEN)).distinct(),
        Column::new("move_apery", ColumnType::UInt16).optional(),
        EVAL,
        PLY,
        RESULT,
    ],
};

const YANEURAOU: Table = Table {
    columns: &[
        Column::new("packed_sfen", ColumnType::Bytes(packed::LEN)).distinct(),
        Column::new("move_yaneuraou", ColumnType::UInt16).optional(),
        EVAL,
        PLY,
        RESULT,
    ],
    ..APERY
};

/// Array fields, without the position.
pub(super) const FIELDS: Fields =
    Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Ply, Field::Result]);

pub(crate) const fn table(family: Family) -> &'static Table {
    match family {
        Family::Apery => &APERY,
        Family::YaneuraOu => &YANEURAOU,
    }
}

/// Plans the conversion to arrays. Fields that neither the format nor `fill` provides have no array.
pub(super) fn conversion_plan(from: Format, fill: &Fill) -> ConversionPlan {
    let lacking = FIELDS.without(from.fields());
    ConversionPlan {
        lost: from.fields().without(FIELDS),
        filled_in: lacking.intersection(fill.fields()),
    }
}

/// Appends the row of a record, or of `content` if given. Returns the changed fields and the array fields that stay
/// empty.
pub(super) fn push_row(
    family: Family,
    (record, content): (&RecordRef<'_>, Option<&Record>),
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<(FieldChanges, Fields), RecordError> {
    let fields = record.fields();
    let position = match (content, record.packed()) {
        (None, Some((own, bytes))) if own == family => packed::canonical(own, bytes)?,
        (None, Some((own, bytes))) => packed::transcode(own, bytes)?,
        (Some(content), _) => packed::encode(family, &content.setup)?,
        (None, None) => packed::encode(family, &record.setup()?)?,
    };
    let mut best_move =
        content.map_or_else(|| record.best_move(), |content| Ok(content.best_move))?;
    let has_move_field = fill.fields().union(fields).contains(Field::BestMove);
    if fill.best_move.is_some() && !fields.contains(Field::BestMove) {
        best_move = match content {
            Some(content) => fill.move_in(&content.setup),
            None => fill.move_in(&record.setup()?),
        }?;
    }
    let eval_cp = content.map_or_else(|| record.eval_cp(), |content| Ok(content.eval_cp))?;
    let result = record.result()?.or(fill.result);
    let values = [
        Value::Bytes((&position[..]).into()),
        if has_move_field { bits(family, best_move) } else { Value::Null },
        Value::int(eval_cp.or(fill.eval_cp)),
        Value::int(record.ply()?.or(fill.ply)),
        Value::int(result.map(|result| seen_from(side_to_move(&position), result))),
    ];
    FORMAT.push_row(table(family), &values, out);
    let lacking = FIELDS.without(fields);
    let filled_in = lacking.intersection(fill.fields());
    let is_malformed =
        best_move.is_none() && record.move_bits().is_some_and(|bits| bits != move16::NONE);
    let lost_move = if is_malformed { Fields::of(Field::BestMove) } else { Fields::NONE };
    let lost = fields.without(FIELDS).union(lost_move);
    Ok((FieldChanges { lost, filled_in }, lacking.without(filled_in)))
}

fn bits(family: Family, best_move: Option<Move>) -> Value<'static> {
    let dialect = match family {
        Family::Apery => Dialect::Apery,
        Family::YaneuraOu => Dialect::YaneuraOu,
    };
    Value::Int(best_move.map_or(move16::NONE, |m| dialect.encode(m)).into())
}

/// Both packed encodings begin with the side to move.
const fn side_to_move(position: &[u8; packed::LEN]) -> Color {
    if position[0] & 1 == 0 { Color::Black } else { Color::White }
}

/// 1 if `side` won, −1 if it lost, 0 for a draw.
fn seen_from(side: Color, result: GameResult) -> i8 {
    match result.winner() {
        None => 0,
        Some(winner) if winner == side => 1,
        Some(_) => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::table::packed_row::Rows;

    /// A psv record: start position, 2g2f, evaluation 10, ply 1, won by the side to move.
    fn start() -> Vec<u8> {
        let setup = crate::shogi::Position::start().setup();
        let mut bytes = packed::encode(Family::YaneuraOu, &setup).unwrap().to_vec();
        bytes.extend([10, 0, 0x8e, 0x07, 1, 0, 1, 0]);
        bytes
    }

    #[test]
    fn rows_contain_the_fields_of_the_records() {
        let bytes = start();
        let record = RecordRef::new(Format::Psv, &bytes).unwrap();
        for (family, first, best_move) in [
            (Family::Apery, [0x58, 0xa4, 0x49, 0x21], 0x078e),
            (Family::YaneuraOu, [0x58, 0xa4, 0x51, 0x22], 0x078e),
        ] {
            let mut rows = Vec::new();
            let (written, missing) =
                push_row(family, (&record, None), &Fill::default(), &mut rows).unwrap();
            assert_eq!((written, missing), (FieldChanges::default(), Fields::NONE));
            let mut rows = Rows::new(&rows[..]);
            let row = rows.next_row().unwrap().unwrap();
            let Value::Bytes(position) = &row[0] else { panic!("{row:?}") };
            assert_eq!(position[..4], first);
            assert_eq!(row[1..], [best_move, 10, 1, 1].map(Value::Int));
        }
    }

    #[test]
    fn missing_fields_are_null_or_filled_in() {
        let bytes = &start()[..packed::LEN];
        let setup = packed::decode(Family::YaneuraOu, bytes.try_into().unwrap()).unwrap();
        let bytes = packed::encode(Family::Apery, &setup).unwrap();
        let record = RecordRef::new(Format::Hcp, &bytes).unwrap();
        let mut rows = Vec::new();
        let (_, missing) =
            push_row(Family::Apery, (&record, None), &Fill::default(), &mut rows).unwrap();
        assert_eq!(missing, FIELDS);
        let fill = Fill { eval_cp: Some(-7), no_move: true, ..Fill::default() };
        let (written, missing) =
            push_row(Family::Apery, (&record, None), &fill, &mut rows).unwrap();
        assert_eq!(written.filled_in, Fields::of_all(&[Field::BestMove, Field::EvalCp]));
        assert_eq!(missing, Fields::of_all(&[Field::Ply, Field::Result]));
        let mut rows = Rows::new(&rows[..]);
        let empty = vec![Value::Null; 4];
        assert_eq!(rows.next_row().unwrap().unwrap()[1..], empty);
        let filled = [Value::Int(0), Value::Int(-7), Value::Null, Value::Null];
        assert_eq!(rows.next_row().unwrap().unwrap()[1..], filled);
    }
}
