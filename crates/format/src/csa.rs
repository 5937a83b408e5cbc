//! `csa`: game records of the Computer Shogi Association, with the evaluations that Floodgate adds.
//!
//! The standard is "CSA標準棋譜ファイル形式" V2.2 and V3.0; evaluations and the summary are those of
//! shogi-server, which runs Floodgate. See `docs/formats/csa.md`.

mod codes;
mod ending;
mod start;

use kyokumen_shogi::{HandKind, Move, Position, Square};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::lines::{Lines, decode};
use super::replay::{Replay, seen_from};
use super::spec::{Codec, Framing, Spec, lost_of_text, one, with_line_end};
use crate::csa::codes::{CODES, kind_of, put_line, sign_of, square_of};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use ending::{Mark, Summary};
use start::Start;

pub(super) const SPEC: Spec = Spec {
    name: "csa",
    extensions: &[],
    framing: Framing::Group { end: unit_end, next: None },
    copy,
    header: b"",
    separator: b"/\n",
    holds: Fields::ALL.without(Fields::of(Field::Candidates)),
    needs: Fields::NONE,
    endings: &Ending::ALL,
    codec: Codec::Games {
        read: |unit| one(read(unit)),
        count: None,
        write: Some(|game, out| write(game, CsaVersion::default(), out)),
        lost: lost_of_text,
        info: HoldsInfo::NOTHING,
    },
};

/// A version of the CSA standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CsaVersion {
    /// V2.2 of 2008, which programs read.
    #[default]
    V2_2,
    /// V3.0 of 2024.
    V3_0,
}

impl CsaVersion {
    /// Every version that is written.
    pub const ALL: [Self; 2] = [Self::V2_2, Self::V3_0];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2_2 => "2.2",
            Self::V3_0 => "3.0",
        }
    }

    /// The version with this [`CsaVersion::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }
}

/// The line between games.
const SEPARATOR: &[u8] = b"/";
/// What a comment for programs begins with that gives the evaluation of the move before it.
const EVALUATION: &[u8] = b"'**";

/// Closes a game with the separator, as every game that is written.
fn copy(unit: &[u8], out: &mut Vec<u8>) {
    with_line_end(unit, out);
    let last =
        Lines::new(unit).map(|line| line.content().trim_ascii()).filter(|line| !line.is_empty());
    if last.last().is_some_and(|line| line != SEPARATOR) {
        put_line(out, SEPARATOR);
    }
}

/// A game ends behind a separator.
fn unit_end(bytes: &[u8], _at_end: bool) -> Option<usize> {
    let mut end = 0;
    for line in Lines::new(bytes) {
        end += line.raw().len();
        if line.raw().ends_with(b"\n") && line.content().trim_ascii() == SEPARATOR {
            return Some(end);
        }
    }
    None
}

fn read(unit: &[u8]) -> Result<Game, DecodeError> {
    let (mut start, mut replay) = (Start::default(), None);
    let mut at = 0;
    for line in Lines::new(unit) {
        for (offset, statement) in statements(line.content()) {
            let at = at + offset;
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
        let expected = "the side to move, + or -, behind the head of a game";
        return Err(DecodeErrorKind::syntax(expected, b"the end of the game").at(unit.len()));
    }
    Ok(replay.map_or_else(|| start.begin(), Ok)?.finish(start.shows_board()))
}

/// The statements of a line with their places: a line is one, or several between commas.
fn statements(line: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = if line.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
    std::iter::from_fn(move || {
        let rest = line.get(at..)?;
        let is_one = matches!(rest, [b'\'' | b'N' | b'$', ..]);
        let len = memchr::memchr(b',', rest).filter(|_| !is_one).unwrap_or(rest.len());
        let statement = (at, rest[..len].trim_ascii_end());
        at += len + 1;
        Some(statement)
    })
}

/// Takes a statement behind the start. Behind what cannot be read only a summary is looked for, which
/// tells how the game ended.
fn take(replay: &mut Replay, statement: &[u8], at: usize) {
    if let Some(Summary { end }) = Summary::parse(statement) {
        replay.end(end);
    } else if !replay.is_broken()
        && let Err(error) = take_statement(replay, statement, at)
    {
        replay.break_off(error);
    }
}

fn take_statement(replay: &mut Replay, statement: &[u8], at: usize) -> Result<(), DecodeError> {
    let other = |expected| Err(DecodeErrorKind::syntax(expected, statement).at(at));
    match statement {
        // Servers write $END_TIME behind the moves.
        [] | SEPARATOR | [b'$', ..] => Ok(()),
        [b'\'', b'*', comment @ ..] => {
            replay.take_comment(&decode(comment));
            Ok(())
        }
        [b'\'', ..] => Ok(()),
        [b'T', time @ ..] if is_time(time) => Ok(()),
        [b'%', ..] => match Mark::parse(statement) {
            Some(mark) => {
                take_mark(replay, mark);
                Ok(())
            }
            None => other("a mark of the standard for the end of a game"),
        },
        _ if replay.has_ended => other("/ before another game"),
        _ => match parse_move(statement, &replay.position) {
            Some(best_move) => replay.play(best_move, at),
            None => other("a move of the side to move"),
        },
    }
}

/// Of several marks the first one counts.
fn take_mark(replay: &mut Replay, mark: Mark) {
    if replay.is_behind_illegal_move() && mark.is_about_illegal_moves() {
        replay.end(mark.end_after_illegal_move(replay.position.side_to_move()));
    } else if !replay.has_ended {
        replay.end(mark.end(&replay.position));
    }
}

fn is_time(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// A move as the standard writes it, if it names the side to move and a piece that is there.
fn parse_move(statement: &[u8], position: &Position) -> Option<Move> {
    let side = position.side_to_move();
    let [sign, a, b, c, d, code @ ..] = statement else { return None };
    let (to, kind) = (square_of(&[*c, *d])?, kind_of(code)?);
    if *sign != sign_of(side) {
        return None;
    }
    if [*a, *b] == *b"00" {
        let dropped = HandKind::ALL.into_iter().find(|held| held.piece_kind() == kind)?;
        return Some(Move::drop(dropped, to));
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
    let mut position = Position::try_from(&game.start).map_err(|_| EncodeError::NoGame)?;
    put_line(out, format!("V{}", version.name()).as_bytes());
    start::write(&game.start, game.is_position, out);
    for played in &game.moves {
        if !position.is_legal(played.best_move) {
            return Err(EncodeError::NoGame);
        }
        write_move(played.best_move, &position, out);
        if let Some(eval_cp) = played.eval_cp {
            let black_cp = seen_from(position.side_to_move(), eval_cp.into());
            put_line(out, &[EVALUATION, format!(" {black_cp}").as_bytes()].concat());
        }
        position.make(played.best_move);
    }
    ending::write((game.result, game.ending), &position, out);
    put_line(out, SEPARATOR);
    Ok(())
}

fn write_move(best_move: Move, position: &Position, out: &mut Vec<u8>) {
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
