//! The length of a mate without futile interpositions, independent of the proof that was found.
//!
//! The measured length of the proof is an upper bound. The lower bound is the shortest mate of the *conceding game*:
//! there the defender makes no move that could be futile (`restricted.rs`). If the bounds differ, a proof with fewer
//! plies is sought (`shortening.rs`), and the measure also tries the moves of the shorter mate of the conceding game.
//! If a defence refutes them, the search looks for a proof of the position after it.

use kyokumen_game::Game;

use super::dfpn::DfPn;
use super::length::{ExtraProofs, Prover};
use super::limits::{Limits, MAX_PLIES, WhenHopeless};
use super::observer::SearchObserver;
use super::proof::ProofOf;
use super::restricted::{Restricted, Restrictions};
use super::search_result::{Resumable, SearchResult, shorten};
use super::team::SharedGame;
use super::verdict::{Stats, Stop, Verdict};

/// Minimum of the node limit, for proofs that took fewer nodes.
const MIN_NODES: u64 = 8_000;

/// The search for the lower bound gets the node limit divided by this number. The search, the check of its proof
/// and the searches for a shorter proof may each take as much.
const SEARCHES_PER_BOUND: u64 = 3;

/// Quarters of the remaining nodes that the search for a proof with fewer plies may take.
const QUARTERS_FOR_SHORTENING: u64 = 3;

/// A measure that also tries the moves of the shorter mate stops after `MIN_VISITS` visits, plus one for every
/// `NODES_PER_VISIT` nodes of the limit. The bound of a long mate is often far too low, so there can be very many
/// lengths to try.
const MIN_VISITS: u64 = 1 << 17;
const NODES_PER_VISIT: u64 = 128;

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

/// A lower bound of [`CountedPlies::plies`].
struct Bound {
    plies: u16,
    /// Whether it is proven. Otherwise a limit ended its search, and it only shows where to begin.
    is_least: bool,
    /// Nodes searched for it.
    nodes: u64,
}

impl<G: SharedGame> DfPn<G> {
    /// The length of the last proof, which must be about the position of `game`, without futile defences. Mates that
    /// are shorter by this count are sought, with up to about `nodes`, the nodes of the proof. `None` without a proof,
    /// or if there are too many positions to measure.
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
        first: &ProofOf<G>,
        conceding: &mut DfPn<Restricted<G>>,
        game: &mut G,
        nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Option<CountedPlies<G::Move>> {
        let first_length = first.without_futile(game);
        let at_most = first_length.as_ref().map_or(MAX_PLIES, |(plies, _)| *plies);
        let bound = Self::bound(conceding, game, at_most, nodes, observer);
        if let Some((plies, line)) =
            first_length.as_ref().filter(|(plies, _)| *plies <= bound.plies)
        {
            let Bound { is_least, nodes, .. } = bound;
            return Some(CountedPlies { plies: *plies, line: line.clone(), is_least, nodes });
        }
        let nodes_before = self.search().nodes();
        let left = nodes.saturating_sub(bound.nodes);
        let shortened = self.shortened(first, game, left / 4 * QUARTERS_FOR_SHORTENING, observer);
        let used = bound.nodes + self.search().nodes() - nodes_before;
        let length = shortened.as_ref().and_then(|proof| proof.without_futile(game));
        let lengths = [length, first_length].into_iter().flatten();
        let (plies, line) = lengths.min_by_key(|(plies, _)| *plies)?;
        let mut best = CountedPlies { plies, line, is_least: false, nodes: used };
        if let Some(conceding_proof) = conceding.proof() {
            let nodes_left = nodes.saturating_sub(used);
            let mut prover = Resuming { search: self.search(), observer, nodes_left };
            let max_visits = MIN_VISITS + nodes / NODES_PER_VISIT;
            for proof in [shortened.as_ref(), Some(first)].into_iter().flatten() {
                let extra_proofs =
                    ExtraProofs { conceding_proof, proofs_found: Vec::new(), prover: &mut prover };
                let range = bound.plies..best.plies;
                let shorter = proof.shorter_line(extra_proofs, game, range, max_visits);
                (best.plies, best.line) = shorter.unwrap_or((best.plies, best.line));
            }
            best.nodes += nodes_left - prover.nodes_left;
        }
        best.is_least = bound.is_least && best.plies == bound.plies;
        Some(best)
    }

    /// The lower bound for a mate of at most `at_most` plies: the length of the shortest mate of the conceding game, or
    /// `at_most` if that game has no shorter one.
    fn bound(
        conceding: &mut DfPn<Restricted<G>>,
        game: &G,
        at_most: u16,
        nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Bound {
        let Some(depth_plies) = at_most.checked_sub(G::PLIES_APART) else {
            return Bound { plies: at_most, is_least: true, nodes: 0 };
        };
        let nodes = nodes / SEARCHES_PER_BOUND;
        let limits = Limits { depth_plies, nodes, when_hopeless: WhenHopeless::GoOn };
        let mut bound = Restricted::new(game.clone(), Restrictions::conceding());
        let (solved, is_shortest) = conceding.solve_shortest(&mut bound, limits, observer);
        let (plies, is_least) = match solved.verdict {
            Verdict::Proven => (u16::try_from(solved.line.len()).unwrap_or(u16::MAX), is_shortest),
            Verdict::Disproven | Verdict::Unknown(Stop::Depth) => (at_most, true),
            Verdict::Unknown(_) => (0, false),
        };
        Bound { plies, is_least, nodes: solved.stats.nodes }
    }

    /// The search that found the last proof: of the team, or of one thread.
    fn search(&mut self) -> &mut dyn Resumable<G> {
        match &mut self.team {
            Some(team) => team,
            None => &mut self.descent,
        }
    }

    /// A proof with fewer plies than this one, found with at most `nodes`.
    fn shortened(
        &mut self,
        proof: &ProofOf<G>,
        game: &mut G,
        nodes: u64,
        observer: &dyn SearchObserver<G::Move>,
    ) -> Option<ProofOf<G>> {
        let line = proof.line(game);
        let plies = line.len();
        let search = self.search();
        let stats = Stats { nodes: search.nodes(), ..Stats::default() };
        let solved = SearchResult { verdict: Verdict::Proven, line, stats };
        let limits = Limits::new(0, nodes);
        let mut found = None;
        let (solved, _) = shorten(search, &mut found, game, limits, solved, observer);
        found.filter(|_| solved.line.len() < plies)
    }
}

/// A prover that continues the search which found the proof, with its table.
struct Resuming<'a, G: Game> {
    search: &'a mut dyn Resumable<G>,
    observer: &'a dyn SearchObserver<G::Move>,
    nodes_left: u64,
}

impl<G: Game> Prover<G> for Resuming<'_, G> {
    fn prove(&mut self, game: &mut G, plies: u16) -> Option<ProofOf<G>> {
        let search = &mut *self.search;
        let nodes_before = search.nodes();
        let max_nodes = nodes_before + self.nodes_left / MIN_PROVER_SEARCHES;
        search.set_node_limit(max_nodes);
        let found = search.search_within(game, plies, self.observer).ok().flatten();
        let proof = found.and_then(|plies| {
            let mut stats = Stats::default();
            search.checked_proof(game, plies, max_nodes, self.observer, &mut stats).ok()
        });
        self.nodes_left = self.nodes_left.saturating_sub(search.nodes() - nodes_before);
        proof
    }
}
