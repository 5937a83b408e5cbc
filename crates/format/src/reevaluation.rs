//! A record with a new evaluation: everything else as it was.

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

/// What is newly known of a position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reevaluation {
    /// Evaluation in centipawns, seen from the side to move.
    pub eval_cp: i16,
    /// What a search says about the moves, if that is to be written, too.
    pub searched: Option<SearchedMoves>,
}

/// What a search says about the moves of a position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SearchedMoves {
    /// The best one; none if there is no legal move.
    pub best_move: Option<Move>,
    /// Those it tried.
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

    /// Sets the evaluation of the position before a move. The played move stays. Comments that state an evaluation of
    /// that position are removed, because readers would take it for the new one.
    pub fn put_into(&self, game: &mut Game, number: usize) {
        let before = match number.checked_sub(1).and_then(|before| game.moves.get_mut(before)) {
            Some(before) => before.annotation.as_deref_mut().map(|said| &mut said.comments),
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
        if let Some(said) = &mut played.annotation {
            let is_old = |comment: &str| matches!(evaluation(comment), Some(OfPlayer(_)));
            said.comments.retain(|comment| !is_old(comment));
        }
    }
}

impl RecordRef<'_> {
    /// Appends the record with another evaluation in a format that has a place for it. Where the format stays,
    /// every other byte does; a line of text is written anew, with its line end.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read, or lacks what `to` must hold and `fill` does not name. After
    /// an error `out` is as before.
    pub fn with_evaluation(
        &self,
        new: &Reevaluation,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        if to != self.format() {
            let said = Fill {
                eval_cp: Some(new.eval_cp),
                no_move: fill.no_move || new.searched.is_some(),
                best_move: fill.best_move.filter(|_| new.searched.is_none()),
                ..*fill
            };
            let mut changes = self.convert_content(&new.of(self.record()?), to, &said, out)?;
            if new.searched.is_some() {
                changes.invented = changes.invented.without(Fields::of(Field::BestMove));
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
    fn every_other_byte_stays() {
        let searched = SearchedMoves { best_move: Move::from_usi("2g2f"), candidates: Vec::new() };
        // 2g2f is 0x078e in both families; a result that is none, and padding.
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
    fn comments_with_the_old_evaluation_go_and_others_stay() {
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
        // No relabelled position follows the last move.
        new.put_into(&mut game, 2);
        assert_eq!(comments(&game, 1), "");
    }

    #[test]
    fn a_position_with_an_evaluation_needs_no_fill_for_it() {
        let bytes = packed(Format::Hcp, &[]);
        let record = RecordRef::new(Format::Hcp, &bytes).unwrap();
        let new = Reevaluation { eval_cp: 5, searched: Some(SearchedMoves::default()) };
        let mut out = Vec::new();
        let error = record.with_evaluation(&new, Format::Hcpe, &Fill::default(), &mut out);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the record has no result, and no value to fill in was given"
        );
        let fill = "result=draw".parse().unwrap();
        let changes = record.with_evaluation(&new, Format::Hcpe, &fill, &mut out).unwrap();
        assert_eq!(
            (changes.lost.to_string(), changes.invented.to_string()),
            ("none".into(), "result".into())
        );
        assert_eq!(out[32..], [5, 0, 0, 0, 0, 0]);
    }
}
