//! Nodes of the tree and their moves, in arenas.
//!
//! For a legal move without visits only the move and its probability are stored. The first visit makes a [`Child`].
//! Without noise, the most probable moves are visited first. So the children of a node are its first candidates, and
//! only the first of the other candidates can be chosen next.

use std::ops::Range;

use kyokumen_shogi::Move;

/// The state of a position, for the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// It waits for its evaluation.
    Waiting,
    /// It was evaluated and has candidates.
    Open,
    /// The side to move is proven to win.
    Won,
    /// The side to move is proven to lose.
    Lost,
    /// It repeats an earlier position. Its value follows from the repetition, holds only on this path and proves
    /// nothing.
    Repeated,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) state: State,
    /// Number of legal moves.
    pub(crate) moves: u16,
    /// Number of children: moves that were visited.
    pub(crate) visited: u16,
    capacity: u16,
    candidates: u32,
    children: u32,
    /// Number of simulations below this node, including those that wait for an evaluation.
    pub(crate) visits: u32,
    /// Sum of P over the moves that these simulations chose. A move that is chosen again counts again.
    pub(crate) selected_prior: f32,
    /// Value of the evaluation or of the repetition.
    pub(crate) value: f32,
    /// Sum of the values of the simulations below this node.
    pub(crate) value_sum: f64,
}

/// A move that was visited.
#[derive(Clone, Debug)]
pub(crate) struct Child {
    pub(crate) node: u32,
    /// Number of simulations that took it, including those that wait for an evaluation.
    pub(crate) visits: u32,
    /// Sum of their values for the side that makes the move.
    pub(crate) value_sum: f64,
    pub(crate) prior: f32,
    pub(crate) m: Move,
    /// Whether the opponent is proven to win after it.
    pub(crate) loses: bool,
}

/// All nodes of a tree, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    list: Vec<Node>,
    children: Vec<Child>,
    moves: Vec<Move>,
    priors: Vec<f32>,
}

impl Nodes {
    /// Removes all nodes.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.children.clear();
        self.moves.clear();
        self.priors.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn add(&mut self, state: State, value: f32) -> u32 {
        let number = self.list.len() as u32;
        self.list.push(Node {
            state,
            moves: 0,
            visited: 0,
            capacity: 0,
            candidates: 0,
            children: 0,
            visits: 0,
            selected_prior: 0.0,
            value,
            value_sum: 0.0,
        });
        number
    }

    pub(crate) fn get(&self, node: u32) -> &Node {
        &self.list[node as usize]
    }

    pub(crate) fn get_mut(&mut self, node: u32) -> &mut Node {
        &mut self.list[node as usize]
    }

    pub(crate) fn children(&self, node: u32) -> &[Child] {
        let node = self.get(node);
        &self.children[node.children as usize..][..usize::from(node.visited)]
    }

    pub(crate) fn child_mut(&mut self, node: u32, child_index: u16) -> &mut Child {
        let first = self.get(node).children as usize;
        &mut self.children[first + usize::from(child_index)]
    }

    /// The legal moves that were not visited, the next one first, and their P.
    pub(crate) fn unvisited(&self, node: u32) -> (&[Move], &[f32]) {
        let range = self.get(node).unvisited();
        (&self.moves[range.clone()], &self.priors[range])
    }

    /// Sets the candidates of a node.
    pub(crate) fn open(&mut self, node: u32, moves: &[Move], priors: &[f32]) {
        let start = self.moves.len() as u32;
        self.moves.extend_from_slice(moves);
        self.priors.extend_from_slice(priors);
        let node = self.get_mut(node);
        node.state = State::Open;
        node.candidates = start;
        node.moves = moves.len() as u16;
        let range = node.unvisited();
        self.bring_forward_next(range);
    }

    /// Makes a child of an unvisited move. Returns its index among the children.
    pub(crate) fn add_child(&mut self, node: u32, unvisited: usize, child: u32) -> u16 {
        let range = self.get(node).unvisited();
        self.moves.swap(range.start, range.start + unvisited);
        self.priors.swap(range.start, range.start + unvisited);
        let (m, prior) = (self.moves[range.start], self.priors[range.start]);
        self.reserve_child(node);
        let parent = self.get_mut(node);
        let child_index = parent.visited;
        parent.visited += 1;
        let place = (parent.children + u32::from(child_index)) as usize;
        self.children[place] =
            Child { node: child, visits: 0, value_sum: 0.0, prior, m, loses: false };
        self.bring_forward_next(range.start + 1..range.end);
        child_index
    }

    /// Reserves memory for another child. If it is used up, the children move to the end of the arena, with twice the
    /// capacity.
    fn reserve_child(&mut self, node: u32) {
        let Node { visited, capacity, children, moves, .. } = *self.get(node);
        if visited < capacity {
            return;
        }
        let start = self.children.len();
        let larger = (2 * capacity).clamp(1, moves);
        self.children
            .extend_from_within(children as usize..(children + u32::from(visited)) as usize);
        let unused = Child {
            node: 0,
            visits: 0,
            value_sum: 0.0,
            prior: 0.0,
            m: self.moves[0],
            loses: false,
        };
        self.children.resize(start + usize::from(larger), unused);
        let node = self.get_mut(node);
        node.children = start as u32;
        node.capacity = larger;
    }

    /// Moves the candidate that is visited next to the front of the range.
    fn bring_forward_next(&mut self, range: Range<usize>) {
        let Range { start, .. } = range;
        let better = |&a: &usize, &b: &usize| {
            // Of two equally probable moves, the one with the smaller code is better.
            self.priors[a]
                .total_cmp(&self.priors[b])
                .then_with(|| self.moves[b].cmp(&self.moves[a]))
        };
        if let Some(next) = range.max_by(better) {
            self.moves.swap(start, next);
            self.priors.swap(start, next);
        }
    }
}

impl Node {
    /// Whether the side to move is proven to win or to lose.
    pub(crate) fn wins(&self) -> Option<bool> {
        match self.state {
            State::Won => Some(true),
            State::Lost => Some(false),
            State::Waiting | State::Open | State::Repeated => None,
        }
    }

    fn unvisited(&self) -> Range<usize> {
        let start = self.candidates as usize;
        start + usize::from(self.visited)..start + usize::from(self.moves)
    }
}
