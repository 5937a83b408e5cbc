//! `hcpe`: Apery's packed position with evaluation, best move and result, 38 bytes.
//!
//! Layout from Apery's `HuffmanCodedPosAndEval`; result flags from dlshogi's `hcpe2`. See
//! `docs/formats/hcpe.md`.

use crate::shogi::Move;

use super::error::EncodeError;
use super::move16::{self, Dialect, MalformedMove};
use super::packed::{self, Family};
use super::record::{GameResult, Record};
use super::warning::{Warning, Warnings};
use super::{Field, convert};

/// Bytes of a record.
pub(super) const LEN: usize = packed::LEN + TAIL;
const TAIL: usize = 6;

/// The result bits of the result byte; above them lie flags that say how a game ended.
const RESULT_MASK: u8 = 3;
/// Draw by move limit as written from 2021 to 2026: the flag 0x10 with two bits that masking would
/// take for a victory of White.
const MOVE_LIMIT_DRAW: u8 = 0x16;

/// What stands behind the position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail([u8; TAIL]);

impl From<[u8; TAIL]> for Tail {
    fn from(bytes: [u8; TAIL]) -> Self {
        Self(bytes)
    }
}

impl Tail {
    pub(super) const fn eval_cp(self) -> i16 {
        i16::from_le_bytes([self.0[0], self.0[1]])
    }

    pub(super) fn best_move(self) -> Result<Option<Move>, MalformedMove> {
        Dialect::Apery.decode(u16::from_le_bytes([self.0[2], self.0[3]]))
    }

    pub(super) const fn result(self) -> Option<GameResult> {
        match self.0[4] {
            MOVE_LIMIT_DRAW => Some(GameResult::Draw),
            byte => match byte & RESULT_MASK {
                0 => Some(GameResult::Draw),
                1 => Some(GameResult::BlackWin),
                2 => Some(GameResult::WhiteWin),
                _ => None,
            },
        }
    }

    pub(super) fn warnings(self) -> Warnings {
        let mut warnings = Warnings::of_stored_move(self.best_move());
        if self.result().is_none() {
            warnings.insert(Warning::ResultOutOfRange);
        }
        if self.0[4] & !RESULT_MASK != 0 {
            warnings.insert(Warning::ResultFlags);
        }
        if self.0[5] != 0 {
            warnings.insert(Warning::PaddingNotZero);
        }
        warnings
    }
}

/// Appends the record.
pub(super) fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let eval_cp = convert::required(record.eval_cp, Field::EvalCp)?;
    let result = convert::required(record.result, Field::Result)?;
    let position = packed::encode(Family::Apery, &record.setup)?;
    let best_move = record.best_move.map_or(move16::NONE, |m| Dialect::Apery.encode(m));
    out.extend_from_slice(&position);
    out.extend_from_slice(&eval_cp.to_le_bytes());
    out.extend_from_slice(&best_move.to_le_bytes());
    out.extend_from_slice(&[
        match result {
            GameResult::Draw => 0,
            GameResult::BlackWin => 1,
            GameResult::WhiteWin => 2,
        },
        0,
    ]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_leave_the_result_readable() {
        let result = |byte| Tail([0, 0, 0, 0, byte, 0]).result();
        assert_eq!(
            [0, 1, 2].map(result),
            [Some(GameResult::Draw), Some(GameResult::BlackWin), Some(GameResult::WhiteWin)]
        );
        assert_eq!(result(0x16), Some(GameResult::Draw));
        assert_eq!(result(0x10), Some(GameResult::Draw));
        assert_eq!(result(2 + 4), Some(GameResult::WhiteWin));
        assert_eq!(result(1 + 8), Some(GameResult::BlackWin));
        assert_eq!([3, 7, 0xff].map(result), [None; 3]);
    }
}
