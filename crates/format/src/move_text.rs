//! Single moves as KIF and CSA files write them.

use kyokumen_shogi::{Move, Position, Square};

use crate::csa;
use crate::kif::{self, notation};

/// A move as in KIF files, such as `７六歩(77)`. `last` is the target square of the previous move, which is written as
/// 同.
///
/// ```
/// use kyokumen_format::{csa_move, kif_move, parse_csa_move, parse_kif_move};
/// use kyokumen_shogi::{Move, Position};
/// let position = Position::start();
/// let m = Move::from_usi("7g7f").unwrap();
/// assert_eq!(kif_move(&position, m, None), "７六歩(77)");
/// assert_eq!(csa_move(&position, m), "+7776FU");
/// for text in ["７六歩(77)", "☗７六歩", "▲76歩"] {
///     assert_eq!(parse_kif_move(&position, text, None), Some(m));
/// }
/// assert_eq!(parse_csa_move(&position, "+7776FU"), Some(m));
/// // No piece can move there.
/// assert_eq!(parse_kif_move(&position, "５五歩", None), None);
/// assert_eq!(parse_csa_move(&position, "+7755FU"), None);
/// ```
pub fn kif_move(position: &Position, m: Move, last: Option<Square>) -> String {
    kif::moves::write(m, position, last)
}

/// The legal move that a text of a KIF or KI2 file describes. `None` if no move or more than one move fits.
pub fn parse_kif_move(position: &Position, text: &str, last: Option<Square>) -> Option<Move> {
    let text = kif::line::normalised(text);
    let text = text.trim();
    let words = text.strip_prefix(kif::line::SIGNS).unwrap_or(text);
    let parsed = kif::moves::parse(text, position, last)
        .or_else(|| notation::parse_unsigned(words, position, last));
    parsed.filter(|&m| position.is_legal(m))
}

/// A move as in CSA files, such as `+7776FU`.
pub fn csa_move(position: &Position, m: Move) -> String {
    let mut text = Vec::new();
    csa::write_move(m, position, &mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

/// The legal move that a statement of a CSA file describes.
pub fn parse_csa_move(position: &Position, text: &str) -> Option<Move> {
    csa::parse_move(text.as_bytes(), position).filter(|&m| position.is_legal(m))
}
