//! The table of solved positions: its columns and rows.

use std::borrow::Cow;

use crate::format::move16::{self, Dialect};
use crate::format::packed::{self, Family};
use crate::format::{ContentHash, DecodeError, GameResult, RecordRef};
use crate::jobs::shares::Shares;
use crate::mate::judge::MateResult;
use crate::records::position_verdict::PositionVerdict;
use crate::shogi::{Move, Position, Setup};
use crate::storage::table::{Column, ColumnType, Table, Value};

/// The table, with one row per position.
pub(crate) const SOLVED_POSITIONS: Table = Table {
    name: "solved_positions",
    columns: &[
        Column::new("sfen", ColumnType::Text).distinct(),
        Column::new("hcp", ColumnType::Bytes(packed::LEN)).nullable().distinct(),
        Column::new("verdict", ColumnType::Text),
        Column::new("stop", ColumnType::Text).nullable(),
        Column::new("value", ColumnType::Int8).nullable(),
        Column::new("plies", ColumnType::Int32).nullable(),
        Column::new("tsume_plies", ColumnType::Int32).nullable(),
        Column::new("move", ColumnType::Text).nullable(),
        Column::new("move_apery", ColumnType::UInt16),
        Column::new("move_yaneuraou", ColumnType::UInt16),
        Column::new("line", ColumnType::Texts),
        Column::new("proof_nodes", ColumnType::Int64),
        Column::new("nodes", ColumnType::Int64),
        Column::new("in_check", ColumnType::Bool),
        Column::new("file", ColumnType::Text),
        Column::new("index", ColumnType::Int64),
        Column::new("key", ColumnType::Bytes(size_of::<ContentHash>())).distinct(),
        Column::new("split", ColumnType::Text),
        Column::new("source_move", ColumnType::Text).nullable(),
        Column::new("source_eval_cp", ColumnType::Int16).nullable(),
        Column::new("source_ply", ColumnType::Int32).nullable(),
        Column::new("source_result", ColumnType::Text).nullable(),
    ],
};

/// A position with its record and its verdict.
pub(crate) struct SolvedRow<'a> {
    /// Name of the input as given by the user.
    pub(crate) file: &'a str,
    /// Number of the record in the input, from 0.
    pub(crate) index: u64,
    pub(crate) record: &'a RecordRef<'a>,
    pub(crate) setup: &'a Setup,
    pub(crate) position: &'a Position,
    pub(crate) mate_result: &'a MateResult,
}

impl SolvedRow<'_> {
    /// The row of [`SOLVED_POSITIONS`].
    pub(crate) fn row(
        &self,
        shares: Shares,
    ) -> Result<[Value<'_>; SOLVED_POSITIONS.columns.len()], DecodeError> {
        let &Self { file, index, record, setup, position, mate_result } = self;
        let key = ContentHash::of(setup);
        let best_move = mate_result.line.first().copied();
        let plies = mate_result.verdict.is_mate().then_some(mate_result.line.len() as u32);
        Ok([
            Value::Text(position.to_string().into()),
            // The encoding needs both kings, but the attacker may have none.
            packed::encode(Family::Apery, setup)
                .map_or(Value::Null, |hcp| Value::Bytes(hcp.to_vec().into())),
            Value::Text(mate_result.verdict.word().into()),
            Value::text(stop(mate_result.verdict)),
            Value::int(value(mate_result.verdict)),
            Value::int(plies),
            Value::int(mate_result.tsume_plies),
            Value::text(best_move.map(|m| m.to_string())),
            bits(Dialect::Apery, best_move),
            bits(Dialect::YaneuraOu, best_move),
            Value::Texts(mate_result.line.iter().map(|m| m.to_string().into()).collect()),
            count(mate_result.proof_nodes),
            count(mate_result.nodes),
            Value::Bool(position.in_check()),
            Value::Text(file.into()),
            count(index),
            Value::Bytes(Cow::Owned(key.0.to_vec())),
            Value::Text(shares.split(key).name().into()),
            Value::text(record.best_move()?.map(|m| m.to_string())),
            Value::int(record.eval_cp()?),
            Value::int(record.ply()?),
            Value::text(record.result()?.map(GameResult::name)),
        ])
    }
}

pub(crate) fn bits(dialect: Dialect, m: Option<Move>) -> Value<'static> {
    Value::Int(m.map_or(move16::NONE, |m| dialect.encode(m)).into())
}

/// Saturates, but realistic numbers of records and nodes fit.
pub(crate) fn count(number: u64) -> Value<'static> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) const fn stop(verdict: PositionVerdict) -> Option<&'static str> {
    match verdict {
        PositionVerdict::Unknown(stop) => Some(stop.word()),
        PositionVerdict::Win | PositionVerdict::Loss | PositionVerdict::NoMate => None,
    }
}

/// The proven result from the side to move: 1 for a win, -1 for a loss. `None` without a mate.
pub(crate) const fn value(verdict: PositionVerdict) -> Option<i8> {
    match verdict {
        PositionVerdict::Win => Some(1),
        PositionVerdict::Loss => Some(-1),
        PositionVerdict::NoMate | PositionVerdict::Unknown(_) => None,
    }
}
