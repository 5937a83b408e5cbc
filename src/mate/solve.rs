//! Solves positions on several threads and returns the solutions in input order.
//!
//! A verdict depends only on the position and the settings. Each solution also contains the location of its position.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::alternatives::{AllMoves, MovesJudge, MovesReport};
use super::judge::{InCheck, Judge, MateResult, MateSettings};
use super::memo::{Memo, Memorable};
use super::positions::{BadPosition, InputPosition, PositionResult};
use crate::engine::in_order::{Parallelism, process_in_order};
use crate::error::Error;
use crate::format::proof_file::{ProofText, TooManySteps};
use crate::search::{SearchObserver, TableError};
use crate::shogi::{Move, Position};
use crate::solver::{CountedPlies, Threads};
use crate::storage::platform;

/// Positions in flight per thread.
const POSITIONS_PER_THREAD: usize = 1 << 10;

/// Selects what to compute besides the verdicts.
#[derive(Clone, Debug, Default)]
pub struct SolveOptions {
    /// Whether to search for the shortest mates, see [`Judge::shortest`].
    pub shortest: bool,
    /// Whether to measure mates as tsume problems count them, without futile interpositions.
    pub tsume_plies: bool,
    /// Whether to return the proofs of mates.
    pub proof: bool,
    /// Settings of the search of all moves, if requested.
    pub all: Option<AllMoves>,
    /// The caller sets this to stop all searches. [`solve`] then ends with an error, and sets it when it returns.
    pub cancel: Arc<AtomicBool>,
}

/// A solved position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The position and its location in the input.
    pub input: InputPosition,
    /// The verdict with line, nodes and proof size. `None` if the position is in check and [`InCheck::Skip`] is set.
    pub mate_result: Option<MateResult>,
    /// Duration of the search. For a result from the memo, the duration of the original search.
    pub elapsed: Duration,
    /// Whether the result is from the memo. Depends on the timing of the threads.
    pub is_from_memo: bool,
    /// Whether the mate is proven to be the shortest. `None` if not requested or without a mate.
    pub is_shortest: Option<bool>,
    /// The length of the mate as tsume problems count it, if requested. See [`Judge::tsume_plies`].
    pub tsume_plies: Option<CountedPlies>,
    /// The findings about all moves. `None` if not requested or if the side to move has no legal move.
    pub moves: Option<MovesReport>,
    /// If proofs were requested: the proof of the mate, followed by the proofs of the searched moves.
    pub proofs: Vec<Result<ProofText, TooManySteps>>,
}

impl Solution {
    /// The moves of the mate; empty if there is none. The line without futile interpositions, if it was requested and
    /// found. It may be the line of a shorter mate than that of `mate_result`.
    pub fn line(&self) -> &[Move] {
        let counted = self.tsume_plies.as_ref().map(|counted| &counted.line);
        let found = self.mate_result.as_ref().map(|mate_result| &mate_result.line);
        counted.filter(|line| !line.is_empty()).or(found).map_or(&[], Vec::as_slice)
    }
}

/// Solves positions on `threads` threads; 0 uses all cores. Calls `take` with each solution in the order of the
/// positions, as soon as it is available.
///
/// Equal positions are searched once while the [memo](super::memo) remembers them. If proofs are requested, mates are
/// searched each time.
///
/// # Errors
/// Any error of `take`; an [`Error`] if the positions cannot be read to their end, or if
/// [`SolveOptions::cancel`] is set.
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

/// Solves one position on `threads` threads, one of them the calling thread; 0 uses all cores. `observer` receives the
/// progress and can stop the search. Measuring the length of a mate may take as long as the search. Before it,
/// `answered` gets the solution without the length.
///
/// For large depths, call this on a thread with a stack of [`STACK_BYTES`](crate::solver::STACK_BYTES). With several
/// threads, a long search may find a different mate in each run, see [`Judge::on_threads`].
///
/// # Errors
/// [`TableError`] if a table cannot be allocated. The inner result is [`BadPosition`] if the king to be mated is
/// missing.
pub fn solve_one(
    input: InputPosition,
    settings: &MateSettings,
    options: &SolveOptions,
    threads: usize,
    observer: &dyn SearchObserver<Move>,
    answered: impl Fn(Solution),
) -> Result<Result<Solution, BadPosition>, TableError> {
    let memo = Arc::new(Memo::with_buckets(1));
    let mut worker = SolveWorker::try_new(settings, options, memo)?;
    if let Some(threads) = NonZero::new(platform::threads(threads)) {
        worker.judge = worker.judge.on_threads(Threads::new(threads));
    }
    let so_far = input.clone();
    let answered = |solved: &SolvedPosition| answered(solved.clone().of(so_far.clone(), false));
    Ok(worker.solution(input, observer, &answered))
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
    let work = |worker: &mut SolveWorker, position: PositionResult| -> Result<_, Error> {
        let cancel = Arc::clone(&worker.options.cancel);
        Ok(position?.and_then(|input| worker.solution(input, &*cancel, &|_| ())))
    };
    let parallelism = Parallelism::new(threads, threads * POSITIONS_PER_THREAD);
    let ended = process_in_order(positions, parallelism, make_worker, work, |solution| {
        if options.cancel.load(Ordering::Acquire) {
            return Err(Error::search_interrupted().into());
        }
        solution.map_or(Ok(()), |solution| take(solution?))
    });
    options.cancel.store(true, Ordering::Relaxed);
    ended
}

/// The part of a [`Solution`] that the memo remembers.
#[derive(Clone)]
struct SolvedPosition {
    mate_result: MateResult,
    elapsed: Duration,
    is_shortest: Option<bool>,
    tsume_plies: Option<CountedPlies>,
}

impl SolvedPosition {
    /// The solution without the findings about all moves and without proofs.
    fn of(self, input: InputPosition, is_from_memo: bool) -> Solution {
        let Self { mate_result, elapsed, is_shortest, tsume_plies } = self;
        Solution {
            input,
            mate_result: Some(mate_result),
            elapsed,
            is_from_memo,
            is_shortest,
            tsume_plies,
            moves: None,
            proofs: Vec::new(),
        }
    }
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
        input: InputPosition,
        observer: &dyn SearchObserver<Move>,
        answered: &dyn Fn(&SolvedPosition),
    ) -> Result<Solution, BadPosition> {
        let started = Instant::now();
        let is_searched = self
            .in_check
            .searches(&input.position)
            .map_err(|error| BadPosition { location: input.location, error })?;
        if !is_searched {
            return Ok(Solution::skipped(input, started.elapsed()));
        }
        let (solved, is_from_memo) = self.recall_or_search(&input.position, observer, answered);
        let (position, index) = (&input.position, input.location.index);
        let mut proofs = Vec::new();
        if self.options.proof {
            proofs.extend(self.judge.proof(position, solved.mate_result.verdict, index));
        }
        let moves_judge = self.moves_judge.as_mut().filter(|_| position.has_legal_move());
        let moves = moves_judge.map(|judge| judge.judge(position, &solved.mate_result, observer));
        if let Some(moves) = &moves {
            proofs.extend(moves.proofs(position, index));
        }
        Ok(Solution { moves, proofs, ..solved.of(input, is_from_memo) })
    }

    /// Returns the result, and whether it is from the memo.
    fn recall_or_search(
        &mut self,
        position: &Position,
        observer: &dyn SearchObserver<Move>,
        answered: &dyn Fn(&SolvedPosition),
    ) -> (SolvedPosition, bool) {
        if let Some(solved) = self.memo.recall(position) {
            return (solved, true);
        }
        let solved = self.search(position, observer, answered);
        // Proofs are too large for the memo, and the judge keeps only the proof of its last search.
        if !(self.options.proof && solved.mate_result.verdict.is_mate()) {
            self.memo.remember(position, &solved, &self.options.cancel);
        }
        (solved, false)
    }

    fn search(
        &mut self,
        position: &Position,
        observer: &dyn SearchObserver<Move>,
        answered: &dyn Fn(&SolvedPosition),
    ) -> SolvedPosition {
        let started = Instant::now();
        let mate_result = self.judge.judge(position, observer);
        let elapsed = started.elapsed();
        let verdict = mate_result.verdict;
        let is_shortest = verdict.is_mate().then(|| self.judge.is_shortest(position)).flatten();
        let mut solved = SolvedPosition { mate_result, elapsed, is_shortest, tsume_plies: None };
        if self.options.tsume_plies && verdict.is_mate() {
            answered(&solved);
            solved.tsume_plies = self.judge.tsume_plies(position, verdict, observer);
        }
        solved
    }
}

impl Solution {
    fn skipped(input: InputPosition, elapsed: Duration) -> Self {
        Self {
            input,
            mate_result: None,
            elapsed,
            is_from_memo: false,
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

    /// Positions of a few games, each three times: twice in close succession and once at the end.
    fn input_positions() -> Vec<InputPosition> {
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
        let input_position = |(index, position)| {
            let location = RecordLocation { index, spot: LineOrByte::Byte(0) };
            InputPosition { location, position, label: None }
        };
        let mut thrice: Vec<Position> =
            positions.chunks(9).flat_map(|chunk| [chunk, chunk].concat()).collect();
        thrice.extend(positions);
        (0..).zip(thrice).map(input_position).collect()
    }

    #[test]
    fn results_do_not_depend_on_the_size_of_the_memo() {
        let settings = MateSettings { nodes: 60, hash_mb: 1, ..MateSettings::default() };
        let mut memo_hits = Vec::new();
        for (buckets, threads) in [(1, 1), (1, 4), (1000, 1), (1000, 4)] {
            let positions: Vec<PositionResult> =
                input_positions().into_iter().map(|input| Ok(Ok(input))).collect();
            let (memo, options) = (Memo::with_buckets(buckets), SolveOptions::default());
            let mut solutions = Vec::new();
            let take = |solution: Result<Solution, BadPosition>| {
                solutions.push(solution.expect("both kings are present"));
                Ok::<(), Box<dyn std::error::Error>>(())
            };
            solve_with(positions.into_iter(), &settings, &options, threads, memo, take)
                .expect("nothing fails");
            let mut judge = Judge::new(&settings);
            for Solution { input, mate_result, .. } in &solutions {
                let alone = judge.judge(&input.position, &AtomicBool::new(false));
                assert_eq!(mate_result.as_ref(), Some(&alone), "{}", input.position);
            }
            memo_hits.push(solutions.iter().filter(|solution| solution.is_from_memo).count());
        }
        assert!(
            memo_hits[0] < memo_hits[2] && memo_hits[0] > 0 && memo_hits[3] > 0,
            "{memo_hits:?}"
        );
    }

    #[test]
    fn a_mate_is_answered_before_its_length_is_measured() {
        let settings = MateSettings { nodes: 10_000, hash_mb: 1, ..MateSettings::default() };
        let options = SolveOptions { tsume_plies: true, ..SolveOptions::default() };
        let answers = |sfen: &str| {
            let location = RecordLocation { index: 0, spot: LineOrByte::Line(1) };
            let position = sfen.parse().expect("an SFEN");
            let input = InputPosition { location, position, label: None };
            let answers = std::cell::RefCell::new(Vec::new());
            let answered = |solution| answers.borrow_mut().push(solution);
            let cancel = AtomicBool::new(false);
            let solution = solve_one(input, &settings, &options, 1, &cancel, answered)
                .expect("there is memory for a table of one MiB")
                .expect("there is a king to mate");
            (answers.into_inner(), solution)
        };
        let (answers_of_mate, mate) = answers("5pk2/7P1/4+R1+P1+b/8b/6R2/9/9/9/9 b 4g4s4n4l15p 1");
        assert_eq!(mate.tsume_plies.as_ref().map(|counted| counted.plies), Some(3));
        let [answer] = &answers_of_mate[..] else { panic!("{answers_of_mate:?}") };
        assert_eq!(*answer, Solution { tsume_plies: None, ..mate });
        let (answers_without_mate, without_mate) = answers("4k4/9/4P4/9/9/9/9/9/9 b 2P 1");
        assert_eq!(without_mate.mate_result.map(|it| it.verdict.is_mate()), Some(false));
        assert_eq!(answers_without_mate, []);
    }
}
