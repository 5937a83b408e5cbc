//! `pack`: games as `GenSfen` writes them: the start, moves with evaluations, the end.
//!
//! Defined in the readme of YaneuraOu-ScriptCollection's `GenSfen`. See `docs/formats/pack.md`.

use kyokumen_shogi::Setup;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::layout::result_with_flags;
use super::move16::Dialect;
use super::packed;
use super::played::Played;
use super::replay::even_start;
use super::spec::{Codec, Framing, Spec, as_it_is, one};
use crate::ending::Ending;
use crate::game_info::HoldsInfo;
use crate::game_result::GameResult;
use crate::packed::family::Family;

pub(super) const SPEC: Spec = Spec {
    name: "pack",
    extensions: &[],
    framing: Framing::Variable { end: |bytes, _| end(bytes), next: Some(&[EVEN_START]) },
    copy: as_it_is,
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
    needs: Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Result]),
    endings: &Ending::ALL,
    codec: Codec::Games {
        read: |chunk| one(read(chunk)),
        count: None,
        write: Some(write),
        lost: |_, _| Fields::NONE,
        info: HoldsInfo::NOTHING,
    },
};

/// The first byte of a game: a stored start position with its ply, or the start of an even game.
const STORED_START: u8 = 0;
const EVEN_START: u8 = 1;
/// Bytes before the first move of a game with a stored start position: first byte, position, ply.
pub(crate) const STORED_START_LEN: usize = 1 + packed::LEN + 2;
/// A move and its evaluation.
const MOVE_LEN: usize = 4;
/// The end mark and the reason.
const END_LEN: usize = 3;

/// Target and origin of a move. If they are equal, the value is the end mark, which gives the result.
const SQUARE_BITS: u32 = 7;
const SQUARE_MASK: u16 = (1 << SQUARE_BITS) - 1;

/// The reason of a draw with an unknown ending: a code without meaning.
const NO_REASON: u8 = 255;

fn read(chunk: &[u8]) -> Result<Game, DecodeError> {
    let (start, first_move) = read_start(chunk)?;
    let mut game = Game::new(start);
    for (i, bytes) in chunk[first_move..].chunks(MOVE_LEN).enumerate() {
        let at = first_move + i * MOVE_LEN;
        let cut_off = || missing("a move or the end").at(at);
        let word = bytes.first_chunk().copied().map(u16::from_le_bytes).ok_or_else(cut_off)?;
        if is_end(word) {
            game.result = Some(read_result(word, at)?);
            let reason = bytes.get(2).copied().ok_or_else(cut_off)?;
            game.ending = ending_of(reason);
            return Ok(game);
        }
        let &[_, _, low, high] = bytes else { return Err(cut_off()) };
        if game.broken.is_some() {
            continue;
        }
        // "No move" has equal squares and was handled as the end mark above.
        if let Ok(Some(best_move)) = Dialect::Apery.decode(word) {
            let eval_cp = Some(i16::from_le_bytes([low, high]));
            game.broken = game.push(Played { eval_cp, ..Played::new(best_move, at) }).err();
        } else {
            let found = format!("{word:#06x}");
            let expected = "a move in Apery's 16 bits";
            game.broken = Some(DecodeErrorKind::syntax(expected, found.as_bytes()).at(at));
        }
    }
    Err(missing("the end of the game").at(chunk.len()))
}

const fn missing(expected: &'static str) -> DecodeErrorKind {
    DecodeErrorKind::Missing { expected, found: "the end of the file" }
}

/// The start position of a game, and the offset of its first move.
fn read_start(chunk: &[u8]) -> Result<(Setup, usize), DecodeError> {
    let cut_off = || missing("a position").at(chunk.len());
    match chunk.first() {
        Some(&EVEN_START) => Ok((even_start(), 1)),
        Some(&STORED_START) => {
            let position = chunk[1..].first_chunk().ok_or_else(cut_off)?;
            let setup = packed::decode(Family::Apery, position)
                .map_err(|error| error.kind.at(1 + error.offset))?;
            let ply = chunk[1 + packed::LEN..].first_chunk().ok_or_else(cut_off)?;
            Ok((setup.with_ply(u16::from_le_bytes(*ply)), STORED_START_LEN))
        }
        Some(other) => {
            let expected = "0 or 1 as the first byte of a game";
            Err(DecodeErrorKind::syntax(expected, other.to_string().as_bytes()).at(0))
        }
        None => Err(DecodeErrorKind::Nothing.at(0)),
    }
}

const fn is_end(word: u16) -> bool {
    word & SQUARE_MASK == word >> SQUARE_BITS & SQUARE_MASK
}

fn read_result(word: u16, at: usize) -> Result<GameResult, DecodeError> {
    let results = [GameResult::Draw, GameResult::BlackWin, GameResult::WhiteWin];
    let found = results.into_iter().find(|&result| mark_of(result) == word);
    found.ok_or_else(|| {
        let found = format!("{word:#06x}");
        DecodeErrorKind::syntax("the mark of a result", found.as_bytes()).at(at)
    })
}

/// The end mark: the result as a move with equal origin and target.
fn mark_of(result: GameResult) -> u16 {
    let number = u16::from(result_with_flags(result, None));
    number | number << SQUARE_BITS
}

fn ending_of(reason: u8) -> Option<Ending> {
    match reason {
        1 | 6 => Some(Ending::Repetition),
        2 => Some(Ending::MoveLimit),
        3 => Some(Ending::Interruption),
        4 => Some(Ending::TimeUp),
        5 => Some(Ending::IllegalMove),
        11 => Some(Ending::Impasse),
        10 | 12 | 13 => Some(Ending::Declaration),
        _ => None,
    }
}

fn reason_of(result: GameResult, ending: Option<Ending>) -> u8 {
    let is_draw = result == GameResult::Draw;
    match ending {
        None if is_draw => NO_REASON,
        None => 0,
        Some(Ending::Repetition) => {
            if is_draw {
                1
            } else {
                6
            }
        }
        Some(Ending::MoveLimit) => 2,
        Some(Ending::Interruption) => 3,
        Some(Ending::TimeUp) => 4,
        Some(Ending::IllegalMove) => 5,
        // The code 10 is one of several for declarations. `GenSfen` writes it.
        Some(Ending::Declaration) => 10,
        Some(Ending::Impasse) => 11,
    }
}

fn write(game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let missing = |field| EncodeError::Missing { fields: Fields::of(field) };
    let result = game.result.ok_or(missing(Field::Result))?;
    if game.start == even_start() {
        out.push(EVEN_START);
    } else {
        out.push(STORED_START);
        out.extend_from_slice(&packed::encode(Family::Apery, &game.start)?);
        out.extend_from_slice(&game.start.ply().to_le_bytes());
    }
    for played in &game.moves {
        let eval_cp = played.eval_cp.ok_or(missing(Field::EvalCp))?;
        out.extend_from_slice(&Dialect::Apery.encode(played.best_move).to_le_bytes());
        out.extend_from_slice(&eval_cp.to_le_bytes());
    }
    out.extend_from_slice(&mark_of(result).to_le_bytes());
    out.push(reason_of(result, game.ending));
    Ok(())
}

/// The end of the first game. `None` if the bytes end before it or do not begin with a game.
fn end(bytes: &[u8]) -> Option<usize> {
    let first_move = match *bytes.first()? {
        EVEN_START => 1,
        STORED_START => STORED_START_LEN,
        _ => return None,
    };
    let words = bytes.get(first_move..)?.chunks(MOVE_LEN).map(|bytes| bytes.first_chunk().copied());
    let moves = words.map_while(|word| word).map(u16::from_le_bytes).position(is_end)?;
    let end = first_move + moves * MOVE_LEN + END_LEN;
    (end <= bytes.len()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kyokumen_shogi::Move;

    /// 7g7f with 100, 3c3d with −100, Black won, a reason without meaning. The game comes from the test of
    /// `pack2hcpe.py`; the bytes of the moves come from cshogi.
    const GAME: [u8; 12] = [1, 0x3b, 0x1e, 0x64, 0x00, 0x15, 0x0a, 0x9c, 0xff, 0x81, 0x00, 0xff];

    #[test]
    fn a_game_of_pack2hcpe_is_read_and_written() {
        let game = read(&GAME).unwrap();
        let moves: Vec<_> =
            game.moves.iter().map(|m| (m.best_move.to_string(), m.eval_cp)).collect();
        assert_eq!(moves, [("7g7f".to_owned(), Some(100)), ("3c3d".to_owned(), Some(-100))]);
        assert_eq!((game.result, game.ending), (Some(GameResult::BlackWin), None));
        let records = game.records();
        assert_eq!(records.len(), 2);
        let last = records[1].as_ref().unwrap();
        assert_eq!((last.ply, last.end_ply), (Some(2), Some(2)));

        let mut out = Vec::new();
        write(&game, &mut out).unwrap();
        assert_eq!(out[..11], GAME[..11]);
        // `GenSfen` writes 0, resignation, for a win without a special ending.
        assert_eq!(out[11..], [0]);
    }

    #[test]
    fn a_move_with_equal_squares_ends_a_game() {
        let two = [&GAME[..], &[1, 0x00, 0x00, 1]].concat();
        assert_eq!(end(&two), Some(12));
        assert_eq!(end(&two[12..]), Some(4));
        for cut in 0..12 {
            assert_eq!(end(&GAME[..cut]), None, "{cut}");
            assert!(read(&GAME[..cut]).is_err(), "{cut}");
        }
        assert_eq!(end(&[2, 0, 0, 0, 0]), None);
    }

    #[test]
    fn endings_are_read_and_written() {
        use GameResult::{BlackWin, Draw, WhiteWin};
        for (mark, reason, result, ending) in [
            ([0x00, 0x00], 1, Draw, Some(Ending::Repetition)),
            ([0x00, 0x00], 2, Draw, Some(Ending::MoveLimit)),
            ([0x00, 0x00], 3, Draw, Some(Ending::Interruption)),
            ([0x00, 0x00], 11, Draw, Some(Ending::Impasse)),
            ([0x00, 0x00], 255, Draw, None),
            ([0x81, 0x00], 0, BlackWin, None),
            ([0x81, 0x00], 10, BlackWin, Some(Ending::Declaration)),
            ([0x02, 0x01], 4, WhiteWin, Some(Ending::TimeUp)),
            ([0x02, 0x01], 5, WhiteWin, Some(Ending::IllegalMove)),
            ([0x02, 0x01], 6, WhiteWin, Some(Ending::Repetition)),
        ] {
            let bytes = [&[EVEN_START][..], &mark, &[reason]].concat();
            let game = read(&bytes).unwrap();
            assert_eq!((game.result, game.ending), (Some(result), ending));
            let mut out = Vec::new();
            write(&game, &mut out).unwrap();
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn a_stored_start_position_is_packed_in_apery_s_code() {
        let start: Setup = "4k4/9/9/9/9/9/9/9/4K4 w 2r2b4g4s4n4l18p 57".parse().unwrap();
        let played =
            Played { eval_cp: Some(7), ..Played::new(Move::from_usi("5a5b").unwrap(), 35) };
        let game = Game {
            moves: vec![played],
            result: Some(GameResult::Draw),
            ..Game::new(start.clone())
        };
        let mut out = Vec::new();
        write(&game, &mut out).unwrap();
        assert_eq!(out[1..33], packed::encode(Family::Apery, &start).unwrap());
        assert_eq!(out[33..35], [57, 0]);
        assert_eq!(read(&out), Ok(game));
        out[1..3].fill(0);
        assert_eq!(read(&out).unwrap_err().offset, 2);
    }

    #[test]
    fn errors_give_the_byte_offset() {
        let broken = read(&[1, 0x3b, 0x1e, 0, 0, 0xff, 0x7e, 0, 0, 0x02, 0x01, 0]).unwrap();
        assert_eq!(broken.moves.len(), 1);
        assert_eq!(broken.result, Some(GameResult::WhiteWin));
        assert_eq!(broken.broken.map(|error| error.offset), Some(5));
        assert_eq!(read(&[1, 0x83, 0x01, 0]).unwrap_err().offset, 1);
        assert_eq!(read(&[7]).unwrap_err().offset, 0);
    }
}
