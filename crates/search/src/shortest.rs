//! The shortest proof there is: after each proof, is there one with fewer plies?
//!
//! A disproof within a depth is an answer here, so the depth limit does the work (iterative deepening
//! from above).

use kyokumen_game::Game;

use super::dfpn::{DfPn, SearchResult};
use super::limits::Limits;
use super::observer::SearchObserver;
use super::verdict::{Stats, Stop, Verdict};

/// A search that has found a proof, and goes on with the same table.
pub(super) trait Shortening<G: Game> {
    /// Nodes of all searches so far.
    fn nodes(&self) -> u64;

    /// Raises the node limit.
    fn allow_nodes(&mut self, nodes: u64);

    /// Searches for a proof of at most `plies`; the plies of the one found.
    fn search_within(
        &mut self,
        game: &mut G,
        plies: u16,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Option<u16>, Stop>;

    /// Checks the proof that was found, keeps it, and returns its line.
    fn checked_line(
        &mut self,
        game: &mut G,
        plies: u16,
        most_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<Vec<G::Move>, Stop>;

    /// Searches again and again for a shorter proof than `solved` has. Also says whether it is proven that there is none;
    /// never so without a proof.
    fn shorten(
        &mut self,
        game: &mut G,
        limits: Limits,
        mut solved: SearchResult<G::Move>,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        if solved.verdict != Verdict::Proven {
            return (solved, false);
        }
        let most_nodes = solved.stats.nodes.saturating_add(limits.nodes);
        let is_shortest = loop {
            let plies = u16::try_from(solved.line.len()).unwrap_or(u16::MAX);
            let Some(fewer) = plies.checked_sub(G::PLIES_APART) else { break true };
            self.allow_nodes(most_nodes);
            let shorter = match self.search_within(game, fewer, observer) {
                Err(_) => break false,
                Ok(None) => break true,
                Ok(Some(plies)) => plies,
            };
            let mut stats = Stats::default();
            match self.checked_line(game, shorter, most_nodes, observer, &mut stats) {
                Err(_) => break false,
                Ok(line) => {
                    solved.line = line;
                    solved.stats.proof_positions = stats.proof_positions;
                    solved.stats.rebuilt += stats.rebuilt;
                }
            }
        };
        solved.stats.nodes = self.nodes();
        (solved, is_shortest)
    }
}

impl<G: Game> Shortening<G> for DfPn<G> {
    fn nodes(&self) -> u64 {
        self.descent.nodes()
    }

    fn allow_nodes(&mut self, nodes: u64) {
        self.descent.allow_nodes(nodes);
    }

    fn search_within(
        &mut self,
        game: &mut G,
        plies: u16,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Option<u16>, Stop> {
        self.descent.search_within(game, plies, observer)
    }

    fn checked_line(
        &mut self,
        game: &mut G,
        plies: u16,
        most_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<Vec<G::Move>, Stop> {
        Self::checked_line(self, game, plies, most_nodes, observer, stats)
    }
}

impl<G: Game> DfPn<G> {
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
}
