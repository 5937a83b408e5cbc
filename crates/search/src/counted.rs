//! The length of a mate without futile interpositions, independent of the proof that was found.
//!
//! The measured length of the proof is an upper bound. The lower bound is the shortest mate of the *conceding game*:
//! there the defender makes no move that could be futile (`restricted.rs`). If the bounds differ, the measure also
//! tries the moves of that shorter mate. If a defence refutes them, the search looks for a proof of the position after
//! it.

use kyokumen_game::Game;

use super::dfpn::DfPn;
use super::length::{ExtraProofs, Prover};
use super::limits::{Limits, WhenHopeless};
use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::restricted::{Restricted, Restrictions};
use super::search_result::Resumable;
use super::verdict::{Stats, Stop, Verdict};

/// Minimum of the node limit, for proofs that took fewer nodes.
const MIN_NODES: u64 = 4_000;

/// The search for the lower bound gets the node limit divided by this number. The search, the check of its proof and
/// the searches for a shorter proof may each take as much.
const SEARCHES_PER_BOUND: u64 = 3;

/// Each search of [`Resuming`] may take the remaining nodes divided by this number.
const MIN_PROVER_SEARCHES: u64 = 16;

/// The length of a mate without futile defences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountedPlies<M> {
    /// Plies within which the attacker reaches the goal. Futile defences and their replies do not count.
    pub plies: u16,
    /// The best play of both sides without futile defences and their replies, `plies` moves. Empty if `plies` is 0, or
    /// if only the length is known.
    pub line: Vec<M>,
    /// Whether it is proven that the attacker does not reach it in fewer.
    pub is_least: bool,
    /// Nodes searched for this result.
    pub nodes: u64,
}

impl<G: Game + Clone> DfPn<G> {
    /// The length of the last proof, which must be about the position of `game`, without futile defences. Mates that
    /// are shorter by this count are sought. This takes about twice `nodes`, the nodes of the proof. `None` without a
    /// proof, or if there are too many positions to measure.
    pub(super) fn counted_plies(
        &mut self,
        conceding: &mut DfPn<Restricted<G>>,
        game: &mut G,
        nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Option<CountedPlies<G::Move>> {
        let proof = self.proof.take()?;
        observer.measures(true);
        let counted = self.count(&proof, conceding, game, nodes.max(MIN_NODES), observer);
        observer.measures(false);
        self.proof = Some(proof);
        counted
    }

    fn count(
        &mut self,
        proof: &ProofOf<G>,
        conceding: &mut DfPn<Restricted<G>>,
        game: &mut G,
        nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Option<CountedPlies<G::Move>> {
        let (plies, line) = proof.without_futile(game)?;
        let Some(fewer) = plies.checked_sub(G::PLIES_APART) else {
            return Some(CountedPlies { plies, line, is_least: true, nodes: 0 });
        };
        let limits = Limits {
            depth_plies: fewer,
            nodes: nodes / SEARCHES_PER_BOUND,
            when_hopeless: WhenHopeless::GoOn,
        };
        let mut bound = Restricted::new(game.clone(), Restrictions::conceding());
        let (solved, is_shortest) = conceding.solve_shortest(&mut bound, limits, observer);
        let searched = solved.stats.nodes;
        let Some(conceding_proof) = conceding.proof() else {
            let is_least =
                matches!(solved.verdict, Verdict::Disproven | Verdict::Unknown(Stop::Depth));
            return Some(CountedPlies { plies, line, is_least, nodes: searched });
        };
        let lower_bound = u16::try_from(solved.line.len()).unwrap_or(u16::MAX);
        let mut prover = Resuming { search: self, observer, nodes_left: nodes };
        let extra_proofs =
            ExtraProofs { conceding_proof, proofs_found: Vec::new(), prover: &mut prover };
        let shorter = proof.shorter_line(extra_proofs, game, lower_bound, plies);
        let (plies, line) = shorter.unwrap_or((plies, line));
        let nodes = searched + (nodes - prover.nodes_left);
        Some(CountedPlies { plies, line, is_least: is_shortest && plies == lower_bound, nodes })
    }
}

/// A prover that continues the search which found the proof, with its table. After a search on several threads, this is
/// the table of the first thread from before the others joined.
struct Resuming<'a, G: Game> {
    search: &'a mut DfPn<G>,
    observer: &'a dyn SearchObserver<G::Move>,
    nodes_left: u64,
}

impl<G: Game> Prover<G> for Resuming<'_, G> {
    fn prove(&mut self, game: &mut G, plies: u16) -> Option<ProofOf<G>> {
        let descent: &mut dyn Resumable<G> = &mut self.search.descent;
        let nodes_before = descent.nodes();
        let max_nodes = nodes_before + self.nodes_left / MIN_PROVER_SEARCHES;
        descent.set_node_limit(max_nodes);
        let found = descent.search_within(game, plies, self.observer).ok().flatten();
        let proof = found.and_then(|plies| {
            let mut stats = Stats::default();
            descent.checked_proof(game, plies, max_nodes, self.observer, &mut stats).ok()
        });
        self.nodes_left = self.nodes_left.saturating_sub(descent.nodes() - nodes_before);
        proof
    }
}
