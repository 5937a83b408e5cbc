//! What a search did, node by node, to be drawn.
//!
//! The articles draw the subtree that a search visited and, darker, what it left out.

use super::super::evaluation::Score;
use super::super::square::Square;
use super::Window;

/// How a node got its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueSource {
    /// The game was over, or the search went no deeper: by evaluation.
    Evaluated,
    /// By the table.
    Table,
    /// By the moves of the node.
    Searched,
}

/// Looks on while a search goes.
pub(super) trait Observer {
    /// A move was made.
    fn make(&mut self, _: Square) {}
    /// The last move was taken back.
    fn unmake(&mut self) {}
    /// A node is searched.
    fn enter(&mut self, _: Window) {}
    /// It has a value, seen from its side to move.
    fn leave(&mut self, _: Score, _: ValueSource) {}
}

/// Nobody looks on.
impl Observer for () {}

/// A node that a search entered.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct TraceNode {
    /// The move that led here.
    pub last: Option<Square>,
    /// How often it was searched; twice or more where a test was not enough.
    pub visits: u32,
    /// Window of the last search, seen from the side to move.
    pub alpha: Score,
    /// Its upper end.
    pub beta: Score,
    /// What the last search found, seen from the side to move.
    pub value: Score,
    /// How.
    pub answer: ValueSource,
    /// Numbers of the nodes that were entered from here, in the order in which they first were.
    pub children: Vec<usize>,
}

impl TraceNode {
    fn new(last: Option<Square>) -> Self {
        Self {
            last,
            visits: 0,
            alpha: Score::MIN,
            beta: Score::MAX,
            value: Score::MIN,
            answer: ValueSource::Searched,
            children: Vec::new(),
        }
    }
}

/// All nodes that a search entered; the first is the position that was searched.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    nodes: Vec<TraceNode>,
    /// Numbers of the nodes on the way to where the search is.
    path: Vec<usize>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { nodes: vec![TraceNode::new(None)], path: vec![0] }
    }
}

impl Trace {
    /// The nodes, each before those under it.
    pub fn nodes(&self) -> &[TraceNode] {
        &self.nodes
    }

    /// Number of the node that a move leads to, if the search entered it.
    pub fn child(&self, number: usize, square: Square) -> Option<usize> {
        let children = &self.nodes.get(number)?.children;
        children.iter().copied().find(|&child| self.nodes[child].last == Some(square))
    }

    fn here(&self) -> usize {
        self.path.last().copied().unwrap_or(0)
    }
}

impl Observer for Trace {
    fn make(&mut self, square: Square) {
        let here = self.here();
        let child = self.child(here, square).unwrap_or_else(|| {
            self.nodes.push(TraceNode::new(Some(square)));
            let child = self.nodes.len() - 1;
            self.nodes[here].children.push(child);
            child
        });
        self.path.push(child);
    }

    fn unmake(&mut self) {
        self.path.pop();
    }

    fn enter(&mut self, Window { alpha, beta }: Window) {
        let here = self.here();
        let node = &mut self.nodes[here];
        node.visits += 1;
        (node.alpha, node.beta) = (alpha, beta);
    }

    fn leave(&mut self, value: Score, answer: ValueSource) {
        let here = self.here();
        let node = &mut self.nodes[here];
        node.value = value;
        // What was searched once and then found in the table has still been searched.
        if node.visits == 1 || answer == ValueSource::Searched {
            node.answer = answer;
        }
    }
}
