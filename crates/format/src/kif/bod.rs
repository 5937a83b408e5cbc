//! `bod`: positions as board diagrams in Kakinoki's BOD format.
//!
//! See `docs/formats/bod.md`.

use super::super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::super::field::{Field, Fields};
use super::super::lines::Lines;
use super::super::record::{Parsed, Record};
use super::super::spec::{Codec, Framing, Spec};
use super::super::text_encoding::{decode_as, encoding_of, iso_2022_jp};
use super::boundary::{LineRole, copy_diagram, diagram_end, role_in_diagram, shows_diagram};
use super::line::{Line, normalised};
use super::start::{self, Start};
use crate::warning::Warning;

pub(crate) const SPEC: Spec = Spec {
    name: "bod",
    extensions: &[],
    framing: Framing::Variable {
        end: diagram_end, next: Some("後手の持駒：なし\n".as_bytes())
    },
    copy,
    header: b"",
    separator: b"",
    holds: Fields::of(Field::Ply),
    needs: Fields::NONE,
    endings: &[],
    codec: Codec::Records { read, count: None, write: Some(write) },
};

/// Appends a chunk so that it stays separate from its neighbours. A position that is given only by a handicap name is
/// written as a diagram, because the name could be read as part of the next one.
fn copy(chunk: &[u8], out: &mut Vec<u8>) {
    let named = if shows_diagram(chunk) { None } else { read_diagram(chunk).ok().flatten() };
    if named.is_none_or(|named| write(&named, out).is_err()) {
        copy_diagram(chunk, out);
    }
}

fn read(chunk: &[u8], records: &mut Vec<Result<Parsed, DecodeError>>) {
    records.extend(read_diagram(chunk).transpose());
}

/// The position in a chunk. `None` if the chunk has only blank lines and comments.
fn read_diagram(chunk: &[u8]) -> Result<Option<Parsed>, DecodeError> {
    read_lines(chunk).map_err(|error| iso_2022_jp(chunk).map_or(error, |kind| kind.at(0)))
}

fn read_lines(chunk: &[u8]) -> Result<Option<Parsed>, DecodeError> {
    let encoding = encoding_of(chunk).map_err(|kind| kind.at(0))?;
    let (mut start, mut ply, mut has_entry) = (Start::default(), None, false);
    // Errors of the first unknown line, and of the first line that is not blank and not a comment.
    let (mut at, mut skipped, mut other) = (0, None, None);
    let mut given: Vec<LineRole> = Vec::new();
    for line in Lines::new(chunk) {
        let text = decode_as(encoding, line.content());
        let syntax = |expected| DecodeErrorKind::syntax(expected, text.as_bytes()).at(at);
        // A repeated entry is the remainder of a damaged diagram.
        let role = role_in_diagram(line.content());
        if matches!(role, LineRole::Hand(_) | LineRole::SideToMove | LineRole::Ply) {
            if given.contains(&role) {
                return Err(syntax("each entry of a diagram only once"));
            }
            given.push(role);
        }
        let normal = normalised(&text);
        let parsed = Line::parse(&text, &normal);
        let is_comment = matches!(parsed, Line::Comment(_) | Line::Bookmark(_));
        if !is_comment && !matches!(role, LineRole::Blank | LineRole::ProgramComment) {
            other.get_or_insert_with(|| syntax("a diagram"));
        }
        match parsed {
            Line::Rank(rank) => start.take_rank(rank, at)?,
            Line::SideToMove(color) => start.take_side_to_move(color),
            Line::Ply(number) => ply = Some(number),
            Line::Entry { key, value } if start::is_about_start(key) => {
                has_entry = true;
                start.take_entry(key, value, at)?;
            }
            Line::Numbered { .. } | Line::Words(_) => {
                return Err(syntax("a diagram without moves (use kif for games)"));
            }
            Line::Unknown => {
                skipped.get_or_insert_with(|| syntax("a line of a diagram"));
            }
            _ => {}
        }
        at += line.raw().len();
    }
    if !has_entry && !start.shows_board() {
        return skipped.or(other).map_or(Ok(None), Err);
    }
    if !start.is_given() {
        let (expected, found) = ("a diagram", "the end of the file");
        return Err(DecodeErrorKind::Missing { expected, found }.at(at));
    }
    let setup = start.setup()?.0.with_ply(ply.unwrap_or(1));
    let mut parsed = Parsed::from(Record { ply, ..Record::new(setup) });
    parsed.warnings.extend(skipped.map(|_| Warning::LinesSkipped));
    Ok(Some(parsed))
}

#[expect(clippy::unnecessary_wraps, reason = "other formats cannot write every record")]
fn write(parsed: &Parsed, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let Record { setup, ply, .. } = &parsed.record;
    let mut text = String::new();
    start::write_diagram(setup, &mut text);
    text.push_str(start::side_to_move_line(setup));
    if let Some(ply) = ply {
        text.extend(["手数＝", &(i32::from(*ply) - 1).to_string(), "　まで\n"]);
    }
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
