//! A record with the labels of a proof: move, evaluation and result are replaced, all other bytes are unchanged.
//!
//! `docs/formats/` has the offsets of the three fields. Hand order, ply and padding lie outside of them.

use kyokumen_shogi::Move;

use super::convert::encode;
use super::layout::Tail;
use super::record::Record;
use crate::error::ConvertError;
use crate::fill::Fill;
use crate::game_result::GameResult;
use crate::record_ref::{Packed, RecordRef};

/// The labels that follow from a proof about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProvenLabels {
    /// The first move of the proof. `None` if there is no legal move.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, from the side to move.
    pub eval_cp: i16,
    /// The result of the game.
    pub result: GameResult,
}

impl ProvenLabels {
    /// The record with these labels.
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
    /// Appends the record with the labels that its format can hold. A line of text is written again, with its line end.
    /// The ending and the candidates are removed.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read.
    pub fn with_labels(&self, labels: ProvenLabels, out: &mut Vec<u8>) -> Result<(), ConvertError> {
        let record = labels.of(self.record()?);
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

    /// The start position in a packed format, followed by `tail`.
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
        let labels = ProvenLabels {
            best_move: Move::from_usi("2d2c+"),
            eval_cp: 29_999,
            result: GameResult::BlackWin,
        };
        let bytes = packed(format, tail);
        let mut out = b"before".to_vec();
        RecordRef::new(format, &bytes).unwrap().with_labels(labels, &mut out).unwrap();
        assert_eq!(out[..6 + 32], [b"before", &bytes[..32]].concat());
        out.split_off(6 + 32)
    }

    #[test]
    fn ply_and_padding_are_unchanged() {
        // 29999 = 0x752f; 2d2c+ is 0x860b in psv, 0x460b in hcpe.
        let psv = with_labels(Format::Psv, &[1, 2, 3, 4, 5, 6, 0, 0xaa]);
        assert_eq!(psv, [0x2f, 0x75, 0x0b, 0x86, 5, 6, 1, 0xaa]);
        let hcpe = with_labels(Format::Hcpe, &[1, 2, 3, 4, 2, 0xbb]);
        assert_eq!(hcpe, [0x2f, 0x75, 0x0b, 0x46, 1, 0xbb]);
        assert!(with_labels(Format::Hcp, &[]).is_empty());
    }
}
