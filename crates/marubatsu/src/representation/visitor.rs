//! Visits all representations.
//!
//! Each representation is a separate type, so the code of a visitor is compiled for each.

use super::Marks;
use super::counted::Counted;
use super::integers::Integers;
use super::interface::Representation;
use super::planes::Planes;

/// An operation on each of the representations.
pub trait Visitor {
    /// Performs the operation on one representation.
    fn visit<R: Representation>(&mut self);
}

/// Visits all six representations. Those with counted lines come last.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<Marks>();
    visitor.visit::<Integers>();
    visitor.visit::<Planes>();
    visitor.visit::<Counted<Marks>>();
    visitor.visit::<Counted<Integers>>();
    visitor.visit::<Counted<Planes>>();
}

#[cfg(test)]
mod tests {
    use super::super::super::board::{Board, Status};
    use super::super::super::square::Square;
    use super::*;

    /// Plays through the whole tree and compares the representation with [`Board`].
    struct Equality {
        nodes: Vec<u64>,
    }

    impl Visitor for Equality {
        fn visit<R: Representation>(&mut self) {
            self.nodes.push(compare(&mut R::default(), Board::EMPTY, None));
        }
    }

    fn compare<R: Representation>(marks: &mut R, board: Board, last: Option<Square>) -> u64 {
        assert_eq!(marks.board(), board, "{}", R::NAME);
        assert_eq!(marks.free(), board.free(), "{} {board}", R::NAME);
        let moved = !board.side_to_move();
        let won = last.is_some_and(|square| marks.has_line_through(square, moved));
        assert_eq!(won, board.status() == Status::Won(moved), "{} {board}", R::NAME);
        for square in Square::all() {
            assert_eq!(marks.mark_on(square), board.mark_on(square), "{} {board}", R::NAME);
        }
        let mut nodes = 1;
        for square in board.moves() {
            let mark = board.side_to_move();
            marks.put(square, mark);
            nodes += compare(marks, board.after(square), Some(square));
            marks.remove(square, mark);
        }
        assert_eq!(marks.board(), board, "{} taken back", R::NAME);
        nodes
    }

    #[test]
    fn all_representations_agree_in_the_complete_tree() {
        let mut equality = Equality { nodes: Vec::new() };
        visit_all(&mut equality);
        assert_eq!(equality.nodes, [549_946; 6]);
    }
}
