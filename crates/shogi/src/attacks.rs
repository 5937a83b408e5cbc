//! The squares that a piece attacks.
//!
//! Steppers use tables. Sliders along ranks and diagonals use byte-swapped subtraction (the "o^(o-2r)" technique of
//! chess programming, applied to shogi by Qugiy). The squares of such a line are in different bytes, because their
//! numbers differ by 8, 9 or 10. Reversing the bytes therefore reverses the line, and one subtraction per direction
//! finds the first blocker. Files are nine adjacent bits and use a table of 2.3 kB. The code needs only the baseline
//! instructions of x86-64 and Arm. All tables together are smaller than 36 kB.

use super::bitboard::Bitboard;
use super::piece::{Color, PieceKind};
use super::square::Square;

type PerSquare<T> = [T; Square::COUNT];
type PerColor<T> = [T; 2];

/// A step as (files to the left, ranks down), seen from Black.
type Step = (i8, i8);

const PAWN_STEPS: &[Step] = &[(0, -1)];
const KNIGHT_STEPS: &[Step] = &[(-1, -2), (1, -2)];
const SILVER_STEPS: &[Step] = &[(0, -1), (-1, -1), (1, -1), (-1, 1), (1, 1)];
const GOLD_STEPS: &[Step] = &[(0, -1), (-1, -1), (1, -1), (-1, 0), (1, 0), (0, 1)];
const KING_STEPS: &[Step] = &[(0, -1), (-1, -1), (1, -1), (-1, 0), (1, 0), (0, 1), (-1, 1), (1, 1)];

const fn step_table(steps: &[Step]) -> PerColor<PerSquare<Bitboard>> {
    let mut table = [[Bitboard::EMPTY; Square::COUNT]; 2];
    let mut number = 0;
    while number < 81 {
        let square = Square::from_bit(number);
        let mut i = 0;
        while i < steps.len() {
            let (files, ranks) = steps[i];
            if let Some(to) = square.offset(files, ranks) {
                table[0][number as usize] = table[0][number as usize].with(to);
            }
            if let Some(to) = square.offset(-files, -ranks) {
                table[1][number as usize] = table[1][number as usize].with(to);
            }
            i += 1;
        }
        number += 1;
    }
    table
}

static PAWN: PerColor<PerSquare<Bitboard>> = step_table(PAWN_STEPS);
static KNIGHT: PerColor<PerSquare<Bitboard>> = step_table(KNIGHT_STEPS);
static SILVER: PerColor<PerSquare<Bitboard>> = step_table(SILVER_STEPS);
static GOLD: PerColor<PerSquare<Bitboard>> = step_table(GOLD_STEPS);
static KING: PerSquare<Bitboard> = step_table(KING_STEPS)[0];

/// The eight directions; a direction and its opposite differ by four.
const DIRECTIONS: [Step; 8] =
    [(0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1)];
const UP: usize = 0;
const NO_DIRECTION: u8 = 8;

/// Squares beyond a square in each direction. The ninth entry is empty, for [`NO_DIRECTION`].
static RAYS: PerSquare<[Bitboard; 9]> = {
    let mut rays = [[Bitboard::EMPTY; 9]; Square::COUNT];
    let mut number = 0;
    while number < 81 {
        let mut direction = 0;
        while direction < 8 {
            let (files, ranks) = DIRECTIONS[direction];
            let mut square = Square::from_bit(number);
            while let Some(next) = square.offset(files, ranks) {
                rays[number as usize][direction] = rays[number as usize][direction].with(next);
                square = next;
            }
            direction += 1;
        }
        number += 1;
    }
    rays
};

/// Direction from one square to another; [`NO_DIRECTION`] if no line joins them.
static DIRECTION: PerSquare<PerSquare<u8>> = {
    let mut table = [[NO_DIRECTION; Square::COUNT]; Square::COUNT];
    let mut from = 0;
    while from < 81 {
        let mut direction = 0;
        while direction < 8 {
            let (files, ranks) = DIRECTIONS[direction];
            let mut square = Square::from_bit(from);
            while let Some(next) = square.offset(files, ranks) {
                table[from as usize][next.index()] = direction as u8;
                square = next;
            }
            direction += 1;
        }
        from += 1;
    }
    table
};

/// The three lines through each square that [`along_line`] handles, without the square itself.
struct Lines {
    rank: u128,
    /// From lower right to upper left as seen by Black.
    rising: u128,
    falling: u128,
}

static LINES: PerSquare<Lines> = {
    const EMPTY: Lines = Lines { rank: 0, rising: 0, falling: 0 };
    let mut lines = [EMPTY; Square::COUNT];
    let mut number = 0;
    while number < 81 {
        let rays = &step_rays(number);
        lines[number as usize] = Lines {
            rank: rays[2] | rays[6],
            rising: rays[1] | rays[5],
            falling: rays[3] | rays[7],
        };
        number += 1;
    }
    lines
};

const fn step_rays(number: u32) -> [u128; 8] {
    let mut rays = [0; 8];
    let mut direction = 0;
    while direction < 8 {
        let (files, ranks) = DIRECTIONS[direction];
        let mut square = Square::from_bit(number);
        while let Some(next) = square.offset(files, ranks) {
            rays[direction] |= 1 << next.index();
            square = next;
        }
        direction += 1;
    }
    rays
}

/// Attacks within one file, by rank and by the occupancy of the seven inner squares.
static FILE: [[u16; 128]; 9] = {
    let mut table = [[0; 128]; 9];
    let mut rank = 0;
    while rank < 9 {
        let mut inner = 0;
        while inner < 128 {
            let occupied = (inner as u16) << 1;
            let mut attacks = 0u16;
            let mut r = rank;
            while r > 0 {
                r -= 1;
                attacks |= 1 << r;
                if occupied & 1 << r != 0 {
                    break;
                }
            }
            let mut r = rank;
            while r < 8 {
                r += 1;
                attacks |= 1 << r;
                if occupied & 1 << r != 0 {
                    break;
                }
            }
            table[rank][inner] = attacks;
            inner += 1;
        }
        rank += 1;
    }
    table
};

/// Attacks of a slider along one rank or diagonal. `line` does not contain the slider's square.
#[inline]
const fn along_line(square: Square, line: u128, occupied: u128) -> u128 {
    let slider = 1u128 << square.index();
    let blockers = occupied & line;
    let upwards = blockers.wrapping_sub(slider);
    let downwards = blockers.swap_bytes().wrapping_sub(slider.swap_bytes()).swap_bytes();
    (upwards ^ downwards) & line
}

/// Attacks up and down the file.
#[inline]
fn along_file(square: Square, occupied: Bitboard) -> Bitboard {
    let shift = 9 * u32::from(square.file());
    let inner = (occupied.bits() >> (shift + 1)) as usize & 0x7f;
    let attacks = FILE[square.rank() as usize][inner];
    Bitboard::from_bits(u128::from(attacks) << shift)
}

/// Squares a pawn of `color` on `square` attacks.
#[inline]
pub fn pawn(color: Color, square: Square) -> Bitboard {
    PAWN[color.index()][square.index()]
}

/// Squares a knight of `color` on `square` attacks.
#[inline]
pub fn knight(color: Color, square: Square) -> Bitboard {
    KNIGHT[color.index()][square.index()]
}

/// Squares a silver of `color` on `square` attacks.
#[inline]
pub fn silver(color: Color, square: Square) -> Bitboard {
    SILVER[color.index()][square.index()]
}

/// Squares a gold of `color` on `square` attacks.
#[inline]
pub fn gold(color: Color, square: Square) -> Bitboard {
    GOLD[color.index()][square.index()]
}

/// Squares a king on `square` attacks.
#[inline]
pub fn king(square: Square) -> Bitboard {
    KING[square.index()]
}

/// Squares a lance of `color` on `square` attacks, up to the first occupied one.
#[inline]
pub fn lance(color: Color, square: Square, occupied: Bitboard) -> Bitboard {
    along_file(square, occupied) & lance_ray(color, square)
}

/// Squares a lance of `color` on `square` attacks on an empty board.
#[inline]
pub fn lance_ray(color: Color, square: Square) -> Bitboard {
    RAYS[square.index()][UP + 4 * color.index()]
}

/// Squares a bishop on `square` attacks, up to the first occupied one in each direction.
#[inline]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    let lines = &LINES[square.index()];
    Bitboard::from_bits(
        along_line(square, lines.rising, occupied.bits())
            | along_line(square, lines.falling, occupied.bits()),
    )
}

/// Squares a bishop on `square` attacks on an empty board.
#[inline]
pub fn bishop_rays(square: Square) -> Bitboard {
    let lines = &LINES[square.index()];
    Bitboard::from_bits(lines.rising | lines.falling)
}

/// Squares a rook on `square` attacks, up to the first occupied one in each direction.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    let rank = along_line(square, LINES[square.index()].rank, occupied.bits());
    Bitboard::from_bits(rank) | along_file(square, occupied)
}

/// Squares a rook on `square` attacks on an empty board.
#[inline]
pub fn rook_rays(square: Square) -> Bitboard {
    let rays = &RAYS[square.index()];
    Bitboard::from_bits(LINES[square.index()].rank) | rays[UP] | rays[UP + 4]
}

/// Squares a piece attacks.
#[inline(always)]
pub fn piece(color: Color, kind: PieceKind, square: Square, occupied: Bitboard) -> Bitboard {
    match kind {
        PieceKind::Pawn => pawn(color, square),
        PieceKind::Lance => lance(color, square, occupied),
        PieceKind::Knight => knight(color, square),
        PieceKind::Silver => silver(color, square),
        PieceKind::Gold
        | PieceKind::ProPawn
        | PieceKind::ProLance
        | PieceKind::ProKnight
        | PieceKind::ProSilver => gold(color, square),
        PieceKind::Bishop => bishop(square, occupied),
        PieceKind::Rook => rook(square, occupied),
        PieceKind::King => king(square),
        PieceKind::Horse => bishop(square, occupied) | king(square),
        PieceKind::Dragon => rook(square, occupied) | king(square),
    }
}

/// Kinds in [`CHECK_ORIGINS`].
const ORIGIN_KINDS: [&[Step]; 4] = [PAWN_STEPS, KNIGHT_STEPS, SILVER_STEPS, GOLD_STEPS];

/// By kind, colour and target: origins from where one move on an empty board leads to a square that attacks the target.
/// The piece may promote with the move.
static CHECK_ORIGINS: [PerColor<PerSquare<Bitboard>>; 4] = {
    let mut table = [[[Bitboard::EMPTY; Square::COUNT]; 2]; 4];
    let mut kind = 0;
    while kind < 4 {
        let mut number = 0;
        while number < 81 {
            let black = check_origins_of_black(ORIGIN_KINDS[kind], number);
            table[kind][0][number as usize] = black;
            number += 1;
        }
        let mut number = 0;
        while number < 81 {
            // White's board is Black's board rotated.
            let black = table[kind][0][80 - number].bits();
            table[kind][1][number] = Bitboard::from_bits(black.reverse_bits() >> 47);
            number += 1;
        }
        kind += 1;
    }
    table
};

const fn check_origins_of_black(steps: &[Step], king: u32) -> Bitboard {
    let king = Square::from_bit(king);
    let direct = squares_attacking(steps, king);
    let mut origins = Bitboard::EMPTY;
    let mut targets = direct.bits() | squares_attacking(GOLD_STEPS, king).bits();
    while targets != 0 {
        let to = Square::from_bit(targets.trailing_zeros());
        let mut from_bits = squares_attacking(steps, to).bits();
        while from_bits != 0 {
            let from = Square::from_bit(from_bits.trailing_zeros());
            let promotes = from.rank() < 3 || to.rank() < 3;
            // For a gold, `direct` contains all targets, so it needs no promotion.
            if direct.contains(to) || promotes {
                origins = origins.with(from);
            }
            from_bits &= from_bits - 1;
        }
        targets &= targets - 1;
    }
    origins
}

/// Squares from which Black attacks a square by one of the steps.
const fn squares_attacking(steps: &[Step], target: Square) -> Bitboard {
    let mut squares = Bitboard::EMPTY;
    let mut i = 0;
    while i < steps.len() {
        let (files, ranks) = steps[i];
        if let Some(from) = target.offset(-files, -ranks) {
            squares = squares.with(from);
        }
        i += 1;
    }
    squares
}

/// Squares from where a pawn, knight, silver or gold of `color` could attack `king` after one move on an empty board.
/// All squares for other kinds.
#[inline]
pub fn check_origins(color: Color, kind: PieceKind, king: Square) -> Bitboard {
    let index = match kind {
        PieceKind::Pawn => 0,
        PieceKind::Knight => 1,
        PieceKind::Silver => 2,
        PieceKind::Gold => 3,
        _ => return Bitboard::ALL,
    };
    CHECK_ORIGINS[index][color.index()][king.index()]
}

/// Squares strictly between two squares on one line; empty if no line joins them.
#[inline]
pub fn between(a: Square, b: Square) -> Bitboard {
    let direction = DIRECTION[a.index()][b.index()] as usize;
    let back = DIRECTION[b.index()][a.index()] as usize;
    RAYS[a.index()][direction] & RAYS[b.index()][back]
}

/// The ray that starts beyond `from` and runs through `through`; empty if no line joins them.
#[inline]
pub fn ray_through(from: Square, through: Square) -> Bitboard {
    RAYS[from.index()][DIRECTION[from.index()][through.index()] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference implementation: walks the board square by square.
    fn walked(square: Square, steps: &[Step], occupied: Bitboard, far: bool) -> Bitboard {
        let mut attacks = Bitboard::EMPTY;
        for &(files, ranks) in steps {
            let mut at = square;
            while let Some(next) = at.offset(files, ranks) {
                attacks = attacks.with(next);
                if !far || occupied.contains(next) {
                    break;
                }
                at = next;
            }
        }
        attacks
    }

    proptest! {
        #[test]
        fn sliders_equal_a_walk_over_the_board(bits in any::<u128>(), sparse in any::<u128>()) {
            for occupied in [bits, bits & sparse, bits | sparse] {
                let occupied = Bitboard::from_bits(occupied);
                for square in Square::all() {
                    let diagonal = walked(square, &[(1, 1), (1, -1), (-1, 1), (-1, -1)], occupied, true);
                    let straight = walked(square, &[(1, 0), (0, -1), (-1, 0), (0, 1)], occupied, true);
                    prop_assert_eq!(bishop(square, occupied), diagonal);
                    prop_assert_eq!(rook(square, occupied), straight);
                    prop_assert_eq!(
                        lance(Color::Black, square, occupied),
                        walked(square, &[(0, -1)], occupied, true)
                    );
                    prop_assert_eq!(
                        lance(Color::White, square, occupied),
                        walked(square, &[(0, 1)], occupied, true)
                    );
                }
            }
        }
    }

    #[test]
    fn attacks_of_white_are_attacks_of_black_rotated() {
        for kind in PieceKind::ALL {
            for square in Square::all() {
                let white = piece(Color::White, kind, square, Bitboard::EMPTY);
                let black: Bitboard = piece(Color::Black, kind, square.rotated(), Bitboard::EMPTY)
                    .map(Square::rotated)
                    .collect();
                assert_eq!(white, black, "{kind:?} {square}");
            }
        }
    }

    #[test]
    fn check_origins_match_a_search_over_two_moves() {
        for color in Color::ALL {
            let zone = Bitboard::far_ranks(color, 3);
            for kind in [PieceKind::Pawn, PieceKind::Knight, PieceKind::Silver, PieceKind::Gold] {
                for king in Square::all() {
                    let expected: Bitboard = Square::all()
                        .filter(|&from| {
                            piece(color, kind, from, Bitboard::EMPTY).any(|to| {
                                let after = kind
                                    .promoted()
                                    .filter(|_| zone.contains(from) || zone.contains(to));
                                [Some(kind), after].into_iter().flatten().any(|kind| {
                                    piece(color, kind, to, Bitboard::EMPTY).contains(king)
                                })
                            })
                        })
                        .collect();
                    assert_eq!(check_origins(color, kind, king), expected, "{color:?} {kind:?}");
                }
            }
        }
    }

    #[test]
    fn squares_between_are_the_squares_that_block_a_line() {
        for a in Square::all() {
            for b in Square::all() {
                let lines = bishop_rays(a) | rook_rays(a);
                let expected: Bitboard = if lines.contains(b) {
                    let target = Bitboard::from_square(b);
                    let origin = Bitboard::from_square(a);
                    let forth = bishop(a, target) | rook(a, target);
                    let back = bishop(b, origin) | rook(b, origin);
                    forth & back & ray_through(a, b)
                } else {
                    Bitboard::EMPTY
                };
                assert_eq!(between(a, b), expected & !Bitboard::from_square(b), "{a} {b}");
            }
        }
    }
}
