//! Parses lines of KIF and KI2 files and of diagrams.
//!
//! Files contain digits, spaces, colons and brackets in full or half width, and several signs for the sides.
//! [`normalised`] converts them to one spelling. Names and comments are taken from the original line.

use kyokumen_shogi::Color;

/// The signs of Black and White before a move, as [`normalised`] leaves them.
pub(crate) const SIGNS: [char; 2] = ['▲', '△'];

/// The line before the moves.
pub(super) const LIST_OF_MOVES: &str = "手数----指手---------消費時間--\n";

/// The syntax of moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Syntax {
    /// KIF: one numbered move per line.
    Numbered,
    /// KI2: several moves per line, in words.
    Words,
}

/// Converts a line to one spelling: ASCII digits, spaces, colons and brackets, one sign per side, one name for the
/// dragon.
pub(crate) fn normalised(line: &str) -> String {
    let mut normalised = String::with_capacity(line.len());
    normalised.extend(line.chars().map(normal));
    normalised
}

const fn normal(c: char) -> char {
    match c {
        '０' => '0',
        '１' => '1',
        '２' => '2',
        '３' => '3',
        '４' => '4',
        '５' => '5',
        '６' => '6',
        '７' => '7',
        '８' => '8',
        '９' => '9',
        '\t' | '\r' | '\u{a0}' | '\u{2000}'..='\u{200b}' | '\u{202f}' | '\u{3000}' | '\u{feff}' => {
            ' '
        }
        '（' => '(',
        '）' => ')',
        '：' => ':',
        '．' => '.',
        '／' => '/',
        '｜' | '│' | '┃' => '|',
        '＋' => '+',
        '＝' => '=',
        '＊' => '*',
        '＆' => '&',
        '＃' => '#',
        'ｖ' | 'Ｖ' | 'V' => 'v',
        '☗' | '⛊' | '▼' => SIGNS[0],
        '☖' | '⛉' | '▽' => SIGNS[1],
        '竜' => '龍',
        '仝' => '同',
        other => other,
    }
}

/// A parsed line. Texts of moves are normalised and trimmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Line<'a> {
    /// A blank line, a comment line for programs, or the border of a diagram.
    Empty,
    /// The line above the moves.
    List,
    Comment(&'a str),
    Bookmark(&'a str),
    /// A rank of a diagram, starting at its bar.
    Rank(&'a str),
    SideToMove(Color),
    /// Number of the move after a diagram: the number on the line plus one. -1 on the line gives 0.
    Ply(u16),
    /// The number of the first move of a variation.
    Variation(usize),
    /// A header entry, not normalised.
    Entry {
        key: &'a str,
        value: &'a str,
    },
    /// A KIF move, or the word that replaces one.
    Numbered {
        number: usize,
        text: &'a str,
    },
    /// KI2 moves.
    Words(&'a str),
    /// The summary: the text after まで.
    Summary(&'a str),
    Unknown,
}

impl<'a> Line<'a> {
    /// Parses a line, given in its original form and [`normalised`].
    pub(super) fn parse(line: &'a str, normal: &'a str) -> Self {
        let normal = normal.trim();
        let Some(first) = normal.chars().next() else { return Self::Empty };
        let after_sign = || {
            let mut chars = line.trim_start_matches(['\u{feff}', ' ', '\t', '　']).chars();
            chars.next();
            chars.as_str().trim_end_matches('\r')
        };
        match first {
            '*' => return Self::Comment(after_sign()),
            '&' => return Self::Bookmark(after_sign()),
            '#' => return Self::Empty,
            '|' => return Self::Rank(normal),
            '+' if normal.contains("--") => return Self::Empty,
            '0'..='9' => return Self::numbered(normal),
            '▲' | '△' if !is_name_of_side(normal) => return Self::Words(normal),
            _ => {}
        }
        Self::parse_word(normal).or_else(|| Self::entry(line)).unwrap_or(Self::Unknown)
    }

    /// Parses a line that begins with a keyword.
    fn parse_word(normal: &'a str) -> Option<Self> {
        if let Some(text) = normal.strip_prefix("まで") {
            return Some(Self::Summary(text));
        }
        if let Some(number) = normal.strip_prefix("変化:") {
            return Some(Self::Variation(leading_number(number.trim_start()).0));
        }
        if let Some(text) = normal.strip_prefix("手数") {
            let text = text.trim_start();
            return match text.strip_prefix('=') {
                Some(number) => ply(number.trim()).map(Self::Ply),
                None if text.starts_with(':') => None,
                None => Some(Self::List),
            };
        }
        match normal.split(' ').next()? {
            "先手番" | "下手番" => Some(Self::SideToMove(Color::Black)),
            "後手番" | "上手番" => Some(Self::SideToMove(Color::White)),
            _ => None,
        }
    }

    fn numbered(normal: &'a str) -> Self {
        let (number, text) = leading_number(normal);
        if normal.chars().all(|c| c == ' ' || c.is_ascii_digit()) {
            // The file numbers above a diagram.
            return if normal.contains(' ') { Self::Empty } else { Self::Unknown };
        }
        if text.starts_with(' ') || text.starts_with(SIGNS) {
            return Self::Numbered { number, text: text.trim_start() };
        }
        // Another style of numbers: `1.７六歩(77)`.
        let text = text.strip_prefix(['.', ',', '、', ')', ':']).map(str::trim_start);
        match text.filter(|text| text.contains(|c: char| !c.is_ascii_digit())) {
            Some(text) => Self::Numbered { number, text },
            None => Self::Unknown,
        }
    }

    fn entry(line: &'a str) -> Option<Self> {
        let (key, value) = line.split_once(['：', ':'])?;
        let key = key.trim_matches(|c| is_space(c) || SIGNS.contains(&normal(c)));
        let is_key = |c: char| !is_space(c) && !matches!(c, '(' | '（');
        (!key.is_empty() && key.chars().all(is_key))
            .then(|| Self::Entry { key, value: value.trim_matches(is_space) })
    }
}

/// Whether a line is a player's name after the sign of the side, such as `▲先手：A`.
fn is_name_of_side(normal: &str) -> bool {
    let text = normal.trim_start_matches(SIGNS);
    ["先手", "後手", "下手", "上手"].iter().any(|side| text.starts_with(side))
}

/// Whether [`normalised`] converts the character to a space.
fn is_space(c: char) -> bool {
    normal(c) == ' '
}

/// The number at the start of a text, and the rest. 0 if there is no number.
fn leading_number(text: &str) -> (usize, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    (if digits.is_empty() { 0 } else { digits.parse().unwrap_or(usize::MAX) }, rest)
}

/// Parses a number of moves, at least -1. Returns the number of the next move. `None` if it is not such a number.
fn ply(text: &str) -> Option<u16> {
    if text.split([' ', '手']).next() == Some("-1") {
        return Some(0);
    }
    let (moves, rest) = leading_number(text);
    let ply = moves.checked_add(1).filter(|_| rest.len() < text.len())?;
    u16::try_from(ply).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_recognised_in_all_spellings() {
        for (text, expected) in [
            ("　", Line::Empty),
            ("# remark", Line::Empty),
            ("+---------------------------+", Line::Empty),
            (" ９ ８ ７ ６ ５ ４ ３ ２ １", Line::Empty),
            ("手数----指手---------消費時間--", Line::List),
            ("手数＝12　▲７六歩　まで", Line::Ply(13)),
            ("*　コメント：５ ", Line::Comment("　コメント：５ ")),
            ("&しおり", Line::Bookmark("しおり")),
            ("後手番", Line::SideToMove(Color::White)),
            ("変化：１２手", Line::Variation(12)),
            ("先手：Ａ：Ｂ　　", Line::Entry { key: "先手", value: "Ａ：Ｂ" }),
            ("☗先手：Ａ", Line::Entry { key: "先手", value: "Ａ" }),
            ("手数：５", Line::Entry { key: "手数", value: "５" }),
            ("　 １　☗７六歩（７７）", Line::Numbered { number: 1, text: "▲7六歩(77)" }),
            ("1▲７六歩(77)", Line::Numbered { number: 1, text: "▲7六歩(77)" }),
            ("▽３四歩", Line::Words("△3四歩")),
            ("1．７六歩(77)", Line::Numbered { number: 1, text: "7六歩(77)" }),
            ("まで５手で中断", Line::Summary("5手で中断")),
            ("手数＝-1　まで", Line::Ply(0)),
            ("手数＝65535", Line::Unknown),
            ("手数＝-5", Line::Unknown),
            ("3.14", Line::Unknown),
            ("盤面回転", Line::Unknown),
            ("投了 ( 0:03/00:00:03)", Line::Unknown),
            ("7776", Line::Unknown),
        ] {
            assert_eq!(Line::parse(text, &normalised(text)), expected, "{text}");
        }
    }
}
