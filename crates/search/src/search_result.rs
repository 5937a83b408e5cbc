//! From the value of the root to a result: the proof is checked, and shorter proofs are sought. The same for one thread
//! and for several.

use kyokumen_game::Game;
use rustc_hash::FxHashMap;

use super::descent::Value;
use super::limits::Limits;
use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::shortening::Shortening;
use super::verdict::{Stats, Stop, Verdict};

/// The result of one search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult<M> {
    /// Whether the attacker reaches the goal.
    pub verdict: Verdict,
    /// If proven: the line to the end of the game, the attacker's shortest play within the proof against the longest
    /// defence. Empty otherwise.
    pub line: Vec<M>,
    /// Nodes and other costs.
    pub stats: Stats,
}

/// A search that can continue with the same table.
pub(super) trait Resumable<G: Game> {
    /// Nodes of all searches since the start.
    fn nodes(&self) -> u64;

    /// Sets the node limit for the following searches. It includes the nodes already searched.
    fn set_node_limit(&mut self, nodes: u64);

    /// Searches for a proof of at most `plies` and returns its plies. Uses the entries that the table has from the
    /// earlier searches. `None` if there is no such proof.
    fn search_within(
        &mut self,
        game: &mut G,
        plies: u16,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Option<u16>, Stop>;

    /// Checks the proof of a position that the search has proven, and returns it. Parts that the table has lost are
    /// searched again, within `max_nodes` for all searches together.
    fn checked_proof(
        &mut self,
        game: &mut G,
        plies: u16,
        max_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<ProofOf<G>, Stop>;
}

/// The result of a search whose root has the value `searched`. If the root is proven, the proof is checked and stored
/// in `stored_proof`. Parts that the table has lost are searched again, within `max_nodes` for all searches together.
pub(super) fn checked_result<G: Game>(
    search: &mut impl Resumable<G>,
    stored_proof: &mut Option<ProofOf<G>>,
    game: &mut G,
    max_nodes: u64,
    searched: Result<Value<G::Hand>, Stop>,
    observer: &dyn SearchObserver<G::Move>,
) -> SearchResult<G::Move> {
    let mut stats = Stats::default();
    let unknown = |stop| (Verdict::Unknown(stop), Vec::new());
    let (verdict, line) = match searched {
        Err(stop) => unknown(stop),
        Ok(value) if value.is_proven() => {
            match search.checked_proof(game, value.plies, max_nodes, observer, &mut stats) {
                Ok(proof) => (Verdict::Proven, stored_proof.insert(proof).line(game)),
                Err(stop) => unknown(stop),
            }
        }
        Ok(value) if value.is_depth_bound => unknown(Stop::Depth),
        Ok(_) => (Verdict::Disproven, Vec::new()),
    };
    stats.nodes = search.nodes();
    SearchResult { verdict, line, stats }
}

/// Searches for shorter proofs than the one of `solved`, see [`Shortening`]. All these searches together have the node
/// limit of `limits`. The second value is whether the last proof is proven to be the shortest; `false` without a proof.
pub(super) fn shorten<G: Game>(
    search: &mut (impl Resumable<G> + ?Sized),
    stored_proof: &mut Option<ProofOf<G>>,
    game: &mut G,
    limits: Limits,
    solved: SearchResult<G::Move>,
    observer: &dyn SearchObserver<G::Move>,
) -> (SearchResult<G::Move>, bool) {
    if solved.verdict != Verdict::Proven {
        return (solved, false);
    }
    let max_nodes = solved.stats.nodes.saturating_add(limits.nodes);
    let tried = FxHashMap::default();
    let mut shortening = Shortening { search, stored_proof, observer, max_nodes, solved, tried };
    // An error is a limit, which leaves open whether there is a shorter proof.
    let is_shortest = shortening.run(game).is_ok();
    let Shortening { search, mut solved, .. } = shortening;
    solved.stats.nodes = search.nodes();
    (solved, is_shortest)
}
