//! Consecutive records of a game. Joining them restores the game they were taken from.
//!
//! Archives of records store the positions of a game in order. The move of each record leads to the position of the
//! next.

use kyokumen_shogi::{Color, Position, Setup};

use super::convert::{PER_MOVE, write_game};
use super::error::EncodeError;
use super::field::{Field, Fields};
use super::game::Game;
use super::record::Record;
use crate::Format;
use crate::conversion_plan::FieldChanges;
use crate::ending::Ending;
use crate::fill::Fill;
use crate::game_result::GameResult;
use crate::record_ref::RecordRef;

/// What the next record of the same game must contain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Continuation {
    /// The position after the move, with move number 1.
    setup: Setup,
    /// Its move number. `None` if the record before has no number or number 0.
    ply: Option<u16>,
    result: Option<GameResult>,
    ending: Option<Ending>,
    end_ply: Option<u16>,
}

impl Continuation {
    /// The continuation of a record. `None` if the record has no move or an illegal one.
    pub fn of(record: &Record) -> Option<Self> {
        let mut position = Position::try_from(&record.setup).ok()?;
        let best_move = record.best_move.filter(|&best_move| position.is_legal(best_move))?;
        position.make(best_move);
        let Record { result, ending, end_ply, .. } = *record;
        Some(Self {
            setup: position.setup().with_ply(1),
            ply: record.ply.filter(|&ply| ply > 0).map(|ply| ply.saturating_add(1)),
            result,
            ending,
            end_ply,
        })
    }

    /// Whether a record can be the next record of the game. Its position must be the position after the move, and
    /// result, ending and length of the game must be equal. If both records have a move number, it must be the next
    /// one.
    pub fn is(&self, record: &Record) -> bool {
        let ply = record.ply.filter(|&ply| ply > 0);
        let is_next = self.ply.is_none() || ply.is_none() || self.ply == ply;
        is_next
            && (self.result, self.ending) == (record.result, record.ending)
            && self.end_ply == record.end_ply
            && self.setup == record.setup.clone().with_ply(1)
    }
}

impl RecordRef<'_> {
    /// The record as a game of one move, or as a position if it has no move, with missing fields filled in. Also
    /// returns the fields that are lost or filled in. They are the same in any game that the move becomes part of.
    /// [`Format::lost_of_game`] gives the additional losses of a game in a format.
    ///
    /// `content` is [`RecordRef::record`] or its mirror image.
    ///
    /// # Errors
    /// [`EncodeError`] if the move is illegal; if there is no move and `to` needs one; or if a king or a field is
    /// missing that `to` needs and `fill` does not supply.
    pub fn as_game(
        &self,
        content: &Record,
        to: Format,
        fill: &Fill,
    ) -> Result<(Game, FieldChanges), EncodeError> {
        // A missing move is not checked here: without one the record becomes a position.
        to.check_needs(self.fields().union(Fields::of(Field::BestMove)), fill)?;
        let present = content.fields();
        let mut game = Game::of_record(&fill.apply(content, to.fields()))?;
        let has_kings = Color::ALL.into_iter().all(|color| content.setup.king(color).is_some());
        if !has_kings || !content.candidates.is_empty() || game.is_position {
            // Not every format can hold these contents.
            write_game(to, &game, &mut Vec::new())?;
        }
        let filled = to.fields().without(present).intersection(fill.fields());
        let mut lost = to.losses(present, content.ending);
        let mut filled_in = filled.without(Fields::of(Field::BestMove));
        if game.is_position {
            filled_in = filled_in.without(PER_MOVE);
            lost = lost.union(present.intersection(PER_MOVE));
        }
        if self.has_malformed_move() {
            lost = lost.union(Fields::of(Field::BestMove));
        }
        filled_in = filled_in.union(self.made_up_ending(content, to));
        if to == Format::Usi && !self.has_known_ending(content) {
            // The USI words for a result also state how the game was won. This record does not contain that.
            game.result = None;
            lost = lost.union(present.intersection(Fields::of(Field::Result)));
            filled_in = filled_in.without(Fields::of(Field::Result));
        }
        Ok((game, FieldChanges { lost, filled_in }))
    }

    /// Whether it is known how the game ended: the record states an ending, or its format can state any ending except
    /// mate and resignation.
    fn has_known_ending(&self, content: &Record) -> bool {
        let format = self.format();
        content.ending.is_some() || (!format.endings().is_empty() && !format.is_sparse())
    }
}

#[cfg(test)]
mod tests {
    use kyokumen_shogi::{Move, sfen};

    use super::*;

    fn first() -> Record {
        Record {
            best_move: Move::from_usi("7g7f"),
            eval_cp: Some(10),
            ply: Some(1),
            result: Some(GameResult::BlackWin),
            ..Record::new(sfen::START.parse().unwrap())
        }
    }

    fn second() -> Record {
        let setup = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2";
        Record {
            ply: Some(2),
            result: Some(GameResult::BlackWin),
            ..Record::new(setup.parse().unwrap())
        }
    }

    #[test]
    fn a_record_follows_if_the_move_leads_to_it_and_the_game_data_agree() {
        let next = Continuation::of(&first()).unwrap();
        assert!(next.is(&second()));
        for ply in [None, Some(0)] {
            assert!(next.is(&Record { ply, ..second() }), "{ply:?}");
        }
        let unnumbered = Continuation::of(&Record { ply: Some(0), ..first() }).unwrap();
        assert!(unnumbered.is(&second()));
        for other in [
            Record { ply: Some(3), ..second() },
            Record { result: Some(GameResult::Draw), ..second() },
            Record { result: None, ..second() },
            Record { ending: Some(Ending::TimeUp), ..second() },
            Record { end_ply: Some(2), ..second() },
            first(),
        ] {
            assert!(!next.is(&other), "{other:?}");
        }
        // Evaluation and move of the next record do not matter.
        let other = Record { eval_cp: Some(-3), best_move: Move::from_usi("3c3d"), ..second() };
        assert!(next.is(&other));
    }

    #[test]
    fn a_record_without_a_legal_move_has_no_continuation() {
        for best_move in [None, Move::from_usi("7g7e")] {
            assert_eq!(Continuation::of(&Record { best_move, ..first() }), None);
        }
    }
}
