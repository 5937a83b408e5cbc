//! `kif`, `kifu`, `ki2`, `ki2u`: games in the formats of Kakinoki's programs, in `Shift_JIS` or UTF-8.
//!
//! The formats are defined by "棋譜ファイル KIF 形式" by Kakinoki Yoshikazu, and by what his Kifu for Windows writes.
//! One reader reads all four. See `docs/formats/kif.md` and `docs/formats/ki2.md`.

pub(super) mod bod;
mod ending;
mod headers;
mod line;
mod moves;
pub(super) mod notation;
mod reader;
mod start;
mod time;
mod transcription;
mod writer;

use encoding_rs::{EUC_JP, SHIFT_JIS};

use super::error::EncodeError;
use super::field::{Field, Fields};
use super::game::Game;
use super::lines::{LONGEST_GROUP, Lines, decode};
use super::spec::{Codec, Framing, Spec, lost_of_text, one, with_line_end};
use super::text_encoding::{encoding_of, put_shift_jis};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use crate::game_result::GameResult;
use line::{LIST_OF_MOVES, Line, Syntax, normalised};

pub(super) const SPEC: Spec = Spec {
    name: "kif",
    extensions: &[],
    framing: Framing::Group { end: unit_end, next: Some("手合割：\n".as_bytes()) },
    copy,
    header: b"",
    separator: b"",
    holds: Fields::of_all(&[
        Field::BestMove,
        Field::EvalCp,
        Field::Ply,
        Field::Result,
        Field::Ending,
        Field::EndPly,
    ]),
    needs: Fields::NONE,
    endings: &Ending::ALL,
    codec: games(|game, out| Style::KIF.write(game, out), HOLDS),
};

pub(super) const SPEC_KIFU: Spec =
    Spec { name: "kifu", codec: games(|game, out| Style::KIFU.write(game, out), HOLDS), ..SPEC };

pub(super) const SPEC_KI2: Spec =
    Spec { name: "ki2", codec: ki2_games(|game, out| Style::KI2.write(game, out)), ..SPEC };

pub(super) const SPEC_KI2U: Spec =
    Spec { name: "ki2u", codec: ki2_games(|game, out| Style::KI2U.write(game, out)), ..SPEC };

const HOLDS: HoldsInfo = HoldsInfo {
    header: |key, _| headers::is_writable(key),
    comments: true,
    times: true,
    variations: true,
    bookmarks: true,
};

const HOLDS_WITHOUT_TIMES: HoldsInfo = HoldsInfo { times: false, ..HOLDS };

const fn games(
    write: fn(&Game, &mut Vec<u8>) -> Result<(), EncodeError>,
    info: HoldsInfo,
) -> Codec {
    Codec::Games {
        read: |unit| one(reader::read(unit)),
        count: None,
        write: Some(write),
        lost: lost_of_text,
        info,
    }
}

/// A draw by the move limit is written as one by impasse, which other programs know. Its ending is lost.
const fn ki2_games(write: fn(&Game, &mut Vec<u8>) -> Result<(), EncodeError>) -> Codec {
    Codec::Games {
        read: |unit| one(reader::read(unit)),
        count: None,
        write: Some(write),
        lost: |start, end| {
            let lost = lost_of_text(start, end);
            match end {
                (Some(GameResult::Draw), Some(Ending::MoveLimit)) => {
                    lost.union(Fields::of(Field::Ending))
                }
                _ => lost,
            }
        },
        info: HOLDS_WITHOUT_TIMES,
    }
}

/// The differences between the four formats.
#[derive(Clone, Copy)]
struct Style {
    syntax: Syntax,
    is_utf_8: bool,
}

impl Style {
    const KIF: Self = Self { syntax: Syntax::Numbered, is_utf_8: false };
    const KIFU: Self = Self { is_utf_8: true, ..Self::KIF };
    const KI2: Self = Self { syntax: Syntax::Words, ..Self::KIF };
    const KI2U: Self = Self { is_utf_8: true, ..Self::KI2 };

    fn write(self, game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        self.put(&writer::write(game, self.syntax)?, out)
    }

    /// Appends text in the encoding of the format.
    fn put(self, text: &str, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        if self.is_utf_8 {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
        put_shift_jis(text, out)
    }
}

/// Keys that can begin the header of a game.
const HEAD: [&str; 26] = [
    "開始日時",
    "終了日時",
    "対局日",
    "棋戦",
    "戦型",
    "表題",
    "場所",
    "持ち時間",
    "手合割",
    "先手",
    "後手",
    "下手",
    "上手",
    "後手の持駒",
    "上手の持駒",
    "先手の持駒",
    "下手の持駒",
    "後手の持ち駒",
    "上手の持ち駒",
    "先手の持ち駒",
    "下手の持ち駒",
    "作品番号",
    "作品名",
    "作者",
    "発表誌",
    "出典",
];

/// Gives moves or a diagram without a head one, and a diagram without moves an empty list of them, as games are
/// told apart by heads behind moves.
fn copy(unit: &[u8], out: &mut Vec<u8>) {
    let (mut has_head, mut has_diagram, mut has_moves) = (false, false, false);
    for line in Lines::new(unit).map(|line| line.content()) {
        has_moves = begins_moves(line);
        if has_moves {
            break;
        }
        has_head |= begins_head(line);
        has_diagram |= line.trim_ascii_start().starts_with(b"|");
    }
    let encoding = encoding_of(unit).unwrap_or(SHIFT_JIS);
    let put = |line: &str, out: &mut Vec<u8>| out.extend_from_slice(&encoding.encode(line).0);
    if !has_head && (has_moves || has_diagram) {
        let name = if has_diagram { "その他" } else { start::EVEN };
        put(&format!("{}：{name}\n", start::HANDICAP), out);
    }
    with_line_end(unit, out);
    if has_diagram && !has_moves {
        put(LIST_OF_MOVES, out);
    }
}

/// A game ends before a key that begins the header of another game, or before another list of moves.
fn unit_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut has_list, mut has_moves) = (0, false, false);
    for line in Lines::new(bytes) {
        let content = line.content();
        // How a line goes on that may not be at its end is not known.
        let is_known = at_end || line.raw().ends_with(b"\n");
        if (has_list || has_moves) && is_known && begins_head(content) {
            return Some(at);
        }
        if is_known && begins_moves(content) {
            let is_list =
                is_text_of(content, |text| Line::parse(text, &normalised(text)) == Line::List);
            if is_list && has_moves {
                return Some(at);
            }
            has_list |= is_list;
            has_moves |= !is_list;
        }
        at += line.raw().len();
    }
    None
}

/// Whether the head of a game ends with a line: it is above the moves, the first of them, or behind them.
fn begins_moves(line: &[u8]) -> bool {
    // Lines of diagrams and remarks are no text that needs to be decoded.
    !line.is_ascii() && is_text_of(line, |text| Line::parse(text, &normalised(text)).begins_moves())
}

/// Whether a line begins the header of another game.
fn begins_head(line: &[u8]) -> bool {
    // Cheaper than decoding every line of moves, or one that does not end.
    !line.first().is_none_or(u8::is_ascii) && is_text_of(line, begins_head_text)
}

fn begins_head_text(text: &str) -> bool {
    let key = text.split(['：', ':']).next().filter(|key| key.len() < text.len());
    key.is_some_and(|key| HEAD.contains(&key.trim_end_matches([' ', '　'])))
}

/// Whether a predicate holds for a line read as UTF-8 or, if it is not UTF-8, in one of the other encodings.
fn is_text_of(line: &[u8], holds: impl Fn(&str) -> bool) -> bool {
    let line = &line[..line.len().min(LONGEST_GROUP)];
    let is_utf_8 = str::from_utf8(line).is_ok();
    holds(&decode(line)) || (!is_utf_8 && holds(&EUC_JP.decode_without_bom_handling(line).0))
}
