//! The table of solved positions: its columns and rows.

use std::borrow::Cow;

use crate::format::move16::{self, Dialect};
use crate::format::packed::{self, Family};
use crate::format::{ContentKey, DecodeError, GameResult, RecordRef};
use crate::jobs::shares::Shares;
use crate::mate::judge::Judgement;
use crate::records::answer::Answer;
use crate::shogi::{Move, Position, Setup};
use crate::storage::table::{Column, ColumnType, Table, Value};

/// A solved position a row.
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
        Column::new("key", ColumnType::Bytes(size_of::<ContentKey>())).distinct(),
        Column::new("split", ColumnType::Text),
        Column::new("source_move", ColumnType::Text).nullable(),
        Column::new("source_eval_cp", ColumnType::Int16).nullable(),
        Column::new("source_ply", ColumnType::Int32).nullable(),
        Column::new("source_result", ColumnType::Text).nullable(),
    ],
};

/// A position with all that is known of it.
pub(crate) struct SolvedRow<'a> {
    /// The input, as it was given.
    pub(crate) file: &'a str,
    /// Number within it, from 0.
    pub(crate) index: u64,
    pub(crate) record: &'a RecordRef<'a>,
    pub(crate) setup: &'a Setup,
    pub(crate) position: &'a Position,
    pub(crate) judgement: &'a Judgement,
}

impl SolvedRow<'_> {
    /// The row of [`SOLVED_POSITIONS`].
    pub(crate) fn row(
        &self,
        shares: Shares,
    ) -> Result<[Value<'_>; SOLVED_POSITIONS.columns.len()], DecodeError> {
        let &Self { file, index, record, setup, position, judgement } = self;
        let key = ContentKey::of(setup);
        let best_move = judgement.line.first().copied();
        let plies = judgement.answer.is_mate().then_some(judgement.line.len() as u32);
        Ok([
            Value::Text(position.to_string().into()),
            // Where the attacker has no king there is no code for it.
            packed::encode(Family::Apery, setup)
                .map_or(Value::Null, |hcp| Value::Bytes(hcp.to_vec().into())),
            Value::Text(judgement.answer.word().into()),
            Value::text(stop(judgement.answer)),
            Value::int(value(judgement.answer)),
            Value::int(plies),
            Value::int(judgement.tsume_plies),
            Value::text(best_move.map(|m| m.to_string())),
            bits(Dialect::Apery, best_move),
            bits(Dialect::YaneuraOu, best_move),
            Value::Texts(judgement.line.iter().map(|m| m.to_string().into()).collect()),
            count(judgement.proof_nodes),
            count(judgement.nodes),
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

/// Numbers of records and nodes are far below what does not fit.
pub(crate) fn count(number: u64) -> Value<'static> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(crate) const fn stop(answer: Answer) -> Option<&'static str> {
    match answer {
        Answer::Unknown(stop) => Some(stop.word()),
        Answer::Win | Answer::Loss | Answer::NoMate => None,
    }
}

/// The value of the game where it is proven, seen from the side to move.
pub(crate) const fn value(answer: Answer) -> Option<i8> {
    match answer {
        Answer::Win => Some(1),
        Answer::Loss => Some(-1),
        Answer::NoMate | Answer::Unknown(_) => None,
    }
}
