//! Records a search node by node, for pictures.
//!
//! The articles draw the subtree that a search visited, and the cut nodes in darker colours.

use super::super::evaluation::Score;
use super::super::square::Square;
use super::Window;

/// The source of a node's value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueSource {
    /// The evaluation: the game is over, or the search ends here.
    Evaluated,
    /// The table.
    Table,
    /// The moves of the node.
    Searched,
}

/// Observes a search.
pub(super) trait Observer {
    /// A move was made.
    fn make(&mut self, _: Square) {}
    /// The last move was taken back.
    fn unmake(&mut self) {}
    /// The search of a node begins.
    fn enter(&mut self, _: Window) {}
    /// The search of the node ends with this value, seen from its side to move.
    fn leave(&mut self, _: Score, _: ValueSource) {}
}

/// Observes nothing.
impl Observer for () {}

/// A node that a search entered.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct TraceNode {
    /// The move that led here.
    pub last: Option<Square>,
    /// Number of searches of the node: two or more if a test was not sufficient.
    pub visits: u32,
    /// Lower bound of the last search, seen from the side to move.
    pub alpha: Score,
    /// Upper bound of the last search.
    pub beta: Score,
    /// Value of the last search, seen from the side to move.
    pub value: Score,
    /// Source of the value.
    pub source: ValueSource,
    /// Numbers of the nodes entered from here, in the order of their first visits.
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
            source: ValueSource::Searched,
            children: Vec::new(),
        }
    }
}

/// All nodes that a search entered. The first is the root.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    nodes: Vec<TraceNode>,
    /// Numbers of the nodes on the path to the current node.
    path: Vec<usize>,
}

impl Default for Trace {
    fn default() -> Self {
        Self { nodes: vec![TraceNode::new(None)], path: vec![0] }
    }
}

impl Trace {
    /// The nodes, each before its descendants.
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

    fn leave(&mut self, value: Score, source: ValueSource) {
        let here = self.here();
        let node = &mut self.nodes[here];
        node.value = value;
        // A node that was searched once and then found in the table counts as searched.
        if node.visits == 1 || source == ValueSource::Searched {
            node.source = source;
        }
    }
}
