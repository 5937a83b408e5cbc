//! Reads JKF games. Infers omitted values from the board. Values that contradict the board are errors.

use encoding_rs::UTF_8;
use kyokumen_shogi::{Move, PieceKind, Position, Square};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::error::{DecodeError, DecodeErrorKind};
use super::super::game::Game;
use super::super::replay::{self, Replay};
use super::super::text_encoding::{decode_as, detect};
use super::head::{self, Headers};
use super::schema::{
    EntryObject, GameObject, InitialObject, MoveObject, Place, elapsed_ms, is_null, text_of,
};
use super::writer::relative_of;
use crate::csa::codes::{held_kind, kind_of};
use crate::csa::ending::{Mark, Summary, take_mark};
use crate::lines::mark_len;
use crate::played::Variation;

/// Maximum nesting depth of variations. Deeper nesting ends the game with an error.
const MAX_DEPTH: u32 = 100;

pub(super) fn read(chunk: &[u8]) -> Result<Game, DecodeError> {
    // JSON is UTF-8. In files with other encodings only names and comments contain non-ASCII text.
    let encoding = detect(chunk).map_err(|kind| kind.at(0))?;
    let decoded = (encoding != UTF_8).then(|| decode_as(encoding, chunk));
    let chunk = decoded.as_ref().map_or(chunk, |text| text.as_bytes());
    let start = around(chunk);
    let end = chunk.iter().rposition(|byte| !is_around(*byte)).map_or(start, |at| at + 1);
    let text = Text { chunk };
    let object: GameObject<'_> = text.parse(&chunk[start..end.max(start)], start)?;
    let headers = object.header.map(|value| text.parse_value::<Headers>(value)).transpose()?;
    let initial =
        object.initial.map(|value| Ok((value, text.parse_value::<Option<InitialObject>>(value)?)));
    let mut replay = match initial.transpose()? {
        Some((value, Some(initial))) => {
            let at = text.offset(value);
            let setup = head::start_of(initial).map_err(|kind| kind.at(at))?;
            Replay::new(setup, at)?
        }
        _ => Replay::new(replay::even_start(), start)?,
    };
    let Headers { entries, skipped } = headers.unwrap_or_default();
    (replay.game.info.headers, replay.game.info.skipped_lines) = (entries, skipped);
    if let Err(error) = text.take_entries(&object.moves, &mut replay, None, 0) {
        replay.break_off(error);
    }
    Ok(replay.finish(true))
}

/// The text of a game. It gives the byte offsets of values.
struct Text<'a> {
    chunk: &'a [u8],
}

impl<'a> Text<'a> {
    /// Parses a value that begins at this offset of the game.
    fn parse<T: Deserialize<'a>>(&self, json: &'a [u8], at: usize) -> Result<T, DecodeError> {
        serde_json::from_slice(json).map_err(|error| {
            let lines = json.split_inclusive(|byte| *byte == b'\n');
            let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
            let within = (before + error.column().saturating_sub(1)).min(json.len());
            let (within, expected) = if error.is_data() {
                let expected =
                    "a value that fits the schema of json-kifu-format, without repeated keys";
                (start_of_value(json, within), expected)
            } else {
                (within, "a JSON object")
            };
            let at = (at + within).min(self.chunk.len());
            DecodeErrorKind::syntax(expected, &self.chunk[at..]).at(at)
        })
    }

    fn parse_value<T: Deserialize<'a>>(&self, value: &'a RawValue) -> Result<T, DecodeError> {
        self.parse(value.get().as_bytes(), self.offset(value))
    }

    fn offset(&self, value: &RawValue) -> usize {
        (value.get().as_ptr() as usize).saturating_sub(self.chunk.as_ptr() as usize)
    }

    /// Reads the elements of `moves` or of a variation. `last` is the target square of the move before them.
    fn take_entries(
        &self,
        entries: &[&'a RawValue],
        replay: &mut Replay,
        last: Option<Square>,
        depth: u32,
    ) -> Result<(), DecodeError> {
        let mut variations = Vec::new();
        let taken = self.take_moves(entries, replay, last, depth, &mut variations);
        replay.game.info.end_variations.append(&mut variations);
        taken
    }

    /// Reads elements. `pending` are the variations that begin at the current position. They are attached to the next
    /// move, which they replace. Variations that are still pending at the end belong to the end position.
    fn take_moves(
        &self,
        entries: &[&'a RawValue],
        replay: &mut Replay,
        mut last: Option<Square>,
        depth: u32,
        pending: &mut Vec<Variation>,
    ) -> Result<(), DecodeError> {
        for entry in entries {
            let at = self.offset(entry);
            let entry: EntryObject<'_> = self.parse_value(entry)?;
            let forks = entry.forks.as_deref().unwrap_or_default();
            pending.append(&mut self.variations(forks, replay, last, depth, at)?);
            if let Some(played) = &entry.best_move {
                if replay.has_ended {
                    let expected = "no move after the end of the game";
                    return Err(DecodeErrorKind::syntax(expected, b"a move").at(at));
                }
                let best_move = best_move(played, replay, last).map_err(|kind| kind.at(at))?;
                replay.play(best_move, at)?;
                last = Some(best_move.to());
            }
            take_end(&entry, replay);
            take_comments(&entry, replay);
            let is_played = entry.best_move.is_some() && !replay.follows_illegal_move();
            let played = replay.game.moves.last_mut().filter(|_| is_played);
            if let Some(played) = played.filter(|_| !pending.is_empty()) {
                played.annotate().variations.append(pending);
            }
        }
        Ok(())
    }

    /// Reads the variations that begin at this position. A variation ends before an illegal move. Values that a
    /// [`Variation`] cannot hold are counted as skipped.
    fn variations(
        &self,
        forks: &[Vec<&'a RawValue>],
        replay: &mut Replay,
        last: Option<Square>,
        depth: u32,
        at: usize,
    ) -> Result<Vec<Variation>, DecodeError> {
        if depth == MAX_DEPTH && !forks.is_empty() {
            let expected = "at most 100 nested variations";
            return Err(DecodeErrorKind::syntax(expected, b"a deeper variation").at(at));
        }
        let mut variations = Vec::new();
        for fork in forks {
            let mut line = Replay::new(replay.position.setup(), at)?;
            let taken = self.take_entries(fork, &mut line, last, depth + 1);
            let is_cut = taken.is_err() || line.follows_illegal_move();
            let Game { moves, result, ending, info, .. } = line.game;
            let mut lost = usize::from(is_cut) + info.skipped_lines as usize + info.comments.len();
            lost += usize::from(info.end_elapsed_ms.is_some_and(|ms| ms > 0));
            let end_comments = info.end_comments;
            if moves.is_empty() {
                lost += usize::from((result, ending) != (None, None)) + end_comments.len();
                // These variations begin at the same position.
                variations.extend(info.end_variations);
            } else {
                lost += info.end_variations.len();
                variations.push(Variation { moves, result, ending, end_comments });
            }
            skip(replay, lost);
        }
        Ok(variations)
    }
}

/// Start of the value that contains or follows the byte `last`. For strings, `last` is the closing quote.
fn start_of_value(json: &[u8], last: usize) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    let is_escaped = |at: usize| {
        let backslashes = json[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        backslashes % 2 == 1
    };
    match json.get(last) {
        Some(b'"') => {
            let mut quotes = memchr::memrchr_iter(b'"', &json[..last]);
            quotes.find(|at| !is_escaped(*at)).unwrap_or(last)
        }
        Some(byte) if is_word(byte) => {
            json[..last].iter().rposition(|byte| !is_word(byte)).map_or(0, |before| before + 1)
        }
        _ => match json.get(last + 1..).unwrap_or_default().trim_ascii_start() {
            rest @ [b'{' | b'[', ..] => json.len() - rest.len(),
            _ => last,
        },
    }
}

fn take_end(entry: &EntryObject<'_>, replay: &mut Replay) {
    let Some(special) = entry.special.as_deref() else { return };
    if let Some(mark) = Mark::parse(format!("%{special}").as_bytes()) {
        take_mark(replay, mark);
    } else {
        // An unknown word: the game ends for an unknown reason.
        replay.has_ended = true;
        skip(replay, 1);
    }
}

/// Counts skipped values.
fn skip(replay: &mut Replay, number: usize) {
    let skipped = &mut replay.game.info.skipped_lines;
    *skipped = skipped.saturating_add(u32::try_from(number).unwrap_or(u32::MAX));
}

fn take_comments(entry: &EntryObject<'_>, replay: &mut Replay) {
    match entry.time.map_or(Ok(None), elapsed_ms) {
        Ok(Some(elapsed_ms)) if !replay.follows_illegal_move() => replay.take_time(elapsed_ms),
        Ok(_) => {}
        Err(()) => skip(replay, 1),
    }
    let is_after_end = entry.special.is_some() && replay.has_ended;
    let mut is_first = true;
    for value in entry.comment.into_iter().chain(comments(entry)) {
        let comment = text_of(value).filter(|_| !is_null(value));
        let Some(comment) = comment else {
            skip(replay, usize::from(!is_null(value)));
            continue;
        };
        for line in comment.split('\n').map(|line| line.trim_end_matches('\r')) {
            // After the end mark, the first line can be a summary in our own form. Any line can be a summary with the
            // names of the players.
            let summary = Summary::of_comment(line.as_bytes()).filter(|summary| {
                let headers = &replay.game.info.headers;
                is_after_end && (summary.names_players(headers) || is_first && summary.is_own())
            });
            is_first = false;
            match summary {
                Some(Summary { end, .. }) => replay.end(end),
                None => replay.take_comment(line),
            }
        }
    }
}

/// The values of `comments`. The schema requires an array.
fn comments<'a>(entry: &EntryObject<'a>) -> Vec<&'a RawValue> {
    let array = |value: &'a RawValue| serde_json::from_str(value.get()).unwrap_or(vec![value]);
    entry.comments.map_or_else(Vec::new, array)
}

/// The move of an element. It must agree with the board.
fn best_move(
    played: &MoveObject,
    replay: &Replay,
    last: Option<Square>,
) -> Result<Move, DecodeErrorKind> {
    let position = &replay.position;
    let wrong = |expected, found: &str| DecodeErrorKind::syntax(expected, found.as_bytes());
    if let Some(color) = played.color
        && head::color_of(color) != Some(position.side_to_move())
    {
        return Err(wrong(
            "the color of the side to move, 0 for Black or 1 for White",
            &color.to_string(),
        ));
    }
    let to = match (&played.to, last) {
        (Some(place), _) => square(*place)?,
        (None, Some(last)) if played.same == Some(true) => last,
        _ => return Err(wrong("a move with the square \"to\"", "none")),
    };
    if played.same == Some(true) && last != Some(to) {
        return Err(wrong(
            "\"same\" only for the target square of the previous move",
            &to.to_string(),
        ));
    }
    let kind = played.piece.as_deref().map(|code| {
        kind_of(code.as_bytes()).ok_or_else(|| wrong("a piece kind, such as FU", code))
    });
    let kind = kind.transpose()?;
    let Some(from) = played.from else {
        let kind = kind.ok_or_else(|| wrong("the piece of a drop, such as FU", "none"))?;
        return drop_or_found(played, position, kind, to);
    };
    let from = square(from)?;
    let moved = position.piece_on(from).filter(|piece| piece.color == position.side_to_move());
    let moved =
        moved.ok_or_else(|| wrong("a piece of the side to move on \"from\"", &from.to_string()))?;
    if from == to {
        return Err(wrong("different squares \"from\" and \"to\"", &from.to_string()));
    }
    let promotes = match kind {
        Some(kind) if kind == moved.kind => played.promote == Some(true),
        // As in CSA, the piece kind is the kind after the move.
        Some(kind) if moved.kind.promoted() == Some(kind) && played.promote != Some(false) => true,
        None => played.promote == Some(true),
        Some(_) => {
            let found = played.piece.as_deref().unwrap_or_default();
            return Err(wrong("the kind of the piece on \"from\"", found));
        }
    };
    if let Some(code) = &played.capture {
        let captured = position.piece_on(to).and_then(|piece| piece.kind.hand_kind());
        let named = kind_of(code.as_bytes()).and_then(PieceKind::hand_kind);
        if captured.is_none() || captured != named {
            return Err(wrong("the kind of the captured piece", code));
        }
    }
    Ok(Move::new(from, to, promotes))
}

/// A move without `from`: a drop, or the only move on the board that fits `piece` and `relative`.
fn drop_or_found(
    played: &MoveObject,
    position: &Position,
    kind: PieceKind,
    to: Square,
) -> Result<Move, DecodeErrorKind> {
    let held = held_kind(kind);
    let relative = played.relative.as_deref().unwrap_or_default();
    if let Some(dropped) = held.map(|held| Move::drop(held, to))
        && (relative == "H" || (relative.is_empty() && position.is_legal(dropped)))
    {
        return Ok(dropped);
    }
    let promotes = played.promote == Some(true);
    let fits = |m: &Move| {
        let moved = m.from().and_then(|from| position.piece_on(from));
        m.to() == to
            && m.is_promotion() == promotes
            && moved.is_some_and(|piece| piece.kind == kind)
            && (relative.is_empty() || relative_of(position, *m) == relative)
    };
    let moves: Vec<Move> = position.legal_moves().into_iter().filter(fits).collect();
    let expected =
        "the key \"from\" for a move on the board, or a \"relative\" that fits only one legal move";
    match moves[..] {
        [only] => Ok(only),
        _ => Err(DecodeErrorKind::syntax(expected, relative.as_bytes())),
    }
}

fn square(Place { x, y }: Place) -> Result<Square, DecodeErrorKind> {
    if (1..=9).contains(&x) && (1..=9).contains(&y) {
        return Ok(Square::from_file_rank(x - 1, y - 1));
    }
    let found = format!("{x}, {y}");
    Err(DecodeErrorKind::syntax("a square with x and y from 1 to 9", found.as_bytes()))
}

/// Number of bytes before the game.
pub(super) fn around(chunk: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = chunk.get(at..).filter(|rest| !rest.is_empty()) {
        match mark_len(rest) {
            0 if is_around(rest[0]) => at += 1,
            0 => break,
            len => at += len,
        }
    }
    at
}

/// Whether a byte is white space or array punctuation.
pub(super) const fn is_around(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'[' | b',' | b']')
}
