//! Positions as input planes.
//!
//! A plane is the 81 squares by file × 9 + rank from 1a, as the mover sees the board. The layout is dlshogi's
//! (`cppshogi.cpp`, `make_input_features`), found out by asking `cshogi.dlshogi`.

use kyokumen_shogi::{Bitboard, Color, EnteringKing, HandKind, PieceKind, Position, attacks};

use crate::element::Element;

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
    let mover = position.side_to_move();
    let (of_mover, of_opponent) = out.split_at_mut(INPUT1_PLANES / 2 * BOARD);
    write_side(position, mover, of_mover);
    write_side(position, !mover, of_opponent);
}

fn write_side<T: Element>(position: &Position, color: Color, out: &mut [T]) {
    let mover = position.side_to_move();
    let occupied = position.occupied();
    let mut counts = [Bitboard::EMPTY; 3];
    let (planes, _) = out.as_chunks_mut::<BOARD>();
    for (i, kind) in KINDS.into_iter().enumerate() {
        let pieces = position.pieces(color, kind);
        let mut attacked = Bitboard::EMPTY;
        for from in pieces {
            let to = attacks::of(color, kind, from, occupied);
            attacked |= to;
            counts[2] |= counts[1] & to;
            counts[1] |= counts[0] & to;
            counts[0] |= to;
        }
        write_plane(pieces, mover, &mut planes[i]);
        write_plane(attacked, mover, &mut planes[KINDS.len() + i]);
    }
    for (count, plane) in counts.into_iter().zip(&mut planes[2 * KINDS.len()..]) {
        write_plane(count, mover, plane);
    }
}

#[inline]
fn write_plane<T: Element>(squares: Bitboard, mover: Color, plane: &mut [T; BOARD]) {
    let bits = match mover {
        Color::Black => squares.bits(),
        Color::White => squares.bits().reverse_bits() >> (u128::BITS as usize - BOARD),
    };
    let bytes = bits.to_le_bytes();
    let (eights, rest) = plane.as_chunks_mut::<8>();
    for (eight, byte) in eights.iter_mut().zip(bytes) {
        *eight = T::OF_BYTE[usize::from(byte)];
    }
    rest[0] = T::OF_BYTE[usize::from(bytes[BOARD / 8])][0];
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
    let mover = position.side_to_move();
    let mut next = 0;
    for color in [mover, !mover] {
        let hand = position.hand(color);
        for (kind, most) in HAND_PLANES {
            let held = usize::from(hand.count(kind)).min(most);
            planes[next..next + held].as_flattened_mut().fill(T::ONE);
            next += most;
        }
    }
    if position.in_check() {
        planes[HANDS].fill(T::ONE);
    }
    if kind == Input2::EnteringKings {
        let (of_mover, of_opponent) = planes[HANDS + 1..].split_at_mut(ENTERING);
        write_entering(position, mover, of_mover);
        write_entering(position, !mover, of_opponent);
    }
}

fn write_entering<T: Element>(position: &Position, color: Color, planes: &mut [[T; BOARD]]) {
    let standing = EnteringKing::of(position, color);
    if standing.king_in_camp {
        planes[0].fill(T::ONE);
    }
    let (pieces, points) = planes[1..].split_at_mut(PIECES_LEFT);
    write_left(EnteringKing::PIECES_NEEDED, standing.pieces, pieces);
    write_left(standing.points_needed, standing.points, points);
}

/// Sets the plane of what is missing; none if it is too much, or more is there than is needed.
fn write_left<T: Element>(needed: u8, there: u8, planes: &mut [[T; BOARD]]) {
    let left = needed.checked_sub(there).and_then(|left| planes.get_mut(usize::from(left)));
    if let Some(plane) = left {
        plane.fill(T::ONE);
    }
}
