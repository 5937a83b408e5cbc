//! The complete tree: every sequence of moves, with the value of each node and how far its end is.
//!
//! 549,946 nodes, as in the articles, which build it by copying positions and later search by taking moves
//! back (article 186). Both are here, on any representation, to be compared.

use super::board::{Mark, Square};
use super::representation::Representation;

/// Nodes of the complete tree.
pub const NODES: usize = 549_946;

/// Plies from the start to the end of the longest games.
pub const DEPTH: usize = 9;

/// The complete tree under the start, its nodes in depth-first order.
///
/// ```
/// use kyokumen::marubatsu::{representation::Planes, tree::GameTree};
/// let tree = GameTree::by_make_unmake::<Planes>();
/// assert_eq!(tree.nodes().len(), 549_946);
/// assert_eq!((tree.nodes()[0].value(), tree.nodes()[0].distance()), (0, 9));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameTree {
    nodes: Vec<Node>,
}

/// A sequence of moves, by its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node {
    /// Nodes of its subtree, itself among them.
    size: u32,
    score: Score,
    last: Square,
    ply: u8,
}

/// What perfect play leads to: for ○ 10 less the ply at which the game ends, for × the negative of that, for a
/// draw 0. ○ prefers more: a win, and that soon.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Score(i8);

impl Score {
    const DRAW: Self = Self(0);

    const fn won(mark: Mark, ply: u8) -> Self {
        let score = 10 - ply.cast_signed();
        match mark {
            Mark::Circle => Self(score),
            Mark::Cross => Self(-score),
        }
    }

    /// What a side would have rather than anything.
    const fn worst_for(mark: Mark) -> Self {
        match mark {
            Mark::Circle => Self(i8::MIN),
            Mark::Cross => Self(i8::MAX),
        }
    }

    fn better_for(self, mark: Mark, other: Self) -> Self {
        match mark {
            Mark::Circle => self.max(other),
            Mark::Cross => self.min(other),
        }
    }
}

impl Node {
    /// 1 if ○ wins by perfect play, −1 if × does, 0 for a draw.
    pub const fn value(self) -> i8 {
        self.score.0.signum()
    }

    /// Plies to the end when the winner hurries and the loser delays; drawn games fill the board.
    pub const fn distance(self) -> u8 {
        let end = if self.score.0 == 0 { DEPTH as u8 } else { 10 - self.score.0.unsigned_abs() };
        end - self.ply
    }

    /// Plies from the start, 0 to 9.
    pub const fn ply(self) -> u8 {
        self.ply
    }

    /// The move that led here; `None` at the start.
    pub fn last(self) -> Option<Square> {
        (self.ply > 0).then_some(self.last)
    }
}

impl GameTree {
    /// Builds it with one position, on which moves are made and taken back.
    pub fn by_make_unmake<R: Representation>() -> Self {
        let mut nodes = Vec::with_capacity(NODES);
        grow_by_make_unmake(&mut nodes, &mut R::default(), 0, Square::CENTRE);
        Self { nodes }
    }

    /// Builds it with a copy of the position for each node.
    pub fn by_copying<R: Representation>() -> Self {
        let mut nodes = Vec::with_capacity(NODES);
        grow_by_copying(&mut nodes, &R::default(), 0, Square::CENTRE);
        Self { nodes }
    }

    /// All nodes, each before the nodes under it; the first is the start.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Nodes for each number of plies from the start, 0 to 9.
    pub fn by_depth(&self) -> [u64; DEPTH + 1] {
        let mut counts = [0; DEPTH + 1];
        for node in &self.nodes {
            counts[usize::from(node.ply)] += 1;
        }
        counts
    }

    /// Numbers of the nodes one ply under a node, in the order of moves.
    pub fn children(&self, number: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes.get(number).map_or(number, |node| number + node.size as usize);
        let mut next = number + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next += self.nodes[child].size as usize;
            Some(child)
        })
    }
}

const fn side_to_move(ply: u8) -> Mark {
    if ply.is_multiple_of(2) { Mark::Circle } else { Mark::Cross }
}

/// Whether the last move ended the game, and how.
#[inline(always)]
fn end<R: Representation>(marks: &R, ply: u8, last: Square) -> Option<Score> {
    /// Nobody has three marks before.
    const FIRST_END: u8 = 5;
    let moved = side_to_move(ply + 1);
    if ply >= FIRST_END && marks.has_line_through(last, moved) {
        return Some(Score::won(moved, ply));
    }
    (usize::from(ply) == DEPTH).then_some(Score::DRAW)
}

fn grow_by_make_unmake<R: Representation>(
    nodes: &mut Vec<Node>,
    marks: &mut R,
    ply: u8,
    last: Square,
) -> Score {
    if let Some(score) = end(marks, ply, last) {
        nodes.push(Node { size: 1, score, last, ply });
        return score;
    }
    let number = nodes.len();
    let mover = side_to_move(ply);
    let mut score = Score::worst_for(mover);
    nodes.push(Node { size: 0, score, last, ply });
    for square in marks.free() {
        marks.put(square, mover);
        score = score.better_for(mover, grow_by_make_unmake(nodes, marks, ply + 1, square));
        marks.remove(square, mover);
    }
    complete(nodes, number, score);
    score
}

fn grow_by_copying<R: Representation>(
    nodes: &mut Vec<Node>,
    marks: &R,
    ply: u8,
    last: Square,
) -> Score {
    if let Some(score) = end(marks, ply, last) {
        nodes.push(Node { size: 1, score, last, ply });
        return score;
    }
    let number = nodes.len();
    let mover = side_to_move(ply);
    let mut score = Score::worst_for(mover);
    nodes.push(Node { size: 0, score, last, ply });
    for square in marks.free() {
        let mut child = marks.clone();
        child.put(square, mover);
        score = score.better_for(mover, grow_by_copying(nodes, &child, ply + 1, square));
    }
    complete(nodes, number, score);
    score
}

/// Writes down what is known when all nodes under a node are there.
#[inline(always)]
fn complete(nodes: &mut [Node], number: usize, score: Score) {
    let size = (nodes.len() - number) as u32;
    nodes[number].size = size;
    nodes[number].score = score;
}
