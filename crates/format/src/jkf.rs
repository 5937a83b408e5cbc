//! `jkf`: JSON Kifu Format, a game a JSON object.
//!
//! The format is defined by json-kifu-format. See `docs/formats/jkf.md`.

use super::error::{DecodeError, DecodeErrorKind};
use super::field::{Field, Fields};
use super::game::Game;
use super::spec::{Codec, Framing, Spec, lost_of_text, one, with_line_end};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;

pub(super) const SPEC: Spec = Spec {
    name: "jkf",
    extensions: &[],
    framing: Framing::Group { end: unit_end, next: None },
    copy: with_line_end,
    header: b"",
    separator: b"",
    holds: Fields::ALL.without(Fields::of(Field::Candidates)),
    needs: Fields::NONE,
    endings: &Ending::ALL,
    codec: Codec::Games {
        read: |unit| one(read(unit)),
        count: None,
        write: None,
        lost: lost_of_text,
        info: HoldsInfo::NOTHING,
    },
};

fn unit_end(_bytes: &[u8], _at_end: bool) -> Option<usize> {
    None
}

fn read(_unit: &[u8]) -> Result<Game, DecodeError> {
    Err(DecodeErrorKind::syntax("a game in JSON", b"").at(0))
}
