//! Legal moves by the rule book: square by square, each move tried and looked at.
//!
//! This is the judge of everything that is fast: the generators are tested against it, and the proof
//! checker of the search trusts nothing else. It shares no table and no bitboard with them.

use super::byte_board::Board;
use super::hand::Hand;
use super::moves::Move;
use super::piece::{Color, HandKind, Piece, PieceKind};
use super::position::Position;
use super::square::Square;

/// A step as (files to the left, ranks down) seen from the mover's seat, and whether it repeats.
type MoveStep = (i8, i8, bool);

const PAWN: &[MoveStep] = &[(0, -1, false)];
const LANCE: &[MoveStep] = &[(0, -1, true)];
const KNIGHT: &[MoveStep] = &[(-1, -2, false), (1, -2, false)];
const SILVER: &[MoveStep] =
    &[(0, -1, false), (-1, -1, false), (1, -1, false), (-1, 1, false), (1, 1, false)];
const GOLD: &[MoveStep] = &[
    (0, -1, false),
    (-1, -1, false),
    (1, -1, false),
    (-1, 0, false),
    (1, 0, false),
    (0, 1, false),
];
const BISHOP: &[MoveStep] = &[(-1, -1, true), (1, -1, true), (-1, 1, true), (1, 1, true)];
const ROOK: &[MoveStep] = &[(0, -1, true), (-1, 0, true), (1, 0, true), (0, 1, true)];
const KING: &[MoveStep] = &[
    (0, -1, false),
    (-1, -1, false),
    (1, -1, false),
    (-1, 0, false),
    (1, 0, false),
    (0, 1, false),
    (-1, 1, false),
    (1, 1, false),
];
const HORSE: &[MoveStep] = &[
    (-1, -1, true),
    (1, -1, true),
    (-1, 1, true),
    (1, 1, true),
    (0, -1, false),
    (-1, 0, false),
    (1, 0, false),
    (0, 1, false),
];
const DRAGON: &[MoveStep] = &[
    (0, -1, true),
    (-1, 0, true),
    (1, 0, true),
    (0, 1, true),
    (-1, -1, false),
    (1, -1, false),
    (-1, 1, false),
    (1, 1, false),
];

const fn reaches(kind: PieceKind) -> &'static [MoveStep] {
    match kind {
        PieceKind::Pawn => PAWN,
        PieceKind::Lance => LANCE,
        PieceKind::Knight => KNIGHT,
        PieceKind::Silver => SILVER,
        PieceKind::Gold
        | PieceKind::ProPawn
        | PieceKind::ProLance
        | PieceKind::ProKnight
        | PieceKind::ProSilver => GOLD,
        PieceKind::Bishop => BISHOP,
        PieceKind::Rook => ROOK,
        PieceKind::King => KING,
        PieceKind::Horse => HORSE,
        PieceKind::Dragon => DRAGON,
    }
}

/// All legal moves, in the order of squares and then of kinds in hand.
pub fn legal_moves(position: &Position) -> Vec<Move> {
    Mailbox::new(position).legal_moves()
}

/// The legal move with this [code](Move::code).
pub fn legal_move(position: &Position, code: u16) -> Option<Move> {
    let mailbox = Mailbox::new(position);
    let in_check = mailbox.king_is_attacked(mailbox.side_to_move);
    let m = mailbox.candidates().into_iter().find(|m| m.code().get() == code)?;
    mailbox.is_legal(m, in_check).then_some(m)
}

/// Whether the side to move is in check.
pub fn in_check(position: &Position) -> bool {
    let mailbox = Mailbox::new(position);
    mailbox.king_is_attacked(mailbox.side_to_move)
}

#[derive(Clone)]
struct Mailbox {
    board: Board,
    hands: [Hand; 2],
    side_to_move: Color,
    kings: [Option<Square>; 2],
}

impl Mailbox {
    fn new(position: &Position) -> Self {
        let board = *position.board();
        let king = |color| {
            let king = Some(Piece::new(color, PieceKind::King));
            Square::all().find(|square| board[square.index()] == king)
        };
        Self {
            board,
            kings: Color::ALL.map(king),
            hands: Color::ALL.map(|color| position.hand(color)),
            side_to_move: position.side_to_move(),
        }
    }

    fn legal_moves(&self) -> Vec<Move> {
        let mut moves = self.candidates();
        let in_check = self.king_is_attacked(self.side_to_move);
        let shields = if in_check { self.shields() } else { Vec::new() };
        moves.retain(|&m| {
            let hopeless = in_check && m.is_drop() && !shields.contains(&m.to());
            !hopeless && self.is_legal(m, in_check)
        });
        moves
    }

    /// Moves that obey the way the pieces move, the dead ranks and the rule of two pawns.
    fn candidates(&self) -> Vec<Move> {
        let us = self.side_to_move;
        let mut moves = Vec::new();
        for from in Square::all() {
            match self.board[from.index()] {
                Some(piece) if piece.color == us => self.push_piece(piece, from, &mut moves),
                _ => {}
            }
        }
        for kind in HandKind::ALL {
            if self.hands[us.index()].has(kind) {
                let free = Square::all().filter(|&to| self.can_drop(kind, to));
                moves.extend(free.map(|to| Move::drop(kind, to)));
            }
        }
        moves
    }

    fn push_piece(&self, piece: Piece, from: Square, moves: &mut Vec<Move>) {
        self.for_each_target(piece, from, |to| {
            if self.board[to.index()].is_some_and(|other| other.color == piece.color) {
                return;
            }
            let in_zone = |square: Square| square.relative_rank(piece.color) < 3;
            if piece.kind.promoted().is_some() && (in_zone(from) || in_zone(to)) {
                moves.push(Move::new(from, to, true));
            }
            if to.relative_rank(piece.color) >= piece.kind.dead_ranks() {
                moves.push(Move::new(from, to, false));
            }
        });
    }

    fn for_each_target(&self, piece: Piece, from: Square, mut visit: impl FnMut(Square)) {
        let sign = if piece.color == Color::Black { 1 } else { -1 };
        for &(files, ranks, far) in reaches(piece.kind) {
            let mut at = from;
            while let Some(to) = at.offset(sign * files, sign * ranks) {
                visit(to);
                if !far || self.board[to.index()].is_some() {
                    break;
                }
                at = to;
            }
        }
    }

    fn can_drop(&self, kind: HandKind, to: Square) -> bool {
        let us = self.side_to_move;
        let pawn = Some(Piece::new(us, PieceKind::Pawn));
        let second_pawn = kind == HandKind::Pawn
            && (0..9)
                .any(|rank| self.board[Square::from_file_rank(to.file(), rank).index()] == pawn);
        self.board[to.index()].is_none()
            && to.relative_rank(us) >= kind.piece_kind().dead_ranks()
            && !second_pawn
    }

    fn is_legal(&self, m: Move, in_check: bool) -> bool {
        let drops_pawn = m.dropped() == Some(HandKind::Pawn);
        if m.is_drop() && !in_check && !drops_pawn {
            // A piece more on the board exposes nobody.
            return true;
        }
        let after = self.after(m);
        if after.king_is_attacked(self.side_to_move) {
            return false;
        }
        !(drops_pawn
            && after.king_is_attacked(after.side_to_move)
            && after.legal_moves().is_empty())
    }

    fn after(&self, m: Move) -> Self {
        let us = self.side_to_move;
        let mut after = self.clone();
        let piece = match (m.from(), m.dropped()) {
            (Some(from), _) => {
                let piece = after.board[from.index()].take();
                let captured = self.board[m.to().index()].and_then(|other| other.kind.hand_kind());
                if let Some(kind) = captured {
                    after.hands[us.index()].add(kind);
                }
                if self.kings[us.index()] == Some(from) {
                    after.kings[us.index()] = Some(m.to());
                }
                piece.map(|piece| match piece.kind.promoted() {
                    Some(promoted) if m.is_promotion() => Piece::new(us, promoted),
                    _ => piece,
                })
            }
            (None, Some(kind)) => {
                after.hands[us.index()].remove(kind);
                Some(Piece::new(us, kind.piece_kind()))
            }
            (None, None) => None,
        };
        after.board[m.to().index()] = piece;
        after.side_to_move = !us;
        after
    }

    /// Empty squares on the lines from the king of the side to move to the first pieces: only a piece that
    /// is dropped there can come between.
    fn shields(&self) -> Vec<Square> {
        let mut shields = Vec::new();
        if let Some(king) = self.kings[self.side_to_move.index()] {
            let horse = Piece::new(self.side_to_move, PieceKind::Horse);
            let dragon = Piece::new(self.side_to_move, PieceKind::Dragon);
            for piece in [horse, dragon] {
                self.for_each_target(piece, king, |to| shields.push(to));
            }
        }
        shields
    }

    /// Looks out from the king: along each line to the first piece, and over each knight's jump.
    fn king_is_attacked(&self, color: Color) -> bool {
        let Some(king) = self.kings[color.index()] else { return false };
        let by_line = KING.iter().any(|&(files, ranks, _)| {
            let mut at = king;
            let mut distance = 0;
            while let Some(from) = at.offset(files, ranks) {
                distance += 1;
                if let Some(piece) = self.board[from.index()] {
                    return piece.color != color
                        && reaches_back(piece, (-files, -ranks), distance > 1);
                }
                at = from;
            }
            false
        });
        by_line
            || [(-1, -2), (1, -2), (-1, 2), (1, 2)].into_iter().any(|(files, ranks)| {
                king.offset(files, ranks).and_then(|from| self.board[from.index()]).is_some_and(
                    |piece| piece.color != color && reaches_back(piece, (-files, -ranks), false),
                )
            })
    }
}

/// Whether a piece moves in this direction, given as Black sees the board.
fn reaches_back(piece: Piece, (files, ranks): (i8, i8), far: bool) -> bool {
    let sign = if piece.color == Color::Black { 1 } else { -1 };
    reaches(piece.kind).iter().any(|&(piece_files, piece_ranks, piece_far)| {
        (sign * piece_files, sign * piece_ranks) == (files, ranks) && (piece_far || !far)
    })
}
