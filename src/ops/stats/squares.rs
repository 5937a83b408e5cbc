//! Where on the board: squares of the kings, and those that moves lead to.

use serde::Serialize;

use crate::shogi::{Color, Move, Setup, Square};

/// Counts by [`Square::index`].
pub(super) type SquareCounts = [u64; Square::COUNT];

/// Positions by the squares of their kings, and legal stored moves by the squares they lead to.
///
/// Each has 81 numbers in the order of [`Square::index`], as in cshogi and YaneuraOu: file by file from the right-hand
/// one, each from the top, 1a, 1b to 1i, 2a to 9i. What is seen by a side is turned so that its own camp is below.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SquaresReport {
    /// The king of the side to move, as this side sees the board.
    pub own_king: Vec<u64>,
    /// The king of the other side, as the side to move sees the board.
    pub opponent_king: Vec<u64>,
    /// Black's king.
    pub black_king: Vec<u64>,
    /// White's king; the board is not turned.
    pub white_king: Vec<u64>,
    /// Where moves of pieces on the board lead to, as the side to move sees it.
    pub moves_to: Vec<u64>,
    /// Where pieces are dropped, likewise.
    pub drops_to: Vec<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct SquareTally {
    /// By color of the king, then by side to move.
    kings: [[SquareCounts; 2]; 2],
    moves_to: SquareCounts,
    drops_to: SquareCounts,
}

impl Default for SquareTally {
    fn default() -> Self {
        let none = [0; Square::COUNT];
        Self { kings: [[none; 2]; 2], moves_to: none, drops_to: none }
    }
}

impl SquareTally {
    pub(super) fn take_kings(&mut self, setup: &Setup) {
        for color in Color::ALL {
            if let Some(king) = setup.king(color) {
                let kings = &mut self.kings[color.index()][setup.side_to_move().index()];
                kings[king.index()] += 1;
            }
        }
    }

    pub(super) fn take_move(&mut self, m: Move, side_to_move: Color) {
        let squares = if m.is_drop() { &mut self.drops_to } else { &mut self.moves_to };
        squares[seen_by(side_to_move, m.to()).index()] += 1;
    }

    pub(super) fn add(&mut self, other: &Self) {
        let kings = self.kings.iter_mut().flatten().zip(other.kings.iter().flatten());
        let moves = [(&mut self.moves_to, &other.moves_to), (&mut self.drops_to, &other.drops_to)];
        for (sums, others) in kings.chain(moves) {
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum += other;
            }
        }
    }

    pub(super) fn report(&self) -> SquaresReport {
        let squares = |count: &dyn Fn(Square) -> u64| Square::all().map(count).collect();
        let king = |color: Color, to_move: Color, square: Square| {
            self.kings[color.index()][to_move.index()][square.index()]
        };
        let seen = |square: Square, whose: &dyn Fn(Color) -> Color| -> u64 {
            let count = |to_move| king(whose(to_move), to_move, seen_by(to_move, square));
            Color::ALL.into_iter().map(count).sum()
        };
        let of = |color: Color, square: Square| -> u64 {
            Color::ALL.into_iter().map(|to_move| king(color, to_move, square)).sum()
        };
        SquaresReport {
            own_king: squares(&|square| seen(square, &|to_move| to_move)),
            opponent_king: squares(&|square| seen(square, &|to_move| !to_move)),
            black_king: squares(&|square| of(Color::Black, square)),
            white_king: squares(&|square| of(Color::White, square)),
            moves_to: self.moves_to.into(),
            drops_to: self.drops_to.into(),
        }
    }
}

/// The square as seen by `color`. The function is its own inverse.
const fn seen_by(color: Color, square: Square) -> Square {
    match color {
        Color::Black => square,
        Color::White => square.rotated(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: &[u64]) -> Vec<(String, u64)> {
        let counts = Square::all().zip(counts).filter(|&(_, &count)| count > 0);
        counts.map(|(square, &count)| (square.to_string(), count)).collect()
    }

    #[test]
    fn a_side_sees_its_own_camp_below() {
        let mut tally = SquareTally::default();
        for sfen in ["6k2/9/9/9/9/9/9/9/4K4 b G 1", "6k2/9/9/9/9/9/9/9/4K4 w G 1"] {
            tally.take_kings(&sfen.parse().unwrap());
        }
        for (text, color) in
            [("5i5h", Color::Black), ("3a3b", Color::White), ("G*1c", Color::White)]
        {
            tally.take_move(Move::from_usi(text).unwrap(), color);
        }
        let mut twice = tally.clone();
        twice.add(&tally);
        let it = twice.report();
        let pairs = |list: &[(&str, u64)]| -> Vec<(String, u64)> {
            list.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
        };
        assert_eq!(counted(&it.own_king), pairs(&[("5i", 2), ("7i", 2)]));
        assert_eq!(counted(&it.opponent_king), pairs(&[("3a", 2), ("5a", 2)]));
        assert_eq!(counted(&it.black_king), pairs(&[("5i", 4)]));
        assert_eq!(counted(&it.white_king), pairs(&[("3a", 4)]));
        assert_eq!(counted(&it.moves_to), pairs(&[("5h", 2), ("7h", 2)]));
        assert_eq!(counted(&it.drops_to), pairs(&[("9g", 2)]));
    }
}
