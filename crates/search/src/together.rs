//! A search that one thread begins and several finish.
//!
//! Most positions are decided before it would pay to call others: until then the answer is that of one thread, to the
//! byte. From then on lines and node counts depend on which thread came first; what is proven or disproven does not.

use std::cell::Cell;

use super::dfpn::DfPn;
use super::limits::{Limits, Threads};
use super::observer::SearchObserver;
use super::search_result::{SearchResult, answer, shorten};
use super::team::{SharedGame, Team};
use super::verdict::Stop;

/// Ends a search when others are to join it.
struct Alone<'a, M> {
    observer: &'a dyn SearchObserver<M>,
    nodes: Cell<u64>,
    most_nodes: u64,
    /// Whether the observer has had enough.
    is_stopped: Cell<bool>,
}

impl<M> SearchObserver<M> for Alone<'_, M> {
    fn wants_stop(&self) -> bool {
        self.is_stopped.set(self.is_stopped.get() || self.observer.wants_stop());
        self.is_stopped.get() || self.nodes.get() >= self.most_nodes
    }

    fn table_filled(&self, permille: u16) {
        self.observer.table_filled(permille);
    }

    fn progress(&self, nodes: u64, line: &[M]) {
        self.nodes.set(nodes);
        self.observer.progress(nodes, line);
    }
}

impl<G: SharedGame> DfPn<G> {
    /// Searches as [`Self::solve`] does, on so many threads if it takes long. Limits and table are those of all threads
    /// together.
    ///
    /// A verdict is as sound as that of one thread. Which mate is found, with how many nodes, and what is left
    /// undecided at a limit, depends on chance once the threads are called.
    pub fn solve_on(
        &mut self,
        threads: Threads,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        self.solve_joined(threads, game, limits, observer).0
    }

    /// Searches as [`Self::solve_shortest`] does, on so many threads if it takes long.
    pub fn solve_shortest_on(
        &mut self,
        threads: Threads,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        match self.solve_joined(threads, game, limits, observer) {
            (solved, None) => self.shorten(game, limits, solved, observer),
            (solved, Some(mut team)) => {
                shorten(&mut team, &mut self.proof, game, limits, solved, observer)
            }
        }
    }

    /// The answer, and the team that found it, if one was called.
    fn solve_joined(
        &mut self,
        threads: Threads,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, Option<Team<G>>) {
        if threads.count.get() == 1 || limits.nodes <= threads.nodes_alone {
            return (self.solve(game, limits, observer), None);
        }
        self.start(game, limits);
        let (nodes, is_stopped) = (Cell::new(0), Cell::new(false));
        let alone = Alone { observer, nodes, most_nodes: threads.nodes_alone, is_stopped };
        let searched = self.descent.search_root(game, &alone);
        if searched.as_ref().err() != Some(&Stop::Cancelled) || alone.is_stopped.get() {
            return (self.answer(game, limits.nodes_with_check(), searched, observer), None);
        }
        let Some(mut team) = Team::after(&self.descent, limits, self.table, threads.count.get())
        else {
            self.descent.allow_nodes(limits.nodes);
            let searched = self.descent.search_root(game, observer);
            return (self.answer(game, limits.nodes_with_check(), searched, observer), None);
        };
        let searched = team.search(game, observer);
        let most_nodes = limits.nodes_with_check();
        let solved = answer(&mut team, &mut self.proof, game, most_nodes, searched, observer);
        (solved, Some(team))
    }
}
