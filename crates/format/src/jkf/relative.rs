//! `relative`: the letters of JKF for the words that disambiguate moves in Japanese notation.

use kyokumen_shogi::{Move, Position};

use crate::kif::notation::notation;

/// The letters for a legal move. Empty if the move is unambiguous without them.
pub(super) fn relative_of(position: &Position, m: Move) -> String {
    letters_of(&notation(position, m, None))
}

/// The letters for the words in a move's notation.
pub(super) fn letters_of(notation: &str) -> String {
    let letter = |word: char| {
        Some(match word {
            '左' => 'L',
            '直' => 'C',
            '右' => 'R',
            '上' => 'U',
            '寄' => 'M',
            '引' => 'D',
            '打' => 'H',
            _ => return None,
        })
    };
    notation.chars().filter_map(letter).collect()
}
