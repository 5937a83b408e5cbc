//! Evaluation of positions where a search ends: by the rule of `ai14s`, or exactly.
//!
//! `ai14s` is the last hand-made player of the articles. Its rule is given by article 112 and by figures that follow
//! from it. The tests reproduce these figures.

use std::ops::Neg;

use serde::{Deserialize, Serialize, Serializer};

use super::board::{Board, Mark};
use super::lines::{LINES, SETS};
use super::solution::Solution;
use super::square::Square;

/// A value in half points. Larger is better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Score(i16);

impl Score {
    /// Below every value.
    pub const MIN: Self = Self(-i16::MAX);
    /// Above every value.
    pub const MAX: Self = Self(i16::MAX);

    /// A number of whole points, at most 10,000.
    pub const fn points(points: i16) -> Self {
        Self(2 * points)
    }

    /// The value in points.
    pub fn as_points(self) -> f64 {
        f64::from(self.0) / 2.0
    }

    /// The value plus one point.
    #[must_use]
    pub const fn plus_one_point(self) -> Self {
        Self(self.0.saturating_add(2))
    }
}

impl Neg for Score {
    type Output = Self;

    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Serialize for Score {
    /// In points. Whole numbers have no decimals.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % 2 {
            0 => serializer.serialize_i16(self.0 / 2),
            _ => serializer.serialize_f64(self.as_points()),
        }
    }
}

/// The evaluation of positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Evaluation {
    /// The rule of `ai14s`: 300 for a win, less for a possible win.
    #[default]
    Ai14s,
    /// The value in the solved game: 1 for a win, 0 for a draw.
    Exact,
}

impl Evaluation {
    /// Value of a position that can occur, for the side to move.
    pub fn for_side_to_move(self, board: Board, solution: &Solution) -> Score {
        match self {
            Self::Ai14s => -ai14s(board),
            Self::Exact => {
                let value = Score::points(solution.value(board).into());
                if board.side_to_move() == Mark::Circle { value } else { -value }
            }
        }
    }
}

/// Value of a position for the side that has just moved, by the rule of `ai14s`.
///
/// The rule counts the marks of both sides on each line. The first case that applies determines the value:
///
/// - A won game is worth 300.
/// - Each line where only the other side's third mark is missing costs 100.
/// - Two or more lines where only the own third mark is missing are worth 200.
/// - The trap of two opposite corners, answered on an edge, is worth 100.
/// - Otherwise, each line that lacks one own mark is worth 2, each line with one own mark alone a half, and each line
///   with one mark of the other side alone costs 1.
pub fn ai14s(board: Board) -> Score {
    let other = board.side_to_move();
    let [own_plane, other_plane] = [board.plane(!other), board.plane(other)];
    let (mut threats, mut threatened, mut own_alone, mut other_alone) = (0, 0, 0, 0);
    for line in LINES {
        match (MARKS[usize::from(own_plane & line)], MARKS[usize::from(other_plane & line)]) {
            (3, _) => return Score::points(300),
            (2, 0) => threats += 1,
            (0, 2) => threatened += 1,
            (1, 0) => own_alone += 1,
            (0, 1) => other_alone += 1,
            _ => {}
        }
    }
    match (threatened, threats) {
        (1.., _) => Score::points(-100 * threatened),
        (0, 2..) => Score::points(200),
        _ if is_trap(board) => Score::points(100),
        _ => Score(4 * threats + own_alone - 2 * other_alone),
    }
}

/// ○ on two opposite corners, × in the centre and on an edge: × has avoided the corner, which would lose.
fn is_trap(board: Board) -> bool {
    const CORNERS: [u16; 2] = [0b100_000_001, 0b001_000_100];
    const EDGES: u16 = 0b010_101_010;
    let [circles, crosses] = [Mark::Circle, Mark::Cross].map(|mark| board.plane(mark));
    board.ply() == 4
        && CORNERS.contains(&circles)
        && crosses & Square::CENTRE.bit() != 0
        && crosses & EDGES != 0
}

/// Number of squares of each set.
static MARKS: [u8; SETS] = {
    let mut table = [0; SETS];
    let mut plane = 0;
    while plane < table.len() {
        table[plane] = plane.count_ones() as u8;
        plane += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    /// The value in half points.
    fn halves(board: &str) -> i16 {
        ai14s(board.parse().unwrap()).0
    }

    /// One position for each case of the rule.
    #[test]
    fn each_case_of_the_rule() {
        assert_eq!(halves("ooo/xx./..."), 600);
        // × has moved and left ○ one line, or two lines.
        assert_eq!(halves("oo./x../..x"), -200);
        assert_eq!(halves("o.o/.x./oxx"), -400);
        // ○ has moved and has two lines. × has no line, or one line.
        assert_eq!(halves("o.o/.x./o.x"), 400);
        assert_eq!(halves("o.o/x.x/o.."), -200);
        // One line with two marks, two lines with one mark, and one line with one mark of ×.
        assert_eq!(halves("oo./x../..."), 4);
        // The trap in both diagonals. × loses on a corner.
        assert_eq!(halves("o../xx./..o"), 200);
        assert_eq!(halves(".xo/.x./o.."), 200);
        assert_eq!(halves("o.x/.x./..o"), 2);
    }

    /// Lines counted by hand: ○ in the centre is alone on four lines. × in a corner is alone on two lines; its third
    /// line, the diagonal, is shared.
    #[test]
    fn values_of_quiet_positions() {
        assert_eq!(halves(".../.../..."), 0);
        assert_eq!(halves(".../.o./..."), 4);
        assert_eq!(halves("o../.../..."), 3);
        assert_eq!(halves(".o./.../..."), 2);
        assert_eq!(halves("x../.o./..."), -4);
    }
}
