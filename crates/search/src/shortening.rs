//! The search for the shortest proof, which begins with any proof.
//!
//! A search of the root for a proof with fewer plies must find out by itself where plies can be saved. In a mate of a
//! thousand plies that can take long. So the positions of the line are searched, too, from the end to the beginning.
//! Near the end few plies are left, so these searches are short. The table keeps what they find for the positions
//! before.

use kyokumen_game::{Game, NodeKind};
use rustc_hash::FxHashMap;

use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::search_result::{Resumable, SearchResult};
use super::verdict::{Stats, Stop};

/// Node limit of the search of one position in the first round.
const FIRST_NODES: u64 = 1 << 10;

/// Factor by which this limit grows after a round without success.
const NODES_GROWTH: u64 = 4;

/// The search of the root gets as many nodes as this number of positions of the line, and one more for every 16 plies.
/// It often finds much shorter proofs soon, but in a long mate it can also take long to find none.
const ROOT_POSITIONS: u64 = 4;

/// Seeks shorter and shorter proofs of the root.
pub(super) struct Shortening<'a, G: Game, S: ?Sized> {
    pub(super) search: &'a mut S,
    pub(super) stored_proof: &'a mut Option<ProofOf<G>>,
    pub(super) observer: &'a dyn SearchObserver<G::Move>,
    /// Node limit of all searches together, including those before.
    pub(super) max_nodes: u64,
    /// The result with the shortest line so far.
    pub(super) solved: SearchResult<G::Move>,
    /// The fewest plies for which a position was searched in this round, by board key and hand.
    pub(super) tried: FxHashMap<(u64, G::Hand), u16>,
}

impl<G: Game, S: Resumable<G> + ?Sized> Shortening<'_, G, S> {
    /// Shortens the proof until there is none with fewer plies.
    ///
    /// # Errors
    /// The limit that was reached first. `solved` is then the shortest proof found so far.
    pub(super) fn run(&mut self, game: &mut G) -> Result<(), Stop> {
        let mut nodes = FIRST_NODES;
        loop {
            let plies = self.plies();
            let Some(fewer) = plies.checked_sub(G::PLIES_APART) else { return Ok(()) };
            match self.search(game, fewer, self.nodes_of_root(nodes)) {
                Ok(None) => return Ok(()),
                Ok(Some(plies)) => {
                    self.check(game, plies, self.max_nodes)?;
                    continue;
                }
                Err(Stop::Nodes) if self.search.nodes() < self.max_nodes => {}
                Err(stop) => return Err(stop),
            }
            self.shorten_line(game, nodes)?;
            if self.plies() == plies {
                nodes = nodes.saturating_mul(NODES_GROWTH);
                self.tried.clear();
            }
        }
    }

    /// Plies of the shortest proof so far.
    fn plies(&self) -> u16 {
        u16::try_from(self.solved.line.len()).unwrap_or(u16::MAX)
    }

    /// Node limit of the search of the root, see [`ROOT_POSITIONS`].
    fn nodes_of_root(&self, nodes: u64) -> u64 {
        nodes.saturating_mul(ROOT_POSITIONS + u64::from(self.plies()) / 16)
    }

    /// Seeks shorter proofs of the positions of the line, each with this number of nodes. If some are found, the
    /// defender's longest play may be another line, which is then searched in the same way.
    fn shorten_line(&mut self, game: &mut G, nodes: u64) -> Result<(), Stop> {
        while self.shorten_positions(game, nodes)? {
            // The table may have only longer proofs than the line. Then the check searches for shorter ones, and fails
            // if these nodes are not enough.
            let max_nodes = self.search.nodes().saturating_add(self.nodes_of_root(nodes));
            match self.check(game, self.plies(), max_nodes.min(self.max_nodes)) {
                Err(Stop::Cancelled) => return Err(Stop::Cancelled),
                Err(_) => break,
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// One pass of [`Self::shorten_line`], from the end of the line to its beginning. `true` if a shorter proof was
    /// found.
    fn shorten_positions(&mut self, game: &mut G, nodes: u64) -> Result<bool, Stop> {
        let mut undos: Vec<_> = self.solved.line.iter().map(|&m| (m, game.make(m))).collect();
        let (mut plies, mut found) = (0, Ok(false));
        while let Some((m, undo)) = undos.pop() {
            game.unmake(m, undo);
            plies += 1;
            // `run` searches the root, with more nodes.
            if game.node_kind() == NodeKind::And || undos.is_empty() || found.is_err() {
                continue;
            }
            match self.shorten_position(game, plies, nodes) {
                Ok(shorter) if shorter < plies => (plies, found) = (shorter, Ok(true)),
                Ok(_) => {}
                Err(stop) => found = Err(stop),
            }
        }
        found
    }

    /// Seeks shorter and shorter proofs of one position, and returns the plies of the shortest.
    fn shorten_position(&mut self, game: &mut G, mut plies: u16, nodes: u64) -> Result<u16, Stop> {
        let position = (game.board_key(), game.hand());
        while let Some(fewer) = plies.checked_sub(G::PLIES_APART) {
            if self.tried.get(&position).is_some_and(|&tried| tried <= fewer) {
                break;
            }
            self.tried.insert(position, fewer);
            match self.search(game, fewer, nodes) {
                Ok(Some(shorter)) => plies = shorter,
                Ok(None) => break,
                Err(Stop::Nodes) if self.search.nodes() < self.max_nodes => break,
                Err(stop) => return Err(stop),
            }
        }
        Ok(plies)
    }

    /// Searches for a proof of at most `plies` with this number of nodes.
    fn search(&mut self, game: &mut G, plies: u16, nodes: u64) -> Result<Option<u16>, Stop> {
        let limit = self.search.nodes().saturating_add(nodes).min(self.max_nodes);
        self.search.set_node_limit(limit);
        self.search.search_within(game, plies, self.observer)
    }

    /// Checks the proof of at most `plies` of the root, and takes the line from it.
    fn check(&mut self, game: &mut G, plies: u16, max_nodes: u64) -> Result<(), Stop> {
        let mut stats = Stats::default();
        let proof = self.search.checked_proof(game, plies, max_nodes, self.observer, &mut stats)?;
        let solved = &mut self.solved;
        solved.line = self.stored_proof.insert(proof).line(game);
        solved.stats.proof_positions = stats.proof_positions;
        solved.stats.rebuilt += stats.rebuilt;
        Ok(())
    }
}
