//! Random numbers for board keys (Zobrist 1970). A key covers the board and the side to move, but not the hands.
//!
//! The numbers are the output of SplitMix64 (Steele, Lea, Flood 2014) from a fixed seed, so that keys are the same on
//! every machine and in every version.

use super::byte_board::{NUMBERS, number};
use super::piece::{Color, Piece, PieceKind};
use super::square::Square;
use kyokumen_game::random::SplitMix64;

const SEED: u64 = 0x6b79_6f6b_756d_656e;

/// Indexed by the [`number`] on a square and by the square. Zero for empty squares.
static CONTENTS: [[u64; Square::COUNT]; NUMBERS] = {
    let mut table = [[0; Square::COUNT]; NUMBERS];
    let mut random = SplitMix64::new(SEED);
    let mut i = 0;
    while i < 2 * PieceKind::COUNT {
        let color = Color::ALL[i / PieceKind::COUNT];
        let piece = Piece::new(color, PieceKind::ALL[i % PieceKind::COUNT]);
        let mut square = 0;
        while square < Square::COUNT {
            table[number(piece) as usize][square] = random.next_bits();
            square += 1;
        }
        i += 1;
    }
    table
};

/// Combined with the key by XOR when White is to move.
pub(crate) const WHITE_TO_MOVE: u64 = SplitMix64::mixed(SEED ^ SplitMix64::STEP);

/// Key of one piece on one square.
#[inline]
pub(crate) fn piece(piece: Piece, square: Square) -> u64 {
    CONTENTS[usize::from(number(piece))][square.index()]
}

/// Key of the contents of one square; 0 for an empty square.
#[inline]
pub(crate) fn contents(number: u8, square: usize) -> u64 {
    CONTENTS[usize::from(number) % NUMBERS][square]
}
