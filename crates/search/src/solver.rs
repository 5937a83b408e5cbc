//! The mate solver: a position and an attacker in, a verdict, the mating line and the price out.
//!
//! The search is that of [`crate`], the rules are those of [`kyokumen_shogi`]; this module only puts
//! them together.
//!
//! ```
//! use kyokumen_shogi::Position;
//! use kyokumen_search::solver::{Attacker, Limits, Solver, TableSize, Verdict};
//!
//! let mut solver = Solver::new(TableSize::from_mib(16));
//! let limits = Limits::new(31, 100_000);
//!
//! // A gold in hand, a pawn that guards it, the bare king at the edge.
//! let position: Position = "4k4/9/4P4/9/9/9/9/9/4K4 b G2r2b3g4s4n4l17p 1".parse()?;
//! let outcome = solver.solve(&position, Attacker::SideToMove, &limits);
//! assert_eq!(outcome.verdict, Verdict::Proven);
//! assert_eq!(outcome.line[0].to_string(), "G*5b");
//!
//! // There White has no move left: Black, the opponent of the side to move, has mated.
//! let position: Position = "4k4/4G4/4P4/9/9/9/9/9/4K4 w 2r2b3g4s4n4l17p 2".parse()?;
//! let outcome = solver.solve(&position, Attacker::Opponent, &limits);
//! assert_eq!((outcome.verdict, outcome.line.len()), (Verdict::Proven, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::dfpn::DfPn;
use super::observer::SearchObserver;
use super::restricted::Restricted;
use super::search_result::SearchResult;
use super::{observer, proof};
use kyokumen_shogi::{Hand, Mate, Move, Position};

pub use super::counted::CountedPlies;
pub use super::dfpn::SOLVER_VERSION;
pub use super::limits::{
    Limits, MAX_PLIES, STACK_BYTES, TableError, TableSize, Threads, WhenHopeless,
};
pub use super::verdict::{NODE_DEFINITION, Stats, Stop, Verdict};

/// Verdict, mating line and price of a search. [`Verdict::Proven`]: the attacker mates, and `line` is
/// the checked proof against the most resistant defence in it, to the mate. Otherwise it is empty.
pub type SolverResult = SearchResult<Move>;

/// A checked proof, see [`crate::Proof`].
pub type Proof = proof::Proof<Move, Hand>;

/// A hand on one search from another thread, see [`crate::SearchControl`].
pub type SearchControl = observer::SearchControl<Move>;

/// How far a search has got, see [`crate::SearchProgress`].
pub type SearchProgress = observer::SearchProgress<Move>;

/// Whose mate is asked about, by unbroken checks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attacker {
    /// Does the side to move mate?
    SideToMove,
    /// Is the side to move being mated? It may be in check or not: every legal move of it is a defence.
    Opponent,
}

/// A solver with its own table, for one search at a time. Searches leave nothing behind: an outcome is a
/// function of position, attacker, limits and table size.
pub struct Solver {
    search: DfPn<Mate>,
    threads: Threads,
    /// Nodes of the last answer.
    nodes: u64,
    /// Searches the bounds of lengths; made once they are asked for.
    conceding: Option<DfPn<Restricted<Mate>>>,
}

/// The table for the bounds of lengths is so small a part of the other.
const SHARE_OF_BOUNDS: usize = 8;

impl Solver {
    /// A solver with a table of this size.
    ///
    /// # Panics
    /// If there is no memory for it, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self {
        Self::with(DfPn::new(table))
    }

    /// A solver with a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if there is no memory for it.
    pub fn try_new(table: TableSize) -> Result<Self, TableError> {
        Ok(Self::with(DfPn::try_new(table)?))
    }

    const fn with(search: DfPn<Mate>) -> Self {
        Self { search, threads: Threads::ONE, nodes: 0, conceding: None }
    }

    /// The same table for searches on so many threads, see [`DfPn::solve_on`](crate::DfPn::solve_on): a long search
    /// then finds one mate or another as chance has it, and what it proves is as true.
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

    /// Sets on how many threads the next searches go.
    pub const fn set_threads(&mut self, threads: Threads) {
        self.threads = threads;
    }

    /// Decides whether the attacker mates, as far as the limits allow. Without a king to be mated the
    /// answer is no.
    ///
    /// Great depths need a thread with a stack of [`STACK_BYTES`].
    pub fn solve(
        &mut self,
        position: &Position,
        attacker: Attacker,
        limits: &Limits,
    ) -> SolverResult {
        self.solve_observed(position, attacker, limits, &SearchControl::new())
    }

    /// The same with somebody looking on: a [`SearchControl`], or a bare
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
    /// // The search gave up, unless it was done sooner.
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
        let solved = match attacker.asks(position) {
            Some(mut mate) => self.search.solve_on(self.threads, &mut mate, *limits, observer),
            None => self.without_king(),
        };
        self.nodes = solved.stats.nodes;
        solved
    }

    /// The same, and after a mate goes on to look for a shorter one, with as many nodes again. Also says
    /// whether it is proven that no mate takes fewer plies.
    pub fn solve_shortest(
        &mut self,
        position: &Position,
        attacker: Attacker,
        limits: &Limits,
        observer: &dyn SearchObserver<Move>,
    ) -> (SolverResult, bool) {
        let (solved, is_shortest) = match attacker.asks(position) {
            Some(mut mate) => {
                self.search.solve_shortest_on(self.threads, &mut mate, *limits, observer)
            }
            None => (self.without_king(), false),
        };
        self.nodes = solved.stats.nodes;
        (solved, is_shortest)
    }

    fn without_king(&mut self) -> SolverResult {
        self.search.forget_proof();
        SolverResult { verdict: Verdict::Disproven, line: Vec::new(), stats: Stats::default() }
    }

    /// The proof of the last answer, if it was [`Verdict::Proven`].
    pub const fn proof(&self) -> Option<&Proof> {
        self.search.proof()
    }

    /// Plies of the mate of the last answer, to this question, as problems count them: without futile
    /// interpositions. `None` if there was no mate, or too much to measure.
    ///
    /// Mates that are shorter by this count are looked for, with about as many nodes again as the answer took and a
    /// table of an eighth of the size; `observer` may have that given up.
    pub fn tsume_plies(
        &mut self,
        position: &Position,
        attacker: Attacker,
        observer: &dyn SearchObserver<Move>,
    ) -> Option<CountedPlies> {
        let mut mate = attacker.asks(position)?;
        if self.conceding.is_none() {
            let bytes = self.search.table.bytes() / SHARE_OF_BOUNDS;
            self.conceding = DfPn::try_new(TableSize::from_bytes(bytes)).ok();
        }
        self.search.counted_plies(self.conceding.as_mut()?, &mut mate, self.nodes, observer)
    }
}

impl Attacker {
    /// The question as a game; `None` without a king to be mated.
    fn asks(self, position: &Position) -> Option<Mate> {
        let (defender, mate) = match self {
            Self::SideToMove => (!position.side_to_move(), Mate::by_side_to_move(position.clone())),
            Self::Opponent => (position.side_to_move(), Mate::of_side_to_move(position.clone())),
        };
        position.king(defender).map(|_| mate)
    }
}
