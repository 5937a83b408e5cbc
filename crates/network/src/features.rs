//! Input planes of positions.
//!
//! A plane contains the 81 squares in the order file × 9 + rank from 1a, as the side to move sees the board. The layout
//! is dlshogi's (`cppshogi.cpp`, `make_input_features`), determined by experiments with `cshogi.dlshogi`.

use std::ops::Range;

use kyokumen_shogi::{Bitboard, Color, EnteringKing, HandKind, PieceKind, Position, attacks};

/// Squares of a plane.
pub const BOARD: usize = 81;

/// Planes of `input1`: 31 of the side to move, then 31 of the opponent.
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

/// Kinds in hand, and the number of planes of each.
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

/// Planes of one side for an entering king: the king is in the camp, 0 to 9 pieces are missing, 0 to 19 points are
/// missing.
const ENTERING: usize = 1 + PIECES_LEFT + POINTS_LEFT;
const PIECES_LEFT: usize = 10;
const POINTS_LEFT: usize = 20;

/// The planes of `input2`. All squares of a plane are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input2 {
    /// 57 planes: pieces in hand of the side to move, pieces in hand of the opponent, and whether the side to move is
    /// in check.
    Hands,
    /// 119 planes: the planes of `Hands`, then the state of the side to move and of the opponent with respect to a
    /// declaration by 27 points (28 for Black).
    EnteringKings,
}

impl Input2 {
    /// The variant with this number of planes. The file of a network contains this number.
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

/// Writes the planes of `input1`. For the side to move, then for the opponent, these are: the squares of each kind of
/// piece (14), the squares that each kind attacks (14), and the squares attacked at least once, twice and three times.
/// Kinds are P L N S B R G K +P +L +N +S +B +R.
///
/// # Panics
///
/// If the length of `out` is not [`INPUT1_PLANES`] × [`BOARD`].
pub fn write_input1<T: Element>(position: &Position, out: &mut [T]) {
    assert_eq!(out.len(), INPUT1_PLANES * BOARD, "numbers of input1");
    // Most numbers are 0, and this is the fastest way to write zeros.
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

/// Writes the ones of a plane that contains only zeros.
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

/// Visits the planes of `input1` by number, each with its squares as Black sees the board. Skips some of the empty
/// planes.
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
            // Pawns are the first kind, and no two pawns attack the same square.
            attacked = pieces.forward(color);
            counts[0] = attacked;
        } else {
            for from in pieces {
                let to = attacks::piece(color, kind, from, occupied);
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

/// Squares as bits, as the side to move sees the board.
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
/// If the length of `out` is not `kind.planes()` × [`BOARD`].
pub fn write_input2<T: Element>(position: &Position, kind: Input2, out: &mut [T]) {
    assert_eq!(out.len(), kind.planes() * BOARD, "numbers of input2");
    out.fill(T::ZERO);
    let (planes, _) = out.as_chunks_mut::<BOARD>();
    each_run_of_ones(position, kind, |run| planes[run].as_flattened_mut().fill(T::ONE));
}

/// Visits the planes of `input2` that are 1, as ranges of plane numbers.
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
        each_entering_king_plane(position, mover, |plane| {
            visit(HANDS + 1 + plane..HANDS + 2 + plane);
        });
        each_entering_king_plane(position, !mover, |plane| {
            let place = HANDS + 1 + ENTERING + plane;
            visit(place..place + 1);
        });
    }
}

/// Visits the planes that are 1: the king in the camp, the missing pieces and the missing points. If too many are
/// missing, or more than needed are present, there is no plane.
///
/// The sources of dlshogi (since November 2024) and cshogi seem to use the plane of 0 also for more than needed:
/// `max(0, left)`. But they test `left < MAX` first, with an unsigned `MAX`, which is false for a negative number. So
/// all networks with these planes were trained in the way implemented here.
fn each_entering_king_plane(position: &Position, color: Color, mut visit: impl FnMut(usize)) {
    let state = EnteringKing::new(position, color);
    if state.king_in_camp {
        visit(0);
    }
    let pieces_left = EnteringKing::PIECES_NEEDED.checked_sub(state.pieces).map(usize::from);
    if let Some(left) = pieces_left.filter(|&left| left < PIECES_LEFT) {
        visit(1 + left);
    }
    let points_left = state.points_needed.checked_sub(state.points).map(usize::from);
    if let Some(left) = points_left.filter(|&left| left < POINTS_LEFT) {
        visit(1 + PIECES_LEFT + left);
    }
}

/// Type of the numbers of input planes, which are 0 or 1.
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
