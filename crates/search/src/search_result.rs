//! From what a search has found to an answer, whether one thread has searched or several: the proof checked, and a
//! shorter one looked for.

use kyokumen_game::Game;

use super::descent::Value;
use super::limits::Limits;
use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::verdict::{Stats, Stop, Verdict};

/// The answer to one search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult<M> {
    /// Whether the goal is reached.
    pub verdict: Verdict,
    /// Proven: the attacker's proof against the most resistant defence in it, to the end of the game.
    pub line: Vec<M>,
    /// What it cost.
    pub stats: Stats,
}

/// A search that goes on with the same table.
pub(super) trait Resumable<G: Game> {
    /// Nodes of all searches so far.
    fn nodes(&self) -> u64;

    /// Raises the node limit for searches that go on.
    fn allow_nodes(&mut self, nodes: u64);

    /// Searches for a proof of at most `plies`, with what the table has of this search; the plies of the
    /// one found.
    fn search_within(
        &mut self,
        game: &mut G,
        plies: u16,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Result<Option<u16>, Stop>;

    /// Checks the proof of a position that was found proven, and returns it. What the table has lost is searched
    /// again, until `most_nodes` were searched in all.
    fn checked_proof(
        &mut self,
        game: &mut G,
        plies: u16,
        most_nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
        stats: &mut Stats,
    ) -> Result<ProofOf<G>, Stop>;
}

/// The answer to what was searched; its proof, checked, is kept in `kept`. What the table has lost of it is searched
/// again, until `most_nodes` were searched in all.
pub(super) fn answer<G: Game>(
    search: &mut impl Resumable<G>,
    kept: &mut Option<ProofOf<G>>,
    game: &mut G,
    most_nodes: u64,
    searched: Result<Value<G::Hand>, Stop>,
    observer: &dyn SearchObserver<G::Move>,
) -> SearchResult<G::Move> {
    let mut stats = Stats::default();
    let open = |stop| (Verdict::Unknown(stop), Vec::new());
    let (verdict, line) = match searched {
        Err(stop) => open(stop),
        Ok(value) if value.is_proven() => {
            match search.checked_proof(game, value.plies, most_nodes, observer, &mut stats) {
                Ok(proof) => (Verdict::Proven, kept.insert(proof).line(game)),
                Err(stop) => open(stop),
            }
        }
        Ok(value) if value.bound => open(Stop::Depth),
        Ok(_) => (Verdict::Disproven, Vec::new()),
    };
    stats.nodes = search.nodes();
    SearchResult { verdict, line, stats }
}

/// Searches again and again for a shorter proof than `solved` has: a disproof within a depth is an answer here, so the
/// depth limit does the work (iterative deepening from above). Also says whether it is proven that there is none; never
/// so without a proof.
pub(super) fn shorten<G: Game>(
    search: &mut impl Resumable<G>,
    kept: &mut Option<ProofOf<G>>,
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
        search.allow_nodes(most_nodes);
        let shorter = match search.search_within(game, fewer, observer) {
            Err(_) => break false,
            Ok(None) => break true,
            Ok(Some(plies)) => plies,
        };
        let mut stats = Stats::default();
        match search.checked_proof(game, shorter, most_nodes, observer, &mut stats) {
            Err(_) => break false,
            Ok(proof) => {
                solved.line = kept.insert(proof).line(game);
                solved.stats.proof_positions = stats.proof_positions;
                solved.stats.rebuilt += stats.rebuilt;
            }
        }
    };
    solved.stats.nodes = search.nodes();
    (solved, is_shortest)
}
