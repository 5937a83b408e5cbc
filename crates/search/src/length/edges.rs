//! The nodes of a measure and the edges between them.

use std::cmp::Reverse;
use std::iter;

use kyokumen_game::{Candidate, Expansion, Game, NodeKind, Outcome};

use super::{Edge, ExtraProofs, LengthMeasure, NEVER, Node};
use crate::proof::ProofOf;

impl<G: Game> LengthMeasure<'_, G> {
    /// Fills in the edges of `node`, unless they are known. `game` is at its position.
    pub(super) fn expand(&mut self, game: &mut G, node: usize) {
        if self.nodes[node].edges.is_some() {
            return;
        }
        let edges = match game.node_kind() {
            NodeKind::Or => {
                let mut edges = self.attacks(game);
                if self.nodes[node].is_off_proof || self.extra_proofs.is_some() {
                    self.add_other_attacks(game, &mut edges, node);
                } else {
                    self.nodes[node].unlimited_edges = edges.len();
                }
                edges
            }
            NodeKind::And => self.defences(game),
        };
        self.nodes[node].edges = Some(edges);
    }

    /// The moves of the proofs, the smallest upper bound first, then the moves of the conceding proof.
    fn attacks(&mut self, game: &mut G) -> Vec<Edge<G::Move>> {
        let (key, hand) = (game.board_key(), game.hand());
        let mut steps: Vec<_> = self.proofs().flat_map(|proof| proof.steps(key, hand)).collect();
        steps.sort_by_key(|step| step.plies);
        let mut moves: Vec<(G::Move, u16)> = Vec::with_capacity(steps.len());
        let conceding_moves = self.conceding_moves(game);
        let conceding_moves = conceding_moves.iter().map(|&m| (m, NEVER));
        for (m, at_most) in steps.iter().map(|step| (step.m, step.plies - 1)).chain(conceding_moves)
        {
            if moves.iter().all(|&(other, _)| other != m) {
                moves.push((m, at_most));
            }
        }
        moves.into_iter().map(|(m, at_most)| self.edge_to(game, m, at_most)).collect()
    }

    /// Adds all other moves. In a search for a return, the moves that a proof has for this board with another hand come
    /// first and are unlimited.
    fn add_other_attacks(&mut self, game: &mut G, edges: &mut Vec<Edge<G::Move>>, node: usize) {
        let of_proofs = edges.len();
        let others = self.all_moves(game).into_iter();
        let is_new = |other: &Edge<G::Move>| edges.iter().all(|edge| edge.m != other.m);
        let mut others: Vec<_> = others.filter(is_new).collect();
        let key = game.board_key();
        let is_unlimited = |edge: &Edge<G::Move>| self.is_returning && self.has_move(key, edge.m);
        others.sort_by_key(|edge| !is_unlimited(edge));
        let unlimited = others.iter().take_while(|edge| is_unlimited(edge)).count();
        self.nodes[node].unlimited_edges = of_proofs + unlimited;
        edges.extend(others);
    }

    /// The moves of the conceding proof, the fewest plies first.
    fn conceding_moves(&self, game: &G) -> Vec<G::Move> {
        let Some(ExtraProofs { conceding_proof, .. }) = &self.extra_proofs else {
            return Vec::new();
        };
        let mut steps: Vec<_> = conceding_proof.steps(game.board_key(), game.hand()).collect();
        steps.sort_by_key(|step| step.plies);
        steps.into_iter().map(|step| step.m).collect()
    }

    /// Whether a proof or the conceding proof has the move `m` for this board with any hand.
    fn has_move(&self, key: u64, m: G::Move) -> bool {
        let conceding_proof =
            self.extra_proofs.as_ref().map(|extra_proofs| extra_proofs.conceding_proof);
        self.proofs().chain(conceding_proof).any(|proof| proof.has_move(key, m))
    }

    /// The measured proof and the proofs of the prover. Their plies are upper bounds.
    fn proofs(&self) -> impl Iterator<Item = &ProofOf<G>> {
        let found = self.extra_proofs.iter().flat_map(|extra_proofs| &extra_proofs.proofs_found);
        iter::once(self.proof).chain(found)
    }

    /// All moves of the defender, the largest upper bound first.
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
            edges.push(self.edge_to(game, m, NEVER));
        }
        edges
    }

    fn edge_to(&mut self, game: &mut G, m: G::Move, at_most: u16) -> Edge<G::Move> {
        let undo = game.make(m);
        let to = self.node(game, at_most);
        game.unmake(m, undo);
        Edge { m, to, exchanges: None }
    }

    /// The node of the position that `game` is at. It is added if it is new. `at_most` is an upper bound of its length,
    /// [`NEVER`] if none is known.
    pub(super) fn node(&mut self, game: &mut G, at_most: u16) -> usize {
        let position = (game.board_key(), game.hand());
        let id = (position.0, position.1, self.is_returning);
        if let Some(&node) = self.ids.get(&id) {
            let node_at_most = &mut self.nodes[node].at_most;
            *node_at_most = at_most.min(*node_at_most);
            return node;
        }
        let mut node = Node {
            position,
            at_least: 0,
            at_most,
            is_off_proof: false,
            unlimited_edges: 0,
            edges: None,
            on_path: None,
            conditional: None,
        };
        if game.node_kind() == NodeKind::Or {
            let steps =
                self.proofs().filter_map(|proof| proof.shortest_step(position.0, position.1));
            match steps.min_by_key(|step| step.plies) {
                Some(step) => (node.at_least, node.at_most) = (1, step.plies),
                // Some games can end in the attacker's favour with the attacker to move.
                None if is_reached(game) => {
                    node.at_most = 0;
                }
                None => (node.at_least, node.is_off_proof) = (1, true),
            }
        }
        self.nodes.push(node);
        self.ids.insert(id, self.nodes.len() - 1);
        self.nodes.len() - 1
    }
}

/// Whether the goal is reached with the attacker to move.
fn is_reached<G: Game>(game: &G) -> bool {
    matches!(game.expand(&mut Vec::new()), Expansion::Over(Outcome::Reached))
}
