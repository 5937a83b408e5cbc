//! `kif`: games as Kakinoki's programs write them, in UTF-8 or `Shift_JIS`.
//!
//! The format is that of "棋譜ファイル KIF 形式" by Kakinoki Yoshikazu. See `docs/formats/kif.md`.

mod ending;
mod moves;
pub(super) mod notation;
mod signs;
mod start;

use encoding_rs::SHIFT_JIS;
use kyokumen_shogi::Position;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::lines::{LONGEST_GROUP, Lines, decode};
use super::replay::{Replay, seen_from};
use super::spec::{Codec, Framing, Spec, lost_of_text, one, with_line_end};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use crate::kif::signs::{BEGINS_LIST, behind_number, put_numbered};
use ending::Summary;
use start::Start;

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
    codec: Codec::Games {
        read: |unit| one(read(unit)),
        count: None,
        write: Some(write),
        lost: lost_of_text,
        info: HoldsInfo::NOTHING,
    },
};

pub(super) const SPEC_KIFU: Spec = Spec { name: "kifu", ..SPEC };
pub(super) const SPEC_KI2: Spec = Spec { name: "ki2", ..SPEC };
pub(super) const SPEC_KI2U: Spec = Spec { name: "ki2u", ..SPEC };
pub(super) const SPEC_BOD: Spec = Spec { name: "bod", ..SPEC };

/// The line above the moves, and with what it is told from the number of a move that a diagram stands behind.
const LIST_OF_MOVES: &str = "手数----指手---------消費時間--\n";

/// Keywords with which the head of a game may begin.
const HEAD: [&str; 14] = [
    "開始日時：",
    "終了日時：",
    "対局日：",
    "棋戦：",
    "戦型：",
    "場所：",
    "手合割：",
    "先手：",
    "後手：",
    "下手：",
    "上手：",
    "後手の持駒：",
    "上手の持駒：",
    "先手の持駒：",
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
    let put = |line: &str, out: &mut Vec<u8>| match str::from_utf8(unit) {
        Ok(_) => out.extend_from_slice(line.as_bytes()),
        Err(_) => out.extend_from_slice(&SHIFT_JIS.encode(line).0),
    };
    if !has_head && (has_moves || has_diagram) {
        let name = if has_diagram { start::OTHER } else { start::EVEN };
        put(&format!("{}：{name}\n", start::HANDICAP), out);
    }
    with_line_end(unit, out);
    if has_diagram && !has_moves {
        put(LIST_OF_MOVES, out);
    }
}

/// A game ends before the first keyword of another head.
fn unit_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let (mut at, mut has_moves) = (0, false);
    for line in Lines::new(bytes) {
        // How a line goes on that may not be at its end is not known.
        let is_known = at_end || line.raw().ends_with(b"\n");
        if has_moves && is_known && begins_head(line.content()) {
            return Some(at);
        }
        has_moves = has_moves || (is_known && begins_moves(line.content()));
        at += line.raw().len();
    }
    None
}

/// Whether the head of a game ends with a line: it is above the moves, the first of them, or behind them.
fn begins_moves(line: &[u8]) -> bool {
    let is_text = |text: &str| {
        text.starts_with(BEGINS_LIST) || notation::is_line(text) || ending::is_summary(text)
    };
    is_numbered(line) || (!line.is_ascii() && is_text(&decode(line)))
}

/// Whether a line holds a move or what stands in place of one: a number, spaces, and what is no number.
fn is_numbered(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = line[digits..].trim_ascii_start();
    digits > 0
        && text.len() < line.len() - digits
        && text.first().is_some_and(|byte| !byte.is_ascii())
}

fn begins_head(line: &[u8]) -> bool {
    // Cheaper than decoding every line of moves, or one that does not end.
    if line.first().is_none_or(u8::is_ascii) || line.len() > LONGEST_GROUP {
        return false;
    }
    let text = decode(line);
    HEAD.into_iter().any(|keyword| text.starts_with(keyword))
}

fn read(unit: &[u8]) -> Result<Game, DecodeError> {
    let (mut start, mut replay) = (Start::default(), None);
    let (mut at, mut has_list) = (0, false);
    for line in Lines::new(unit) {
        let text = decode(line.content());
        if text.starts_with("変化：") {
            // Variations follow the game.
            break;
        }
        let text = text.trim_end();
        // What is said of the start of a game stands behind the line above its moves.
        let is_about_start = has_list && text.starts_with('*');
        has_list |= text.starts_with(BEGINS_LIST);
        let begins = notation::is_line(text) || is_about_start;
        if replay.is_some() || begins || !start.take(text, at)? {
            let replay = match &mut replay {
                Some(replay) => replay,
                none => none.insert(start.begin()?),
            };
            take(replay, text, at);
        }
        at += line.raw().len();
    }
    if replay.is_none() && start.is_cut_off() {
        let expected = "the moves of a game behind its head";
        return Err(DecodeErrorKind::syntax(expected, b"the end of the file").at(unit.len()));
    }
    Ok(replay.map_or_else(|| start.begin(), Ok)?.finish(start.shows_board()))
}

/// Takes a line behind the head. Behind what cannot be read only the summary is looked for, which tells
/// how the game ended.
fn take(replay: &mut Replay, line: &str, at: usize) {
    if let Some(Summary { end }) = Summary::parse(line) {
        // That somebody won does not say again how.
        let is_known = end == (replay.game.result, None);
        replay.end(if is_known { (replay.game.result, replay.game.ending) } else { end });
    } else if !replay.is_broken()
        && let Err(error) = take_line(replay, line, at)
    {
        replay.break_off(error);
    }
}

fn take_line(replay: &mut Replay, line: &str, at: usize) -> Result<(), DecodeError> {
    let syntax = |expected| DecodeErrorKind::syntax(expected, line.as_bytes()).at(at);
    if notation::is_line(line) {
        if replay.has_ended {
            return Err(syntax("no move behind the end of the game"));
        }
        return notation::moves_of(line).try_for_each(|text| {
            let last = replay.game.moves.last().map(|played| played.best_move.to());
            match notation::parse(text, &replay.position, last) {
                Some(best_move) => replay.play(best_move, at),
                None => Err(syntax("moves of KI2, as in ▲７六歩, of which each is one legal move")),
            }
        });
    }
    if let Some(comment) = line.strip_prefix('*') {
        replay.take_comment(comment);
        return Ok(());
    }
    let Some(text) = behind_number(line) else {
        replay.has_ended |= ending::is_summary(line);
        // Other lines behind the end belong to the head of a game that follows, or to nobody.
        let is_no_move = line.is_empty() || line.starts_with(['#', '&']) || replay.has_ended;
        return if is_no_move { Ok(()) } else { Err(syntax("a numbered move")) };
    };
    if replay.has_ended {
        return Err(syntax("no move behind the end of the game"));
    }
    if let Some(end) = ending::of_word(text, replay) {
        replay.end(end);
        return Ok(());
    }
    let last = replay.game.moves.last().map(|played| played.best_move.to());
    match moves::parse(text, &replay.position, last) {
        Some(best_move) => replay.play(best_move, at),
        None => Err(syntax("a move, as in ７六歩(77), of the side to move")),
    }
}

fn write(game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let mut position = Position::try_from(&game.start).map_err(|_| EncodeError::NoGame)?;
    let mut text = String::new();
    start::write(&game.start, game.is_position, &mut text);
    text.push_str(LIST_OF_MOVES);
    let mut last = None;
    for (number, played) in (1..).zip(&game.moves) {
        if !position.is_legal(played.best_move) {
            return Err(EncodeError::NoGame);
        }
        put_numbered(number, &moves::write(played.best_move, &position, last), &mut text);
        last = Some(played.best_move.to());
        if let Some(eval_cp) = played.eval_cp {
            let black_cp = seen_from(position.side_to_move(), eval_cp.into());
            text.extend(["**評価値=", &black_cp.to_string(), "\n"]);
        }
        position.make(played.best_move);
    }
    ending::write((game.result, game.ending), &position, game.moves.len(), &mut text);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}
