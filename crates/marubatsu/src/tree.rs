//! The complete tree: every sequence of moves, with the value and the distance from the end of each node.
//!
//! It has 549,946 nodes, as in the articles. They build it by copying positions, and later search it by taking moves
//! back (article 186). This module has both methods for any representation, for comparison.

use super::board::Mark;
use super::representation::Representation;
use super::square::Square;

/// Number of nodes of the complete tree.
pub const NODES: usize = 549_946;

/// Number of plies of the longest games.
pub const DEPTH: usize = 9;

/// The complete tree from the start. Its nodes are in depth-first order.
///
/// ```
/// use kyokumen_marubatsu::{representation::Planes, tree::GameTree};
/// let tree = GameTree::by_make_unmake::<Planes>();
/// assert_eq!(tree.nodes().len(), 549_946);
/// assert_eq!((tree.nodes()[0].value(), tree.nodes()[0].distance()), (0, 9));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GameTree {
    nodes: Vec<Node>,
}

/// A sequence of moves, identified by its last move. From the upper bits down: number of nodes of its subtree including
/// itself (20 bits), score plus 5, last move, ply (4 bits each).
///
/// Small nodes make building fast: otherwise most of the time would be spent on allocating memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Node(u32);

/// The result of perfect play. If ○ wins, it is 10 minus the ply at which the game ends; if × wins, the negative of
/// this number; for a draw, 0. ○ prefers larger scores: a win, and a fast one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Score(i8);

impl Score {
    const fn won(mark: Mark, ply: u8) -> Self {
        let score = 10 - ply.cast_signed();
        match mark {
            Mark::Circle => Self(score),
            Mark::Cross => Self(-score),
        }
    }

    /// A score that is worse for this side than any other.
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
    /// Placeholder for a node that is written later.
    const PLACE: Self = Self(0);

    #[inline(always)]
    const fn new(size: u32, score: Score, last: Square, ply: u8) -> Self {
        let score = (score.0 + 5).cast_unsigned() as u32;
        Self(size << 12 | score << 8 | (last.number() as u32) << 4 | ply as u32)
    }

    const fn size(self) -> usize {
        (self.0 >> 12) as usize
    }

    const fn score(self) -> i8 {
        (self.0 >> 8 & 15) as i8 - 5
    }

    /// 1 if ○ wins by perfect play, −1 if × wins, 0 for a draw.
    pub const fn value(self) -> i8 {
        self.score().signum()
    }

    /// Plies to the end if the winner hurries and the loser delays. Drawn games fill the board.
    pub const fn distance(self) -> u8 {
        let end = match self.score() {
            0 => DEPTH as u8,
            score => 10 - score.unsigned_abs(),
        };
        end - self.ply()
    }

    /// Plies from the start, 0 to 9.
    pub const fn ply(self) -> u8 {
        (self.0 & 15) as u8
    }

    /// The move that led here; `None` at the start.
    pub fn last(self) -> Option<Square> {
        (self.ply() > 0).then_some(())?;
        Square::new((self.0 >> 4 & 15) as u8)
    }
}

impl GameTree {
    /// Builds the tree with one position, by making and taking back moves.
    pub fn by_make_unmake<R: Representation>() -> Self {
        let mut nodes = Vec::with_capacity(NODES);
        grow_by_make_unmake(&mut nodes, &mut R::default(), 0, Square::CENTRE);
        Self { nodes }
    }

    /// Builds the tree with a copy of the position for each node.
    pub fn by_copying<R: Representation>() -> Self {
        let mut nodes = Vec::with_capacity(NODES);
        grow_by_copying(&mut nodes, &R::default(), 0, Square::CENTRE);
        Self { nodes }
    }

    /// All nodes, each before its descendants. The first is the start.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of nodes at each ply, 0 to 9.
    pub fn by_depth(&self) -> [u64; DEPTH + 1] {
        let mut counts = [0; DEPTH + 1];
        for node in &self.nodes {
            counts[usize::from(node.ply())] += 1;
        }
        counts
    }

    /// Numbers of the children of a node, in the order of moves.
    pub fn children(&self, number: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes.get(number).map_or(number, |node| number + node.size());
        let mut next = number + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next += self.nodes[child].size();
            Some(child)
        })
    }
}

const fn side_to_move(ply: u8) -> Mark {
    if ply.is_multiple_of(2) { Mark::Circle } else { Mark::Cross }
}

/// First ply at which a game can end.
const FIRST_END: u8 = 5;

/// The score of a position if the last move won the game.
#[inline(always)]
fn won<R: Representation>(marks: &R, ply: u8, last: Square) -> Option<Score> {
    let moved = side_to_move(ply + 1);
    (ply >= FIRST_END && marks.has_line_through(last, moved)).then(|| Score::won(moved, ply))
}

fn grow_by_make_unmake<R: Representation>(
    nodes: &mut Vec<Node>,
    marks: &mut R,
    ply: u8,
    last: Square,
) -> Score {
    let number = nodes.len();
    let mover = side_to_move(ply);
    let mut score = Score::worst_for(mover);
    nodes.push(Node::PLACE);
    for square in marks.free() {
        marks.put(square, mover);
        let child = if let Some(won) = won(marks, ply + 1, square) {
            nodes.push(Node::new(1, won, square, ply + 1));
            won
        } else if ply + 1 == LAST_CHOICE {
            let forced = marks.free().first().unwrap_or(square);
            marks.put(forced, !mover);
            let score = end_of_full_board(marks, forced);
            marks.remove(forced, !mover);
            push_last_two(nodes, score, [square, forced]);
            score
        } else {
            grow_by_make_unmake(nodes, marks, ply + 1, square)
        };
        marks.remove(square, mover);
        score = score.better_for(mover, child);
    }
    nodes[number] = Node::new((nodes.len() - number) as u32, score, last, ply);
    score
}

fn grow_by_copying<R: Representation>(
    nodes: &mut Vec<Node>,
    marks: &R,
    ply: u8,
    last: Square,
) -> Score {
    let number = nodes.len();
    let mover = side_to_move(ply);
    let mut score = Score::worst_for(mover);
    nodes.push(Node::PLACE);
    for square in marks.free() {
        let mut after = marks.clone();
        after.put(square, mover);
        let child = if let Some(won) = won(&after, ply + 1, square) {
            nodes.push(Node::new(1, won, square, ply + 1));
            won
        } else if ply + 1 == LAST_CHOICE {
            let forced = after.free().first().unwrap_or(square);
            let mut full = after.clone();
            full.put(forced, !mover);
            let score = end_of_full_board(&full, forced);
            push_last_two(nodes, score, [square, forced]);
            score
        } else {
            grow_by_copying(nodes, &after, ply + 1, square)
        };
        score = score.better_for(mover, child);
    }
    nodes[number] = Node::new((nodes.len() - number) as u32, score, last, ply);
    score
}

/// Ply after which only one square is free. The last move is forced, and a recursive call would cost more than the
/// move.
const LAST_CHOICE: u8 = 8;

/// The score of a full board: ○, who makes the last move, wins by it or draws.
#[inline(always)]
fn end_of_full_board<R: Representation>(marks: &R, last: Square) -> Score {
    Score(i8::from(marks.has_line_through(last, Mark::Circle)))
}

/// Appends the position before the forced move, and the position after it.
#[inline(always)]
fn push_last_two(nodes: &mut Vec<Node>, score: Score, [before, forced]: [Square; 2]) {
    nodes.push(Node::new(2, score, before, LAST_CHOICE));
    nodes.push(Node::new(1, score, forced, LAST_CHOICE + 1));
}
