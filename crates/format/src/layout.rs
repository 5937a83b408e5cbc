//! Records of fixed size: a packed position followed by fields at fixed offsets.
//!
//! `fixed.rs` defines the offsets; `docs/formats/` has the diagrams.

use std::ops::Range;

use kyokumen_shogi::{Color, Move};

use super::field::{Field, Fields};
use super::move16::{self, Dialect, MalformedMove};
use super::packed;
use super::record::Record;
use super::warning::{Warning, Warnings};
use crate::ending::Ending;
use crate::game_result::GameResult;
use crate::packed::family::Family;

/// Byte offsets of the fields from the start of a record. The position comes first.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) len: usize,
    pub(super) family: Family,
    pub(super) best_move: Option<usize>,
    pub(super) dialect: Dialect,
    pub(super) eval: Option<usize>,
    pub(super) ply: Option<usize>,
    pub(super) end_ply: Option<usize>,
    pub(super) result: Option<(usize, ResultCode)>,
    pub(super) padding: Range<usize>,
}

/// The fields after the position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tail {
    pub(super) side_to_move: Color,
    pub(super) best_move: Option<Move>,
    pub(super) eval_cp: Option<i16>,
    pub(super) ply: Option<u16>,
    pub(super) result: Option<GameResult>,
    pub(super) ending: Option<Ending>,
    pub(super) end_ply: Option<u16>,
}

impl From<&Record> for Tail {
    fn from(record: &Record) -> Self {
        Self {
            side_to_move: record.setup.side_to_move(),
            best_move: record.best_move,
            eval_cp: record.eval_cp,
            ply: record.ply,
            result: record.result,
            ending: record.ending,
            end_ply: record.end_ply,
        }
    }
}

/// The meaning of the result byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResultCode {
    /// 0 draw, 1 Black won, 2 White won. Flags in the higher bits are read but not written.
    Absolute,
    /// Like `Absolute`, and flags are written.
    AbsoluteWithFlags,
    /// A signed number: 0 draw, 1 the side to move won, −1 the side to move lost.
    SideToMove,
}

/// Longer than any record with a packed position.
const MAX_BYTES: usize = 64;
/// The result bits of [`ResultCode::Absolute`].
const RESULT_MASK: u8 = 3;
/// The flags in the higher bits, from dlshogi's `hcpe2`.
const FLAGS: [(u8, Ending); 3] =
    [(4, Ending::Repetition), (8, Ending::Declaration), (16, Ending::MoveLimit)];
/// A draw by move limit as written from 2021 to 2026: the flag 0x10 and two more bits. Masking the flags would
/// turn it into a win of White.
const MOVE_LIMIT_DRAW: u8 = 0x16;

impl Layout {
    /// A layout with a position and no fields.
    pub(super) const fn position_only(family: Family) -> Self {
        let dialect = match family {
            Family::Apery => Dialect::Apery,
            Family::YaneuraOu => Dialect::YaneuraOu,
        };
        Self {
            len: packed::LEN,
            family,
            best_move: None,
            dialect,
            eval: None,
            ply: None,
            end_ply: None,
            result: None,
            padding: 0..0,
        }
    }

    /// The fields of the layout.
    pub(super) const fn fields(&self) -> Fields {
        let mut fields = Fields::NONE;
        if self.best_move.is_some() {
            fields = fields.union(Fields::of(Field::BestMove));
        }
        if self.eval.is_some() {
            fields = fields.union(Fields::of(Field::EvalCp));
        }
        if self.ply.is_some() {
            fields = fields.union(Fields::of(Field::Ply));
        }
        if self.end_ply.is_some() {
            fields = fields.union(Fields::of(Field::EndPly));
        }
        if self.result.is_some() {
            fields = fields.union(Fields::of(Field::Result));
        }
        fields
    }

    pub(super) fn eval_cp(&self, bytes: &[u8]) -> Option<i16> {
        word(bytes, self.eval).map(i16::from_le_bytes)
    }

    pub(super) fn ply(&self, bytes: &[u8]) -> Option<u16> {
        word(bytes, self.ply).map(u16::from_le_bytes)
    }

    pub(super) fn end_ply(&self, bytes: &[u8]) -> Option<u16> {
        word(bytes, self.end_ply).map(u16::from_le_bytes)
    }

    /// `None` if the layout has no move.
    pub(super) fn move_bits(&self, bytes: &[u8]) -> Option<u16> {
        word(bytes, self.best_move).map(u16::from_le_bytes)
    }

    /// `None` if the layout has no move.
    pub(super) fn best_move(
        &self,
        bytes: &[u8],
        dialect: Dialect,
    ) -> Option<Result<Option<Move>, MalformedMove>> {
        self.move_bits(bytes).map(|bits| dialect.decode(bits))
    }

    pub(super) fn result(&self, bytes: &[u8]) -> Option<GameResult> {
        let (at, code) = self.result?;
        let byte = *bytes.get(at)?;
        match code {
            ResultCode::Absolute | ResultCode::AbsoluteWithFlags => absolute_result(byte),
            ResultCode::SideToMove => match byte.cast_signed() {
                0 => Some(GameResult::Draw),
                1 => Some(GameResult::win_of(side_to_move(bytes))),
                -1 => Some(GameResult::win_of(!side_to_move(bytes))),
                _ => None,
            },
        }
    }

    pub(super) fn ending(&self, bytes: &[u8]) -> Option<Ending> {
        let (at, code) = self.result?;
        let byte = *bytes.get(at)?;
        if code == ResultCode::SideToMove { None } else { ending_of_flags(byte) }
    }

    /// Unusual field values.
    pub(super) fn warnings(&self, bytes: &[u8], dialect: Dialect) -> Warnings {
        let mut warnings =
            self.best_move(bytes, dialect).map_or(Warnings::NONE, Warnings::of_stored_move);
        match self.ply(bytes) {
            Some(0) => warnings.insert(Warning::PlyZero),
            Some(u16::MAX) => warnings.insert(Warning::PlyMax),
            _ => {}
        }
        if let Some((at, code)) = self.result {
            if self.result(bytes).is_none() {
                warnings.insert(Warning::ResultOutOfRange);
            }
            if code != ResultCode::SideToMove
                && bytes.get(at).is_some_and(|byte| byte & !RESULT_MASK != 0)
            {
                warnings.insert(Warning::ResultFlags);
            }
        }
        if bytes
            .get(self.padding.clone())
            .is_some_and(|padding| padding.iter().any(|&byte| byte != 0))
        {
            warnings.insert(Warning::PaddingNotZero);
        }
        warnings
    }

    /// Reads all fields after the position.
    #[inline]
    pub(super) fn tail(&self, bytes: &[u8], dialect: Dialect) -> Tail {
        Tail {
            side_to_move: side_to_move(bytes),
            best_move: self.best_move(bytes, dialect).and_then(Result::ok).flatten(),
            eval_cp: self.eval_cp(bytes),
            ply: self.ply(bytes),
            result: self.result(bytes),
            ending: self.ending(bytes),
            end_ply: self.end_ply(bytes),
        }
    }

    /// The fields that the record has. An explicit "no move" counts as a field.
    #[inline]
    pub(super) fn present(&self, tail: &Tail) -> Fields {
        let mut fields = self.fields();
        if tail.result.is_none() {
            fields = fields.without(Fields::of(Field::Result));
        }
        if tail.ending.is_some() {
            fields = fields.union(Fields::of(Field::Ending));
        }
        fields
    }

    /// Appends a position and its fields.
    #[inline]
    pub(crate) fn append(&self, position: &[u8; packed::LEN], tail: &Tail, out: &mut Vec<u8>) {
        let mut bytes = [0; MAX_BYTES];
        bytes[..packed::LEN].copy_from_slice(position);
        self.put(tail, self.dialect, &mut bytes);
        out.extend_from_slice(&bytes[..self.len]);
    }

    /// Overwrites the evaluation and leaves all other bytes unchanged.
    pub(super) fn put_eval(&self, eval_cp: i16, bytes: &mut [u8]) {
        if let Some(at) = self.eval {
            bytes[at..at + 2].copy_from_slice(&eval_cp.to_le_bytes());
        }
    }

    /// Overwrites the result and clears the flags for the ending.
    pub(super) fn put_result(&self, result: GameResult, bytes: &mut [u8]) {
        if let Some((at, code)) = self.result {
            bytes[at] = code.byte(result, side_to_move(bytes), None);
        }
    }

    /// Overwrites the move.
    pub(super) fn put_move(&self, best_move: Option<Move>, dialect: Dialect, bytes: &mut [u8]) {
        if let Some(at) = self.best_move {
            let bits = best_move.map_or(move16::NONE, |m| dialect.encode(m));
            bytes[at..at + 2].copy_from_slice(&bits.to_le_bytes());
        }
    }

    /// Overwrites the fields of `bytes` that are set in `tail` and leaves the rest unchanged. The move is always
    /// overwritten, encoded in `dialect`.
    #[inline]
    pub(super) fn put(&self, tail: &Tail, dialect: Dialect, bytes: &mut [u8]) {
        let mut put = |at: Option<usize>, word: Option<[u8; 2]>| {
            if let (Some(at), Some(word)) = (at, word) {
                bytes[at..at + 2].copy_from_slice(&word);
            }
        };
        put(self.eval, tail.eval_cp.map(i16::to_le_bytes));
        put(self.ply, tail.ply.map(u16::to_le_bytes));
        put(self.end_ply, tail.end_ply.map(u16::to_le_bytes));
        if let (Some((at, code)), Some(result)) = (self.result, tail.result) {
            bytes[at] = code.byte(result, tail.side_to_move, tail.ending);
        }
        self.put_move(tail.best_move, dialect, bytes);
    }
}

impl ResultCode {
    fn byte(self, result: GameResult, to_move: Color, ending: Option<Ending>) -> u8 {
        match self {
            Self::Absolute => result_with_flags(result, None),
            Self::AbsoluteWithFlags => result_with_flags(result, ending),
            Self::SideToMove => match result.winner() {
                None => 0,
                Some(winner) if winner == to_move => 1,
                Some(_) => (-1_i8).cast_unsigned(),
            },
        }
    }
}

/// The result in a byte that may have flags.
pub(super) const fn absolute_result(byte: u8) -> Option<GameResult> {
    if byte == MOVE_LIMIT_DRAW {
        return Some(GameResult::Draw);
    }
    match byte & RESULT_MASK {
        0 => Some(GameResult::Draw),
        1 => Some(GameResult::BlackWin),
        2 => Some(GameResult::WhiteWin),
        _ => None,
    }
}

/// The ending in the flags of a result byte. `None` if no flag or several flags are set.
pub(super) fn ending_of_flags(byte: u8) -> Option<Ending> {
    if byte == MOVE_LIMIT_DRAW {
        return Some(Ending::MoveLimit);
    }
    let flags = byte & !RESULT_MASK;
    FLAGS.into_iter().find_map(|(flag, ending)| (flags == flag).then_some(ending))
}

/// The byte for a result and an ending. Endings without a flag are lost.
pub(super) fn result_with_flags(result: GameResult, ending: Option<Ending>) -> u8 {
    let flag = FLAGS.into_iter().find(|&(_, flagged)| ending == Some(flagged));
    let result = match result {
        GameResult::Draw => 0,
        GameResult::BlackWin => 1,
        GameResult::WhiteWin => 2,
    };
    result | flag.map_or(0, |(flag, _)| flag)
}

fn word(bytes: &[u8], at: Option<usize>) -> Option<[u8; 2]> {
    bytes.get(at?..)?.first_chunk().copied()
}

/// Side to move of a packed position, which is the first bit in both families.
const fn side_to_move(bytes: &[u8]) -> Color {
    if bytes[0] & 1 == 0 { Color::Black } else { Color::White }
}
