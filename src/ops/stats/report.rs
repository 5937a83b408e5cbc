//! The report of `stats`. The field names are the JSON keys.
//!
//! Evaluations, plies and results cover only the records that have them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::distinct::DistinctPositions;
use super::eval_scale::EvalScale;
use super::histogram::{Bins, Distribution};
use super::outcomes::{Outcomes, WinRate};
use super::squares::SquaresReport;
use super::tally::{ENDGAME_FROM, EVAL_BINS, MIDDLEGAME_FROM, Tally};
use crate::error::Error;
use crate::format::{GameResult, Warning};
use crate::records::account::{InputEntry, input_entry};
use crate::records::counts::{Counts, equal};
use crate::records::filters::Condition;
use crate::records::source::{InputRange, RangeRead};
use crate::shogi::{Color, HandKind, Piece, PieceKind};

const PLY_BINS: Bins = Bins { width: 10, from: 0, below: 400 };
const MATERIAL_BINS: Bins = Bins { width: 200, from: -4100, below: 4100 };
/// One bin per number of pieces.
const PIECE_BINS: Bins = Bins { width: 1, from: 0, below: 40 };

/// Statistics of position files. `records` = `good` + `bad` + `comments` + the sum of `filtered`.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct StatsReport {
    /// Name and version of the program.
    pub program: String,
    /// Name of the command.
    pub command: &'static str,
    /// The inputs, in order.
    pub inputs: Vec<InputEntry>,
    /// Number of records in all inputs.
    pub records: u64,
    /// Number of records that were read and passed the filters. All following fields cover only these records.
    pub good: u64,
    /// Number of games with such records. `None` if no input holds games.
    pub games: Option<u64>,
    /// Number of unreadable records.
    pub bad: u64,
    /// Number of comment lines in text inputs.
    pub comments: u64,
    /// Number of filtered records by the first condition that failed.
    pub filtered: BTreeMap<Condition, u64>,
    /// Number of distinct positions (board, hands, side to move).
    pub distinct: DistinctPositions,
    /// Number of positions by side to move.
    pub to_move: SidesReport,
    /// Number of positions whose side to move is in check.
    pub in_check: u64,
    /// Evaluations in centipawns, seen from the side to move.
    pub evals: Option<Distribution>,
    /// Move numbers.
    pub plies: Option<Distribution>,
    /// Results of the games.
    pub results: ResultsReport,
    /// Results, seen from the side to move.
    pub outcomes: Outcomes,
    /// Results by evaluation, for records that have both.
    pub outcomes_by_eval: Vec<EvalBin>,
    /// The scale that converts evaluations to win rates. `None` if no record has both evaluation and result.
    pub eval_scale: Option<EvalScale>,
    /// Kinds of the stored moves.
    pub moves: MovesReport,
    /// Squares of the kings and destinations of the moves.
    pub squares: SquaresReport,
    /// Numbers of pieces on the board and in hand.
    pub pieces: PiecesReport,
    /// Game phases, determined by the pieces.
    pub phases: PhaseReport,
    /// Material of the side to move minus the opponent's material, in points. A pawn is 90 points, a rook 990.
    pub material: Option<Distribution>,
    /// Number of records with each kind of unusual content.
    pub warnings: BTreeMap<&'static str, u64>,
}

/// Counts for both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
#[non_exhaustive]
pub struct SidesReport {
    pub black: u64,
    pub white: u64,
}

/// Numbers of game results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
#[non_exhaustive]
pub struct ResultsReport {
    pub black: u64,
    pub white: u64,
    pub draw: u64,
    /// Records without a result.
    pub none: u64,
}

/// Results for the side to move in a range of evaluations.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct EvalBin {
    /// Lower end of the range in centipawns, inclusive.
    pub from: i32,
    /// Upper end of the range in centipawns, inclusive.
    pub to: i32,
    /// Wins, draws and losses.
    #[serde(flatten)]
    pub outcomes: Outcomes,
    /// The win rate.
    #[serde(flatten)]
    pub win_rate: WinRate,
}

/// Numbers of stored moves by kind. Captures, promotions and drops count only legal moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
#[non_exhaustive]
pub struct MovesReport {
    pub none: u64,
    pub legal: u64,
    pub illegal: u64,
    pub captures: u64,
    pub promotions: u64,
    pub drops: u64,
}

/// Numbers of pieces on the board and in hand.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct PiecesReport {
    /// Pieces of both sides on the board, summed over all positions, by SFEN name.
    pub on_board: BTreeMap<String, u64>,
    /// Pieces of both sides in hand, summed over all positions, by SFEN name.
    pub in_hand: BTreeMap<String, u64>,
    /// Pieces neither on the board nor in hand, summed over all positions.
    pub in_box: u64,
    /// Number of pieces on the board, kings included, in a position.
    pub on_board_in_position: Option<Distribution>,
    /// Number of pieces in both hands in a position.
    pub in_hand_in_position: Option<Distribution>,
}

/// Numbers of positions by game phase. The phase depends on the number of pieces in hand or promoted: the middlegame
/// starts at [`MIDDLEGAME_FROM`], the endgame at [`ENDGAME_FROM`].
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "self-explanatory names")]
#[non_exhaustive]
pub struct PhaseReport {
    pub opening: u64,
    pub middlegame: u64,
    pub endgame: u64,
    /// Number of pieces in hand or promoted in a position.
    pub in_hand_or_promoted: Option<Distribution>,
}

impl StatsReport {
    pub(super) fn new(
        ranges: &[InputRange],
        ranges_read: &[RangeRead],
        counts: &Counts,
        tally: &Tally,
        distinct: DistinctPositions,
    ) -> Self {
        let entry = |read: &RangeRead| input_entry(&ranges[read.input], read);
        let [black, white] = tally.to_move;
        Self {
            program: format!("kyokumen {}", env!("CARGO_PKG_VERSION")),
            command: "stats",
            inputs: ranges_read.iter().map(entry).collect(),
            records: ranges_read.iter().map(|read| read.records).sum(),
            good: counts.kept,
            games: ranges
                .iter()
                .any(|range| range.input.format.holds_games())
                .then_some(tally.games),
            bad: counts.bad_records(),
            comments: counts.filtered.get(&Condition::Comment).copied().unwrap_or(0),
            filtered: filtered(counts),
            distinct,
            to_move: SidesReport { black, white },
            in_check: tally.in_check,
            evals: tally.evals.distribution(EVAL_BINS),
            plies: tally.plies.distribution(PLY_BINS),
            results: results(tally, counts.kept),
            outcomes: tally.outcomes,
            outcomes_by_eval: outcomes_by_eval(tally),
            eval_scale: eval_scale(tally, counts.kept),
            squares: tally.squares.report(),
            moves: moves(tally, counts.kept),
            pieces: pieces(tally),
            phases: phases(tally),
            material: tally.material.distribution(MATERIAL_BINS),
            warnings: warnings(tally),
        }
    }

    /// Checks that every record read is counted once.
    ///
    /// # Errors
    /// [`Error`] with the two sums that differ.
    pub fn check_balance(&self) -> Result<(), Error> {
        let filtered: u64 = self.filtered.values().sum();
        let counted = self.good + self.bad + self.comments + filtered;
        equal("records read", self.records, "good + bad + comments + filtered", counted)?;
        let SidesReport { black, white } = self.to_move;
        equal("good records", self.good, "black + white to move", black + white)
    }
}

/// Number of filtered records by condition, without comments.
fn filtered(counts: &Counts) -> BTreeMap<Condition, u64> {
    let mut filtered = counts.filtered.clone();
    filtered.remove(&Condition::Comment);
    filtered
}

fn results(tally: &Tally, records: u64) -> ResultsReport {
    let count = |result: GameResult| tally.results[result as usize];
    let none = records - tally.results.iter().sum::<u64>();
    let (black, white) = (count(GameResult::BlackWin), count(GameResult::WhiteWin));
    ResultsReport { black, white, draw: count(GameResult::Draw), none }
}

fn outcomes_by_eval(tally: &Tally) -> Vec<EvalBin> {
    let (lowest, highest) = (EVAL_BINS.from - EVAL_BINS.width, EVAL_BINS.below);
    let mut bins = BTreeMap::<i32, Outcomes>::new();
    for (eval_cp, outcomes) in tally.by_eval.sorted() {
        bins.entry(EVAL_BINS.start(eval_cp.into())).or_default().add(outcomes);
    }
    let bin = |(from, outcomes): (i32, Outcomes)| {
        let to = from + EVAL_BINS.width - 1;
        Some(EvalBin {
            from: if from == lowest { i16::MIN.into() } else { from },
            to: if from == highest { i16::MAX.into() } else { to },
            outcomes,
            win_rate: outcomes.win_rate()?,
        })
    };
    bins.into_iter().filter_map(bin).collect()
}

fn eval_scale(tally: &Tally, records: u64) -> Option<EvalScale> {
    let it = EvalScale::fitted(&tally.by_eval, records);
    (it.records + it.mates > 0).then_some(it)
}

fn moves(tally: &Tally, records: u64) -> MovesReport {
    let moves = tally.moves;
    MovesReport {
        none: records - moves.stored,
        legal: moves.stored - moves.illegal,
        illegal: moves.illegal,
        captures: moves.captures,
        promotions: moves.promotions,
        drops: moves.drops,
    }
}

fn pieces(tally: &Tally) -> PiecesReport {
    let name = |kind| Piece::new(Color::Black, kind).to_string();
    let on_board =
        PieceKind::ALL.into_iter().map(|kind| (name(kind), tally.on_board[kind.index()]));
    let in_hand = HandKind::ALL
        .into_iter()
        .map(|kind| (name(kind.piece_kind()), tally.in_hand[kind.index()]));
    PiecesReport {
        on_board: on_board.collect(),
        in_hand: in_hand.collect(),
        in_box: tally.in_box,
        on_board_in_position: tally.pieces_on_board.distribution(PIECE_BINS),
        in_hand_in_position: tally.pieces_in_hand.distribution(PIECE_BINS),
    }
}

fn phases(tally: &Tally) -> PhaseReport {
    let between = |from, below| tally.phases.between(from, below);
    PhaseReport {
        opening: between(0, MIDDLEGAME_FROM),
        middlegame: between(MIDDLEGAME_FROM, ENDGAME_FROM),
        endgame: between(ENDGAME_FROM, PIECE_BINS.below),
        in_hand_or_promoted: tally.phases.distribution(PIECE_BINS),
    }
}

fn warnings(tally: &Tally) -> BTreeMap<&'static str, u64> {
    let numbered = Warning::ALL.into_iter().map(|warning| (warning.name(), warning as usize));
    let counts = numbered.map(|(name, number)| (name, tally.warnings[number]));
    counts.filter(|&(_, count)| count > 0).collect()
}
