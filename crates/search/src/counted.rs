//! The length of a mate as problems count it, whichever proof of it was found, as far as that can be known.
//!
//! A proof bounds it from above; from below the game does in which the defender leaves out what might be futile. Where
//! the bounds differ, the moves of the shorter mate are tried as well, and where they meet a defence that they do not
//! answer, the search is asked again.

use kyokumen_game::Game;

use super::dfpn::DfPn;
use super::length::{Beyond, Prover};
use super::limits::{Limits, WhenHopeless};
use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::restricted::{Restricted, Restrictions};
use super::search_result::Resumable;
use super::verdict::{Stats, Stop, Verdict};

/// Nodes that are allowed even if the proof took fewer.
const LEAST_NODES: u64 = 4_000;

/// The search for a bound, the checking of its proof and the search for a shorter one take at most so many times the
/// nodes that each of them is allowed.
const SEARCHES_A_BOUND: u64 = 3;

/// A question takes at most so small a part of the nodes that are left.
const QUESTIONS: u64 = 16;

/// A length without futile defences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedPlies {
    /// Plies within which the attacker reaches his goal if futile defences and their replies do not count.
    pub plies: u16,
    /// Whether it is proven that he does not reach it in fewer.
    pub is_least: bool,
    /// Nodes that were searched to find out.
    pub nodes: u64,
}

impl<G: Game + Clone> DfPn<G> {
    /// Plies of the proof that was found last, of this position, if futile defences do not count; shorter mates by this
    /// count are looked for within about as many nodes again as the `nodes` that it took. `None` without a proof, or if
    /// there is too much to measure.
    pub(super) fn counted_plies(
        &mut self,
        conceding: &mut DfPn<Restricted<G>>,
        game: &mut G,
        nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Option<CountedPlies> {
        let proof = self.proof.take()?;
        observer.measures(true);
        let counted = self.count(&proof, conceding, game, nodes.max(LEAST_NODES), observer);
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
    ) -> Option<CountedPlies> {
        let plies = proof.plies_without_futile(game)?;
        let Some(fewer) = plies.checked_sub(G::PLIES_APART) else {
            return Some(CountedPlies { plies, is_least: true, nodes: 0 });
        };
        let limits = Limits {
            depth_plies: fewer,
            nodes: nodes / SEARCHES_A_BOUND,
            when_hopeless: WhenHopeless::GoOn,
        };
        let mut bound = Restricted::new(game.clone(), Restrictions::conceding());
        let (solved, is_shortest) = conceding.solve_shortest(&mut bound, limits, observer);
        let searched = solved.stats.nodes;
        let Some(hints) = conceding.proof() else {
            let is_least =
                matches!(solved.verdict, Verdict::Disproven | Verdict::Unknown(Stop::Depth));
            return Some(CountedPlies { plies, is_least, nodes: searched });
        };
        let least = u16::try_from(solved.line.len()).unwrap_or(u16::MAX);
        let mut prover = Resuming { search: self, observer, nodes_left: nodes };
        let beyond = Beyond { hints, found: Vec::new(), prover: &mut prover };
        let shorter = proof.shorter_beyond(beyond, game, least, plies);
        let plies = shorter.unwrap_or(plies);
        let nodes = searched + (nodes - prover.nodes_left);
        Some(CountedPlies { plies, is_least: is_shortest && plies == least, nodes })
    }
}

/// Asks the search that found a proof, with what its table knows: after a search on several threads that is what the
/// first one knew when it called the others.
struct Resuming<'a, G: Game> {
    search: &'a mut DfPn<G>,
    observer: &'a dyn SearchObserver<G::Move>,
    nodes_left: u64,
}

impl<G: Game> Prover<G> for Resuming<'_, G> {
    fn prove(&mut self, game: &mut G, plies: u16) -> Option<ProofOf<G>> {
        let descent: &mut dyn Resumable<G> = &mut self.search.descent;
        let before = descent.nodes();
        let most_nodes = before + self.nodes_left / QUESTIONS;
        descent.allow_nodes(most_nodes);
        let found = descent.search_within(game, plies, self.observer).ok().flatten();
        let proof = found.and_then(|plies| {
            let mut stats = Stats::default();
            descent.checked_proof(game, plies, most_nodes, self.observer, &mut stats).ok()
        });
        self.nodes_left = self.nodes_left.saturating_sub(descent.nodes() - before);
        proof
    }
}
