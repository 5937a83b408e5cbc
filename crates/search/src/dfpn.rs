//! The search of any game: one thread or several, one table, a checked answer.
//!
//! The way down is in `descent.rs`, the check of proofs in `checker.rs`, what several threads do together in `team.rs`.

use kyokumen_game::Game;

use super::descent::{Descent, Value};
use super::limits::{Limits, TableError, TableSize};
use super::observer::SearchObserver;
use super::proof::{Proof, ProofOf};
use super::search_result::{SearchResult, answer, shorten};
use super::table::Table;
use super::verdict::Stop;

/// Changes whenever the same position and limits may give another verdict, line or node count.
pub const SOLVER_VERSION: u32 = 6;

/// A df-pn search of any [`Game`] with its own table. Searches leave nothing behind: the answer is a
/// function of position, limits and table size.
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
    pub(super) table: TableSize,
}

impl<G: Game> DfPn<G> {
    /// A search with a table of this size.
    ///
    /// # Panics
    /// If there is no memory for it, see [`Self::try_new`].
    pub fn new(table: TableSize) -> Self {
        Self::try_new(table).unwrap_or_else(|error| panic!("{error}"))
    }

    /// A search with a table of this size.
    ///
    /// # Errors
    /// [`TableError`] if there is no memory for it.
    pub fn try_new(table: TableSize) -> Result<Self, TableError> {
        let half = table.bytes() / 2;
        let descent = Table::new(half).and_then(|entries| Descent::new(entries, half));
        Ok(Self { descent: descent.map_err(|_| TableError(table))?, proof: None, table })
    }

    /// Searches a position, checks the proof if there is one, and reads the line from it; gives up with
    /// [`Stop::Cancelled`] soon after `observer` wants it to.
    ///
    /// Great depths need a thread with a stack of [`STACK_BYTES`](super::STACK_BYTES).
    pub fn solve(
        &mut self,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        self.solve_within(game, limits, limits.nodes_with_check(), observer)
    }

    /// The same, with so many nodes for the search and the check of its proof together.
    pub(super) fn solve_within(
        &mut self,
        game: &mut G,
        limits: Limits,
        most_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        self.start(game, limits);
        let searched = self.descent.search_root(game, observer);
        self.answer(game, most_nodes, searched, observer)
    }

    pub(super) fn start(&mut self, game: &G, limits: Limits) {
        self.proof = None;
        self.descent.table.start(limits.nodes, game.hand());
        self.descent.start(limits);
    }

    /// The answer to what was searched, with its proof checked within so many nodes in all.
    pub(super) fn answer(
        &mut self,
        game: &mut G,
        most_nodes: u64,
        searched: Result<Value<G::Hand>, Stop>,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        answer(&mut self.descent, &mut self.proof, game, most_nodes, searched, observer)
    }

    /// Searches as [`Self::solve`] does, and after a proof again and again for a shorter one, with as many
    /// nodes once more for all these searches together. Also says whether it is proven that there is none;
    /// never so without a proof.
    pub fn solve_shortest(
        &mut self,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        let solved = self.solve(game, limits, observer);
        self.shorten(game, limits, solved, observer)
    }

    /// Searches again and again for a shorter proof than that of the last search, with so many nodes more.
    pub(super) fn shorten(
        &mut self,
        game: &mut G,
        limits: Limits,
        solved: SearchResult<G::Move>,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        shorten(&mut self.descent, &mut self.proof, game, limits, solved, observer)
    }

    /// The proof of the position that was searched last, if it was [`Verdict::Proven`](super::Verdict::Proven).
    pub const fn proof(&self) -> Option<&Proof<G::Move, G::Hand>> {
        self.proof.as_ref()
    }

    /// As if nothing had been searched.
    pub(crate) fn forget_proof(&mut self) {
        self.proof = None;
    }
}
