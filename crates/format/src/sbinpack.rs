//! `sbinpack`: games as chains. A move is its number among the legal moves and a difference of evaluations.
//!
//! The only definition is rsshogi's source (`records::formats::sbinpack`). See `docs/formats/sbinpack.md`.

mod ending;
mod order;

use std::iter;

use kyokumen_shogi::{Position, Setup};

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::move16::{self, Dialect};
use super::packed;
use super::played::Played;
use super::spec::{Codec, Framing, Games, Spec, as_it_is};
use crate::ending::{End, Ending};
use crate::game_info::HoldsInfo;
use crate::packed::family::Family;
use ending::{can_express, code_of, end_of};
use order::{nth_move, number_of};

pub(super) const SPEC: Spec = Spec {
    name: "sbinpack",
    extensions: &[],
    framing: Framing::Variable { end: chunk_end, next: None },
    copy: as_it_is,
    header: b"",
    separator: b"",
    holds: Fields::ALL.without(Fields::of(Field::Candidates)),
    needs: Fields::of_all(&[Field::BestMove, Field::EvalCp]),
    endings: &Ending::ALL,
    codec: Codec::Games {
        read,
        count: Some(count),
        write: Some(write),
        lost,
        info: HoldsInfo::NOTHING,
    },
};

/// The first bytes of a chunk. The number of its remaining bytes (u32) follows.
const MAGIC: &[u8] = b"SBN2";
const CHUNK_HEADER_BYTES: usize = MAGIC.len() + 4;

/// Offsets in a chain: score (i16), first move (u16), ply and result (u16), and a byte with the number of metadata
/// bytes that follow.
pub(crate) const SCORE_AT: usize = packed::LEN;
pub(crate) const END_AT: usize = packed::LEN + 4;
pub(crate) const METADATA_LEN_AT: usize = packed::LEN + 6;
const METADATA_AT: usize = METADATA_LEN_AT + 1;
const MAX_METADATA_BYTES: u8 = 127;

/// The result is in the bits above the ply.
const PLY_BITS: u32 = 10;
const MAX_PLY: u16 = (1 << PLY_BITS) - 1;

/// The longest encoded number, in bytes.
const NUMBER_BYTES: usize = 5;

fn read(chunk: &[u8]) -> Games<'_> {
    Box::new(chains(chunk).map(|chain| chain?.read()))
}

/// The number of moves. An invalid chain, or a chain with an invalid position, counts as one.
fn count(chunk: &[u8]) -> u64 {
    let count = |chain: Result<Chain<'_>, _>| match chain {
        Ok(chain) if chain.start().is_ok() => chain.moves.into(),
        _ => 1,
    };
    chains(chunk).map(count).sum()
}

/// The end of the chunk that begins here, according to its length. `None` if no chunk begins here.
fn claimed_end(bytes: &[u8]) -> Option<usize> {
    let len = bytes.strip_prefix(MAGIC)?.first_chunk().copied().map(u32::from_le_bytes)?;
    Some(CHUNK_HEADER_BYTES.saturating_add(usize::try_from(len).ok()?))
}

/// A chunk ends at its stored length if another chunk or the end of the file follows. Otherwise it is damaged, and all
/// bytes up to the next chunk are one chunk.
fn chunk_end(bytes: &[u8], at_end: bool) -> Option<usize> {
    if bytes.len() < CHUNK_HEADER_BYTES && !at_end {
        return None;
    }
    if let Some(end) = claimed_end(bytes) {
        let rest = bytes.get(end..).unwrap_or_default();
        if rest.len() < MAGIC.len() && !at_end {
            return None;
        }
        if bytes.len() == end || rest.starts_with(MAGIC) {
            return Some(end);
        }
    }
    let next = memchr::memmem::find(bytes.get(1..)?, MAGIC).map(|at| at + 1);
    next.or(at_end.then_some(bytes.len()))
}

/// The chains of a chunk. If they do not lead to its end, the last item is an error.
fn chains(chunk: &[u8]) -> impl Iterator<Item = Result<Chain<'_>, DecodeError>> {
    let end = claimed_end(chunk);
    let mut next = Some(CHUNK_HEADER_BYTES);
    iter::from_fn(move || {
        let at = next.take()?;
        let Some(end) = end else {
            return Some(Err(DecodeErrorKind::syntax("SBN2 and a length", chunk).at(0)));
        };
        if at == end.min(chunk.len()) {
            return no_end(chunk, end).map(Err);
        }
        let chain = Chain::find(&chunk[..end.min(chunk.len())], at);
        next = chain.as_ref().ok().map(|chain| chain.end);
        Some(chain)
    })
}

/// The error of a chunk that does not end at its stored length. `None` if it does.
fn no_end(chunk: &[u8], end: usize) -> Option<DecodeError> {
    match chunk.get(end..) {
        None => {
            let expected = "the rest of the chunk";
            Some(
                DecodeErrorKind::Missing { expected, found: "the end of the file" }.at(chunk.len()),
            )
        }
        Some([]) => None,
        Some(rest) => Some(DecodeErrorKind::syntax("another chunk", rest).at(end)),
    }
}

/// A game or part of a game. Its bytes are split but not decoded.
struct Chain<'a> {
    /// The bytes of the chunk.
    bytes: &'a [u8],
    /// Offset where the chain begins.
    at: usize,
    moves: u16,
    /// Offset of the first move.
    first_move: usize,
    end: usize,
}

impl<'a> Chain<'a> {
    /// The chain that begins at this offset.
    fn find(bytes: &'a [u8], at: usize) -> Result<Self, DecodeError> {
        let cut_off = || {
            let expected = "a position with its result and the number of moves";
            DecodeErrorKind::Missing { expected, found: "the end of the chunk" }.at(bytes.len())
        };
        let metadata_len = *bytes.get(at + METADATA_LEN_AT).ok_or_else(cut_off)?;
        if metadata_len > MAX_METADATA_BYTES {
            let found = metadata_len.to_string();
            let kind = DecodeErrorKind::syntax("at most 127 bytes of metadata", found.as_bytes());
            return Err(kind.at(at + METADATA_LEN_AT));
        }
        let moves_at = at + METADATA_AT + usize::from(metadata_len);
        let moves = word(bytes, moves_at).ok_or_else(cut_off)?;
        let mut chain = Self { bytes, at, moves, first_move: moves_at + 2, end: moves_at + 2 };
        for place in 0..moves {
            let within = u32::from(place) + 1;
            (_, chain.end) = chain.number_at(chain.end, within)?;
            (_, chain.end) = chain.number_at(chain.end, within)?;
        }
        Ok(chain)
    }

    /// A number of the `within`-th move, from 1, and the offset after it.
    fn number_at(&self, at: usize, within: u32) -> Result<(u32, usize), DecodeError> {
        let rest = &self.bytes[at..];
        if let Some((number, len)) = uleb128(rest) {
            return Ok((number, at + len));
        }
        if rest.len() < NUMBER_BYTES {
            let kind = DecodeErrorKind::GameCut { moves: self.moves, within };
            return Err(kind.at(self.bytes.len()));
        }
        let found = format!("{:02x?}", &rest[..NUMBER_BYTES]);
        Err(DecodeErrorKind::syntax("a number of 32 bits", found.as_bytes()).at(at))
    }

    /// The start position.
    fn start(&self) -> Result<Position, DecodeError> {
        let cut_off = || DecodeErrorKind::Nothing.at(self.at);
        let position = self.bytes[self.at..].first_chunk().ok_or_else(cut_off)?;
        let setup = packed::decode(Family::YaneuraOu, position)
            .map_err(|error| error.kind.at(self.at + error.offset))?;
        let ply = self.end_word() & MAX_PLY;
        Position::try_from(setup.with_ply(ply))
            .map_err(|error| DecodeErrorKind::Position(error).at(self.at))
    }

    fn read(&self) -> Result<Game, DecodeError> {
        let start = self.start()?;
        let mut game = Game::new(start.setup());
        (game.result, game.ending) = end_of(self.end_word() >> PLY_BITS);
        game.announced = Some(self.moves.into());
        game.broken = self.read_moves(start, &mut game.moves).err();
        Ok(game)
    }

    /// Appends the moves up to the first error.
    fn read_moves(
        &self,
        mut position: Position,
        moves: &mut Vec<Played>,
    ) -> Result<(), DecodeError> {
        let score = word(self.bytes, self.at + SCORE_AT).unwrap_or_default().cast_signed();
        let (mut at, mut start_side_cp) = (self.first_move, i32::from(score));
        for place in 0..self.moves {
            let offset = at;
            let within = u32::from(place) + 1;
            let (number, eval_at) = self.number_at(at, within)?;
            let Some(best_move) = nth_move(&position, number) else {
                let expected = "the number of a legal move";
                return Err(DecodeErrorKind::syntax(expected, number.to_string().as_bytes()).at(at));
            };
            let difference;
            (difference, at) = self.number_at(eval_at, within)?;
            let Some(eval_cp) = start_side_cp.checked_add(unzigzag(difference)) else {
                let expected = "an evaluation of 32 bits";
                return Err(DecodeErrorKind::syntax(expected, b"a larger one").at(eval_at));
            };
            start_side_cp = eval_cp;
            let eval_cp = Some(nearest(seen_from_mover(eval_cp, place)));
            moves.push(Played { eval_cp, ..Played::new(best_move, offset) });
            position.make(best_move);
        }
        Ok(())
    }

    /// The word with ply and result.
    fn end_word(&self) -> u16 {
        word(self.bytes, self.at + END_AT).unwrap_or_default()
    }
}

/// Writes each game as a chunk with one chain.
fn write(game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let mut position = Position::try_from(&game.start).map_err(|_| EncodeError::NoGame)?;
    let first = game.moves.first();
    let score = first.and_then(|played| played.eval_cp).unwrap_or_default();
    let first_move = first.map_or(move16::NONE, |m| Dialect::YaneuraOu.encode(m.best_move));
    let too_many = EncodeError::TooMany { what: "moves", most: u16::MAX };
    let moves = u16::try_from(game.moves.len()).map_err(|_| too_many)?;
    let ply = game.start.ply().min(MAX_PLY);
    let end = code_of((game.result, game.ending)) << PLY_BITS | ply;

    let mut chain = packed::encode(Family::YaneuraOu, &game.start)?.to_vec();
    for word in [score.cast_unsigned(), first_move, end] {
        chain.extend_from_slice(&word.to_le_bytes());
    }
    // No metadata.
    chain.push(0);
    chain.extend_from_slice(&moves.to_le_bytes());
    let mut before_cp = i32::from(score);
    for (place, played) in (0..moves).zip(&game.moves) {
        let missing = EncodeError::Missing { fields: Fields::of(Field::EvalCp) };
        let eval_cp = seen_from_mover(played.eval_cp.ok_or(missing)?.into(), place);
        let number = number_of(&position, played.best_move).ok_or(EncodeError::NoGame)?;
        put_uleb128(number, &mut chain);
        put_uleb128(zigzag(eval_cp - before_cp), &mut chain);
        before_cp = eval_cp;
        position.make(played.best_move);
    }
    out.extend_from_slice(MAGIC);
    // At most 65,535 moves of seven bytes.
    out.extend_from_slice(&(chain.len() as u32).to_le_bytes());
    out.extend_from_slice(&chain);
    Ok(())
}

/// The losses: a ply above the maximum is written as the maximum, and some endings cannot be expressed.
fn lost(start: &Setup, end: End) -> Fields {
    let ply = if start.ply() > MAX_PLY { Fields::of(Field::Ply) } else { Fields::NONE };
    if can_express(end) { ply } else { ply.union(Fields::of(Field::Ending)) }
}

/// Converts an evaluation from the side that begins to the side that makes the move with this index, from 0, or back.
const fn seen_from_mover(eval_cp: i32, place: u16) -> i32 {
    if place.is_multiple_of(2) { eval_cp } else { eval_cp.saturating_neg() }
}

/// The nearest 16-bit value.
fn nearest(eval_cp: i32) -> i16 {
    let limit = if eval_cp < 0 { i16::MIN } else { i16::MAX };
    i16::try_from(eval_cp).unwrap_or(limit)
}

/// Decodes the number at the start of the bytes: seven bits per byte, lowest first. Returns it with its length.
fn uleb128(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut number = 0;
    for (i, &byte) in bytes.iter().take(NUMBER_BYTES).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            return Some((u32::try_from(number).ok()?, i + 1));
        }
    }
    None
}

fn put_uleb128(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Maps signed numbers to unsigned ones: 0, −1, 1, −2, … become 0, 1, 2, 3, ….
const fn zigzag(number: i32) -> u32 {
    (number << 1 ^ number >> 31).cast_unsigned()
}

const fn unzigzag(number: u32) -> i32 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes)
}
