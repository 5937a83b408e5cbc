//! How long a proof really takes, and its line: the attacker's shortest against the defender's longest.
//!
//! The plies of a step are a bound only, since it was checked against a defender who may hold more than
//! he does. Here the positions that can really come about are measured: a question "within so many
//! plies?" is asked again and again with a few plies more (as in MTD: Plaat et al. 1996), and bounds answer most.

use std::cmp::Reverse;

use kyokumen_game::{Candidate, Game, Hand, Moves, NodeKind, Outcome};
use rustc_hash::FxHashMap;

use super::proof::{Proof, ProofOf};

/// Positions that are measured; beyond, the bound of the check has to do.
const MAX_MEASURED: usize = 1 << 16;

/// Plies of what has no end.
const NEVER: u16 = u16::MAX;

/// Plies within which an end is looked for where the proof has no move, as after a piece that was gained
/// is given back: all moves are tried.
const MAX_OFF_PROOF: u16 = 3;

impl<M: Copy + Eq, H: Hand> Proof<M, H> {
    /// The moves of a position that this is the proof of, to the end of the game: at every turn the
    /// attacker makes the move of the proof that ends it soonest, the defender the one that ends it latest.
    pub fn line<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Vec<M> {
        match self.shortest_step(game.board_key(), game.hand()) {
            Some(step) if step.plies == 1 && game.node_kind() == NodeKind::Or => vec![step.m],
            _ => LengthMeasure::new(self, false).line(game),
        }
    }

    /// Plies of the proof if futile defences, with their [replies](Game::futile_replies), do not count;
    /// `None` if there is too much to measure.
    pub fn plies_without_futile<G: Game<Move = M, Hand = H>>(&self, game: &mut G) -> Option<u16> {
        let mut measure = LengthMeasure::<G>::new(self, true);
        let root = measure.node(game, NEVER);
        let plies = measure.plies(game, root);
        measure.is_whole.then_some(plies)
    }
}

/// The positions met, with what is known of their lengths.
struct LengthMeasure<'a, G: Game> {
    proof: &'a ProofOf<G>,
    skips_futile: bool,
    /// Boards and hands of the attacker: what the defender holds is the rest.
    ids: FxHashMap<(u64, G::Hand), usize>,
    nodes: Vec<Node<G::Move>>,
    /// Nothing was left unmeasured.
    is_whole: bool,
}

struct Node<M> {
    at_least: u16,
    at_most: u16,
    /// The attacker is to move, and the proof has no move for him.
    is_off_proof: bool,
    edges: Option<Vec<Edge<M>>>,
}

/// A move and the position it leads to.
#[derive(Clone, Copy)]
struct Edge<M> {
    m: M,
    to: usize,
}

impl<'a, G: Game> LengthMeasure<'a, G> {
    fn new(proof: &'a ProofOf<G>, skips_futile: bool) -> Self {
        Self { proof, skips_futile, ids: FxHashMap::default(), nodes: Vec::new(), is_whole: true }
    }

    fn line(&mut self, game: &mut G) -> Vec<G::Move> {
        let mut line = Vec::new();
        let mut undos = Vec::new();
        let mut node = self.node(game, NEVER);
        while let Some(Edge { m, to }) = self.next_of_line(game, node) {
            undos.push((m, game.make(m)));
            line.push(m);
            node = to;
        }
        for (m, undo) in undos.into_iter().rev() {
            game.unmake(m, undo);
        }
        line
    }

    /// The first of the best moves, `None` at the end.
    fn next_of_line(&mut self, game: &mut G, node: usize) -> Option<Edge<G::Move>> {
        let plies = self.plies(game, node);
        let left = plies.checked_sub(1)?;
        self.expand(game, node);
        let kind = game.node_kind();
        for index in 0..self.edges(node).len() {
            let edge = self.edges(node)[index];
            let is_best = match kind {
                NodeKind::Or => self.after(game, edge, left),
                NodeKind::And => left == 0 || !self.after(game, edge, left - 1),
            };
            if is_best {
                return Some(edge);
            }
        }
        // Only where there was no room to measure: the edges stand in the order of their bounds.
        self.edges(node).first().copied()
    }

    /// Plies to the end.
    fn plies(&mut self, game: &mut G, node: usize) -> u16 {
        loop {
            let at_least = self.nodes[node].at_least;
            if self.within(game, node, at_least) {
                return at_least;
            }
        }
    }

    /// Whether the end comes within so many plies, `game` standing at `node`.
    fn within(&mut self, game: &mut G, node: usize, plies: u16) -> bool {
        let &Node { at_least, at_most, is_off_proof, .. } = &self.nodes[node];
        if at_most <= plies || at_least > plies {
            return at_most <= plies;
        }
        if is_off_proof && plies > MAX_OFF_PROOF {
            let within = self.within(game, node, MAX_OFF_PROOF);
            if !within {
                self.nodes[node].at_least = NEVER;
            }
            return within;
        }
        if self.nodes[node].edges.is_none() && self.nodes.len() >= MAX_MEASURED {
            self.is_whole = false;
            self.nodes[node].at_least = self.nodes[node].at_most;
            return false;
        }
        self.expand(game, node);
        let longer = match game.node_kind() {
            NodeKind::Or => self.attacks_beyond(game, node, plies),
            NodeKind::And => self.defences_beyond(game, node, plies),
        };
        let node = &mut self.nodes[node];
        match longer {
            Some(at_least) => node.at_least = at_least.max(plies + 1),
            None => node.at_most = plies,
        }
        longer.is_none()
    }

    /// Whether the end comes within so many plies after a move.
    fn after(&mut self, game: &mut G, edge: Edge<G::Move>, plies: u16) -> bool {
        let undo = game.make(edge.m);
        let within = self.within(game, edge.to, plies);
        game.unmake(edge.m, undo);
        within
    }

    /// What an OR node takes at least if that is more than `plies`.
    fn attacks_beyond(&mut self, game: &mut G, node: usize, plies: u16) -> Option<u16> {
        let mut at_least = NEVER;
        for index in 0..self.edges(node).len() {
            let edge = self.edges(node)[index];
            if plies > 0 && self.after(game, edge, plies - 1) {
                return None;
            }
            at_least = at_least.min(self.nodes[edge.to].at_least.saturating_add(1));
        }
        Some(at_least)
    }

    /// What an AND node takes at least if that is more than `plies`.
    fn defences_beyond(&mut self, game: &mut G, node: usize, plies: u16) -> Option<u16> {
        for index in 0..self.edges(node).len() {
            let edge = self.edges(node)[index];
            if plies > 0 && self.after(game, edge, plies - 1) {
                continue;
            }
            let at_least = self.nodes[edge.to].at_least.saturating_add(1);
            let futile = self.skips_futile.then(|| self.futile_beyond(game, edge.m, plies));
            let at_least = futile.map_or(Some(at_least), |futile| Some(at_least.min(futile?)));
            if at_least.is_some() {
                return at_least;
            }
        }
        None
    }

    /// What is left at least after a defence and a reply that makes it futile, the piece gained given
    /// back, if that is more than `plies`.
    fn futile_beyond(&mut self, game: &mut G, defence: G::Move, plies: u16) -> Option<u16> {
        let hand = game.hand();
        let mut at_least = NEVER;
        for reply in game.futile_replies(defence) {
            let first = game.make(defence);
            let second = game.make(reply);
            let gained = game.hand();
            game.set_hand(hand);
            let node = self.node(game, NEVER);
            let within = self.within(game, node, plies);
            game.set_hand(gained);
            game.unmake(reply, second);
            game.unmake(defence, first);
            if within {
                return None;
            }
            at_least = at_least.min(self.nodes[node].at_least);
        }
        Some(at_least)
    }

    fn edges(&self, node: usize) -> &[Edge<G::Move>] {
        self.nodes[node].edges.as_deref().unwrap_or_default()
    }

    fn expand(&mut self, game: &mut G, node: usize) {
        if self.nodes[node].edges.is_some() {
            return;
        }
        let edges = match game.node_kind() {
            NodeKind::Or if self.nodes[node].is_off_proof => self.all_moves(game),
            NodeKind::Or => self.attacks(game),
            NodeKind::And => self.defences(game),
        };
        self.nodes[node].edges = Some(edges);
    }

    /// The moves of the proof, those with the least bound first.
    fn attacks(&mut self, game: &mut G) -> Vec<Edge<G::Move>> {
        let mut steps: Vec<_> = self.proof.steps(game.board_key(), game.hand()).collect();
        steps.sort_by_key(|step| step.plies);
        let mut edges: Vec<Edge<G::Move>> = Vec::with_capacity(steps.len());
        for step in steps {
            if edges.iter().all(|edge| edge.m != step.m) {
                let undo = game.make(step.m);
                let to = self.node(game, step.plies - 1);
                game.unmake(step.m, undo);
                edges.push(Edge { m: step.m, to });
            }
        }
        edges
    }

    /// All moves of the defender, those with the largest bound first.
    fn defences(&mut self, game: &mut G) -> Vec<Edge<G::Move>> {
        let mut edges = self.all_moves(game);
        edges.sort_by_key(|edge| Reverse(self.nodes[edge.to].at_most));
        edges
    }

    fn all_moves(&mut self, game: &mut G) -> Vec<Edge<G::Move>> {
        let mut moves = Vec::new();
        game.expand(&mut moves);
        let mut edges = Vec::with_capacity(moves.len());
        for Candidate { m, .. } in moves {
            let undo = game.make(m);
            let to = self.node(game, NEVER);
            game.unmake(m, undo);
            edges.push(Edge { m, to });
        }
        edges
    }

    /// The node of a position from which the end is known to come within `at_most` plies.
    fn node(&mut self, game: &mut G, at_most: u16) -> usize {
        let position = (game.board_key(), game.hand());
        if let Some(&node) = self.ids.get(&position) {
            let node_at_most = &mut self.nodes[node].at_most;
            *node_at_most = at_most.min(*node_at_most);
            return node;
        }
        let mut node = Node { at_least: 0, at_most, is_off_proof: false, edges: None };
        if game.node_kind() == NodeKind::Or {
            match self.proof.shortest_step(position.0, position.1) {
                Some(step) => (node.at_least, node.at_most) = (1, step.plies),
                // Some games end in the attacker's favour when he is to move.
                None if matches!(game.plain_moves(), Moves::Over(Outcome::Reached)) => {
                    node.at_most = 0;
                }
                None => (node.at_least, node.is_off_proof) = (1, true),
            }
        }
        self.nodes.push(node);
        self.ids.insert(position, self.nodes.len() - 1);
        self.nodes.len() - 1
    }
}
