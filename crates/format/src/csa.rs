//! `csa`: game records of the Computer Shogi Association, with the evaluations that Floodgate adds.
//!
//! Follows the standard "CSA標準棋譜ファイル形式" V2.2 and V3.0. Evaluations and the summary follow shogi-server, the program
//! that runs Floodgate. See `docs/formats/csa.md`.

pub(crate) mod codes;
pub(crate) mod ending;
mod head;
mod start;

use kyokumen_shogi::{HandKind, Move, Position, Square};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::eval_comments::EvalComments;
use super::field::{Field, Fields};
use super::game::Game;
use super::lines::{Lines, decode, mark_len, without_mark};
use super::replay::Replay;
use super::spec::{Codec, Framing, Spec, lost_of_text, one, with_line_end};
use super::text_encoding::{decode_as, encoding_of};
use crate::csa::codes::{CODES, held_kind, kind_of, put_line, sign_of, square_of};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use ending::{Mark, Summary, take_mark};
use start::Start;

pub(super) const SPEC: Spec = Spec {
    name: "csa",
    extensions: &[],
    framing: Framing::Variable { end: chunk_end, next: None },
    copy,
    header: b"",
    separator: b"/\n",
    holds: Fields::ALL.without(Fields::of(Field::Candidates)),
    needs: Fields::NONE,
    endings: &Ending::ALL,
    codec: Codec::Games {
        read: |chunk| {
            if has_no_game(chunk) { Box::new(std::iter::empty()) } else { one(read(chunk)) }
        },
        count: None,
        write: Some(|game, out| write(game, CsaVersion::default(), out)),
        lost: lost_of_text,
        info: HoldsInfo {
            header: head::holds,
            comments: true,
            times: true,
            variations: false,
            bookmarks: false,
        },
    },
};

/// The line between games.
const SEPARATOR: &[u8] = b"/";
/// The line that names the encoding. It is the first line of a file.
const ENCODING: &[u8] = b"'CSA encoding=";

/// Copies a game with exactly one separator before it. Comments after the last game of a file get none.
fn copy(chunk: &[u8], out: &mut Vec<u8>) {
    if !has_no_game(chunk) {
        put_line(out, SEPARATOR);
    }
    let mut rest = chunk;
    for line in Lines::new(chunk) {
        let content = without_mark(line.content()).trim_ascii();
        if !content.is_empty() && content != SEPARATOR {
            return with_line_end(without_mark(rest), out);
        }
        rest = &rest[line.raw().len()..];
    }
}

/// Whether a chunk contains only comments, separators and empty lines.
pub(super) fn has_no_game(chunk: &[u8]) -> bool {
    Lines::new(chunk).all(|line| !is_content(without_mark(line.content()).trim_ascii()))
}

fn is_content(line: &[u8]) -> bool {
    !matches!(line, [] | [b'\'', ..] | b"/")
}

/// A game ends before a separator and before the version line or encoding line of the next game.
fn chunk_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut has_content) = (0, false);
    for line in Lines::new(bytes) {
        if !at_end && !line.raw().ends_with(b"\n") {
            return None;
        }
        let content = without_mark(line.content()).trim_ascii();
        let begins_game = content == SEPARATOR
            || content.starts_with(ENCODING)
            || matches!(content, [b'V', b'0'..=b'9', ..]);
        if has_content && begins_game {
            return Some(at);
        }
        // Comments and the encoding line above the version line belong to the game.
        has_content |= is_content(content);
        at += line.raw().len();
    }
    None
}

fn read(chunk: &[u8]) -> Result<Game, DecodeError> {
    let encoding = encoding_of(chunk).map_err(|kind| kind.at(0))?;
    let (mut start, mut replay) = (Start::default(), None);
    let mut at = 0;
    for line in Lines::new(chunk) {
        let content = line.content();
        let mark = mark_len(content);
        let text = decode_as(encoding, content);
        for (offset, statement) in statements(text.as_bytes()) {
            let at = at + mark + offset;
            if replay.is_none() && start.take(statement, at)? {
                continue;
            }
            let replay = match &mut replay {
                Some(replay) => replay,
                none => none.insert(start.begin()?),
            };
            take(replay, statement, at);
        }
        at += line.raw().len();
    }
    if replay.is_none() && start.is_cut_off() {
        let expected = "the side to move, + or -, after the head of a game";
        let found = "the end of the game";
        return Err(DecodeErrorKind::Missing { expected, found }.at(chunk.len()));
    }
    if replay.is_none() && start.is_empty() {
        // Commas without a statement.
        return Err(DecodeErrorKind::syntax(start::EXPECTED, chunk.trim_ascii()).at(0));
    }
    Ok(replay.map_or_else(|| start.begin(), Ok)?.finish(true))
}

/// The statements of a line with their offsets. Some lines are one statement; others hold several, separated by commas.
fn statements(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..)?;
        let is_one = matches!(rest, [b'\'' | b'N' | b'$', ..]);
        let len = memchr::memchr(b',', rest).filter(|_| !is_one).unwrap_or(rest.len());
        let statement = (at, rest[..len].trim_ascii_end());
        at += len + 1;
        Some(statement)
    })
}

/// Handles a statement after the start. After an unreadable statement only a summary is used: it gives the result.
fn take(replay: &mut Replay, statement: &[u8], at: usize) {
    if let Some(Summary { end, .. }) = Summary::parse(statement) {
        replay.end(end);
    } else if !replay.is_broken()
        && let Err(error) = take_statement(replay, statement, at)
    {
        replay.break_off(error);
    }
}

fn take_statement(replay: &mut Replay, statement: &[u8], at: usize) -> Result<(), DecodeError> {
    let other = |expected| Err(DecodeErrorKind::syntax(expected, statement).at(at));
    let skip = |replay: &mut Replay| {
        let skipped = &mut replay.game.info.skipped_lines;
        *skipped = skipped.saturating_add(1);
    };
    match statement {
        [] | SEPARATOR => {}
        // Servers write `$END_TIME` after the moves.
        [b'$', ..] if head::take(statement, &mut replay.game.info.headers) => {}
        [b'$', ..] => skip(replay),
        [b'\'', b'*', comment @ ..] => replay.take_comment(&decode(comment)),
        [b'\'', ..] => {}
        [b'T', time @ ..] => match milliseconds(time) {
            // The time belongs to an illegal move, which is not part of the game.
            Some(_) if replay.follows_illegal_move() => {}
            Some(elapsed_ms) => replay.take_time(elapsed_ms),
            None => skip(replay),
        },
        [b'%', ..] => {
            if let Some(mark) = Mark::parse(statement) {
                take_mark(replay, mark);
            } else {
                // An unknown mark: the game ends for an unknown reason.
                skip(replay);
                replay.has_ended = true;
            }
        }
        _ if replay.has_ended => return other("/ before another game"),
        _ => match parse_move(statement, &replay.position) {
            Some(best_move) => return replay.play(best_move, at),
            None => return other("a move of the side to move"),
        },
    }
    Ok(())
}

/// Seconds, from V3.0 on with decimals.
fn milliseconds(text: &[u8]) -> Option<u64> {
    let text = str::from_utf8(text).ok()?.trim_ascii();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(decimals) {
        return None;
    }
    let thousandths = format!("{decimals:0<3}")[..3].parse::<u64>().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(thousandths)
}

/// A move as the standard writes it, if it names the side to move and a piece that is there.
pub(crate) fn parse_move(statement: &[u8], position: &Position) -> Option<Move> {
    let side = position.side_to_move();
    let [sign, a, b, c, d, code @ ..] = statement else { return None };
    let (to, kind) = (square_of(&[*c, *d])?, kind_of(code)?);
    if *sign != sign_of(side) {
        return None;
    }
    if [*a, *b] == *b"00" {
        return held_kind(kind).map(|dropped| Move::drop(dropped, to));
    }
    let from = square_of(&[*a, *b])?;
    let piece = position.piece_on(from).filter(|piece| piece.color == side && from != to)?;
    match piece.kind {
        before if before == kind => Some(Move::new(from, to, false)),
        before if before.promoted() == Some(kind) => Some(Move::new(from, to, true)),
        _ => None,
    }
}

pub(super) fn write(
    game: &Game,
    version: CsaVersion,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let mut text = Vec::new();
    put_line(&mut text, format!("V{}", version.name()).as_bytes());
    head::write(&game.info.headers, &mut text);
    start::write(&game.start, &mut text);
    write_moves(game, version, &mut text)?;
    if version == CsaVersion::V3_0 && !text.is_ascii() {
        put_line(out, &[ENCODING, b"UTF-8"].concat());
    }
    out.extend_from_slice(&text);
    Ok(())
}

fn write_moves(game: &Game, version: CsaVersion, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let mut position = Position::try_from(&game.start).map_err(|_| EncodeError::NoGame)?;
    let (info, mut evaluations) = (&game.info, EvalComments::FLOODGATE);
    let missing = evaluations.of_start(&info.comments, position.side_to_move(), game.moves.first());
    // Before the first move there is no evaluation that `'**` could state, and cshogi fails on it.
    let of_start = |comment: &String| {
        if comment.starts_with('*') { format!(" {comment}") } else { comment.clone() }
    };
    let of_start: Vec<String> = missing.iter().chain(&info.comments).map(of_start).collect();
    put_comments(of_start.iter(), out);
    for (i, played) in game.moves.iter().enumerate() {
        if !position.is_legal(played.best_move) {
            return Err(EncodeError::NoGame);
        }
        write_move(played.best_move, &position, out);
        let mover = position.side_to_move();
        let missing = evaluations.of_move(played, mover, game.moves.get(i + 1));
        let annotation = played.annotation.as_deref();
        put_time(annotation.and_then(|it| it.elapsed_ms), version, out);
        let comments = annotation.map_or(&[][..], |it| &it.comments);
        put_comments(missing.iter().chain(comments), out);
        position.make(played.best_move);
    }
    if ending::write((game.result, game.ending), version, &position, out) {
        put_time(info.end_elapsed_ms, version, out);
        put_comments(info.end_comments.iter(), out);
    } else {
        // Without a mark, readers attach these comments to the last move. The leading space keeps them from being read
        // as its evaluation.
        let comments: Vec<String> = info.end_comments.iter().map(|it| format!(" {it}")).collect();
        put_comments(comments.iter(), out);
    }
    Ok(())
}

fn put_time(elapsed_ms: Option<u64>, version: CsaVersion, out: &mut Vec<u8>) {
    let Some(elapsed_ms) = elapsed_ms else { return };
    let (seconds, thousandths) = (elapsed_ms / 1000, elapsed_ms % 1000);
    let mut text = format!("T{seconds}");
    if version == CsaVersion::V3_0 && thousandths > 0 {
        text.push_str(format!(".{thousandths:03}").trim_end_matches('0'));
    }
    put_line(out, text.as_bytes());
}

fn put_comments<'a>(comments: impl Iterator<Item = &'a String>, out: &mut Vec<u8>) {
    for comment in comments {
        put_line(out, ["'*", &comment.replace(['\n', '\r'], " ")].concat().as_bytes());
    }
}

pub(crate) fn write_move(best_move: Move, position: &Position, out: &mut Vec<u8>) {
    out.push(sign_of(position.side_to_move()));
    let kind = if let Some(from) = best_move.from() {
        put_square(from, out);
        let kind = position.piece_on(from).map(|piece| piece.kind);
        kind.map(|kind| kind.promoted().filter(|_| best_move.is_promotion()).unwrap_or(kind))
    } else {
        out.extend_from_slice(b"00");
        best_move.dropped().map(HandKind::piece_kind)
    };
    put_square(best_move.to(), out);
    put_line(out, kind.map_or(&[], |kind| CODES[kind.index()]));
}

fn put_square(square: Square, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'1' + square.file(), b'1' + square.rank()]);
}

/// A version of the CSA standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CsaVersion {
    /// V2.2 of 2008, which most programs read.
    #[default]
    V2_2,
    /// V3.0 of 2024.
    V3_0,
}

impl CsaVersion {
    /// All versions that can be written.
    pub const ALL: [Self; 2] = [Self::V2_2, Self::V3_0];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2_2 => "2.2",
            Self::V3_0 => "3.0",
        }
    }

    /// The version with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }
}
