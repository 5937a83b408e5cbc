//! Questions to the solver, answered on all threads, in the order they were asked.
//!
//! An answer depends on the position and the settings only; what else travels along says whence it came.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::in_order::in_order;
use super::judge::{Answer, InCheck, Judge, Judgement, SearchSettings};
use super::positions::{BadPosition, Delivered, Found};
use super::source::SourceError;
use crate::format::proof_file::{ProofText, TooManySteps};

/// What is wanted besides the answers, and who may end the work before its end.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The shortest mates, see [`Judge::shortest`].
    pub shortest: bool,
    /// Lengths of mates as problems count them.
    pub tsume_plies: bool,
    /// The proof of each mate, to be written down.
    pub proof: bool,
    /// Set by the caller to have searches given up; set when the work is over.
    pub cancel: Arc<AtomicBool>,
}

/// A position with the answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The position.
    pub found: Found,
    /// The answer; `None` if the settings leave positions in check alone and this is one.
    pub judgement: Option<Judgement>,
    /// How long the search took on its thread.
    pub elapsed: Duration,
    /// Whether the mate is proven to be the shortest, if that was wished for.
    pub is_shortest: Option<bool>,
    /// See [`Judge::tsume_plies`], if that was wished for.
    pub tsume_plies: Option<u16>,
    /// The proof of a mate, if one was wished for.
    pub proof: Option<Result<ProofText, TooManySteps>>,
}

/// Solves positions on `threads` threads, 0 for as many as the machine runs at once, and gives the
/// solutions to `take` in the order of the positions, as soon as they are there.
///
/// # Errors
/// What `take` returns, or why the positions could not be read to their end.
pub fn solve<E>(
    positions: impl Iterator<Item = Delivered> + Send + 'static,
    settings: &SearchSettings,
    wishes: &Wishes,
    threads: usize,
    mut take: impl FnMut(Result<Solution, BadPosition>) -> Result<(), E>,
) -> Result<(), E>
where
    E: From<SourceError> + From<io::Error>,
{
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let make_judge = {
        let (settings, shortest) = (settings.clone(), wishes.shortest);
        move || Judge::new(&settings).shortest(shortest)
    };
    let work = {
        let (in_check, wishes) = (settings.in_check, wishes.clone());
        move |judge: &mut Judge, delivered: Delivered| -> Result<_, SourceError> {
            Ok(delivered?.and_then(|found| solution(found, judge, in_check, &wishes)))
        }
    };
    let ended = in_order(positions, threads, make_judge, work, |solution| take(solution?));
    wishes.cancel.store(true, Ordering::Relaxed);
    ended
}

fn solution(
    found: Found,
    judge: &mut Judge,
    in_check: InCheck,
    wishes: &Wishes,
) -> Result<Solution, BadPosition> {
    let started = Instant::now();
    let is_asked = in_check
        .asks_about(&found.position)
        .map_err(|nothing| BadPosition { whence: found.whence, fault: nothing.into() })?;
    let judgement = is_asked.then(|| judge.judge(&found.position, &*wishes.cancel));
    let elapsed = started.elapsed();
    let mut solution =
        Solution { found, judgement, elapsed, is_shortest: None, tsume_plies: None, proof: None };
    explain(&mut solution, judge, wishes);
    Ok(solution)
}

/// Adds what is wished for of a mate that was found just now.
fn explain(solution: &mut Solution, judge: &Judge, wishes: &Wishes) {
    let Some(Judgement { answer, .. }) = solution.judgement else { return };
    let Found { whence, position, .. } = &solution.found;
    if !matches!(answer, Answer::Win | Answer::Loss) {
        return;
    }
    solution.is_shortest = judge.is_shortest(position);
    if wishes.tsume_plies {
        solution.tsume_plies = judge.tsume_plies(position, answer);
    }
    if wishes.proof {
        solution.proof = judge.proof(position, answer, whence.index);
    }
}
