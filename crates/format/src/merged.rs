//! A record that represents several records of one position, with merged evaluation, result and move.

use kyokumen_shogi::Move;

use super::convert::encode;
use super::field::{Field, Fields};
use crate::error::ConvertError;
use crate::fill::Fill;
use crate::game_result::GameResult;
use crate::record_ref::{Packed, RecordRef};

/// The merged fields of several records of one position. `None` keeps the field of the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MergedLabels {
    /// The move.
    pub best_move: Option<Move>,
    /// Evaluation in centipawns, from the side to move.
    pub eval_cp: Option<i16>,
    /// Result of the game.
    pub result: Option<GameResult>,
}

impl MergedLabels {
    /// Fields whose value differs from `old`.
    fn changed(self, old: Self) -> Fields {
        [
            (Field::BestMove, self.best_move.is_some() && self.best_move != old.best_move),
            (Field::EvalCp, self.eval_cp.is_some() && self.eval_cp != old.eval_cp),
            (Field::Result, self.result.is_some() && self.result != old.result),
        ]
        .into_iter()
        .filter_map(|(field, is_changed)| is_changed.then_some(field))
        .collect()
    }
}

impl RecordRef<'_> {
    /// Appends the record with these labels and returns the changed fields. Appends nothing if no field changes. In a
    /// packed record all other bytes are unchanged. A line of text is written again, with its line end. If the result
    /// changes, the ending is removed.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read. After an error `out` is unchanged.
    pub fn with_merged(
        &self,
        labels: MergedLabels,
        out: &mut Vec<u8>,
    ) -> Result<Fields, ConvertError> {
        let old = MergedLabels {
            best_move: self.best_move()?,
            eval_cp: self.eval_cp()?,
            result: self.result()?,
        };
        let changed = labels.changed(old).intersection(self.format().fields());
        if changed.is_empty() {
            return Ok(changed);
        }
        let MergedLabels { best_move, eval_cp, result } = labels;
        if let Some(Packed { layout, dialect, .. }) = self.parts() {
            let start = out.len();
            out.extend_from_slice(self.bytes());
            let bytes = &mut out[start..];
            if let Some(eval_cp) = eval_cp {
                layout.put_eval(eval_cp, bytes);
            }
            if changed.contains(Field::BestMove) {
                layout.put_move(best_move, dialect, bytes);
            }
            if let Some(result) = result.filter(|_| changed.contains(Field::Result)) {
                layout.put_result(result, bytes);
            }
            return Ok(changed);
        }
        let mut record = self.record()?;
        record.best_move = best_move.or(record.best_move);
        record.eval_cp = eval_cp.or(record.eval_cp);
        if changed.contains(Field::Result) {
            (record.result, record.ending) = (result, None);
        }
        encode(self.format(), &record, &Fill::default(), out)?;
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::outcome::tests::packed;

    fn merged(format: Format, bytes: &[u8], labels: MergedLabels) -> (String, Vec<u8>) {
        let mut out = b"before".to_vec();
        let record = RecordRef::new(format, bytes).unwrap();
        let changed = record.with_merged(labels, &mut out).unwrap();
        (changed.to_string(), out.split_off(6))
    }

    #[test]
    fn other_bytes_of_packed_records_are_unchanged() {
        let labels = MergedLabels {
            best_move: Move::from_usi("2g2f"),
            eval_cp: Some(-2),
            result: Some(GameResult::WhiteWin),
        };
        // 2g2f is 0x078e in both families. Black is to move; 8 is the flag of a declared win.
        for (format, tail, expected) in [
            (
                Format::Psv,
                [1, 2, 3, 4, 5, 6, 1, 0xaa].as_slice(),
                [0xfe, 0xff, 0x8e, 0x07, 5, 6, 0xff, 0xaa].as_slice(),
            ),
            (Format::Hcpe, &[1, 2, 3, 4, 1, 0xbb], &[0xfe, 0xff, 0x8e, 0x07, 2, 0xbb]),
            (Format::Hcpe2, &[1, 2, 3, 4, 9, 0xbb], &[0xfe, 0xff, 0x8e, 0x07, 2, 0xbb]),
            // The result is unchanged, and so is the flag for the ending.
            (Format::Hcpe2, &[1, 2, 3, 4, 10, 0xbb], &[0xfe, 0xff, 0x8e, 0x07, 10, 0xbb]),
        ] {
            let bytes = packed(format, tail);
            let (changed, written) = merged(format, &bytes, labels);
            assert_eq!(written, [&bytes[..32], expected].concat(), "{format}");
            let is_same = tail[4] == 10;
            assert_eq!(changed, if is_same { "move, eval" } else { "move, eval, result" });
        }
    }

    #[test]
    fn equal_labels_write_nothing_and_missing_columns_are_added() {
        let line = b"4k4/9/9/9/9/9/9/9/4K4 w - 7\t5a5b\t-30";
        let same = MergedLabels { eval_cp: Some(-30), ..MergedLabels::default() };
        assert_eq!(merged(Format::Sfen, line, same), ("none".into(), Vec::new()));
        let labels = MergedLabels { result: Some(GameResult::Draw), ..same };
        let (changed, written) = merged(Format::Sfen, line, labels);
        assert_eq!(changed, "result");
        assert_eq!(written, b"4k4/9/9/9/9/9/9/9/4K4 w - 7\t5a5b\t-30\t7\td\n");
        let hcp = packed(Format::Hcp, &[]);
        assert_eq!(merged(Format::Hcp, &hcp, labels), ("none".into(), Vec::new()));
    }
}
