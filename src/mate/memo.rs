//! A memo of search results, so that equal positions are usually searched once.
//!
//! Memoisation (Michie 1968) in bounded memory, shared by all threads of a run.

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

/// Maximum memory of a memo, in bytes.
pub const MAX_BYTES: usize = 32 << 20;

/// Results of searches with fewer nodes are not remembered.
///
/// In archives of games, about one result in eight is needed again. So remembering a search of eight nodes saves one
/// node on average, and packing its position costs almost as much.
pub const MIN_NODES: u64 = 8;

/// Results of searches with the same settings.
///
/// Positions are equal if they have the same board, hands and side to move, at any ply. A result is returned only for
/// an equal position, never for a different one with the same hash. Whether a result is still remembered depends on the
/// positions searched since then, and on the timing of the threads.
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
    /// A memo with the largest number of buckets that [`MAX_BYTES`] allows.
    pub fn new() -> Self {
        Self::with_buckets(MAX_BYTES / Bucket::<V>::MAX_BYTES)
    }

    /// A memo with `buckets` buckets, at least one, of up to [`WAYS`](Self::WAYS) results each.
    pub fn with_buckets(buckets: usize) -> Self {
        Self { buckets: (0..buckets.max(1)).map(|_| Mutex::default()).collect() }
    }

    /// Maximum number of results in a bucket.
    pub const WAYS: usize = bucket::WAYS;

    /// The result of an equal position. `None` if it is not remembered.
    pub fn recall(&self, position: &Position) -> Option<V> {
        let hash = hash(position);
        self.bucket(hash).recall(fingerprint(hash), position)
    }

    /// Remembers a result, unless its search took fewer than [`MIN_NODES`] nodes. Ignores it if `cancel` is set,
    /// because the search may have been stopped early.
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

/// A hash of board, hands and side to move. Different positions can have equal hashes.
fn hash(position: &Position) -> u64 {
    let mut hasher = DefaultHasher::new();
    position.board_key().hash(&mut hasher);
    Color::ALL.map(|color| position.hand(color)).hash(&mut hasher);
    hasher.finish()
}

/// The half of the hash that does not select the bucket.
const fn fingerprint(hash: u64) -> u32 {
    hash as u32
}

/// A judge that looks a position up in a memo before it calls another judge.
pub struct Memoized<J> {
    judge: J,
    memo: Arc<Memo>,
    hits: MemoHits,
}

impl<J> Memoized<J> {
    /// All judges that share `memo` must have the same settings.
    pub const fn new(judge: J, memo: Arc<Memo>) -> Self {
        Self { judge, memo, hits: MemoHits { answers: 0, nodes: 0 } }
    }
}

impl<J: PositionJudge> PositionJudge for Memoized<J> {
    fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
        if let Some(known) = self.memo.recall(position) {
            self.hits.add(MemoHits { answers: 1, nodes: known.nodes });
            return known;
        }
        let mate_result = self.judge.judge(position, cancel);
        self.memo.remember(position, &mate_result, cancel);
        mate_result
    }

    fn memo_hits(&self) -> MemoHits {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mate::judge::Stop;
    use crate::records::position_verdict::PositionVerdict;
    use crate::shogi::random_play::RandomPlay;

    /// Different positions of random games.
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

    /// Counts its searches. The node count of a search depends only on the board.
    #[derive(Default)]
    struct Counting {
        searches: u64,
    }

    impl PositionJudge for Counting {
        fn judge(&mut self, position: &mut Position, cancel: &AtomicBool) -> MateResult {
            self.searches += 1;
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
        assert_eq!(judge.judge.searches, 200);
        assert_eq!(judge.memo_hits(), MemoHits { answers: 400, nodes: nodes / 3 * 2 });
    }

    #[test]
    fn a_full_memo_forgets_results_but_returns_no_wrong_ones() {
        let mut judge = memoized(1);
        let go = AtomicBool::new(false);
        for mut position in [positions(200), positions(200), positions(10), positions(10)].concat()
        {
            let mate_result = judge.judge(&mut position, &go);
            assert_eq!(mate_result, Counting::default().judge(&mut position, &go));
        }
        let searches = judge.judge.searches;
        assert!((201..420).contains(&searches), "{searches}");
        assert_eq!(judge.memo_hits().answers, 420 - searches);
    }

    #[test]
    fn results_of_cancelled_searches_are_not_remembered() {
        let mut judge = memoized(1000);
        let (cancelled, go) = (AtomicBool::new(true), AtomicBool::new(false));
        let mut position = Position::start();
        let stopped = judge.judge(&mut position, &cancelled);
        assert_eq!(stopped.verdict, PositionVerdict::Unknown(Stop::Cancelled));
        let mate_result = judge.judge(&mut position, &go);
        assert_eq!(
            (mate_result.verdict, judge.judge.searches),
            (PositionVerdict::Unknown(Stop::Nodes), 2)
        );
        // A result that looks complete is not remembered either: the search for the shortest mate may have been
        // stopped.
        let memo = Memo::new();
        memo.remember(&position, &mate_result, &cancelled);
        assert_eq!(memo.recall(&position), None);
    }

    #[test]
    fn results_of_small_searches_are_not_remembered() {
        let memo = Memo::new();
        let go = AtomicBool::new(false);
        let result = |nodes| MateResult::new(PositionVerdict::NoMate, Vec::new(), nodes);
        memo.remember(&Position::start(), &result(MIN_NODES - 1), &go);
        assert_eq!(memo.recall(&Position::start()), None);
        memo.remember(&Position::start(), &result(MIN_NODES), &go);
        assert_eq!(memo.recall(&Position::start()), Some(result(MIN_NODES)));
    }

    #[test]
    fn memory_is_bounded() {
        let memo: Memo = Memo::new();
        let most = memo.buckets.len() * Bucket::<MateResult>::MAX_BYTES;
        assert!(most <= MAX_BYTES && most > MAX_BYTES / 10 * 9, "{most}");
    }
}
