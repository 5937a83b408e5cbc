//! `jkf`: JSON Kifu Format, one JSON object per game.
//!
//! The format is defined by the schema and the README of json-kifu-format. See `docs/formats/jkf.md`.

mod escapes;
mod head;
mod reader;
mod schema;
mod writer;

use super::field::{Field, Fields};
use super::spec::{Codec, Framing, Spec, lost_of_text, one, with_line_end};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use crate::lines::{MARK, MAX_LINES_BYTES};
use escapes::Escapes;
use reader::{around, is_around};

pub(super) const SPEC: Spec = Spec {
    name: "jkf",
    extensions: &[],
    framing: Framing::Variable { end: chunk_end, next: Some(FIRST_KEY) },
    copy,
    header: b"",
    separator: b"",
    holds: Fields::ALL.without(Fields::of(Field::Candidates)),
    needs: Fields::NONE,
    endings: &Ending::ALL,
    codec: Codec::Games {
        read: |chunk| {
            if has_no_game(chunk) { Box::new(std::iter::empty()) } else { one(reader::read(chunk)) }
        },
        count: None,
        write: Some(writer::write),
        lost: lost_of_text,
        info: HoldsInfo {
            header: head::holds,
            comments: true,
            times: true,
            variations: true,
            bookmarks: false,
        },
    },
};

/// The usual start of a game. No line within a game begins like this.
const FIRST_KEY: &[u8] = b"{\"header\"";

/// Copies a game without white space, byte order marks and array punctuation around it.
fn copy(chunk: &[u8], out: &mut Vec<u8>) {
    let chunk = &chunk[around(chunk)..];
    let len = chunk.iter().rposition(|byte| !is_around(*byte)).map_or(0, |last| last + 1);
    with_line_end(&chunk[..len], out);
}

/// Whether a chunk contains only white space, byte order marks or array punctuation.
pub(super) fn has_no_game(chunk: &[u8]) -> bool {
    around(chunk) == chunk.len()
}

/// A game ends after its closing brace, and after the rest of that line if it is blank. A truncated game ends before
/// the next line that begins a game. Text that does not begin with a brace ends with its line.
fn chunk_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let start = around(bytes);
    if bytes.get(start) != Some(&b'{') {
        let may_be_mark = bytes.len() - start < MARK.len() && MARK.starts_with(&bytes[start..]);
        let is_known = start < bytes.len() && (at_end || !may_be_mark);
        let end = memchr::memchr(b'\n', &bytes[start..]).filter(|_| is_known);
        return end.map(|end| start + end + 1);
    }
    let (mut depth, mut in_string, mut at) = (0_u32, false, start);
    let mut escapes = Escapes::default();
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\n' => {
                // A JSON string cannot contain a line end.
                in_string = false;
                let rest = &bytes[at + 1..];
                if rest.starts_with(FIRST_KEY) {
                    return Some(at + 1);
                }
                if !at_end && FIRST_KEY.starts_with(rest) {
                    return None;
                }
            }
            b'\\' if in_string => {
                let is_escape = escapes.take(&bytes[escapes.from..at]);
                let has_next = bytes.get(at + 1).is_some_and(|next| *next != b'\n');
                at += usize::from(is_escape && has_next);
                escapes.from = at + 1;
            }
            b'"' if in_string => {
                escapes.take(&bytes[escapes.from..at]);
                in_string = false;
            }
            b'"' => {
                in_string = true;
                escapes.from = at + 1;
            }
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return end_of_line(bytes, at + 1, at_end);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The end of the line after a game, or the start of other text on it.
fn end_of_line(bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
    for (at, &byte) in bytes.iter().enumerate().skip(from).take(MAX_LINES_BYTES) {
        match byte {
            b'\n' => return Some(at + 1),
            _ if is_around(byte) => {}
            _ => return Some(at),
        }
    }
    let is_known = at_end || bytes.len() - from >= MAX_LINES_BYTES;
    is_known.then_some(bytes.len().min(from + MAX_LINES_BYTES))
}
