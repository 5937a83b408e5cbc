//! KIF keywords of header entries.

use kyokumen_shogi::Color;

use super::line::{Line, normalised};
use super::start;
use crate::game_info::{Header, HeaderKey};

const NAMES: [(&str, HeaderKey); 11] = [
    ("先手", HeaderKey::Black),
    ("後手", HeaderKey::White),
    ("開始日時", HeaderKey::StartTime),
    ("終了日時", HeaderKey::EndTime),
    ("棋戦", HeaderKey::Event),
    ("場所", HeaderKey::Site),
    ("持ち時間", HeaderKey::TimeLimit),
    ("戦型", HeaderKey::Opening),
    ("下手", HeaderKey::Black),
    ("上手", HeaderKey::White),
    ("持時間", HeaderKey::TimeLimit),
];

/// The key for a keyword.
pub(super) fn key(name: &str) -> HeaderKey {
    let known = NAMES.into_iter().find(|(known, _)| *known == name);
    known.map_or_else(|| HeaderKey::Other(name.to_owned()), |(_, key)| key)
}

/// The keyword for a key. In handicap games the names of the sides have other keywords (下手, 上手).
fn name(key: &HeaderKey, is_handicap: bool) -> &str {
    match key {
        HeaderKey::Black if is_handicap => "下手",
        HeaderKey::White if is_handicap => "上手",
        HeaderKey::Other(name) => name,
        _ => NAMES.iter().find(|(_, known)| known == key).map_or("", |(name, _)| name),
    }
}

/// Whether a written line with this entry is read back as the same entry.
pub(super) fn is_writable(header: &HeaderKey) -> bool {
    let HeaderKey::Other(name) = header else { return true };
    let line = format!("{name}：");
    let is_entry = matches!(
        Line::parse(&line, &normalised(&line)), Line::Entry { key, .. } if key == name
    );
    is_entry && !name.contains(['\n', '\r']) && key(name) == *header && !start::is_about_start(name)
}

/// Writes the entries that can be read back.
pub(super) fn write(headers: &[Header], handicap: Option<Color>, out: &mut String) {
    let is_handicap = handicap == Some(Color::White);
    for Header { key, value } in headers.iter().filter(|header| is_writable(&header.key)) {
        let value = value.replace(['\n', '\r'], " ");
        out.extend([name(key, is_handicap), "：", value.trim(), "\n"]);
    }
}
