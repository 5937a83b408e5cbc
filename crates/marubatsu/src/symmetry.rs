//! The eight rotations and reflections of the board.
//!
//! Their order is the order in `calc_same_boardtexts` of the articles. It determines the move that a table stores for a
//! board that is its own image, and so the number of nodes of PVS (article 186).

use super::board::Board;
use super::lines::SETS;
use super::square::Square;

/// One of the eight symmetries.
///
/// ```
/// use kyokumen_marubatsu::{Board, Symmetry};
/// let board: Board = "o../.x./...".parse().unwrap();
/// let images = Symmetry::ALL.map(|symmetry| symmetry.board(board).to_string());
/// assert_eq!(images[0], "o../.x./...");
/// assert_eq!(images[1], "..o/.x./...");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Symmetry(u8);

impl Symmetry {
    /// The identity, then (x, y) to (2−y, x), (2−x, 2−y), (y, 2−x), (2−x, y), (x, 2−y), (2−y, 2−x) and (y, x).
    pub const ALL: [Self; 8] =
        [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7)];

    /// The image of a square.
    pub const fn square(self, square: Square) -> Square {
        IMAGES[self.0 as usize][square.index()]
    }

    /// The image of a position.
    pub fn board(self, board: Board) -> Board {
        let planes = &PLANES[usize::from(self.0 & 7)];
        let [circles, crosses] = board.planes().map(|plane| planes[usize::from(plane) % SETS]);
        Board::from_planes([circles, crosses])
    }
}

/// The image of a position whose text comes first. Positions that are images of each other have the same.
pub fn canonical(board: Board) -> Board {
    let mut least = board;
    for symmetry in Symmetry::ALL {
        let image = symmetry.board(board);
        if image.index() < least.index() {
            least = image;
        }
    }
    least
}

const fn image(symmetry: usize, x: u8, y: u8) -> (u8, u8) {
    match symmetry {
        1 => (2 - y, x),
        2 => (2 - x, 2 - y),
        3 => (y, 2 - x),
        4 => (2 - x, y),
        5 => (x, 2 - y),
        6 => (2 - y, 2 - x),
        7 => (y, x),
        _ => (x, y),
    }
}

/// Images of the squares.
static IMAGES: [[Square; Square::COUNT]; 8] = {
    let mut table = [[Square::CENTRE; Square::COUNT]; 8];
    let mut symmetry = 0;
    while symmetry < 8 {
        let mut number = 0;
        while number < Square::COUNT as u8 {
            let (x, y) = image(symmetry, number % 3, number / 3);
            if let Some(square) = Square::new(3 * y + x) {
                table[symmetry][number as usize] = square;
            }
            number += 1;
        }
        symmetry += 1;
    }
    table
};

/// Images of the sets of squares.
static PLANES: [[u16; SETS]; 8] = {
    let mut table = [[0; SETS]; 8];
    let mut symmetry = 0;
    while symmetry < 8 {
        let mut plane = 0;
        while plane < SETS {
            let mut number = 0;
            while number < Square::COUNT {
                if plane >> number & 1 == 1 {
                    table[symmetry][plane] |= IMAGES[symmetry][number].bit();
                }
                number += 1;
            }
            plane += 1;
        }
        symmetry += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_boards_match_images_of_squares() {
        let board: Board = "oxo/.x./..o".parse().unwrap();
        for symmetry in Symmetry::ALL {
            let image = symmetry.board(board);
            for square in Square::all() {
                assert_eq!(image.mark_on(symmetry.square(square)), board.mark_on(square));
            }
            assert_eq!(canonical(image), canonical(board));
        }
    }

    /// Literal images of the top left corner, the top edge and the centre, in the order of the articles.
    #[test]
    fn symmetries_have_the_order_of_the_articles() {
        let images = |number| {
            let square = Square::new(number).unwrap();
            Symmetry::ALL.map(|symmetry| symmetry.square(square).number())
        };
        assert_eq!(images(0), [0, 2, 8, 6, 2, 6, 8, 0]);
        assert_eq!(images(1), [1, 5, 7, 3, 1, 7, 5, 3]);
        assert_eq!(images(4), [4; 8]);
    }
}
