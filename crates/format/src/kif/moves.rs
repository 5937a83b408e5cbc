//! KIF moves: target square, piece, `成` or `打`, and origin square.
//!
//! Examples: `７六歩(77)`, `同 歩成(24)`, `５五角打`. The sign of the side and `不成` may be missing.

use kyokumen_shogi::{HandKind, Move, PieceKind, Position, Square};

use super::line::SIGNS;

/// Numerals of files (full width) and ranks (Chinese).
pub(super) const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];
pub(super) const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

/// Names of the kinds. The first name of a kind is written.
const NAMES: [(&str, PieceKind); 18] = [
    ("歩", PieceKind::Pawn),
    ("香", PieceKind::Lance),
    ("桂", PieceKind::Knight),
    ("銀", PieceKind::Silver),
    ("金", PieceKind::Gold),
    ("角", PieceKind::Bishop),
    ("飛", PieceKind::Rook),
    ("玉", PieceKind::King),
    ("王", PieceKind::King),
    ("と", PieceKind::ProPawn),
    ("成香", PieceKind::ProLance),
    ("成桂", PieceKind::ProKnight),
    ("成銀", PieceKind::ProSilver),
    ("馬", PieceKind::Horse),
    ("龍", PieceKind::Dragon),
    ("杏", PieceKind::ProLance),
    ("圭", PieceKind::ProKnight),
    ("全", PieceKind::ProSilver),
];

/// Names of two characters. They begin like shorter names.
const LONG_NAMES: [(&str, PieceKind); 12] = [
    ("歩兵", PieceKind::Pawn),
    ("香車", PieceKind::Lance),
    ("桂馬", PieceKind::Knight),
    ("銀将", PieceKind::Silver),
    ("金将", PieceKind::Gold),
    ("角行", PieceKind::Bishop),
    ("飛車", PieceKind::Rook),
    ("玉将", PieceKind::King),
    ("王将", PieceKind::King),
    ("と金", PieceKind::ProPawn),
    ("龍馬", PieceKind::Horse),
    ("龍王", PieceKind::Dragon),
];

/// The piece name at the start of a normalised text, and the rest.
pub(super) fn kind(text: &str) -> Option<(PieceKind, &str)> {
    let mut names = LONG_NAMES.into_iter().chain(NAMES);
    names.find_map(|(name, kind)| Some((kind, text.strip_prefix(name)?)))
}

pub(super) fn name(kind: PieceKind) -> &'static str {
    NAMES.into_iter().find_map(|(name, named)| (named == kind).then_some(name)).unwrap_or("")
}

/// Parses a normalised move of the side to move. `last` is the target square of the previous move.
pub(crate) fn parse(text: &str, position: &Position, last: Option<Square>) -> Option<Move> {
    let text = text.strip_prefix(SIGNS).unwrap_or(text).trim_start();
    let (to, text) = target(text, last)?;
    let (kind, text) = kind(text)?;
    let text = text.trim_start();
    if text.starts_with('打') || text.starts_with("(00)") {
        let dropped = HandKind::ALL.into_iter().find(|held| held.piece_kind() == kind)?;
        return Some(Move::drop(dropped, to));
    }
    let unpromoted = text.strip_prefix("不成").or_else(|| text.strip_prefix('生'));
    let promoting = text.strip_prefix('成');
    let from = origin(unpromoted.or(promoting).unwrap_or(text).trim_start())?;
    let piece = position.piece_on(from)?;
    let is_there = piece.color == position.side_to_move() && piece.kind == kind && from != to;
    is_there.then(|| Move::new(from, to, promoting.is_some()))
}

/// The square at the start of a normalised text, and the rest.
pub(super) fn target(text: &str, last: Option<Square>) -> Option<(Square, &str)> {
    if let Some(text) = text.strip_prefix('同') {
        return Some((last?, text.trim_start()));
    }
    let mut chars = text.chars();
    let (file, rank) = (number(chars.next()?)?, number(chars.next()?)?);
    let text = chars.as_str();
    let text = text.strip_prefix('同').unwrap_or(text);
    Some((Square::from_file_rank(file as u8, rank as u8), text.trim_start()))
}

/// Whether a normalised text begins like a move: a square or 同, then a piece.
pub(super) fn begins_like_move(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(SIGNS);
    let any = Square::from_file_rank(0, 0);
    target(text, Some(any)).is_some_and(|(_, text)| kind(text).is_some())
}

/// Whether a normalised text has a move, possibly damaged: it begins like one or has an origin square.
pub(super) fn has_move(text: &str) -> bool {
    begins_like_move(text) || has_origin(text)
}

/// Whether a normalised text has a piece with an origin square.
pub(super) fn has_origin(text: &str) -> bool {
    let is_piece = |before: &str| {
        let name = before.trim_end().trim_end_matches(['不', '成', '生']);
        LONG_NAMES.iter().chain(&NAMES).any(|(piece, _)| name.ends_with(piece))
    };
    let mut brackets = text.match_indices('(').map(|(at, _)| text.split_at(at));
    brackets.any(|(before, bracket)| origin(bracket).is_some() && is_piece(before))
}

/// Whether a normalised word may be a damaged move and not a word for the end of a game. It begins with two numerals,
/// with 同, or with a character that does not occur in such words.
pub(super) fn may_be_move(word: &str) -> bool {
    word.is_empty()
        || word.starts_with(|c: char| c.is_ascii() || c == '同')
        || word.contains(char::REPLACEMENT_CHARACTER)
        || target(word, None).is_some()
}

/// Converts a numeral from 1 to an index from 0.
fn number(c: char) -> Option<usize> {
    digit(c).or_else(|| RANKS.iter().position(|&name| name == c))
}

fn digit(c: char) -> Option<usize> {
    (c.to_digit(10)? as usize).checked_sub(1)
}

/// The square in brackets at the start of a text.
pub(super) fn origin(text: &str) -> Option<Square> {
    let mut chars = text.strip_prefix('(')?.chars();
    let (file, rank) = (digit(chars.next()?)?, digit(chars.next()?)?);
    chars.as_str().starts_with(')').then(|| Square::from_file_rank(file as u8, rank as u8))
}

pub(crate) fn write(best_move: Move, position: &Position, last: Option<Square>) -> String {
    let to = best_move.to();
    let target = match last {
        Some(last) if last == to => "同　".to_owned(),
        _ => [FILES[usize::from(to.file())], RANKS[usize::from(to.rank())]].iter().collect(),
    };
    if let Some(dropped) = best_move.dropped() {
        return format!("{target}{}打", name(dropped.piece_kind()));
    }
    let Some((from, piece)) =
        best_move.from().and_then(|from| Some((from, position.piece_on(from)?)))
    else {
        return target;
    };
    let promotion = if best_move.is_promotion() { "成" } else { "" };
    let (file, rank) = (from.file() + 1, from.rank() + 1);
    format!("{target}{}{promotion}({file}{rank})", name(piece.kind))
}
