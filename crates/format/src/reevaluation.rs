//! A record with a new evaluation and otherwise unchanged.

use kyokumen_shogi::Move;

use super::convert::encode;
use super::record::Record;
use crate::comment::CommentedEval::{OfAnalysis, OfPlayer};
use crate::comment::evaluation;
use crate::conversion_plan::FieldChanges;
use crate::error::ConvertError;
use crate::field::{Field, Fields};
use crate::fill::Fill;
use crate::format::Format;
use crate::game::Game;
use crate::played::VisitedMove;
use crate::record_ref::{Packed, RecordRef};

/// New labels of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reevaluation {
    /// Evaluation in centipawns, from the side to move.
    pub eval_cp: i16,
    /// The moves of the search, if they are to be written as well.
    pub searched: Option<SearchedMoves>,
}

/// The moves of a position according to a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SearchedMoves {
    /// The best move. `None` if there is no legal move.
    pub best_move: Option<Move>,
    /// The moves that the search tried.
    pub candidates: Vec<VisitedMove>,
}

impl Reevaluation {
    /// The record with this evaluation.
    #[must_use]
    pub fn of(&self, mut record: Record) -> Record {
        record.eval_cp = Some(self.eval_cp);
        if let Some(searched) = &self.searched {
            record.best_move = searched.best_move;
            record.candidates.clone_from(&searched.candidates);
        }
        record
    }

    /// Sets the evaluation of the position before a move and keeps the played move. Removes comments that state an
    /// evaluation of that position, because readers would take them for the new one.
    pub fn put_into(&self, game: &mut Game, number: usize) {
        let before = match number.checked_sub(1).and_then(|before| game.moves.get_mut(before)) {
            Some(before) => {
                before.annotation.as_deref_mut().map(|annotation| &mut annotation.comments)
            }
            None => Some(&mut game.info.comments),
        };
        if let Some(comments) = before {
            let is_old = |comment: &str| matches!(evaluation(comment), Some(OfAnalysis(_)));
            comments.retain(|comment| !is_old(comment));
        }
        let Some(played) = game.moves.get_mut(number) else { return };
        played.eval_cp = Some(self.eval_cp);
        if let Some(searched) = &self.searched {
            played.candidates.clone_from(&searched.candidates);
        }
        if let Some(annotation) = &mut played.annotation {
            let is_old = |comment: &str| matches!(evaluation(comment), Some(OfPlayer(_)));
            annotation.comments.retain(|comment| !is_old(comment));
        }
    }
}

impl RecordRef<'_> {
    /// Appends the record with a new evaluation, in a format that can hold one. If the format is unchanged, so are all
    /// other bytes of a packed record. A line of text is written again, with its line end.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read, or lacks a field that `to` needs and `fill` does not give. After
    /// an error `out` is unchanged.
    pub fn with_evaluation(
        &self,
        new: &Reevaluation,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        if to != self.format() {
            let with_evaluation = Fill {
                eval_cp: Some(new.eval_cp),
                no_move: fill.no_move || new.searched.is_some(),
                best_move: fill.best_move.filter(|_| new.searched.is_none()),
                ..*fill
            };
            let mut changes =
                self.convert_content(&new.of(self.record()?), to, &with_evaluation, out)?;
            if new.searched.is_some() {
                changes.filled_in = changes.filled_in.without(Fields::of(Field::BestMove));
            }
            return Ok(changes);
        }
        let Some(Packed { layout, dialect, .. }) = self.parts() else {
            return Ok(encode(to, &new.of(self.record()?), fill, out)?);
        };
        self.check()?;
        let start = out.len();
        out.extend_from_slice(self.bytes());
        layout.put_eval(new.eval_cp, &mut out[start..]);
        if let Some(searched) = &new.searched {
            layout.put_move(searched.best_move, dialect, &mut out[start..]);
        }
        Ok(FieldChanges::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::tests::packed;
    use crate::played::Played;

    #[test]
    fn other_bytes_are_unchanged() {
        let searched = SearchedMoves { best_move: Move::from_usi("2g2f"), candidates: Vec::new() };
        // 2g2f is 0x078e in both families. The result has no meaning and the padding is not zero.
        for (format, tail, expected) in [
            (
                Format::Psv,
                [1, 2, 3, 4, 5, 6, 9, 0xaa].as_slice(),
                [0xff, 0xff, 3, 4, 5, 6, 9, 0xaa].as_slice(),
            ),
            (Format::Hcpe, &[1, 2, 3, 4, 7, 0xbb], &[0xff, 0xff, 3, 4, 7, 0xbb]),
        ] {
            let bytes = packed(format, tail);
            let record = RecordRef::new(format, &bytes).unwrap();
            let mut out = b"before".to_vec();
            let mut new = Reevaluation { eval_cp: -1, searched: None };
            let changes = record.with_evaluation(&new, format, &Fill::default(), &mut out);
            assert_eq!(changes.unwrap(), FieldChanges::default());
            assert_eq!(out, [b"before", &bytes[..32], expected].concat());
            new.searched = Some(searched.clone());
            out.clear();
            record.with_evaluation(&new, format, &Fill::default(), &mut out).unwrap();
            assert_eq!(out[32..], [&expected[..2], &[0x8e, 0x07], &expected[4..]].concat());
        }
    }

    #[test]
    fn comments_with_the_old_evaluation_are_removed() {
        let played = |best_move, comments: &[&str]| {
            let mut played = Played::new(Move::from_usi(best_move).unwrap(), 0);
            played.annotate().comments = comments.iter().map(|&line| line.into()).collect();
            played
        };
        let mut game = Game::new(kyokumen_shogi::Position::start().setup());
        game.info.comments = vec!["#評価値=10".into(), "start".into()];
        game.moves = vec![
            played("7g7f", &["* 30 +2726FU", "*good", "#評価値=-20"]),
            played("3c3d", &["*評価値=40", "#評価値=50"]),
        ];
        let new = Reevaluation { eval_cp: 7, searched: None };
        new.put_into(&mut game, 0);
        let comments = |game: &Game, number: usize| {
            game.moves[number].annotation.as_ref().unwrap().comments.join("|")
        };
        assert_eq!(game.info.comments, ["start"]);
        assert_eq!(comments(&game, 0), "*good|#評価値=-20");
        assert_eq!(comments(&game, 1), "*評価値=40|#評価値=50");
        new.put_into(&mut game, 1);
        assert_eq!(comments(&game, 0), "*good");
        assert_eq!(comments(&game, 1), "#評価値=50");
        assert_eq!(game.moves[0].eval_cp, Some(7));
        // No position follows the last move. Only its own comments change.
        new.put_into(&mut game, 2);
        assert_eq!(comments(&game, 1), "");
    }

    #[test]
    fn a_new_evaluation_needs_no_fill_value() {
        let bytes = packed(Format::Hcp, &[]);
        let record = RecordRef::new(Format::Hcp, &bytes).unwrap();
        let new = Reevaluation { eval_cp: 5, searched: Some(SearchedMoves::default()) };
        let mut out = Vec::new();
        let error = record.with_evaluation(&new, Format::Hcpe, &Fill::default(), &mut out);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the record lacks fields that the output needs: result"
        );
        let fill = "result=draw".parse().unwrap();
        let changes = record.with_evaluation(&new, Format::Hcpe, &fill, &mut out).unwrap();
        assert_eq!(
            (changes.lost.to_string(), changes.filled_in.to_string()),
            ("none".into(), "result".into())
        );
        assert_eq!(out[32..], [5, 0, 0, 0, 0, 0]);
    }
}
