//! Signs for squares and lines.

/// Files and ranks as numerals, wide and Chinese.
pub(crate) const FILES: [char; 9] = ['１', '２', '３', '４', '５', '６', '７', '８', '９'];

pub(crate) const RANKS: [char; 9] = ['一', '二', '三', '四', '五', '六', '七', '八', '九'];

pub(crate) const BEGINS_LIST: &str = "手数-";

/// What follows the number of a move.
pub(crate) fn behind_number(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(' ');
    let text = line.trim_start_matches(|c: char| c.is_ascii_digit());
    (text.len() < line.len() && text.starts_with(' ')).then(|| text.trim_start_matches(' '))
}

pub(crate) fn put_numbered(number: usize, text: &str, out: &mut String) {
    out.extend([&format!("{number:>4} "), text, "\n"]);
}
