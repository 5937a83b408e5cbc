//! Datasets of solved positions: a row for every position, with its verdict, its mate and whence it came.
//!
//! `docs/datasets.md` has the columns and what is to be known before one trains on them.

mod marubatsu;
mod shares;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::filter::{Filtered, filter_with};
use super::plan::Plan;
use crate::engine::progress::Progress;
use crate::format::move16::{self, Dialect};
use crate::format::packed::{self, Family};
use crate::format::{ContentKey, DecodeError, GameResult, RecordRef};
use crate::jobs::error::JobError;
use crate::mate::judge::{Judge, Judgement};
use crate::mate::memo::{Memo, Memoized};
use crate::records::answer::Answer;
use crate::shogi::{Move, Position, Setup};
use crate::storage::table::{Column, Kind, Table, TableFormat, Value};

pub use marubatsu::{SOLVED_MARUBATSU, marubatsu_row};
pub use shares::{ParseSharesError, Shares, Split};

/// A solved position a row.
pub const SOLVED_POSITIONS: Table = Table {
    name: "solved_positions",
    columns: &[
        Column::new("sfen", Kind::Text).distinct(),
        Column::new("hcp", Kind::Bytes(packed::LEN)).nullable().distinct(),
        Column::new("verdict", Kind::Text),
        Column::new("stop", Kind::Text).nullable(),
        Column::new("value", Kind::Int8).nullable(),
        Column::new("plies", Kind::Int32).nullable(),
        Column::new("tsume_plies", Kind::Int32).nullable(),
        Column::new("move", Kind::Text).nullable(),
        Column::new("move_apery", Kind::UInt16),
        Column::new("move_yaneuraou", Kind::UInt16),
        Column::new("line", Kind::Texts),
        Column::new("proof_nodes", Kind::Int64),
        Column::new("nodes", Kind::Int64),
        Column::new("in_check", Kind::Bool),
        Column::new("file", Kind::Text),
        Column::new("index", Kind::Int64),
        Column::new("key", Kind::Bytes(size_of::<ContentKey>())).distinct(),
        Column::new("split", Kind::Text),
        Column::new("source_move", Kind::Text).nullable(),
        Column::new("source_eval_cp", Kind::Int16).nullable(),
        Column::new("source_ply", Kind::Int32).nullable(),
        Column::new("source_result", Kind::Text).nullable(),
    ],
};

/// What may be chosen about a dataset besides the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatasetSettings {
    /// How it is written.
    pub format: TableFormat,
    /// How much of it is for what.
    pub shares: Shares,
    /// Whether mates are also measured as problems count them.
    pub tsume_plies: bool,
}

/// Makes a dataset as `plan` says. Sets nothing under a final name unless all went well; equal positions are
/// searched once.
///
/// # Errors
/// [`JobError`]; whatever had been written is removed, unless there is a checkpoint to go on from.
pub fn dataset(
    plan: Plan,
    progress: &mut Progress,
    cancel: &AtomicBool,
) -> Result<Filtered, JobError> {
    let make_judge = judges(&plan);
    filter_with(plan, make_judge, progress, cancel)
}

/// Makes the judges that a plan needs.
pub fn judges(plan: &Plan) -> impl Fn() -> Memoized<Judge> + Send + Sync + use<> {
    let search = plan.settings.search.clone();
    let tsume_plies = plan.settings.dataset.is_some_and(|dataset| dataset.tsume_plies);
    let memo = Arc::new(Memo::new());
    move || Memoized::new(Judge::new(&search).tsume(tsume_plies), Arc::clone(&memo))
}

/// A position with all that is known of it.
pub(crate) struct Solved<'a> {
    /// The input, as it was given.
    pub(crate) file: &'a str,
    /// Number within it, from 0.
    pub(crate) index: u64,
    pub(crate) record: &'a RecordRef<'a>,
    pub(crate) setup: &'a Setup,
    pub(crate) position: &'a Position,
    pub(crate) judgement: &'a Judgement,
}

impl Solved<'_> {
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

const fn stop(answer: Answer) -> Option<&'static str> {
    match answer {
        Answer::Unknown(stop) => Some(stop.word()),
        Answer::Win | Answer::Loss | Answer::NoMate => None,
    }
}

/// The value of the game where it is proven, seen from the side to move.
const fn value(answer: Answer) -> Option<i8> {
    match answer {
        Answer::Win => Some(1),
        Answer::Loss => Some(-1),
        Answer::NoMate | Answer::Unknown(_) => None,
    }
}

fn bits(dialect: Dialect, m: Option<Move>) -> Value<'static> {
    Value::Int(m.map_or(move16::NONE, |m| dialect.encode(m)).into())
}

/// Numbers of records and nodes are far below what does not fit.
fn count(number: u64) -> Value<'static> {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
