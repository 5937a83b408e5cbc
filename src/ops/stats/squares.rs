//! Counts by square: kings and the destinations of moves.

use serde::Serialize;

use crate::shogi::{Color, Move, Setup, Square};

/// Counts by [`Square::index`].
pub(super) type SquareCounts = [u64; Square::COUNT];

/// Positions by the square of each king, and legal stored moves by destination.
///
/// Each field has 81 counts in the order of [`Square::index`], as in cshogi and YaneuraOu: 1a, 1b to 1i, 2a to 9i. For
/// the fields seen by a side, the board is rotated so that the side's own camp is at the bottom.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SquaresReport {
    /// The king of the side to move, seen by the side to move.
    pub own_king: Vec<u64>,
    /// The king of the opponent, seen by the side to move.
    pub opponent_king: Vec<u64>,
    /// Black's king.
    pub black_king: Vec<u64>,
    /// White's king. The board is not rotated.
    pub white_king: Vec<u64>,
    /// Destinations of moves of pieces on the board, seen by the side to move.
    pub moves_to: Vec<u64>,
    /// Destinations of drops, seen by the side to move.
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
    pub(super) fn add_kings(&mut self, setup: &Setup) {
        for color in Color::ALL {
            if let Some(king) = setup.king(color) {
                let kings = &mut self.kings[color.index()][setup.side_to_move().index()];
                kings[king.index()] += 1;
            }
        }
    }

    pub(super) fn add_move(&mut self, m: Move, side_to_move: Color) {
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
        let relative = |square: Square, king_color: &dyn Fn(Color) -> Color| -> u64 {
            let count = |to_move| king(king_color(to_move), to_move, seen_by(to_move, square));
            Color::ALL.into_iter().map(count).sum()
        };
        let absolute = |color: Color, square: Square| -> u64 {
            Color::ALL.into_iter().map(|to_move| king(color, to_move, square)).sum()
        };
        SquaresReport {
            own_king: squares(&|square| relative(square, &|to_move| to_move)),
            opponent_king: squares(&|square| relative(square, &|to_move| !to_move)),
            black_king: squares(&|square| absolute(Color::Black, square)),
            white_king: squares(&|square| absolute(Color::White, square)),
            moves_to: self.moves_to.into(),
            drops_to: self.drops_to.into(),
        }
    }
}

/// Returns the square as seen by `color`. The function is its own inverse.
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
    fn camp_of_the_side_to_move_is_at_the_bottom() {
        let mut tally = SquareTally::default();
        for sfen in ["6k2/9/9/9/9/9/9/9/4K4 b G 1", "6k2/9/9/9/9/9/9/9/4K4 w G 1"] {
            tally.add_kings(&sfen.parse().unwrap());
        }
        for (text, color) in
            [("5i5h", Color::Black), ("3a3b", Color::White), ("G*1c", Color::White)]
        {
            tally.add_move(Move::from_usi(text).unwrap(), color);
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
