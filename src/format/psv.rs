//! `psv`: YaneuraOu's `PackedSfenValue`, 40 bytes.
//!
//! Layout from YaneuraOu's `sfen_packer`; see `docs/formats/psv.md`.

use crate::shogi::{Color, Move};

use super::error::EncodeError;
use super::move16::{self, Dialect, MalformedMove};
use super::packed::{self, Family};
use super::record::{GameResult, Record};
use super::warning::{Warning, Warnings};
use super::{Field, convert};

/// Bytes of a record.
pub(super) const LEN: usize = packed::LEN + TAIL;
const TAIL: usize = 8;

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
        Dialect::YaneuraOu.decode(u16::from_le_bytes([self.0[2], self.0[3]]))
    }

    pub(super) const fn ply(self) -> u16 {
        u16::from_le_bytes([self.0[4], self.0[5]])
    }

    /// The stored result is that of the side to move.
    pub(super) const fn result(self, side_to_move: Color) -> Option<GameResult> {
        match self.0[6].cast_signed() {
            0 => Some(GameResult::Draw),
            1 => Some(GameResult::win_of(side_to_move)),
            -1 => Some(GameResult::win_of(side_to_move.opponent())),
            _ => None,
        }
    }

    pub(super) fn warnings(self) -> Warnings {
        let mut warnings = Warnings::of_stored_move(self.best_move());
        match self.ply() {
            0 => warnings.insert(Warning::PlyZero),
            u16::MAX => warnings.insert(Warning::PlyMax),
            _ => {}
        }
        if self.result(Color::Black).is_none() {
            warnings.insert(Warning::ResultOutOfRange);
        }
        if self.0[7] != 0 {
            warnings.insert(Warning::PaddingNotZero);
        }
        warnings
    }
}

/// Appends the record.
pub(super) fn encode(record: &Record, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let eval_cp = convert::required(record.eval_cp, Field::EvalCp)?;
    let ply = convert::required(record.ply, Field::Ply)?;
    let result = convert::required(record.result, Field::Result)?;
    let position = packed::encode(Family::YaneuraOu, &record.setup)?;
    let best_move = record.best_move.map_or(move16::NONE, |m| Dialect::YaneuraOu.encode(m));
    let result: i8 = match result.winner() {
        None => 0,
        Some(winner) if winner == record.setup.side_to_move() => 1,
        Some(_) => -1,
    };
    out.extend_from_slice(&position);
    out.extend_from_slice(&eval_cp.to_le_bytes());
    out.extend_from_slice(&best_move.to_le_bytes());
    out.extend_from_slice(&ply.to_le_bytes());
    out.extend_from_slice(&[result.cast_unsigned(), 0]);
    Ok(())
}
