//! The search of any game with one table, and its checked result.
//!
//! `descent.rs` has the search of one thread, `team.rs` the search of several, `checker.rs` the check of proofs.

use kyokumen_game::Game;

use super::descent::{Descent, Value};
use super::limits::{Limits, TableError, TableSize};
use super::observer::SearchObserver;
use super::proof::{Proof, ProofOf};
use super::search_result::{SearchResult, checked_result, shorten};
use super::table::Table;
use super::team::Team;
use super::verdict::Stop;

/// The version of the search. It changes if the same position and limits can give a different verdict, line or node
/// count.
pub const SOLVER_VERSION: u32 = 12;

/// A df-pn search of any [`Game`] with its own table.
///
/// Position, limits and table size determine the result. Earlier searches have no influence.
///
/// ```
/// use std::sync::atomic::AtomicBool;
/// use kyokumen_search::{DfPn, Limits, TableSize, Verdict};
/// use kyokumen_shogi::{Mate, Position};
///
/// let position: Position = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1".parse().unwrap();
/// let mut search = DfPn::new(TableSize::from_mib(1));
/// let limits = Limits::new(9, 1_000);
/// let mut game = Mate::by_side_to_move(position);
/// let solved = search.solve(&mut game, limits, &AtomicBool::new(false));
/// assert_eq!(solved.verdict, Verdict::Proven);
/// assert_eq!(solved.line[0].to_string(), "G*5b");
/// ```
pub struct DfPn<G: Game> {
    pub(super) descent: Descent<G, Table<G::Hand>>,
    pub(super) proof: Option<ProofOf<G>>,
    /// The threads of the last search, if several took part. Their table has what the search found.
    pub(super) team: Option<Team<G>>,
    pub(super) table: TableSize,
}

impl<G: Game> DfPn<G> {
    /// A search with a table of this size.
    ///
    /// # Panics
    /// If the table cannot be allocated, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self {
        Self::try_new(table).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A search with a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if the table cannot be allocated.
    pub fn try_new(table: TableSize) -> Result<Self, TableError> {
        let descent = Table::new(table.entries_bytes())
            .and_then(|entries| Descent::new(entries, table.children_bytes()));
        Ok(Self {
            descent: descent.map_err(|_| TableError(table))?,
            proof: None,
            team: None,
            table,
        })
    }

    /// Searches a position. A proof is checked, and the line is taken from it. The search stops with
    /// [`Stop::Cancelled`] soon after `observer` requests it.
    ///
    /// For large depths, call this on a thread with a stack of [`STACK_BYTES`](super::STACK_BYTES).
    pub fn solve(
        &mut self,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        self.solve_within(game, limits, limits.nodes_with_check(), observer)
    }

    /// As [`Self::solve`], with `max_nodes` for the search and the check of its proof together.
    pub(super) fn solve_within(
        &mut self,
        game: &mut G,
        limits: Limits,
        max_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        self.start(game, limits);
        let searched = self.descent.search_root(game, observer);
        self.checked_result(game, max_nodes, searched, observer)
    }

    pub(super) fn start(&mut self, game: &G, limits: Limits) {
        self.proof = None;
        self.team = None;
        self.descent.table.start(limits.nodes, game.hand());
        self.descent.start(limits);
    }

    /// See [`checked_result`].
    pub(super) fn checked_result(
        &mut self,
        game: &mut G,
        max_nodes: u64,
        searched: Result<Value<G::Hand>, Stop>,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        checked_result(&mut self.descent, &mut self.proof, game, max_nodes, searched, observer)
    }

    /// As [`Self::solve`], then searches for shorter proofs until there is none. All these searches together have the
    /// node limit of the first search. The second value is whether the proof is proven to be the shortest; `false`
    /// without a proof.
    pub fn solve_shortest(
        &mut self,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        let solved = self.solve(game, limits, observer);
        self.shorten(game, limits, solved, observer)
    }

    /// Searches for proofs that are shorter than the last one, see [`shorten`].
    pub(super) fn shorten(
        &mut self,
        game: &mut G,
        limits: Limits,
        solved: SearchResult<G::Move>,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        shorten(&mut self.descent, &mut self.proof, game, limits, solved, observer)
    }

    /// Sets the number of nodes after which searches use the methods for long searches: a delayed check also counts
    /// once the check before it is hard, all children are looked up, children that overlap are recognised, and
    /// thresholds are raised where the search goes round in circles. By default 262,144. Tests lower it, to try these
    /// methods on small games.
    #[doc(hidden)]
    pub const fn long_after(&mut self, nodes: u64) {
        self.descent.long_after = nodes;
    }

    /// Sets the proof or disproof number from which on the search keeps disproofs that depend on the path. By default
    /// 2²⁴. Tests lower it, because the numbers of small games stay small.
    #[doc(hidden)]
    pub const fn cycles_from(&mut self, number: u32) {
        self.descent.cycles_from = number;
    }

    /// The proof of the last search; `None` if its verdict was not [`Verdict::Proven`](super::Verdict::Proven).
    pub const fn proof(&self) -> Option<&Proof<G::Move, G::Hand>> {
        self.proof.as_ref()
    }

    /// Removes the proof of the last search.
    pub(crate) fn forget_proof(&mut self) {
        self.proof = None;
    }
}
