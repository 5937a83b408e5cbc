//! Header and start position of a JKF game. Header entries have the keys of KIF files.

use std::borrow::Cow;
use std::fmt;

use kyokumen_shogi::{Color, HandKind, Piece, Setup, Square};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::super::error::DecodeErrorKind;
use super::super::replay;
use super::super::text_encoding::without_zeros;
use super::schema::{InitialObject, SquareObject, StateObject, is_null, text_of};
use crate::csa::codes::{code, kind_of};
use crate::game_info::{Header, HeaderKey, HeldHeaders};

/// JKF keys of the entries that have a [`HeaderKey`].
const KEYS: [(HeaderKey, &str); 11] = [
    (HeaderKey::Black, "先手"),
    (HeaderKey::White, "後手"),
    (HeaderKey::Black, "下手"),
    (HeaderKey::White, "上手"),
    (HeaderKey::Event, "棋戦"),
    (HeaderKey::Site, "場所"),
    (HeaderKey::StartTime, "開始日時"),
    (HeaderKey::EndTime, "終了日時"),
    (HeaderKey::TimeLimit, "持ち時間"),
    (HeaderKey::TimeLimit, "持時間"),
    (HeaderKey::Opening, "戦型"),
];

/// Keys of KIF files that repeat information of `initial`.
const START_KEYS: [&str; 7] =
    ["手合割", "手番", "先手の持駒", "後手の持駒", "下手の持駒", "上手の持駒", "盤面"];

/// Header entries in file order.
#[derive(Default)]
pub(super) struct Headers {
    pub(super) entries: Vec<Header>,
    /// Number of entries whose value is not text.
    pub(super) skipped: u32,
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
                    match text_of(value) {
                        _ if is_null(value) => {}
                        Some(text) => headers.entries.extend(header(&key, &text)),
                        None => headers.skipped = headers.skipped.saturating_add(1),
                    }
                }
                Ok(headers)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn header(key: &str, value: &str) -> Option<Header> {
    let (key, value) = (key.trim(), value.trim());
    if value.is_empty() || key.is_empty() || START_KEYS.contains(&key) {
        return None;
    }
    let known = KEYS.into_iter().find_map(|(known, word)| (word == key).then_some(known));
    let key = known.unwrap_or_else(|| HeaderKey::Other(without_zeros(key.into()).into_owned()));
    Some(Header { key, value: value.to_owned() })
}

/// Whether an entry is written: each key is written once.
pub(super) fn holds<'a>(key: &'a HeaderKey, held: &mut HeldHeaders<'a>) -> bool {
    held.is_first(word(key))
}

/// The JKF key of an entry.
fn word(key: &HeaderKey) -> &str {
    match key {
        HeaderKey::Other(name) => name,
        key => KEYS.iter().find_map(|(known, word)| (known == key).then_some(*word)).unwrap_or(""),
    }
}

/// Header entries as an object.
pub(super) struct Entries<'a>(pub(super) &'a [Header]);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut held = HeldHeaders::new(self.0);
        for Header { key, value } in self.0.iter().filter(|header| holds(&header.key, &mut held)) {
            map.serialize_entry(word(key), value)?;
        }
        map.end()
    }
}

/// Presets with White's first two ranks. White moves first, except in even games.
const PRESETS: [(&str, &str, &str); 16] = [
    ("HIRATE", "lnsgkgsnl", "1r5b1"),
    ("KY", "lnsgkgsn1", "1r5b1"),
    ("KY_R", "1nsgkgsnl", "1r5b1"),
    ("KA", "lnsgkgsnl", "1r7"),
    ("HI", "lnsgkgsnl", "7b1"),
    ("HIKY", "lnsgkgsn1", "7b1"),
    ("2", "lnsgkgsnl", "9"),
    ("3", "lnsgkgsn1", "9"),
    ("4", "1nsgkgsn1", "9"),
    ("5", "2sgkgsn1", "9"),
    ("5_L", "1nsgkgs2", "9"),
    ("6", "2sgkgs2", "9"),
    ("7_L", "2sgkg3", "9"),
    ("7_R", "3gkgs2", "9"),
    ("8", "3gkg3", "9"),
    ("10", "4k4", "9"),
];
const EVEN: &str = "HIRATE";
const OTHER: &str = "OTHER";
/// Presets that some readers do not know (tsshogi 2.2.0). Such start positions are written as a board instead.
const RARE: [&str; 5] = ["3", "5", "5_L", "7_L", "7_R"];

fn setup_of(preset: &str) -> Option<Setup> {
    let (name, first, second) = PRESETS.into_iter().find(|(name, ..)| *name == preset)?;
    let side = if name == EVEN { 'b' } else { 'w' };
    let sfen = format!("{first}/{second}/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL {side} - 1");
    sfen.parse().ok()
}

/// The start position.
pub(super) fn start_of(initial: InitialObject) -> Result<Setup, DecodeErrorKind> {
    let unknown = |found: &str| {
        let expected = "a preset of the schema, such as HIRATE, or OTHER with \"data\"";
        DecodeErrorKind::syntax(expected, found.as_bytes())
    };
    let preset = initial.preset;
    match initial.data {
        // Some programs write the board of an even game, too.
        Some(data) if preset == OTHER || preset == EVEN => arranged(&data),
        _ => setup_of(&preset).ok_or_else(|| unknown(&preset)),
    }
}

fn arranged(data: &StateObject) -> Result<Setup, DecodeErrorKind> {
    let wrong = |expected, found: &str| DecodeErrorKind::syntax(expected, found.as_bytes());
    let mut board = [None; Square::COUNT];
    if data.board.len() > 9 || data.board.iter().any(|file| file.len() > 9) {
        return Err(wrong("a board of 9 files with 9 squares each", "more"));
    }
    for (file, squares) in (0..).zip(&data.board) {
        for (rank, square) in (0..).zip(squares) {
            let Some(SquareObject { color, kind: Some(code) }) = square else { continue };
            let piece = color.and_then(color_of).zip(kind_of(code.as_bytes()));
            let (color, kind) = piece.ok_or_else(|| wrong("a piece with its color", code))?;
            board[Square::from_file_rank(file, rank).index()] = Some(Piece::new(color, kind));
        }
    }
    if data.hands.as_ref().is_some_and(|hands| hands.len() > 2) {
        return Err(wrong("at most two hands, Black's and White's", "more"));
    }
    let mut hands = [[0; HandKind::COUNT]; 2];
    for (hand, counts) in hands.iter_mut().zip(data.hands.iter().flatten()) {
        for (code, count) in counts {
            let counted = if count.is_null() { Some(0) } else { count.as_u64() };
            let counted = counted.ok_or_else(|| {
                wrong(
                    "a number of pieces in hand, such as \"FU\":2",
                    &format!("\"{code}\":{count}"),
                )
            })?;
            if counted == 0 {
                continue;
            }
            let kind = HandKind::ALL.into_iter().find(|kind| code_of(*kind) == code);
            let kind = kind.ok_or_else(|| wrong("a piece that can be in hand", code))?;
            hand[kind.index()] = u8::try_from(counted).unwrap_or(u8::MAX);
        }
    }
    let color = data.color.unwrap_or_default();
    let side_to_move = color_of(color)
        .ok_or_else(|| wrong("a color, 0 for Black or 1 for White", &color.to_string()))?;
    replay::arrangement(board, hands, side_to_move).map_err(DecodeErrorKind::Setup)
}

pub(super) const fn color_of(number: u8) -> Option<Color> {
    match number {
        0 => Some(Color::Black),
        1 => Some(Color::White),
        _ => None,
    }
}

fn code_of(kind: HandKind) -> &'static str {
    code(kind.piece_kind())
}

/// A start position for writing.
#[derive(Serialize)]
pub(super) struct InitialEntry {
    preset: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<StateEntry>,
}

#[derive(Serialize)]
struct StateEntry {
    color: u8,
    board: Vec<Vec<SquareObject>>,
    hands: [HandEntry; 2],
}

struct HandEntry(kyokumen_shogi::Hand);

impl Serialize for HandEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(HandKind::COUNT))?;
        for kind in HandKind::ALL {
            map.serialize_entry(code_of(kind), &self.0.count(kind))?;
        }
        map.end()
    }
}

impl InitialEntry {
    /// Creates the entry, with a preset if readers know one for this start position.
    pub(super) fn new(start: &Setup) -> Self {
        let start = start.clone().with_ply(1);
        let is_start = |preset: &str| setup_of(preset).is_some_and(|setup| setup == start);
        let preset = PRESETS.into_iter().map(|(name, ..)| name).find(|name| is_start(name));
        match preset.filter(|name| !RARE.contains(name)) {
            Some(preset) => Self { preset, data: None },
            None => Self { preset: OTHER, data: Some(StateEntry::new(&start)) },
        }
    }
}

impl StateEntry {
    fn new(start: &Setup) -> Self {
        let square = |file, rank| {
            let piece = start.board()[Square::from_file_rank(file, rank).index()];
            piece.map_or_else(SquareObject::default, |Piece { color, kind }| SquareObject {
                color: Some(color as u8),
                kind: Some(Cow::Borrowed(code(kind))),
            })
        };
        let board = (0..9).map(|file| (0..9).map(|rank| square(file, rank)).collect()).collect();
        let [black, white] = start.hands();
        Self {
            color: start.side_to_move() as u8,
            board,
            hands: [HandEntry(black), HandEntry(white)],
        }
    }
}
