//! `hcpe3`: dlshogi's games. Each move has an evaluation and the candidates of the search.
//!
//! The layout follows dlshogi's `HuffmanCodedPosAndEval3`, `MoveInfo` and `MoveVisits` (`cppshogi.h`). The meaning of
//! the fields follows its tools (`dlshogi/utils/*hcpe3*.py`). See `docs/formats/hcpe3.md`.

use kyokumen_shogi::{Color, Move, Position, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::fixed::ENDINGS;
use super::game::Game;
use super::layout::{absolute_result, ending_of_flags, result_with_flags};
use super::move16::{Dialect, MalformedMove};
use super::packed;
use super::played::Played;
use super::spec::{Codec, Framing, Spec, as_it_is, lost_unless_from_move_1, one};
use crate::game_info::HoldsInfo;
use crate::packed::family::Family;
use crate::played::VisitedMove;

pub(super) const SPEC: Spec = Spec {
    name: "hcpe3",
    extensions: &[],
    framing: Framing::Variable { end: chunk_end, next: None },
    copy: as_it_is,
    header: b"",
    separator: b"",
    holds: Fields::ALL,
    needs: Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::Result]),
    endings: ENDINGS,
    codec: Codec::Games {
        read: |chunk| one(read(chunk)),
        count: Some(count),
        write: Some(write),
        lost: lost_unless_from_move_1,
        info: HoldsInfo::NOTHING,
    },
};

/// Position, number of moves (u16), result with flags, and a byte for the opponent (dlshogi).
pub(crate) const HEADER_BYTES: usize = packed::LEN + 4;
pub(crate) const MOVES_AT: usize = packed::LEN;
pub(crate) const RESULT_AT: usize = packed::LEN + 2;
const OPPONENT_AT: usize = packed::LEN + 3;
/// Move, evaluation and number of candidates, 16 bits each.
const MOVE_BYTES: usize = 6;
/// Move and visits, 16 bits each.
const CANDIDATE_BYTES: usize = 4;

/// The largest number of legal moves of any position.
const MAX_CANDIDATES: u16 = 593;

/// A damaged game is searched for the start of the next game up to this distance.
const MAX_DAMAGED_BYTES: usize = 1 << 20;

/// The end of a game according to its counts.
enum GameScan {
    End(usize),
    /// The bytes end within the move with this number, from 0.
    Short(u16),
    /// The move at `at` has more candidates than a position has moves.
    Broken {
        at: usize,
        candidates: u16,
    },
}

fn walk(bytes: &[u8]) -> GameScan {
    let Some(moves) = word(bytes, MOVES_AT) else { return GameScan::Short(0) };
    let mut at = HEADER_BYTES;
    for number in 0..moves {
        let Some(candidates) = word(bytes, at + 4) else { return GameScan::Short(number) };
        if candidates > MAX_CANDIDATES {
            return GameScan::Broken { at, candidates };
        }
        at += MOVE_BYTES + CANDIDATE_BYTES * usize::from(candidates);
        if at > bytes.len() {
            return GameScan::Short(number);
        }
    }
    GameScan::End(at)
}

/// Whether a game can begin here.
fn is_header(bytes: &[u8]) -> bool {
    bytes.len() >= HEADER_BYTES && start_of(bytes).is_some()
}

/// Whether a game with a legal first move begins here. A valid position is not enough: two bytes after the start of a
/// position there may be another valid one, whose bits are completed by the bytes after the position.
fn begins_game(bytes: &[u8]) -> bool {
    let Some(first) = first_move(bytes) else { return false };
    let position = start_of(bytes).and_then(|setup| Position::try_from(setup).ok());
    position.is_some_and(|position| position.is_legal(first))
}

/// The first move of a possible game. Cheap checks reject most offsets in damaged bytes.
fn first_move(bytes: &[u8]) -> Option<Move> {
    let kings = [bytes.first()? >> 1, bytes.get(1)? & 0x7f];
    let are_on_board = kings[0] != kings[1] && kings.into_iter().all(|king| king < 81);
    let has_moves = word(bytes, MOVES_AT)? > 0;
    let has_candidates = word(bytes, HEADER_BYTES + 4)? <= MAX_CANDIDATES;
    let first = word(bytes, HEADER_BYTES)?;
    (are_on_board && has_moves && has_candidates).then(|| decode(first).ok())?
}

/// A game ends where the next one begins. If no game follows, it still ends there if all its moves are legal. Otherwise
/// the game is damaged, and all bytes up to the next game are one chunk.
///
/// Bytes after the end do not change the result, so a block can be cut there.
fn chunk_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    if bytes.len() < HEADER_BYTES {
        return at_end.then_some(bytes.len());
    }
    if is_header(bytes) {
        match walk(bytes) {
            GameScan::End(end) => {
                let rest = &bytes[end..];
                if rest.len() < HEADER_BYTES && !at_end {
                    return None;
                }
                let is_end = rest.is_empty() || is_header(rest);
                if is_end || read(&bytes[..end]).is_ok_and(|game| game.is_whole()) {
                    return Some(end);
                }
            }
            GameScan::Short(_) if !at_end => return None,
            GameScan::Short(_) | GameScan::Broken { .. } => {}
        }
    }
    damage_end(bytes, at_end)
}

/// The start of the next game after the first byte.
fn damage_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    let last = bytes.len().saturating_sub(HEADER_BYTES + MOVE_BYTES).min(MAX_DAMAGED_BYTES);
    if let Some(start) = (1..=last).find(|&start| begins_game(&bytes[start..])) {
        return Some(start);
    }
    if last == MAX_DAMAGED_BYTES || (at_end && bytes.len() > MAX_DAMAGED_BYTES) {
        return Some(MAX_DAMAGED_BYTES);
    }
    at_end.then_some(bytes.len())
}

/// Number of moves, or 1 if the chunk is not a whole game.
fn count(chunk: &[u8]) -> u64 {
    match (is_header(chunk), walk(chunk), word(chunk, MOVES_AT)) {
        (true, GameScan::End(end), Some(moves)) if end == chunk.len() => moves.into(),
        _ => 1,
    }
}

fn read(chunk: &[u8]) -> Result<Game, DecodeError> {
    let moves = check(chunk)?;
    let Some(start) = start_of(chunk) else { return Err(DecodeErrorKind::Nothing.at(0)) };
    let mut game = Game::new(start);
    let result = chunk[RESULT_AT];
    (game.result, game.ending) = (absolute_result(result), ending_of_flags(result));
    game.announced = Some(moves.into());
    game.opponent = match chunk[OPPONENT_AT] {
        1 => Some(Color::Black),
        2 => Some(Color::White),
        _ => None,
    };
    let mut at = HEADER_BYTES;
    while at < chunk.len() {
        match read_move(chunk, at) {
            Ok((played, len)) => {
                game.moves.push(played);
                at += len;
            }
            Err(error) => {
                game.broken = Some(DecodeErrorKind::MalformedMove(error).at(at));
                break;
            }
        }
    }
    Ok(game)
}

/// Checks that the counts of the chunk lead to its end. Returns the number of moves.
fn check(chunk: &[u8]) -> Result<u16, DecodeError> {
    let Some(moves) = word(chunk, MOVES_AT).filter(|_| chunk.len() >= HEADER_BYTES) else {
        let (expected, found) = (HEADER_BYTES, chunk.len());
        return Err(DecodeErrorKind::Length { expected, found }.at(found));
    };
    if let Some(position) = chunk.first_chunk() {
        packed::decode(Family::Apery, position)?;
    }
    match walk(chunk) {
        GameScan::End(end) if end == chunk.len() => Ok(moves),
        GameScan::End(end) => Err(DecodeErrorKind::NotAGame { moves }.at(end)),
        GameScan::Short(number) => {
            let within = u32::from(number) + 1;
            Err(DecodeErrorKind::GameCut { moves, within }.at(chunk.len()))
        }
        GameScan::Broken { at, candidates } => {
            Err(DecodeErrorKind::TooManyCandidates { candidates, most: MAX_CANDIDATES }.at(at))
        }
    }
}

/// The move at an offset of a checked chunk, and its length.
fn read_move(chunk: &[u8], at: usize) -> Result<(Played, usize), MalformedMove> {
    let number = |at: usize| word(chunk, at).unwrap_or_default();
    let mut played = Played {
        eval_cp: Some(number(at + 2).cast_signed()),
        ..Played::new(decode(number(at))?, at)
    };
    let candidates = usize::from(number(at + 4));
    played.is_not_for_training = candidates == 0;
    let end = at + MOVE_BYTES + CANDIDATE_BYTES * candidates;
    for at in (at + MOVE_BYTES..end).step_by(CANDIDATE_BYTES) {
        let candidate = VisitedMove { best_move: decode(number(at))?, visits: number(at + 2) };
        played.candidates.push(candidate);
    }
    if played.candidates == [not_searched(played.best_move)] {
        played.candidates.clear();
    }
    Ok((played, end - at))
}

/// The candidate that dlshogi's converters write for a move without a search.
const fn not_searched(best_move: Move) -> VisitedMove {
    VisitedMove { best_move, visits: 1 }
}

fn decode(bits: u16) -> Result<Move, MalformedMove> {
    Dialect::Apery.decode(bits)?.ok_or(MalformedMove { bits })
}

fn write(game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let missing = |field| EncodeError::Missing { fields: Fields::of(field) };
    let result = game.result.ok_or(missing(Field::Result))?;
    out.extend_from_slice(&packed::encode(Family::Apery, &game.start)?);
    push(out, checked_length("moves", game.moves.len(), u16::MAX)?);
    // dlshogi uses 0 for games against itself, 1 if a USI engine was Black, and 2 if one was White.
    let opponent = game.opponent.map_or(0, |side| 1 + side as u8);
    out.extend_from_slice(&[result_with_flags(result, game.ending), opponent]);
    for played in &game.moves {
        let eval_cp = played.eval_cp.ok_or(missing(Field::EvalCp))?;
        let not_searched = [not_searched(played.best_move)];
        let candidates = match &*played.candidates {
            _ if played.is_not_for_training => &[],
            [] => &not_searched[..],
            candidates => candidates,
        };
        push(out, Dialect::Apery.encode(played.best_move));
        push(out, eval_cp.cast_unsigned());
        push(out, checked_length("candidates", candidates.len(), MAX_CANDIDATES)?);
        for candidate in candidates {
            push(out, Dialect::Apery.encode(candidate.best_move));
            push(out, candidate.visits);
        }
    }
    Ok(())
}

fn checked_length(what: &'static str, length: usize, most: u16) -> Result<u16, EncodeError> {
    let counted = u16::try_from(length).ok().filter(|&length| length <= most);
    counted.ok_or(EncodeError::TooMany { what, most })
}

fn push(out: &mut Vec<u8>, word: u16) {
    out.extend_from_slice(&word.to_le_bytes());
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}

fn start_of(bytes: &[u8]) -> Option<Setup> {
    packed::decode_if_valid(Family::Apery, bytes.first_chunk()?)
}
