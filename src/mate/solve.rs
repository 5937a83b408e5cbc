//! Questions to the solver, answered on all threads, in the order they were asked.
//!
//! An verdict depends only on position and settings; each solution also says where the position was read.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::alternatives::{AllMoves, MovesJudge, MovesReport};
use super::judge::{InCheck, Judge, MateResult, MateSettings};
use super::memo::{Memo, Memorable};
use super::positions::{BadPosition, InputPosition, PositionResult};
use crate::engine::in_order::{Parallelism, in_order};
use crate::error::Error;
use crate::format::proof_file::{ProofText, TooManySteps};
use crate::search::{SearchObserver, TableError};
use crate::shogi::{Move, Position};
use crate::solver::{CountedPlies, Threads};
use crate::storage::platform;

/// Positions in flight per thread.
const POSITIONS_PER_THREAD: usize = 1 << 10;

/// What is wanted besides the answers, and who may end the work before its end.
#[derive(Clone, Debug, Default)]
pub struct SolveOptions {
    /// The shortest mates, see [`Judge::shortest`].
    pub shortest: bool,
    /// Lengths of mates as problems count them.
    pub tsume_plies: bool,
    /// The proof of each mate, to be written down.
    pub proof: bool,
    /// What is wanted to be known about all moves.
    pub all: Option<AllMoves>,
    /// Set by the caller to have searches given up; set when the work is over.
    pub cancel: Arc<AtomicBool>,
}

/// A position with the verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The position.
    pub found: InputPosition,
    /// The verdict; `None` if the settings leave positions in check alone and this is one.
    pub mate_result: Option<MateResult>,
    /// How long the search took on its thread. Of an equal position searched before it is that search.
    pub elapsed: Duration,
    /// Whether the verdict was known from an equal position. Depends on which thread met what when.
    pub was_known: bool,
    /// Whether the mate is proven to be the shortest, if that was wished for.
    pub is_shortest: Option<bool>,
    /// See [`Judge::tsume_plies`], if that was wished for.
    pub tsume_plies: Option<CountedPlies>,
    /// What was found about all moves, if that was wished for; not where the side to move has none.
    pub moves: Option<MovesReport>,
    /// The proof of a mate, if proofs were wished for, and behind it those of the moves that were asked about.
    pub proofs: Vec<Result<ProofText, TooManySteps>>,
}

/// Solves positions on `threads` threads, 0 for as many as the machine runs at once, and gives the
/// solutions to `take` in the order of the positions, as soon as they are there. Equal positions are
/// searched once, as far as the [memo](super::memo) remembers; mates of which the proof is wished for
/// each time.
///
/// # Errors
/// What `take` returns, or why the positions could not be read to their end.
pub fn solve<E>(
    positions: impl Iterator<Item = PositionResult> + Send + 'static,
    settings: &MateSettings,
    options: &SolveOptions,
    threads: usize,
    take: impl FnMut(Result<Solution, BadPosition>) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<Error>,
{
    solve_with(positions, settings, options, threads, Memo::new(), take)
}

/// Solves one position on `threads` threads, 0 for as many as the machine runs at once, while somebody looks on, who
/// may have the search given up. This thread is one of them; great depths need a stack of
/// [`STACK_BYTES`](crate::solver::STACK_BYTES). A long search finds one mate or another as chance has it, see
/// [`Judge::on_threads`].
///
/// # Errors
/// [`TableError`] if there is no memory for the table; within, [`BadPosition`] if there is nothing to ask about.
pub fn solve_one(
    found: InputPosition,
    settings: &MateSettings,
    options: &SolveOptions,
    threads: usize,
    observer: &dyn SearchObserver<Move>,
) -> Result<Result<Solution, BadPosition>, TableError> {
    let memo = Arc::new(Memo::with_buckets(1));
    let mut worker = SolveWorker::try_new(settings, options, memo)?;
    if let Some(threads) = NonZero::new(platform::threads(threads)) {
        worker.judge = worker.judge.on_threads(Threads::new(threads));
    }
    Ok(worker.solution(found, observer))
}

fn solve_with<E>(
    positions: impl Iterator<Item = PositionResult> + Send + 'static,
    settings: &MateSettings,
    options: &SolveOptions,
    threads: usize,
    memo: Memo<SolvedPosition>,
    mut take: impl FnMut(Result<Solution, BadPosition>) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<Error>,
{
    let memo = Arc::new(memo);
    let threads = platform::threads(threads);
    let make_worker = {
        let (settings, options) = (settings.clone(), options.clone());
        move || SolveWorker::try_new(&settings, &options, Arc::clone(&memo))
    };
    let work = |worker: &mut SolveWorker, delivered: PositionResult| -> Result<_, Error> {
        let cancel = Arc::clone(&worker.options.cancel);
        Ok(delivered?.and_then(|found| worker.solution(found, &*cancel)))
    };
    let parallelism = Parallelism::new(threads, threads * POSITIONS_PER_THREAD);
    let ended = in_order(positions, parallelism, make_worker, work, |solution| match solution {
        Some(solution) => take(solution?),
        None => Ok(()),
    });
    options.cancel.store(true, Ordering::Relaxed);
    ended
}

/// What the memo remembers of a [`Solution`].
#[derive(Clone)]
struct SolvedPosition {
    mate_result: MateResult,
    elapsed: Duration,
    is_shortest: Option<bool>,
    tsume_plies: Option<CountedPlies>,
}

impl Memorable for SolvedPosition {
    fn mate_result(&self) -> &MateResult {
        &self.mate_result
    }
}

struct SolveWorker {
    judge: Judge,
    moves_judge: Option<MovesJudge>,
    in_check: InCheck,
    options: SolveOptions,
    memo: Arc<Memo<SolvedPosition>>,
}

impl SolveWorker {
    fn try_new(
        settings: &MateSettings,
        options: &SolveOptions,
        memo: Arc<Memo<SolvedPosition>>,
    ) -> Result<Self, TableError> {
        let moves_judge = |all| MovesJudge::try_new(settings, all, options.proof);
        Ok(Self {
            judge: Judge::try_new(settings)?.shortest(options.shortest),
            moves_judge: options.all.as_ref().map(moves_judge).transpose()?,
            in_check: settings.in_check,
            options: options.clone(),
            memo,
        })
    }

    fn solution(
        &mut self,
        found: InputPosition,
        observer: &dyn SearchObserver<Move>,
    ) -> Result<Solution, BadPosition> {
        let started = Instant::now();
        let is_asked = self
            .in_check
            .asks_about(&found.position)
            .map_err(|nothing| BadPosition { location: found.location, error: nothing })?;
        if !is_asked {
            return Ok(Solution::not_asked(found, started.elapsed()));
        }
        let (known, was_known) = self.answer(&found.position, observer);
        let SolvedPosition { mate_result, elapsed, is_shortest, tsume_plies } = known;
        let (position, index) = (&found.position, found.location.index);
        let mut proofs = Vec::new();
        if self.options.proof {
            proofs.extend(self.judge.proof(position, mate_result.verdict, index));
        }
        let moves_judge = self.moves_judge.as_mut().filter(|_| position.has_legal_move());
        let moves = moves_judge.map(|judge| judge.judge(position, &mate_result, observer));
        if let Some(moves) = &moves {
            proofs.extend(moves.proofs(position, index));
        }
        let mate_result = Some(mate_result);
        Ok(Solution {
            found,
            mate_result,
            elapsed,
            was_known,
            is_shortest,
            tsume_plies,
            moves,
            proofs,
        })
    }

    /// Returns the verdict, and whether the memo had it.
    fn answer(
        &mut self,
        position: &Position,
        observer: &dyn SearchObserver<Move>,
    ) -> (SolvedPosition, bool) {
        if let Some(known) = self.memo.recall(position) {
            return (known, true);
        }
        let known = self.search(position, observer);
        // A proof is too large to be remembered, and the judge has only that of its last search.
        if !(self.options.proof && known.mate_result.verdict.is_mate()) {
            self.memo.remember(position, &known, &self.options.cancel);
        }
        (known, false)
    }

    fn search(
        &mut self,
        position: &Position,
        observer: &dyn SearchObserver<Move>,
    ) -> SolvedPosition {
        let started = Instant::now();
        let mate_result = self.judge.judge(position, observer);
        let elapsed = started.elapsed();
        let verdict = mate_result.verdict;
        let is_shortest = verdict.is_mate().then(|| self.judge.is_shortest(position)).flatten();
        let tsume_plies =
            self.options.tsume_plies.then(|| self.judge.tsume_plies(position, verdict, observer));
        SolvedPosition { mate_result, elapsed, is_shortest, tsume_plies: tsume_plies.flatten() }
    }
}

impl Solution {
    fn not_asked(found: InputPosition, elapsed: Duration) -> Self {
        Self {
            found,
            mate_result: None,
            elapsed,
            was_known: false,
            is_shortest: None,
            tsume_plies: None,
            moves: None,
            proofs: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::positions::{LineOrByte, RecordLocation};
    use crate::shogi::random_play::RandomPlay;

    /// Positions of a few games, each three times: twice in short succession and once at the end.
    fn found() -> Vec<InputPosition> {
        let mut positions = Vec::new();
        for game in RandomPlay::new(8, 160).take(12) {
            let mut position = Position::start();
            for (ply, m) in game.moves.into_iter().enumerate() {
                position.make(m);
                if ply % 4 == 3 {
                    positions.push(position.clone());
                }
            }
        }
        let found = |(index, position)| {
            let location = RecordLocation { index, spot: LineOrByte::Byte(0) };
            InputPosition { location, position, second_column: None }
        };
        let mut thrice: Vec<Position> =
            positions.chunks(9).flat_map(|chunk| [chunk, chunk].concat()).collect();
        thrice.extend(positions);
        (0..).zip(thrice).map(found).collect()
    }

    #[test]
    fn answers_are_the_same_however_much_is_remembered() {
        let settings = MateSettings { nodes: 60, hash_mb: 1, ..MateSettings::default() };
        let mut known = Vec::new();
        for (buckets, threads) in [(1, 1), (1, 4), (1000, 1), (1000, 4)] {
            let positions = found();
            let delivered: Vec<PositionResult> =
                positions.into_iter().map(|one| Ok(Ok(one))).collect();
            let (memo, options) = (Memo::with_buckets(buckets), SolveOptions::default());
            let mut solutions = Vec::new();
            let take = |solution: Result<Solution, BadPosition>| {
                solutions.push(solution.expect("both kings are there"));
                Ok::<(), Box<dyn std::error::Error>>(())
            };
            solve_with(delivered.into_iter(), &settings, &options, threads, memo, take)
                .expect("nothing fails");
            let mut judge = Judge::new(&settings);
            for Solution { found, mate_result, .. } in &solutions {
                let alone = judge.judge(&found.position, &AtomicBool::new(false));
                assert_eq!(mate_result.as_ref(), Some(&alone), "{}", found.position);
            }
            known.push(solutions.iter().filter(|solution| solution.was_known).count());
        }
        assert!(known[0] < known[2] && known[0] > 0 && known[3] > 0, "{known:?}");
    }
}
