//! Codes of pieces, squares and sides.

use kyokumen_shogi::{Color, HandKind, PieceKind, Square};

/// Kinds in the order of [`PieceKind::ALL`].
pub(crate) const CODES: [&[u8; 2]; PieceKind::COUNT] = [
    b"FU", b"KY", b"KE", b"GI", b"KI", b"KA", b"HI", b"OU", b"TO", b"NY", b"NK", b"NG", b"UM",
    b"RY",
];

pub(crate) fn kind_of(code: &[u8]) -> Option<PieceKind> {
    PieceKind::ALL.into_iter().find(|kind| CODES[kind.index()] == code)
}

/// The kind of these pieces in hand. `None` for promoted pieces and kings.
pub(crate) fn held_kind(kind: PieceKind) -> Option<HandKind> {
    kind.hand_kind().filter(|held| held.piece_kind() == kind)
}

/// The CSA code of a piece kind as text.
pub(crate) fn code(kind: PieceKind) -> &'static str {
    str::from_utf8(CODES[kind.index()]).unwrap_or_default()
}

pub(crate) fn square_of(digits: &[u8]) -> Option<Square> {
    let [file @ b'1'..=b'9', rank @ b'1'..=b'9'] = digits else { return None };
    Some(Square::from_file_rank(file - b'1', rank - b'1'))
}

pub(crate) const fn sign_of(color: Color) -> u8 {
    match color {
        Color::Black => b'+',
        Color::White => b'-',
    }
}

pub(crate) fn put_line(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    out.push(b'\n');
}
