//! The length of a proof: plies from a position to the end of the game, with the hands that really occur.
//!
//! The plies of a proof step are only an upper bound, because the step may have been checked against a defender with
//! more pieces in hand. [`LengthMeasure`], called *the measure* here, visits the positions that can really arise. It
//! asks "does the game end within `n` plies?" with growing `n` (as in MTD: Plaat et al. 1996). Each node keeps a lower
//! and an upper bound, and these answer most of the queries.
//!
//! # Futile interpositions
//! Problems do not count an interposition that only delays the mate (無駄合い). `docs/tsume.md` has the rule. In this
//! module:
//!
//! - An *exchange* is an interposition and a reply that captures it ([`Game::futile_replies`]). After an exchange the
//!   captured piece is given back to the defender, so the attacker has the same hand as before. An exchange takes no
//!   plies.
//! - A defence is *futile within `n` plies* if one of its exchanges leads to a position from which the game ends within
//!   `n` plies.
//! - A defence is also futile if, after an exchange, the attacker can force a *return* to a position that was on the
//!   path before the exchange (復元型の無駄合). In the real game the interposition would only cost the defender a piece.
//!
//! A success by a return *depends* on the position to which play returns. It is valid only while that position stays on
//! the path, like a disproof by repetition in Kishimoto and Müller (2004). So it is stored with its dependencies.
//!
//! # Off the proof
//! After an exchange the attacker may lack a piece that the proof needs. Such a node is *off the proof*: the proof has
//! no step for its board and hand. In a query for at most [`MAX_PLIES_OFF_PROOF`] plies, the measure then tries all
//! moves. In a query for more plies it tries only:
//!
//! - the moves of [`ExtraProofs`] for this board and hand,
//! - in a search for a return, the moves that the proof or an extra proof has for this board with another hand.
//!
//! With [`ExtraProofs`], a query for at most [`MAX_PLIES_OFF_PROOF`] plies tries all moves of nodes on the proof, too.

mod edges;

use std::rc::Rc;

use kyokumen_game::{Game, NodeKind};
use rustc_hash::FxHashMap;

use super::proof::ProofOf;

/// Nodes that are measured, about 400 bytes each. Further nodes keep the upper bound of the proof check as their
/// length.
const MAX_MEASURED_NODES: usize = 1 << 20;

/// Queries in searches for a return. If there are more, the measure is incomplete.
const MAX_RETURN_QUERIES: u64 = 1 << 20;

/// The length of a node from which the game is not known to end.
const NEVER: u16 = u16::MAX;

/// Moves outside the proofs are tried only in queries for at most this many plies.
const MAX_PLIES_OFF_PROOF: u16 = 3;

/// The moves that count as plies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    /// Every move.
    All,
    /// All moves except futile defences and the replies that capture them. Returns make no defence futile.
    WithoutFutile,
    /// As [`Self::WithoutFutile`], but a return makes a defence futile, too.
    WithoutFutileOrReturns,
}

/// Proofs other than the measured one. Their moves may give a shorter mate.
pub(super) struct ExtraProofs<'a, G: Game> {
    /// A proof of the conceding game (`restricted.rs`), where the defender has fewer moves. Its moves are tried; its
    /// plies are not bounds.
    pub(super) conceding_proof: &'a ProofOf<G>,
    /// The proofs that `prover` has found.
    pub(super) proofs_found: Vec<ProofOf<G>>,
    /// Searches for proofs of positions that have none.
    pub(super) prover: &'a mut dyn Prover<G>,
}

/// Searches for proofs of single positions.
pub(super) trait Prover<G: Game> {
    /// A proof of at most `plies` for a position with the attacker to move; `None` if none was found.
    fn prove(&mut self, game: &mut G, plies: u16) -> Option<ProofOf<G>>;
}

/// Measures the lengths of positions and keeps the bounds found. In all methods with `game` and `node` or `root`,
/// `game` is at the position of that node.
pub(super) struct LengthMeasure<'a, G: Game> {
    proof: &'a ProofOf<G>,
    /// Present if mates shorter than the proof are sought.
    extra_proofs: Option<ExtraProofs<'a, G>>,
    counting: Counting,
    /// Indices into `nodes` by board key, hand of the attacker, and `is_returning`. The defender holds the other
    /// pieces. A search for a return has separate nodes, because its bounds are different.
    ids: FxHashMap<(u64, G::Hand, bool), usize>,
    nodes: Vec<Node<G>>,
    /// No limit of the measure was reached.
    is_complete: bool,
    /// Nodes from the root to the current one.
    path: Vec<usize>,
    /// For each exchange on the path: the number of nodes on the path up to and including the one where the defender
    /// interposes.
    exchange_starts: Vec<usize>,
    /// Number of visits to nodes. It distinguishes repeated visits to a node.
    pub(super) visits: u64,
    /// Whether a search for a return is running, see [`Self::return_within`].
    is_returning: bool,
    /// Queries made while `is_returning`.
    return_queries: u64,
}

struct Node<G: Game> {
    /// Board key and hand of the attacker.
    position: (u64, G::Hand),
    /// Lower bound of the plies to the end.
    at_least: u16,
    /// Upper bound of the plies to the end.
    at_most: u16,
    /// The attacker is to move, and no step of the proof fits board and hand.
    is_off_proof: bool,
    /// OR nodes: number of leading `edges` that every query tries. The others are tried in queries for at most
    /// [`MAX_PLIES_OFF_PROOF`] plies.
    unlimited_edges: usize,
    /// `None` before the node is expanded.
    edges: Option<Vec<Edge<G::Move>>>,
    /// If the node is on the path: its first index there, and the number of that visit.
    on_path: Option<(usize, u64)>,
    /// The game ends within these plies as long as the dependencies hold.
    conditional: Option<(u16, Dependencies)>,
}

/// Nodes on the path to which play returns, each with the number of its visit. Usually empty.
type Dependencies = Vec<(usize, u64)>;

/// The result of the query "does the game end within `n` plies?".
///
/// `Ok`: it does, as long as these nodes stay on the path. `Err`: it does not, and takes at least this many plies.
type EndsWithin = Result<Dependencies, u16>;

/// The result of such a query as far as it follows from the bounds and the path.
enum Cached {
    Within(Dependencies),
    NotWithin,
    Open,
}

/// A move and the node it leads to.
#[derive(Clone)]
struct Edge<M> {
    m: M,
    to: usize,
    /// For each exchange that begins with this move: the reply, and the node after the exchange.
    /// `None` before it is needed.
    exchanges: Option<Rc<[(M, usize)]>>,
}

impl<'a, G: Game> LengthMeasure<'a, G> {
    pub(super) fn new(
        proof: &'a ProofOf<G>,
        extra_proofs: Option<ExtraProofs<'a, G>>,
        counting: Counting,
    ) -> Self {
        Self {
            proof,
            extra_proofs,
            counting,
            ids: FxHashMap::default(),
            nodes: Vec::new(),
            is_complete: true,
            path: Vec::new(),
            exchange_starts: Vec::new(),
            visits: 0,
            is_returning: false,
            return_queries: 0,
        }
    }

    /// The node of the position that `game` is at.
    pub(super) fn root(&mut self, game: &mut G) -> usize {
        self.node(game, NEVER)
    }

    /// The best play of both sides from `node` to the end.
    pub(super) fn line(&mut self, game: &mut G, mut node: usize) -> Vec<G::Move> {
        let mut line = Vec::new();
        let mut undos = Vec::new();
        while let Some((m, to)) = self.next_of_line(game, node) {
            self.enter(node);
            undos.push((m, game.make(m)));
            line.push(m);
            node = to;
        }
        for (m, undo) in undos.into_iter().rev() {
            game.unmake(m, undo);
            self.leave();
        }
        line
    }

    /// Whether the results are exact: no limit of the measure was reached.
    pub(super) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The first best move and its node; `None` at the end of the game.
    fn next_of_line(&mut self, game: &mut G, node: usize) -> Option<(G::Move, usize)> {
        let plies = self.plies(game, node);
        let left = plies.checked_sub(1)?;
        self.expand(game, node);
        self.enter(node);
        let best = self.best_move(game, node, left);
        self.leave();
        // Fallback if a limit of the measure was reached: the first edge has the best bound.
        best.or_else(|| self.edges(node).first().map(|edge| (edge.m, edge.to)))
    }

    /// The first best move of `node`, whose length is `left` + 1 plies.
    fn best_move(&mut self, game: &mut G, node: usize, left: u16) -> Option<(G::Move, usize)> {
        let kind = game.node_kind();
        for index in 0..self.edges(node).len() {
            let (m, to) = self.edge(node, index);
            let is_best = match kind {
                NodeKind::Or => self.within_after(game, (m, to), left).is_some(),
                NodeKind::And => {
                    let is_longest =
                        left == 0 || self.within_after(game, (m, to), left - 1).is_none();
                    // The length of a node is at least that of every defence that counts. So a longer one is futile.
                    let counts = self.counting == Counting::All
                        || self.within_after(game, (m, to), left).is_some();
                    is_longest && counts
                }
            };
            if is_best {
                return Some((m, to));
            }
        }
        None
    }

    /// The defences of `root` that last longer than its length, which makes them futile.
    pub(super) fn futile_defences(&mut self, game: &mut G, root: usize) -> Vec<G::Move> {
        let plies = self.plies(game, root);
        self.expand(game, root);
        self.enter(root);
        let mut futile = Vec::new();
        for index in 0..self.edges(root).len() {
            let (m, to) = self.edge(root, index);
            if plies == 0 || self.within_after(game, (m, to), plies - 1).is_none() {
                futile.push(m);
            }
        }
        self.leave();
        futile
    }

    /// The length of `node`: plies to the end.
    pub(super) fn plies(&mut self, game: &mut G, node: usize) -> u16 {
        loop {
            let at_least = self.nodes[node].at_least;
            let must_stop = at_least == NEVER || self.return_queries > MAX_RETURN_QUERIES;
            if must_stop || self.within(game, node, at_least).is_some() {
                return at_least;
            }
        }
    }

    /// Whether the game ends within `plies` from `root`. Call this with growing `plies`.
    pub(super) fn takes_at_most(&mut self, game: &mut G, root: usize, plies: u16) -> bool {
        self.return_queries <= MAX_RETURN_QUERIES && self.within(game, root, plies).is_some()
    }

    /// Whether the game ends within `plies` from `node`. `Some` with the dependencies if it does.
    fn within(&mut self, game: &mut G, node: usize, plies: u16) -> Option<Dependencies> {
        match self.cached(node, plies) {
            Cached::Within(dependencies) => return Some(dependencies),
            Cached::NotWithin => return None,
            Cached::Open => {}
        }
        if self.nodes[node].edges.is_none() && self.nodes.len() >= MAX_MEASURED_NODES {
            self.is_complete = false;
            self.nodes[node].at_least = self.nodes[node].at_most;
            return None;
        }
        if self.has_only_limited_edges(game, node) && plies > MAX_PLIES_OFF_PROOF {
            let within = self.within(game, node, MAX_PLIES_OFF_PROOF);
            if within.is_none() {
                if self.try_to_prove(game, node, plies) {
                    return Some(Dependencies::new());
                }
                // With more plies the prover may succeed.
                let has_prover = self.extra_proofs.is_some();
                self.nodes[node].at_least = if has_prover { plies + 1 } else { NEVER };
            }
            return within;
        }
        if self.is_returning {
            self.return_queries += 1;
            if self.return_queries > MAX_RETURN_QUERIES {
                self.is_complete = false;
                return None;
            }
        }
        self.expand(game, node);
        self.enter(node);
        let ends = match game.node_kind() {
            NodeKind::Or => self.attacks_within(game, node, plies),
            NodeKind::And => self.defences_within(game, node, plies),
        };
        self.leave();
        match ends {
            Err(_) if self.try_to_prove(game, node, plies) => Some(Dependencies::new()),
            Err(at_least) => {
                self.nodes[node].at_least = at_least.max(plies + 1);
                None
            }
            Ok(mut dependencies) => {
                dependencies.retain(|&(ancestor, _)| ancestor != node);
                let node = &mut self.nodes[node];
                if dependencies.is_empty() {
                    node.at_most = plies;
                } else {
                    node.conditional = Some((plies, dependencies.clone()));
                }
                Some(dependencies)
            }
        }
    }

    /// Whether the node is off the proof and none of its moves is tried beyond [`MAX_PLIES_OFF_PROOF`].
    fn has_only_limited_edges(&mut self, game: &mut G, node: usize) -> bool {
        if !self.nodes[node].is_off_proof {
            return false;
        }
        self.expand(game, node);
        self.nodes[node].unlimited_edges == 0
    }

    /// Asks the prover for a proof of at most `plies` for an OR node for which the conceding proof has no move. Stores
    /// the proof and updates the node. `false` if there is no prover or no proof.
    fn try_to_prove(&mut self, game: &mut G, node: usize, plies: u16) -> bool {
        let (key, hand) = self.nodes[node].position;
        let Some(extra_proofs) = self.extra_proofs.as_mut().filter(|_| !self.is_returning) else {
            return false;
        };
        let conceding_proof = extra_proofs.conceding_proof;
        if game.node_kind() == NodeKind::And || conceding_proof.steps(key, hand).next().is_some() {
            return false;
        }
        let Some(proof) = extra_proofs.prover.prove(game, plies) else { return false };
        let Some(step) = proof.shortest_step(key, hand) else { return false };
        extra_proofs.proofs_found.push(proof);
        let node = &mut self.nodes[node];
        (node.at_most, node.is_off_proof) = (step.plies, false);
        // The lower bound is too high if an earlier attempt failed only because the node limit was reached.
        node.at_least = node.at_least.min(step.plies);
        // The node is expanded again, with the moves of the new proof. A node that is also higher on the path keeps its
        // edges, because a caller iterates over them.
        if node.on_path.is_none() {
            node.edges = None;
        }
        true
    }

    /// The result of the query for `node`, if the bounds or the path give it.
    fn cached(&self, node: usize, plies: u16) -> Cached {
        let Node { at_least, at_most, conditional, .. } = &self.nodes[node];
        if *at_most <= plies {
            return Cached::Within(Dependencies::new());
        }
        let exchange_start = self.exchange_starts.last().copied().filter(|_| self.is_returning);
        if let Some(visit) = exchange_start.and_then(|start| self.visit_before(node, start)) {
            return Cached::Within(vec![visit]);
        }
        if *at_least > plies {
            return Cached::NotWithin;
        }
        let Some((_, dependencies)) = conditional.as_ref().filter(|&&(within, _)| within <= plies)
        else {
            return Cached::Open;
        };
        let holds = |&(ancestor, visit): &(usize, u64)| {
            let is_before = |index| exchange_start.is_none_or(|start| index < start);
            let on_path = self.nodes[ancestor].on_path;
            on_path.is_some_and(|(index, number)| number == visit && is_before(index))
        };
        if dependencies.iter().all(holds) {
            Cached::Within(dependencies.clone())
        } else {
            Cached::Open
        }
    }

    /// If the position of `node` is on the path before the exchange: its node there, and the number of the visit.
    fn visit_before(&self, node: usize, exchange_start: usize) -> Option<(usize, u64)> {
        let visit_to = |node: usize| {
            let on_path = self.nodes[node].on_path.filter(|&(index, _)| index < exchange_start);
            on_path.map(|(_, visit)| (node, visit))
        };
        let (key, hand) = self.nodes[node].position;
        let before = self.ids.get(&(key, hand, false)).and_then(|&node| visit_to(node));
        before.or_else(|| visit_to(node))
    }

    fn enter(&mut self, node: usize) {
        self.visits += 1;
        // A node that is on the path twice keeps its first index.
        if self.nodes[node].on_path.is_none() {
            self.nodes[node].on_path = Some((self.path.len(), self.visits));
        }
        self.path.push(node);
    }

    fn leave(&mut self) {
        let Some(node) = self.path.pop() else { return };
        if self.nodes[node].on_path.is_some_and(|(index, _)| index == self.path.len()) {
            self.nodes[node].on_path = None;
        }
    }

    /// As [`Self::within`], for the node `to` after the move `m`.
    fn within_after(
        &mut self,
        game: &mut G,
        (m, to): (G::Move, usize),
        plies: u16,
    ) -> Option<Dependencies> {
        match self.cached(to, plies) {
            Cached::Within(dependencies) => return Some(dependencies),
            Cached::NotWithin => return None,
            Cached::Open => {}
        }
        let undo = game.make(m);
        let within = self.within(game, to, plies);
        game.unmake(m, undo);
        within
    }

    /// Whether the game ends within `plies` from an OR node, by one of its moves.
    fn attacks_within(&mut self, game: &mut G, node: usize, plies: u16) -> EndsWithin {
        let mut at_least = NEVER;
        for index in 0..self.edges(node).len() {
            let (m, to) = self.edge(node, index);
            let is_unlimited = index < self.nodes[node].unlimited_edges;
            if !is_unlimited && plies > MAX_PLIES_OFF_PROOF {
                break;
            }
            if plies > 0
                && let Some(dependencies) = self.within_after(game, (m, to), plies - 1)
            {
                return Ok(dependencies);
            }
            at_least = at_least.min(self.lower_bound(to, plies).saturating_add(1));
        }
        Err(at_least)
    }

    /// Whether the game ends within `plies` from an AND node, against all of its moves that count.
    fn defences_within(&mut self, game: &mut G, node: usize, plies: u16) -> EndsWithin {
        let mut dependencies = Dependencies::new();
        for index in 0..self.edges(node).len() {
            let (m, to) = self.edge(node, index);
            let mut ends = match plies.checked_sub(1).map(|left| self.cached(to, left)) {
                Some(Cached::Within(dependencies)) => Ok(dependencies),
                _ => Err(NEVER),
            };
            // Exchanges first: after one, play may return at once. Then the defence needs no search.
            if ends.is_err() && self.counting != Counting::All {
                ends = self.futile_within(game, (node, index), plies);
            }
            if let Err(futile_at_least) = ends {
                let within =
                    plies.checked_sub(1).and_then(|left| self.within_after(game, (m, to), left));
                let at_least = self.lower_bound(to, plies).saturating_add(1);
                ends = within.ok_or(at_least.min(futile_at_least));
            }
            dependencies.extend(ends?);
        }
        dependencies.sort_unstable();
        dependencies.dedup();
        Ok(dependencies)
    }

    /// A lower bound for a child, after a query for `plies` from its parent failed. In a search for a return the lower
    /// bounds of nodes are not used.
    fn lower_bound(&self, node: usize, plies: u16) -> u16 {
        if self.is_returning { plies } else { self.nodes[node].at_least }
    }

    /// Whether the defence at `index` of an AND node is futile within `plies`. `Err` has the lower bound of the plies
    /// after its exchanges.
    fn futile_within(
        &mut self,
        game: &mut G,
        (node, index): (usize, usize),
        plies: u16,
    ) -> EndsWithin {
        let defence = self.edges(node)[index].m;
        let mut at_least = NEVER;
        for (reply, to) in self.exchanges(game, (node, index)).iter().copied() {
            let exchange = (defence, reply);
            let within = match self.cached(to, plies) {
                Cached::Within(dependencies) => Some(dependencies),
                Cached::NotWithin => None,
                Cached::Open => self.within_after_exchange(game, exchange, to, plies),
            };
            if let Some(dependencies) = within {
                return Ok(dependencies);
            }
            at_least = at_least.min(self.lower_bound(to, plies));
            if self.counting == Counting::WithoutFutileOrReturns && !self.is_returning {
                let dependencies = self.return_within(game, exchange, plies);
                // Without dependencies play never returns, so this is no success of a search for a return.
                if let Some(dependencies) = dependencies.filter(|on| !on.is_empty()) {
                    return Ok(dependencies);
                }
                at_least = plies + 1;
            }
        }
        Err(at_least)
    }

    /// As [`Self::within`], for the node `to` after an exchange.
    fn within_after_exchange(
        &mut self,
        game: &mut G,
        (defence, reply): (G::Move, G::Move),
        to: usize,
        plies: u16,
    ) -> Option<Dependencies> {
        self.with_exchange(game, (defence, reply), |measure, game| measure.within(game, to, plies))
    }

    /// Searches for a return: whether, after an exchange, the attacker can force that every line of play returns to the
    /// path before the exchange, or ends the game, within `plies`. The dependencies are the nodes to which play
    /// returns. Without any, every line ends the game, and no return was found.
    fn return_within(
        &mut self,
        game: &mut G,
        exchange: (G::Move, G::Move),
        plies: u16,
    ) -> Option<Dependencies> {
        self.is_returning = true;
        let within = self.with_exchange(game, exchange, |measure, game| {
            let to = measure.node(game, NEVER);
            measure.within(game, to, plies)
        });
        self.is_returning = false;
        within
    }

    /// Calls `query` with `game` after an exchange at the last node of the path. For the call, the captured piece is
    /// given back to the defender.
    fn with_exchange<T>(
        &mut self,
        game: &mut G,
        (defence, reply): (G::Move, G::Move),
        query: impl FnOnce(&mut Self, &mut G) -> T,
    ) -> T {
        let hand_before = game.hand();
        let undo_defence = game.make(defence);
        let undo_reply = game.make(reply);
        let hand_after = game.hand();
        game.set_hand(hand_before);
        self.exchange_starts.push(self.path.len());
        let result = query(self, game);
        self.exchange_starts.pop();
        game.set_hand(hand_after);
        game.unmake(reply, undo_reply);
        game.unmake(defence, undo_defence);
        result
    }

    /// The exchanges that begin with the defence at `index`, see [`Edge::exchanges`].
    fn exchanges(&mut self, game: &mut G, (node, index): (usize, usize)) -> Rc<[(G::Move, usize)]> {
        let Edge { m: defence, exchanges, .. } = &self.edges(node)[index];
        let defence = *defence;
        if let Some(exchanges) = exchanges {
            return Rc::clone(exchanges);
        }
        let mut exchanges = Vec::new();
        for reply in game.futile_replies(defence) {
            let to = self
                .with_exchange(game, (defence, reply), |measure, game| measure.node(game, NEVER));
            exchanges.push((reply, to));
        }
        let exchanges: Rc<[(G::Move, usize)]> = exchanges.into();
        if let Some(edges) = &mut self.nodes[node].edges {
            edges[index].exchanges = Some(Rc::clone(&exchanges));
        }
        exchanges
    }

    fn edges(&self, node: usize) -> &[Edge<G::Move>] {
        self.nodes[node].edges.as_deref().unwrap_or_default()
    }

    fn edge(&self, node: usize, index: usize) -> (G::Move, usize) {
        let Edge { m, to, .. } = self.edges(node)[index];
        (m, to)
    }
}
