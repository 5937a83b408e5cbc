//! A record with the outcome of a proof: move, evaluation and result replaced, every other byte as it was.
//!
//! The places of the three fields are those of `docs/formats/`; hand order, ply and padding lie elsewhere.

use kyokumen_shogi::Move;

use super::convert::encode;
use super::layout::Tail;
use super::record::Record;
use crate::error::ConvertError;
use crate::fill::Fill;
use crate::game_result::GameResult;
use crate::record_ref::{Packed, RecordRef};

/// What a proof says about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProvenLabels {
    /// The move that the proof begins with; none if there is no legal move.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, seen from the side to move.
    pub eval_cp: i16,
    /// How the game ends.
    pub result: GameResult,
}

impl ProvenLabels {
    /// The record with this outcome.
    #[must_use]
    pub fn of(self, record: Record) -> Record {
        Record {
            best_move: self.best_move,
            eval_cp: Some(self.eval_cp),
            result: Some(self.result),
            ending: None,
            candidates: Vec::new(),
            ..record
        }
    }
}

impl RecordRef<'_> {
    /// Appends the record with another outcome, as far as its format can say it; a line of text is
    /// written anew, with its line end. Whatever else is said of how the game ended goes.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read.
    pub fn with_labels(
        &self,
        outcome: ProvenLabels,
        out: &mut Vec<u8>,
    ) -> Result<(), ConvertError> {
        let record = outcome.of(self.record()?);
        let Some(Packed { layout, dialect, .. }) = self.parts() else {
            encode(self.format(), &record, &Fill::default(), out)?;
            return Ok(());
        };
        let start = out.len();
        out.extend_from_slice(self.bytes());
        layout.put(&Tail::from(&record), dialect, &mut out[start..]);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Format;

    /// The position of the start in psv and hcpe, from encoding it; then a tail with every byte set.
    pub(crate) fn packed(format: Format, tail: &[u8]) -> Vec<u8> {
        let start = RecordRef::new(Format::Sfen, kyokumen_shogi::sfen::START.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        let fill = "eval=0,result=draw,move=none".parse().unwrap();
        start.convert(format, &fill, &mut bytes).unwrap();
        bytes.truncate(32);
        bytes.extend_from_slice(tail);
        bytes
    }

    fn with_labels(format: Format, tail: &[u8]) -> Vec<u8> {
        let outcome = ProvenLabels {
            best_move: Move::from_usi("2d2c+"),
            eval_cp: 29_999,
            result: GameResult::BlackWin,
        };
        let bytes = packed(format, tail);
        let mut out = b"before".to_vec();
        RecordRef::new(format, &bytes).unwrap().with_labels(outcome, &mut out).unwrap();
        assert_eq!(out[..6 + 32], [b"before", &bytes[..32]].concat());
        out.split_off(6 + 32)
    }

    #[test]
    fn ply_and_padding_stay() {
        // 29999 = 0x752f; 2d2c+ is 0x860b in psv, 0x460b in hcpe.
        let psv = with_labels(Format::Psv, &[1, 2, 3, 4, 5, 6, 0, 0xaa]);
        assert_eq!(psv, [0x2f, 0x75, 0x0b, 0x86, 5, 6, 1, 0xaa]);
        let hcpe = with_labels(Format::Hcpe, &[1, 2, 3, 4, 2, 0xbb]);
        assert_eq!(hcpe, [0x2f, 0x75, 0x0b, 0x46, 1, 0xbb]);
        assert!(with_labels(Format::Hcp, &[]).is_empty());
    }
}
