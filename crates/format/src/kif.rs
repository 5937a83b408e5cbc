//! `kif`, `kifu`, `ki2`, `ki2u`: games in the formats of Kakinoki's programs, in `Shift_JIS` or UTF-8.
//!
//! The formats follow "棋譜ファイル KIF 形式" by Kakinoki Yoshikazu and the files that his Kifu for Windows writes. One reader
//! reads all four. See `docs/formats/kif.md` and `docs/formats/ki2.md`.

pub(super) mod bod;
mod boundary;
mod branch;
mod ending;
mod headers;
pub(super) mod line;
pub(super) mod moves;
pub(super) mod notation;
mod reader;
mod start;
mod time;
mod transcription;
mod writer;

use super::error::EncodeError;
use super::field::{Field, Fields};
use super::game::Game;
use super::spec::{Codec, Framing, Spec, lost_of_text, one};
use super::text_encoding::put_shift_jis;
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use crate::game_result::GameResult;
use boundary::{chunk_end, copy};
use line::Syntax;

pub(super) const SPEC: Spec = Spec {
    name: "kif",
    extensions: &[],
    framing: Framing::Variable { end: chunk_end, next: Some("手合割：\n".as_bytes()) },
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
        read: |chunk| one(reader::read(chunk)),
        count: None,
        write: Some(write),
        lost: lost_of_text,
        info,
    }
}

/// A draw by the move limit is written as a draw by impasse, which other programs know. The ending is lost.
const fn ki2_games(write: fn(&Game, &mut Vec<u8>) -> Result<(), EncodeError>) -> Codec {
    Codec::Games {
        read: |chunk| one(reader::read(chunk)),
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
