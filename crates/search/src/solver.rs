//! The mate solver. It takes a position and an attacker and returns a verdict, the mating line and statistics.
//!
//! It combines the search of [`crate`] with the rules of [`kyokumen_shogi`].
//!
//! ```
//! use kyokumen_shogi::Position;
//! use kyokumen_search::solver::{Attacker, Limits, Solver, TableSize, Verdict};
//!
//! let mut solver = Solver::new(TableSize::from_mib(16));
//! let limits = Limits::new(31, 100_000);
//!
//! // A gold in hand, a pawn that supports it, a bare king on the back rank.
//! let position: Position = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1".parse()?;
//! let outcome = solver.solve(&position, Attacker::SideToMove, &limits);
//! assert_eq!(outcome.verdict, Verdict::Proven);
//! assert_eq!(outcome.line[0].to_string(), "G*5b");
//!
//! // After that White has no move. Black, the opponent of the side to move, has mated.
//! let position: Position = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2".parse()?;
//! let outcome = solver.solve(&position, Attacker::Opponent, &limits);
//! assert_eq!((outcome.verdict, outcome.line.len()), (Verdict::Proven, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::dfpn::DfPn;
use super::observer::SearchObserver;
use super::restricted::Restricted;
use super::search_result::SearchResult;
use super::{counted, observer, proof};
use kyokumen_shogi::{Hand, Mate, Move, Position};

pub use super::dfpn::SOLVER_VERSION;
pub use super::limits::{
    Limits, MAX_PLIES, STACK_BYTES, TableError, TableSize, Threads, WhenHopeless,
};
pub use super::verdict::{NODE_DEFINITION, Stats, Stop, Verdict};

/// Verdict, mating line and statistics of a search.
///
/// If the verdict is [`Verdict::Proven`], the attacker mates, and `line` is the attacker's shortest play within the
/// checked proof against the longest defence, to the mate. Otherwise `line` is empty.
pub type SolverResult = SearchResult<Move>;

/// A checked proof, see [`crate::Proof`].
pub type Proof = proof::Proof<Move, Hand>;

/// The length of a mate without futile interpositions, see [`crate::CountedPlies`].
pub type CountedPlies = counted::CountedPlies<Move>;

/// Controls one search from another thread, see [`crate::SearchControl`].
pub type SearchControl = observer::SearchControl<Move>;

/// The progress of a search, see [`crate::SearchProgress`].
pub type SearchProgress = observer::SearchProgress<Move>;

/// The side that tries to mate by unbroken checks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attacker {
    /// The side to move attacks.
    SideToMove,
    /// The opponent of the side to move attacks. All legal moves of the side to move are defences, in check or not.
    Opponent,
}

/// A mate solver with its own table, for one search at a time.
///
/// Position, attacker, limits and table size determine the result. Earlier searches have no influence.
pub struct Solver {
    search: DfPn<Mate>,
    threads: Threads,
    /// Nodes of the last search.
    nodes: u64,
    /// The search of the conceding game, for [`Self::tsume_plies`]. Created when it is first needed.
    conceding: Option<DfPn<Restricted<Mate>>>,
}

/// The table of the conceding game is smaller than the main table by this factor.
const CONCEDING_TABLE_DIVISOR: usize = 8;

impl Solver {
    /// A solver with a table of this size.
    ///
    /// # Panics
    /// If the table cannot be allocated, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self {
        Self::from_search(DfPn::new(table))
    }

    /// A solver with a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be allocated.
    pub fn try_new(table: TableSize) -> Result<Self, TableError> {
        Ok(Self::from_search(DfPn::try_new(table)?))
    }

    const fn from_search(search: DfPn<Mate>) -> Self {
        Self { search, threads: Threads::ONE, nodes: 0, conceding: None }
    }

    /// Sets the number of threads for searches, see [`DfPn::solve_on`](crate::DfPn::solve_on). A long search on several
    /// threads may find a different mate in each run. Its verdict is as sound as that of one thread.
    ///
    /// ```
    /// use std::num::NonZero;
    /// use kyokumen_search::solver::{Attacker, Limits, Solver, TableSize, Threads, Verdict};
    ///
    /// let problem = "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161".parse()?;
    /// let mut solver = Solver::new(TableSize::from_mib(16)).on_threads(Threads::new(NonZero::new(2).unwrap()));
    /// let solved = solver.solve(&problem, Attacker::SideToMove, &Limits::NONE);
    /// assert_eq!(solved.verdict, Verdict::Proven);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_threads(self, threads: Threads) -> Self {
        Self { threads, ..self }
    }

    /// Sets the number of threads for the next searches.
    pub const fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Decides within the limits whether the attacker mates. The verdict is [`Verdict::Disproven`] if the defender has
    /// no king.
    ///
    /// For large depths, call this on a thread with a stack of [`STACK_BYTES`].
    pub fn solve(
        &mut self,
        position: &Position,
        attacker: Attacker,
        limits: &Limits,
    ) -> SolverResult {
        self.solve_observed(position, attacker, limits, &SearchControl::new())
    }

    /// As [`Self::solve`], with an observer. This can be a [`SearchControl`], or a plain
    /// [`AtomicBool`](std::sync::atomic::AtomicBool) that is set to cancel.
    ///
    /// ```
    /// use kyokumen_shogi::Position;
    /// use kyokumen_search::solver::{Attacker, SearchControl, Limits, Solver, Stop, TableSize, Verdict};
    ///
    /// let position: Position =
    ///     "1n1g3+Pl/k1p1s4/1ng5p/pSP1p1pp1/1n3p3/P1K3P1P/1P7/9/L1G5L b 2R2BG2SL5Pn 161".parse()?;
    /// let mut solver = Solver::new(TableSize::from_mib(1));
    /// let control = SearchControl::new();
    /// let outcome = std::thread::scope(|threads| {
    ///     threads.spawn(|| control.stop());
    ///     solver.solve_observed(&position, Attacker::SideToMove, &Limits::NONE, &control)
    /// });
    /// // The search was stopped, unless it ended before.
    /// assert!(matches!(outcome.verdict, Verdict::Unknown(Stop::Cancelled) | Verdict::Proven));
    /// assert!(control.figures().nodes <= outcome.stats.nodes);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn solve_observed(
        &mut self,
        position: &Position,
        attacker: Attacker,
        limits: &Limits,
        observer: &dyn SearchObserver<Move>,
    ) -> SolverResult {
        let solved = match attacker.game(position) {
            Some(mut mate) => self.search.solve_on(self.threads, &mut mate, *limits, observer),
            None => self.without_king(),
        };
        self.nodes = solved.stats.nodes;
        solved
    }

    /// As [`Self::solve_observed`], then searches for shorter mates. All these searches together have the node limit of
    /// the first search. The second value is whether it is proven that no mate takes fewer plies.
    pub fn solve_shortest(
        &mut self,
        position: &Position,
        attacker: Attacker,
        limits: &Limits,
        observer: &dyn SearchObserver<Move>,
    ) -> (SolverResult, bool) {
        let (solved, is_shortest) = match attacker.game(position) {
            Some(mut mate) => {
                self.search.solve_shortest_on(self.threads, &mut mate, *limits, observer)
            }
            None => (self.without_king(), false),
        };
        self.nodes = solved.stats.nodes;
        (solved, is_shortest)
    }

    /// The result if the defender has no king.
    fn without_king(&mut self) -> SolverResult {
        self.search.forget_proof();
        SolverResult { verdict: Verdict::Disproven, line: Vec::new(), stats: Stats::default() }
    }

    /// The proof of the last search; `None` if its verdict was not [`Verdict::Proven`].
    pub const fn proof(&self) -> Option<&Proof> {
        self.search.proof()
    }

    /// The length of the last mate as problems count it: without futile interpositions. `position` and `attacker` must
    /// be those of the last search. `None` if there was no mate, or if there are too many positions to measure.
    ///
    /// Mates that are shorter by this count are sought, with up to about as many nodes as the last search. `observer`
    /// can stop it.
    pub fn tsume_plies(
        &mut self,
        position: &Position,
        attacker: Attacker,
        observer: &dyn SearchObserver<Move>,
    ) -> Option<CountedPlies> {
        let mut mate = attacker.game(position)?;
        if self.conceding.is_none() {
            let bytes = self.search.table.bytes() / CONCEDING_TABLE_DIVISOR;
            self.conceding = DfPn::try_new(TableSize::from_bytes(bytes)).ok();
        }
        self.search.counted_plies(self.conceding.as_mut()?, &mut mate, self.nodes, observer)
    }
}

impl Attacker {
    /// The game that decides whether this attacker mates; `None` if the defender has no king.
    fn game(self, position: &Position) -> Option<Mate> {
        let (defender, mate) = match self {
            Self::SideToMove => (!position.side_to_move(), Mate::by_side_to_move(position.clone())),
            Self::Opponent => {
                (position.side_to_move(), Mate::against_side_to_move(position.clone()))
            }
        };
        position.king(defender).map(|_| mate)
    }
}
