//! The eight lines of three, as sets of squares and by their squares.
//!
//! Computed at compile time.

use super::square::Square;
use super::squares::Squares;

/// Number of sets of squares.
pub(super) const SETS: usize = 1 << Square::COUNT;

/// The rows, the columns and the two diagonals.
pub(super) const LINES: [u16; 8] = [
    0b000_000_111,
    0b000_111_000,
    0b111_000_000,
    0b001_001_001,
    0b010_010_010,
    0b100_100_100,
    0b100_010_001,
    0b001_010_100,
];

/// For each set of squares: whether it contains a line.
pub(super) const HOLDS_LINE: [bool; SETS] = {
    let mut table = [false; SETS];
    let mut plane = 0;
    while plane < table.len() {
        let mut line = 0;
        while line < LINES.len() {
            if plane as u16 & LINES[line] == LINES[line] {
                table[plane] = true;
            }
            line += 1;
        }
        plane += 1;
    }
    table
};

/// Whether a plane contains a line. Bits beyond the board do not count.
pub(super) fn holds_line(plane: u16) -> bool {
    HOLDS_LINE[usize::from(plane & Squares::ALL.bits())]
}

/// Lines through each square: its column, its row, and the diagonals it is on.
pub(super) const LINES_THROUGH: [&[[Square; 3]]; Square::COUNT] = {
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
    use super::*;

    #[test]
    fn lines_through_a_square_are_all_lines_that_contain_it() {
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
}
