//! Ways to keep the marks of a board, to be compared: arrays of marks, of integers, two planes of bits.
//!
//! They are those of the articles (`NpBoard`, `NpIntBoard`, `NpBoolBoard` of article 204), as Rust would write
//! them, each also with counts of the marks on every line, which moves keep up to date (`count_linemark`).

mod counted;
mod integers;
mod marks;
mod planes;

pub use counted::Counted;
pub use integers::Integers;
pub use marks::Marks;
pub use planes::Planes;

use super::board::{Board, Mark, Square};
use super::squares::Squares;

/// The marks on nine squares; whose turn it is and who has won is kept elsewhere.
pub trait Representation: Clone + Default {
    /// What it is called in tables.
    const NAME: &'static str;
    /// Whether moves also count the marks on each line.
    const COUNTS_LINES: bool = false;

    /// What stands on a square.
    fn mark_on(&self, square: Square) -> Option<Mark>;

    /// Puts a mark on a square, which is to be free.
    fn put(&mut self, square: Square, mark: Mark);

    /// Takes the mark from a square, which is to be this one.
    fn remove(&mut self, square: Square, mark: Mark);

    /// Whether a line through a square holds this mark on all its squares.
    fn has_line_through(&self, square: Square, mark: Mark) -> bool;

    /// Squares without a mark.
    fn free(&self) -> Squares {
        Square::all().filter(|&square| self.mark_on(square).is_none()).collect()
    }

    /// The same marks as a position.
    fn board(&self) -> Board {
        let plane = |mark| {
            let squares = Square::all().filter(|&square| self.mark_on(square) == Some(mark));
            squares.collect::<Squares>().bits()
        };
        Board::from_planes(Mark::ALL.map(plane))
    }
}

/// Something to be done with each of the representations.
pub trait Visitor {
    /// Does it with one.
    fn visit<R: Representation>(&mut self);
}

/// Does something with each of the six, the plain ones before those that count lines.
pub fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit::<Marks>();
    visitor.visit::<Integers>();
    visitor.visit::<Planes>();
    visitor.visit::<Counted<Marks>>();
    visitor.visit::<Counted<Integers>>();
    visitor.visit::<Counted<Planes>>();
}

/// Lines through each square: its column, its row, and the diagonals it is on.
const LINES_THROUGH: [&[[Square; 3]]; Square::COUNT] = {
    const S: [Square; Square::COUNT] = Square::ALL;
    const ROWS: [[Square; 3]; 3] = [[S[0], S[1], S[2]], [S[3], S[4], S[5]], [S[6], S[7], S[8]]];
    const COLUMNS: [[Square; 3]; 3] = [[S[0], S[3], S[6]], [S[1], S[4], S[7]], [S[2], S[5], S[8]]];
    const FALLING: [Square; 3] = [S[0], S[4], S[8]];
    const RISING: [Square; 3] = [S[2], S[4], S[6]];
    [
        &[COLUMNS[0], ROWS[0], FALLING],
        &[COLUMNS[1], ROWS[0]],
        &[COLUMNS[2], ROWS[0], RISING],
        &[COLUMNS[0], ROWS[1]],
        &[COLUMNS[1], ROWS[1], FALLING, RISING],
        &[COLUMNS[2], ROWS[1]],
        &[COLUMNS[0], ROWS[2], RISING],
        &[COLUMNS[1], ROWS[2]],
        &[COLUMNS[2], ROWS[2], FALLING],
    ]
};

#[cfg(test)]
mod tests {
    use super::super::board::{LINES, Status};
    use super::*;

    #[test]
    fn the_lines_through_a_square_are_all_lines_with_it() {
        for square in Square::all() {
            let mut through: Vec<u16> = LINES_THROUGH[square.index()]
                .iter()
                .map(|line| line.iter().copied().collect::<Squares>().bits())
                .collect();
            let mut with: Vec<u16> =
                LINES.into_iter().filter(|line| line & square.bit() != 0).collect();
            through.sort_unstable();
            with.sort_unstable();
            assert_eq!(through, with, "{square:?}");
        }
    }

    /// Plays through the whole tree beside [`Board`].
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
    fn all_are_equal_over_the_whole_tree() {
        let mut equality = Equality { nodes: Vec::new() };
        visit_all(&mut equality);
        assert_eq!(equality.nodes, [549_946; 6]);
    }
}
