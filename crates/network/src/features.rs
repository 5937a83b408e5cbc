//! Positions as input planes.
//!
//! A plane is the 81 squares by file × 9 + rank from 1a, as the mover sees the board. The layout is dlshogi's
//! (`cppshogi.cpp`, `make_input_features`), found out by asking `cshogi.dlshogi`.

use std::ops::Range;

use kyokumen_shogi::{Bitboard, Color, EnteringKing, HandKind, PieceKind, Position, attacks};

/// Squares of a plane.
pub const BOARD: usize = 81;

/// Planes of `input1`: 31 of the mover, then 31 of the opponent.
pub const INPUT1_PLANES: usize = 62;

/// Kinds in the order of the planes.
const KINDS: [PieceKind; 14] = [
    PieceKind::Pawn,
    PieceKind::Lance,
    PieceKind::Knight,
    PieceKind::Silver,
    PieceKind::Bishop,
    PieceKind::Rook,
    PieceKind::Gold,
    PieceKind::King,
    PieceKind::ProPawn,
    PieceKind::ProLance,
    PieceKind::ProKnight,
    PieceKind::ProSilver,
    PieceKind::Horse,
    PieceKind::Dragon,
];

/// Kinds in hand with the number of planes of each.
const HAND_PLANES: [(HandKind, usize); HandKind::COUNT] = [
    (HandKind::Pawn, 8),
    (HandKind::Lance, 4),
    (HandKind::Knight, 4),
    (HandKind::Silver, 4),
    (HandKind::Gold, 4),
    (HandKind::Bishop, 2),
    (HandKind::Rook, 2),
];
const HANDS: usize = 56;

/// Planes of one side's entering king: the king is there, 0 to 9 pieces are missing, 0 to 19 points are.
const ENTERING: usize = 1 + PIECES_LEFT + POINTS_LEFT;
const PIECES_LEFT: usize = 10;
const POINTS_LEFT: usize = 20;

/// The planes of `input2`, all of whose squares are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input2 {
    /// 57: pieces in hand of the mover, of the opponent, and whether the mover is in check.
    Hands,
    /// 119: these, then how far the mover and the opponent are from a declaration by 27 points (28 for Black).
    EnteringKings,
}

impl Input2 {
    /// The kind with this number of planes, which a network's file says.
    pub const fn from_planes(planes: usize) -> Option<Self> {
        match planes {
            57 => Some(Self::Hands),
            119 => Some(Self::EnteringKings),
            _ => None,
        }
    }

    /// The number of planes.
    pub const fn planes(self) -> usize {
        match self {
            Self::Hands => HANDS + 1,
            Self::EnteringKings => HANDS + 1 + 2 * ENTERING,
        }
    }
}

/// Writes the planes of `input1`: for the mover, then for the opponent, where each kind of piece stands (14), which
/// squares each kind attacks (14), which squares are attacked at least once, twice, three times. Kinds are
/// P L N S B R G K +P +L +N +S +B +R.
///
/// # Panics
///
/// If `out` has not [`INPUT1_PLANES`] × [`BOARD`] numbers.
pub fn write_input1<T: Element>(position: &Position, out: &mut [T]) {
    assert_eq!(out.len(), INPUT1_PLANES * BOARD, "numbers of input1");
    // Most numbers are 0, and nothing writes zeros as fast as this.
    out.fill(T::ZERO);
    let (planes, _) = out.as_chunks_mut::<BOARD>();
    match position.side_to_move() {
        Color::Black => each_plane(position, |number, squares| {
            write_plane(squares, &mut planes[number], |square| square);
        }),
        Color::White => each_plane(position, |number, squares| {
            write_plane(squares, &mut planes[number], |square| BOARD - 1 - square);
        }),
    }
}

/// Writes the ones of a plane that is 0.
#[inline]
fn write_plane<T: Element>(
    squares: Bitboard,
    plane: &mut [T; BOARD],
    seen: impl Fn(usize) -> usize,
) {
    let (mut low, mut high) = (squares.bits() as u64, (squares.bits() >> u64::BITS) as u64);
    while low != 0 {
        plane[seen(low.trailing_zeros() as usize)] = T::ONE;
        low &= low - 1;
    }
    while high != 0 {
        plane[seen(u64::BITS as usize + high.trailing_zeros() as usize)] = T::ONE;
        high &= high - 1;
    }
}

/// Visits the planes of `input1` by their numbers, each with its squares as Black sees the board; not all that have
/// none.
#[inline]
pub(crate) fn each_plane(position: &Position, mut visit: impl FnMut(usize, Bitboard)) {
    let mover = position.side_to_move();
    each_plane_of(position, mover, &mut visit);
    each_plane_of(position, !mover, |number, squares| visit(INPUT1_PLANES / 2 + number, squares));
}

#[inline]
fn each_plane_of(position: &Position, color: Color, mut visit: impl FnMut(usize, Bitboard)) {
    let occupied = position.occupied();
    let mut counts = [Bitboard::EMPTY; 3];
    for (i, kind) in KINDS.into_iter().enumerate() {
        let pieces = position.pieces(color, kind);
        if pieces.is_empty() {
            continue;
        }
        let mut attacked = Bitboard::EMPTY;
        if kind == PieceKind::Pawn {
            // The first kind, and no two of them attack one square.
            attacked = pieces.forward(color);
            counts[0] = attacked;
        } else {
            for from in pieces {
                let to = attacks::of(color, kind, from, occupied);
                attacked |= to;
                counts[2] |= counts[1] & to;
                counts[1] |= counts[0] & to;
                counts[0] |= to;
            }
        }
        visit(i, pieces);
        visit(KINDS.len() + i, attacked);
    }
    for (i, count) in counts.into_iter().enumerate() {
        visit(2 * KINDS.len() + i, count);
    }
}

/// The bits of squares as the mover sees the board.
#[inline]
pub(crate) const fn seen_by(mover: Color, squares: Bitboard) -> u128 {
    match mover {
        Color::Black => squares.bits(),
        Color::White => squares.bits().reverse_bits() >> (u128::BITS as usize - BOARD),
    }
}

/// Writes the planes of `input2`.
///
/// # Panics
///
/// If `out` has not `kind.planes()` × [`BOARD`] numbers.
pub fn write_input2<T: Element>(position: &Position, kind: Input2, out: &mut [T]) {
    assert_eq!(out.len(), kind.planes() * BOARD, "numbers of input2");
    out.fill(T::ZERO);
    let (planes, _) = out.as_chunks_mut::<BOARD>();
    each_run_of_ones(position, kind, |run| planes[run].as_flattened_mut().fill(T::ONE));
}

/// Visits the planes of `input2` that are 1, as runs of their numbers.
#[inline]
pub(crate) fn each_run_of_ones(
    position: &Position,
    kind: Input2,
    mut visit: impl FnMut(Range<usize>),
) {
    let mover = position.side_to_move();
    let mut next = 0;
    for color in [mover, !mover] {
        let hand = position.hand(color);
        for (kind, most) in HAND_PLANES {
            let held = usize::from(hand.count(kind)).min(most);
            visit(next..next + held);
            next += most;
        }
    }
    if position.in_check() {
        visit(HANDS..HANDS + 1);
    }
    if kind == Input2::EnteringKings {
        each_of_entering(position, mover, |plane| {
            visit(HANDS + 1 + plane..HANDS + 2 + plane);
        });
        each_of_entering(position, !mover, |plane| {
            let place = HANDS + 1 + ENTERING + plane;
            visit(place..place + 1);
        });
    }
}

/// That the king is there; what is missing, of which there is no plane if it is too much, or more is there than is
/// needed.
///
/// The sources of dlshogi (since November 2024) and cshogi read as if nothing missing and more than needed had one
/// plane: `max(0, left)`. But they ask `left < MAX` before, with an unsigned `MAX`, which is false for a negative
/// number. So all networks with these planes were trained like this.
fn each_of_entering(position: &Position, color: Color, mut visit: impl FnMut(usize)) {
    let standing = EnteringKing::of(position, color);
    if standing.king_in_camp {
        visit(0);
    }
    let pieces_left = EnteringKing::PIECES_NEEDED.checked_sub(standing.pieces).map(usize::from);
    if let Some(left) = pieces_left.filter(|&left| left < PIECES_LEFT) {
        visit(1 + left);
    }
    let points_left = standing.points_needed.checked_sub(standing.points).map(usize::from);
    if let Some(left) = points_left.filter(|&left| left < POINTS_LEFT) {
        visit(1 + PIECES_LEFT + left);
    }
}

/// A number of an input plane: 0 or 1.
pub trait Element: Copy + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
}

impl Element for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
}

#[cfg(feature = "half")]
impl Element for half::f16 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
}
