//! Moves in words, as in books and KI2 files: `☗７六歩`, `☖同銀右上成`.
//!
//! Follows the rules of the Japan Shogi Association ("棋譜の表記方法", shogi.or.jp/faq/kihuhyouki.html). If several pieces of
//! a kind can move to a square, words state where the piece came from (右, 左, 直) or how it moves (上, 寄, 引). As few words
//! as possible are used.

use kyokumen_shogi::{Color, Move, PieceKind, Position, Square};

use super::line::SIGNS;
use super::moves::{FILES, RANKS, kind, name, origin, target};

/// The printed signs of Black and White before a move. Files use the signs that `Shift_JIS` has.
const PRINTED_SIGNS: [char; 2] = ['☗', '☖'];

/// All characters that may follow the name of the piece.
const WORDS: [char; 14] =
    ['左', '右', '直', '上', '行', '入', '寄', '引', '退', '下', '打', '成', '不', '生'];

/// Number of these words, from the first on, that distinguish pieces.
const DISTINGUISHING_WORDS: usize = 10;

/// Splits a normalised line into moves, each with its sign.
pub(super) fn moves_of(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices(SIGNS).map(|(at, _)| at);
    let ends = line.match_indices(SIGNS).map(|(at, _)| at).skip(1).chain([line.len()]);
    starts.zip(ends).map(|(start, end)| line[start..end].trim_end())
}

/// How a piece reaches a square, from its owner's point of view.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Approach {
    /// Number of ranks it moves forward.
    forward: i8,
    /// Number of files it comes from the left.
    from_left: i8,
}

impl Approach {
    fn new(from: Square, to: Square, color: Color) -> Self {
        let difference = |from: u8, to: u8| from.cast_signed() - to.cast_signed();
        let (ranks, files) =
            (difference(from.rank(), to.rank()), difference(from.file(), to.file()));
        match color {
            Color::Black => Self { forward: ranks, from_left: files },
            Color::White => Self { forward: -ranks, from_left: -files },
        }
    }

    const fn vertical(self) -> i8 {
        self.forward.signum()
    }

    const fn is_straight_ahead(self) -> bool {
        self.forward > 0 && self.from_left == 0
    }
}

/// Squares of pieces of a kind that attack `to`, except the square `excluded`.
fn others(
    position: &Position,
    to: Square,
    kind: PieceKind,
    excluded: Option<Square>,
) -> Vec<Square> {
    let color = position.side_to_move();
    let attackers = position.attackers_to(to, position.occupied(), color);
    let is_other = |square: &Square| {
        Some(*square) != excluded
            && attackers.contains(*square)
            && position.piece_on(*square).is_some_and(|piece| piece.kind == kind)
    };
    Square::all().filter(is_other).collect()
}

/// A legal move in words. `last` is the target square of the previous move.
pub fn notation(position: &Position, m: Move, last: Option<Square>) -> String {
    let sign = PRINTED_SIGNS[position.side_to_move() as usize];
    let same = last.filter(|last| *last == m.to()).map(|_| "同");
    format!("{sign}{}", words(position, m, same))
}

/// The move as spelled in KI2 files.
pub(super) fn write(position: &Position, m: Move, last: Option<Square>) -> String {
    let sign = SIGNS[position.side_to_move() as usize];
    let is_short =
        |from| position.piece_on(from).is_some_and(|piece| name(piece.kind).chars().count() == 1);
    let same = if m.from().is_some_and(is_short) { "同　" } else { "同" };
    format!("{sign}{}", words(position, m, last.filter(|last| *last == m.to()).map(|_| same)))
}

/// A legal move in words, without a sign. `same` replaces the square.
fn words(position: &Position, m: Move, same: Option<&str>) -> String {
    let (color, to) = (position.side_to_move(), m.to());
    let mut text = String::new();
    match same {
        Some(same) => text.push_str(same),
        None => text.extend([FILES[usize::from(to.file())], RANKS[usize::from(to.rank())]]),
    }
    if let Some(dropped) = m.dropped() {
        let kind = dropped.piece_kind();
        text.push_str(name(kind));
        if !others(position, to, kind, None).is_empty() {
            text.push('打');
        }
        return text;
    }
    let Some((from, piece)) = m.from().and_then(|from| Some((from, position.piece_on(from)?)))
    else {
        return text;
    };
    text.push_str(name(piece.kind));
    let approach = |from| Approach::new(from, to, color);
    let rivals: Vec<Approach> =
        others(position, to, piece.kind, Some(from)).into_iter().map(approach).collect();
    text.push_str(&distinguishing_words(approach(from), &rivals, piece.kind));
    let in_zone = |square: Square| square.relative_rank(color) < 3;
    if piece.kind.promoted().is_some() && (in_zone(from) || in_zone(to)) {
        text.push_str(if m.is_promotion() { "成" } else { "不成" });
    }
    text
}

/// The words that distinguish the piece from its rivals.
fn distinguishing_words(own: Approach, rivals: &[Approach], kind: PieceKind) -> String {
    if rivals.is_empty() {
        return String::new();
    }
    let vertical = match own.vertical() {
        1 => "上",
        0 => "寄",
        _ => "引",
    };
    if rivals.iter().all(|rival| rival.vertical() != own.vertical()) {
        return vertical.to_owned();
    }
    let is_large = matches!(kind, PieceKind::Horse | PieceKind::Dragon);
    if own.is_straight_ahead() && !is_large {
        return "直".to_owned();
    }
    let is_leftmost =
        |rivals: &[Approach]| rivals.iter().all(|rival| rival.from_left < own.from_left);
    let is_rightmost =
        |rivals: &[Approach]| rivals.iter().all(|rival| rival.from_left > own.from_left);
    if is_leftmost(rivals) {
        return "左".to_owned();
    }
    if is_rightmost(rivals) {
        return "右".to_owned();
    }
    let is_alike = |rival: &&Approach| rival.vertical() == own.vertical();
    let alike: Vec<Approach> = rivals.iter().filter(is_alike).copied().collect();
    let side = if is_leftmost(&alike) { "左" } else { "右" };
    format!("{side}{vertical}")
}

/// The legal move that these normalised words, with a sign, describe. `None` if no move or more than one move fits.
pub(super) fn parse(text: &str, position: &Position, last: Option<Square>) -> Option<Move> {
    parse_unsigned(text.strip_prefix(SIGNS[position.side_to_move() as usize])?, position, last)
}

/// Like [`parse`], without a sign.
pub(crate) fn parse_unsigned(
    text: &str,
    position: &Position,
    last: Option<Square>,
) -> Option<Move> {
    let color = position.side_to_move();
    let text = text.trim_start();
    let (to, text) = target(text, last)?;
    let (named, rest) = kind(text)?;
    let (rest, from) = match rest.find('(') {
        Some(at) => (&rest[..at], Some(origin(&rest[at..])?)),
        None => (rest, None),
    };
    let rest = rest.trim();
    if !rest.chars().all(|c| WORDS.contains(&c)) {
        return None;
    }
    let has_any = |words: &[char]| rest.contains(words);
    let is_unpromoted = rest.contains("不成") || has_any(&['生']);
    let promotes = has_any(&['成']) && !is_unpromoted;
    let legal: Vec<Move> = position
        .legal_moves()
        .into_iter()
        .filter(|m| m.to() == to && m.is_promotion() == promotes)
        .collect();
    let mut played: Vec<(Move, Approach)> = legal
        .iter()
        .filter_map(|&m| {
            let is_from = |square: &Square| from.is_none_or(|from| from == *square);
            let from = m.from().filter(|square| !has_any(&['打']) && is_from(square))?;
            let is_named = position.piece_on(from).is_some_and(|piece| piece.kind == named);
            is_named.then(|| (m, Approach::new(from, to, color)))
        })
        .collect();
    if played.is_empty() {
        // 打 may be missing if no piece on the board can move there.
        if has_any(&WORDS[..DISTINGUISHING_WORDS]) {
            return None;
        }
        let is_drop = |m: &&Move| m.dropped().is_some_and(|held| held.piece_kind() == named);
        return legal.iter().find(is_drop).copied();
    }
    for (words, vertical) in [(&['上', '行', '入'][..], 1), (&['寄'], 0), (&['引', '退', '下'], -1)]
    {
        if has_any(words) {
            played.retain(|(_, approach)| approach.vertical() == vertical);
        }
    }
    if has_any(&['直']) {
        played.retain(|(_, approach)| approach.is_straight_ahead());
    }
    let sides = || played.iter().map(|(_, approach)| approach.from_left);
    let side = if has_any(&['左']) { sides().max() } else { sides().min() };
    if has_any(&['左', '右']) {
        played.retain(|(_, approach)| Some(approach.from_left) == side);
    }
    match &*played {
        [(m, _)] => Some(*m),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kyokumen_shogi::random_play::RandomPlay;

    use super::*;
    use crate::kif::line::normalised;

    #[test]
    fn every_legal_move_is_parsed_back_from_its_notation() {
        let (mut moves, mut distinguished) = (0, 0);
        for game in RandomPlay::new(14, 300).take(40) {
            let (mut position, mut last) = (Position::start(), None);
            for played in game.moves {
                for m in position.legal_moves() {
                    let text = normalised(&notation(&position, m, last));
                    let words: Vec<&str> = moves_of(&text).collect();
                    assert_eq!(words.len(), 1, "{text}");
                    assert_eq!(parse(words[0], &position, last), Some(m), "{position}: {text}");
                    moves += 1;
                    distinguished +=
                        usize::from(text.contains(['左', '右', '直', '上', '寄', '引']));
                }
                last = Some(played.to());
                position.make(played);
            }
        }
        assert!(moves > 100_000 && distinguished > 2_000, "{distinguished} of {moves}");
    }

    fn printed(sfen: &str, usi: &str) -> String {
        let position: Position = sfen.parse().unwrap();
        notation(&position, Move::from_usi(usi).unwrap(), None)
    }

    /// Golds, silvers and promoted pieces use 左, 右, 直, 寄, 上 and 引. The horse and the dragon never use 直.
    #[test]
    fn several_pieces_are_distinguished_by_the_rules_of_the_association() {
        let golds = "4k4/9/9/9/9/9/3GGG3/9/4K4 b - 1";
        assert_eq!(printed(golds, "5g5f"), "☗５六金直");
        assert_eq!(printed(golds, "6g5f"), "☗５六金左");
        assert_eq!(printed(golds, "4g5f"), "☗５六金右");
        let two = "4k4/9/9/9/3G5/4G4/9/9/4K4 b - 1";
        assert_eq!(
            (printed(two, "6e5e"), printed(two, "5f5e")),
            ("☗５五金寄".into(), "☗５五金上".into())
        );
        let three = "4k4/9/9/9/3G5/3G5/3G5/9/4K4 b - 1";
        assert_eq!(printed(three, "6f5e"), "☗５五金上");
        let dragons = "8k/9/9/4+R4/9/9/9/9/+R3K4 b - 1";
        assert_eq!(printed(dragons, "5d9d"), "☗９四龍寄");
        assert_eq!(printed(dragons, "9i9d"), "☗９四龍上");
        let silvers = "4k4/9/9/9/3S1S3/9/3S1S3/9/4K4 b - 1";
        assert_eq!(printed(silvers, "6e5f"), "☗５六銀左引");
        assert_eq!(printed(silvers, "4g5f"), "☗５六銀右上");
        let drops = "4k4/9/9/9/9/9/4G4/9/4K4 b G 1";
        assert_eq!(
            (printed(drops, "G*5f"), printed(drops, "G*1a")),
            ("☗５六金打".into(), "☗１一金".into())
        );
        let of_white = "4k4/9/3g1g3/9/9/9/9/4P4/4K4 w - 1";
        assert_eq!(printed(of_white, "6c5d"), "☖５四金右");
        let promotes = "4k4/9/9/8P/9/9/9/9/4K4 b - 1";
        assert_eq!(printed(promotes, "1d1c"), "☗１三歩不成");
        assert_eq!(printed(promotes, "1d1c+"), "☗１三歩成");
    }
}
