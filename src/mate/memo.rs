//! Answers to positions that were met before, so that equal positions are searched once.
//!
//! Memoisation (Michie 1968) within bounded memory, shared by all threads of a run.

mod bucket;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::bucket::Bucket;
use super::judge::{MateResult, MemoHits, PositionJudge};
use crate::format::PositionKey;
use crate::shogi::{Color, Position};

pub use bucket::Memorable;

impl Memorable for MateResult {
    fn mate_result(&self) -> &MateResult {
        self
    }
}

/// Most memory that a memo takes, in bytes, whatever is remembered.
pub const MAX_BYTES: usize = 32 << 20;

/// What took fewer nodes is not remembered: in archives of games one verdict in eight is asked for again, so
/// that one which took eight nodes saves one on average, and packing its position costs almost as much.
pub const MIN_NODES: u64 = 8;

/// Answers under one and the same settings.
///
/// Positions are equal that have the same board, hands and side to move; the ply does not count. Only an
/// equal position gets an verdict, never one that merely has the same hash. Whether it gets one depends on
/// what else was met meanwhile, and on the threads.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use kyokumen::mate::judge::MateResult;
/// use kyokumen::records::position_verdict::PositionVerdict;
/// use kyokumen::mate::memo::Memo;
/// use kyokumen::shogi::Position;
///
/// let memo = Memo::new();
/// let mate_result = MateResult::new(PositionVerdict::NoMate, Vec::new(), 1000);
/// memo.remember(&Position::start(), &mate_result, &AtomicBool::new(false));
/// let later: Position = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 33".parse()?;
/// assert_eq!(memo.recall(&later), Some(mate_result));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Memo<V = MateResult> {
    buckets: Box<[Mutex<Bucket<V>>]>,
}

impl<V: Memorable> Memo<V> {
    /// As large as [`MAX_BYTES`] allow.
    pub fn new() -> Self {
        Self::with_buckets(MAX_BYTES / Bucket::<V>::MAX_BYTES)
    }

    /// Of `buckets` buckets, at least one, of [`WAYS`](Self::WAYS) answers at most.
    pub fn with_buckets(buckets: usize) -> Self {
        Self { buckets: (0..buckets.max(1)).map(|_| Mutex::default()).collect() }
    }

    /// Answers that share a bucket.
    pub const WAYS: usize = bucket::WAYS;

    /// What was remembered of an equal position.
    pub fn recall(&self, position: &Position) -> Option<V> {
        let hash = hash(position);
        self.bucket(hash).recall(fingerprint(hash), position)
    }

    /// Remembers an verdict, unless it was cheap or `cancel` has been set: then it may be one of a search
    /// that was given up.
    pub fn remember(&self, position: &Position, value: &V, cancel: &AtomicBool) {
        if value.mate_result().nodes < MIN_NODES || cancel.load(Ordering::Relaxed) {
            return;
        }
        let hash = hash(position);
        let (key, value) = (PositionKey::of(&position.setup()), value.clone());
        self.bucket(hash).remember(fingerprint(hash), key, value);
    }

    fn bucket(&self, hash: u64) -> MutexGuard<'_, Bucket<V>> {
        let index = (hash >> u32::BITS) as usize % self.buckets.len();
        self.buckets[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Memorable> Default for Memo<V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Equal positions have equal hashes; nothing else is promised.
fn hash(position: &Position) -> u64 {
    let mut hasher = DefaultHasher::new();
    position.board_key().hash(&mut hasher);
    Color::ALL.map(|color| position.hand(color)).hash(&mut hasher);
    hasher.finish()
}

/// The half of the hash that does not choose the bucket.
const fn fingerprint(hash: u64) -> u32 {
    hash as u32
}

/// A judge that asks a memo before it asks another judge.
pub struct Memoized<J> {
    judge: J,
    memo: Arc<Memo>,
    saved: MemoHits,
}

impl<J> Memoized<J> {
    /// `memo` may hold nothing but answers of judges like this one.
    pub const fn new(judge: J, memo: Arc<Memo>) -> Self {
        Self { judge, memo, saved: MemoHits { answers: 0, nodes: 0 } }
    }
}

impl<J: PositionJudge> PositionJudge for Memoized<J> {
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
        if let Some(known) = self.memo.recall(position) {
            self.saved.add(MemoHits { answers: 1, nodes: known.nodes });
            return known;
        }
        let mate_result = self.judge.judge(position, cancel);
        self.memo.remember(position, &mate_result, cancel);
        mate_result
    }

    fn saved(&self) -> MemoHits {
        self.saved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::judge::Stop;
    use crate::records::position_verdict::PositionVerdict;
    use crate::shogi::random_play::RandomPlay;

    /// Positions of random games, no two of them equal.
    pub(crate) fn positions(count: usize) -> Vec<Position> {
        let mut positions: Vec<Position> = Vec::new();
        for game in RandomPlay::new(5, 120) {
            let mut position = Position::start();
            for m in game.moves {
                position.make(m);
                if positions.len() == count {
                    return positions;
                }
                let is_equal =
                    |other: &Position| other.setup().with_ply(1) == position.setup().with_ply(1);
                if !positions.iter().any(is_equal) {
                    positions.push(position.clone());
                }
            }
        }
        unreachable!("games never end")
    }

    /// Takes its nodes from the key of the board, and counts what it is asked.
    #[derive(Default)]
    struct Counting {
        asked: u64,
    }

    impl PositionJudge for Counting {
        fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
            self.asked += 1;
            let cancelled = cancel.load(Ordering::Relaxed);
            let stop = if cancelled { Stop::Cancelled } else { Stop::Nodes };
            let nodes = MIN_NODES + position.board_key() % 100;
            MateResult::new(PositionVerdict::Unknown(stop), Vec::new(), nodes)
        }
    }

    fn memoized(buckets: usize) -> Memoized<Counting> {
        Memoized::new(Counting::default(), Arc::new(Memo::with_buckets(buckets)))
    }

    #[test]
    fn equal_positions_are_searched_once() {
        let mut judge = memoized(1000);
        let go = AtomicBool::new(false);
        let mut nodes = 0;
        for mut position in [positions(200), positions(200), positions(200)].concat() {
            let mate_result = judge.judge(&mut position, &go);
            assert_eq!(mate_result, Counting::default().judge(&mut position, &go));
            nodes += mate_result.nodes;
        }
        assert_eq!(judge.judge.asked, 200);
        assert_eq!(judge.saved(), MemoHits { answers: 400, nodes: nodes / 3 * 2 });
    }

    #[test]
    fn a_memo_too_small_forgets_and_is_never_wrong() {
        let mut judge = memoized(1);
        let go = AtomicBool::new(false);
        for mut position in [positions(200), positions(200), positions(10), positions(10)].concat()
        {
            let mate_result = judge.judge(&mut position, &go);
            assert_eq!(mate_result, Counting::default().judge(&mut position, &go));
        }
        let asked = judge.judge.asked;
        assert!((201..420).contains(&asked), "{asked}");
        assert_eq!(judge.saved().answers, 420 - asked);
    }

    #[test]
    fn what_was_cancelled_is_not_remembered() {
        let mut judge = memoized(1000);
        let (cancelled, go) = (AtomicBool::new(true), AtomicBool::new(false));
        let mut position = Position::start();
        let given_up = judge.judge(&mut position, &cancelled);
        assert_eq!(given_up.verdict, PositionVerdict::Unknown(Stop::Cancelled));
        let mate_result = judge.judge(&mut position, &go);
        assert_eq!(
            (mate_result.verdict, judge.judge.asked),
            (PositionVerdict::Unknown(Stop::Nodes), 2)
        );
        // Not even what looks like an verdict: a shortest mate that was not looked for to the end.
        let memo = Memo::new();
        memo.remember(&position, &mate_result, &cancelled);
        assert_eq!(memo.recall(&position), None);
    }

    #[test]
    fn what_was_cheap_is_not_remembered() {
        let memo = Memo::new();
        let go = AtomicBool::new(false);
        let judged = |nodes| MateResult::new(PositionVerdict::NoMate, Vec::new(), nodes);
        memo.remember(&Position::start(), &judged(MIN_NODES - 1), &go);
        assert_eq!(memo.recall(&Position::start()), None);
        memo.remember(&Position::start(), &judged(MIN_NODES), &go);
        assert_eq!(memo.recall(&Position::start()), Some(judged(MIN_NODES)));
    }

    #[test]
    fn memory_is_bounded() {
        let memo: Memo = Memo::new();
        let most = memo.buckets.len() * Bucket::<MateResult>::MAX_BYTES;
        assert!(most <= MAX_BYTES && most > MAX_BYTES / 10 * 9, "{most}");
    }
}
