//! A search that one thread starts and several threads continue.
//!
//! Most positions are decided before more threads would help. Until then the result is the same as on one thread.
//! Afterwards lines and node counts depend on timing; proofs and disproofs stay sound.

use std::cell::Cell;

use super::dfpn::DfPn;
use super::limits::{Limits, Threads};
use super::observer::SearchObserver;
use super::search_result::{SearchResult, checked_result, shorten};
use super::team::{SharedGame, Team};
use super::verdict::Stop;

/// An observer that stops the search of one thread when the others must join.
struct Alone<'a, M> {
    observer: &'a dyn SearchObserver<M>,
    nodes: Cell<u64>,
    max_nodes: u64,
    /// Whether `observer` has requested a stop.
    is_stopped: Cell<bool>,
}

impl<M> SearchObserver<M> for Alone<'_, M> {
    fn wants_stop(&self) -> bool {
        self.is_stopped.set(self.is_stopped.get() || self.observer.wants_stop());
        self.is_stopped.get() || self.nodes.get() >= self.max_nodes
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
    /// As [`Self::solve`], on several threads if the search takes long. All threads share the limits and the table.
    ///
    /// A verdict is as sound as that of one thread. Once the other threads have joined, the mate found, the number of
    /// nodes and whether a limit is reached vary from run to run.
    pub fn solve_on(
        &mut self,
        threads: Threads,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> SearchResult<G::Move> {
        if threads.count.get() == 1 || limits.nodes <= threads.nodes_alone {
            return self.solve(game, limits, observer);
        }
        self.start(game, limits);
        let (nodes, is_stopped) = (Cell::new(0), Cell::new(false));
        let alone = Alone { observer, nodes, max_nodes: threads.nodes_alone, is_stopped };
        let searched = self.descent.search_root(game, &alone);
        if searched.as_ref().err() != Some(&Stop::Cancelled) || alone.is_stopped.get() {
            return self.checked_result(game, limits.nodes_with_check(), searched, observer);
        }
        let Some(mut team) =
            Team::continuing(&self.descent, limits, self.table, threads.count.get())
        else {
            self.descent.set_node_limit(limits.nodes);
            let searched = self.descent.search_root(game, observer);
            return self.checked_result(game, limits.nodes_with_check(), searched, observer);
        };
        let searched = team.search(game, observer);
        let max_nodes = limits.nodes_with_check();
        let team = self.team.insert(team);
        checked_result(team, &mut self.proof, game, max_nodes, searched, observer)
    }

    /// As [`Self::solve_shortest`], on several threads if the search takes long.
    pub fn solve_shortest_on(
        &mut self,
        threads: Threads,
        game: &mut G,
        limits: Limits,
        observer: &dyn SearchObserver<G::Move>,
    ) -> (SearchResult<G::Move>, bool) {
        let solved = self.solve_on(threads, game, limits, observer);
        match &mut self.team {
            Some(team) => shorten(team, &mut self.proof, game, limits, solved, observer),
            None => self.shorten(game, limits, solved, observer),
        }
    }
}
