//! Writes a record in any format. Reports the fields that are lost and never invents a value.
//!
//! A field that the target needs and the source lacks is written only if a [`Fill`] gives its value.

use std::iter;

use kyokumen_shogi::Setup;

use super::error::{DecodeError, DecodeErrorKind, EncodeError};
use super::field::{Field, Fields};
use super::game::Game;
use super::layout::Tail;
use super::record::{Parsed, Record};
use super::spec::Codec;
use super::transcode::Lookahead;
use super::{Format, csa, packed, sfen_text};
use crate::conversion_plan::FieldChanges;
use crate::csa::CsaVersion;
use crate::ending::Ending;
use crate::error::ConvertError;
use crate::fill::Fill;
use crate::game_result::GameResult;
use crate::record_ref::RecordRef;

/// Appends a record in a format, in canonical form. Text ends with a line end. After an error `out` is unchanged.
///
/// If the record has no move, formats with an optional move omit it unless `fill` requests "no move". Other formats
/// write "no move". Only [`RecordRef::convert`] knows whether the source states "no move" or omits the move.
///
/// # Errors
/// [`EncodeError`] if a king is missing, or if neither the record nor `fill` has a field that the format needs.
pub fn encode(
    format: Format,
    record: &Record,
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<FieldChanges, EncodeError> {
    let present = record.fields();
    let record = &*fill.with_move(record, format.fields())?;
    let start = out.len();
    write(format, record, fill, out).inspect_err(|_| out.truncate(start))?;
    let mut filled_in = format.fields().without(present).intersection(fill.fields());
    // "No move" alone does not justify extra columns.
    let stated = record.fields().union(filled_in.without(Fields::of(Field::BestMove)));
    if format == Format::Sfen && sfen_text::is_plain(stated) {
        // A plain SFEN always has a move number.
        filled_in = filled_in.union(Fields::of(Field::Ply).without(present));
    }
    let mut lost = format.losses(present, record.ending);
    if format == Format::Usi {
        // A game of one move has no end.
        lost = lost.union(present.intersection(Fields::of_all(&[Field::Result, Field::Ending])));
        filled_in = filled_in.without(Fields::of(Field::Result));
    }
    if format.holds_games() {
        // In a game of one move the length carries no information.
        let result = record.result.or(fill.result);
        let of_game = format.lost_of_game(&record.setup, result, record.ending);
        lost = lost.union(present.intersection(of_game.union(Fields::of(Field::EndPly))));
        if record.best_move.is_none() {
            lost = lost.union(present.intersection(PER_MOVE));
            filled_in = filled_in.without(PER_MOVE);
        }
    }
    Ok(FieldChanges { lost, filled_in })
}

/// Fields that game formats store per move. A position without a move cannot hold them.
pub(crate) const PER_MOVE: Fields =
    Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::EndPly, Field::Candidates]);

impl Format {
    /// The fields that writing in this format loses, given the fields of the record and its ending.
    pub fn losses(self, present: Fields, ending: Option<Ending>) -> Fields {
        let lost = present.without(self.fields());
        match ending {
            Some(ending) if !self.spec().endings.contains(&ending) => {
                lost.union(Fields::of(Field::Ending))
            }
            _ => lost,
        }
    }

    /// Checks that the record or `fill` has each field that this format needs. `present` are the fields of the record.
    pub(super) fn check_needs(self, present: Fields, fill: &Fill) -> Result<(), EncodeError> {
        let fields = self.needs().without(present).without(fill.fields());
        if fields.is_empty() { Ok(()) } else { Err(EncodeError::Missing { fields }) }
    }

    /// The additional losses of each record of a game with this start, result and ending, besides [`Format::losses`].
    /// For example the move number, if games of the format start at move 1.
    pub fn lost_of_game(
        self,
        start: &Setup,
        result: Option<GameResult>,
        ending: Option<Ending>,
    ) -> Fields {
        match &self.spec().codec {
            Codec::Games { lost, .. } => lost(start, (result, ending)),
            _ => Fields::NONE,
        }
    }
}

fn write(
    format: Format,
    record: &Record,
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let filled = || fill.apply(record, format.fields());
    match &format.spec().codec {
        Codec::Packed(layout) => {
            format.check_needs(record.fields().union(Fields::of(Field::BestMove)), fill)?;
            let mut tail = Tail::from(record);
            fill.complete_tail(&mut tail);
            layout.append(&packed::encode(layout.family, &record.setup)?, &tail, out);
            Ok(())
        }
        Codec::Columns => {
            sfen_text::encode(&filled(), out);
            Ok(())
        }
        Codec::Records { write: Some(write), .. } => {
            let states_move = record.best_move.is_some() || fill.no_move;
            write(&Parsed { states_move, ..Parsed::from(filled()) }, out)
        }
        Codec::Games { .. } => {
            let mut game = Game::of_record(&filled())?;
            if format == Format::Usi {
                (game.result, game.ending) = (None, None);
            }
            write_game(format, &game, out)
        }
        Codec::Records { write: None, .. } => Err(EncodeError::OnlyRead { format: format.name() }),
    }
}

/// The games of a chunk in order, decoded lazily. Yields an error for bytes that are not a game, and for a chunk of a
/// format without games.
pub fn read_games(
    format: Format,
    chunk: &[u8],
) -> impl Iterator<Item = Result<Game, DecodeError>> + use<'_> {
    match &format.spec().codec {
        Codec::Games { read, .. } => read(chunk),
        _ => Box::new(iter::once(Err(DecodeErrorKind::Nothing.at(0)))),
    }
}

/// Options for writing games.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// The CSA version for `csa`.
    pub csa_version: CsaVersion,
}

/// Appends a game in a game format. After an error `out` is unchanged.
///
/// # Errors
/// [`EncodeError`] if the format cannot express the game, or cannot hold games.
pub fn write_game(format: Format, game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    write_game_with(format, game, WriteOptions::default(), out)
}

/// Like [`write_game`], with options.
///
/// # Errors
/// The errors of [`write_game`].
pub fn write_game_with(
    format: Format,
    game: &Game,
    options: WriteOptions,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let Codec::Games { write: Some(write), .. } = &format.spec().codec else {
        return Err(EncodeError::OnlyRead { format: format.name() });
    };
    if game.is_position && !format.holds_positions() {
        return Err(EncodeError::NoMove { format: format.name() });
    }
    let start = out.len();
    match format {
        Format::Csa => csa::write(game, options.csa_version, out),
        _ => write(game, out),
    }
    .inspect_err(|_| out.truncate(start))
}

impl RecordRef<'_> {
    /// Appends the record in a format, in canonical form, even if `to` is the record's own format. Text ends with a
    /// line end. After an error `out` is unchanged.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read, has no king for one side, or lacks a field that `to` needs and
    /// `fill` does not give.
    pub fn convert(
        &self,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        self.convert_with_lookahead(to, fill, (&mut Lookahead::default(), &|| &[]), out)
    }

    /// Like [`RecordRef::convert`], for consecutive records. If the bytes returned by the closure in `lookahead` begin
    /// with the next record, its position may be transcoded together with this one.
    ///
    /// # Errors
    /// The errors of [`RecordRef::convert`].
    pub fn convert_with_lookahead<'a>(
        &self,
        to: Format,
        fill: &Fill,
        lookahead: (&mut Lookahead, &dyn Fn() -> &'a [u8]),
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        if let (Some(packed), Codec::Packed(target)) = (self.parts(), &to.spec().codec)
            // A move to fill in must be checked against the rules.
            && (fill.best_move.is_none() || packed.layout.best_move.is_some())
        {
            return self.transcode(packed, to, target, fill, lookahead, out);
        }
        Ok(self.convert_content(&self.record()?, to, fill, out)?)
    }

    /// Like [`RecordRef::convert`], for callers that have already read [`RecordRef::record`].
    ///
    /// # Errors
    /// [`EncodeError`] if the record has no king for one side, or lacks a field that `to` needs and `fill` does not
    /// give.
    pub fn convert_content(
        &self,
        record: &Record,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, EncodeError> {
        let present = self.fields();
        to.check_needs(present, fill)?;
        let states_move = present.contains(Field::BestMove);
        let fill = Fill {
            no_move: fill.no_move || states_move,
            best_move: fill.best_move.filter(|_| !states_move),
            ..*fill
        };
        let mut written = encode(to, record, &fill, out)?;
        if present.contains(Field::BestMove) {
            written.filled_in = written.filled_in.without(Fields::of(Field::BestMove));
        }
        written.filled_in = written.filled_in.union(self.made_up_ending(record, to));
        if self.has_malformed_move() {
            written.lost = written.lost.union(Fields::of(Field::BestMove));
        }
        Ok(written)
    }
}

impl RecordRef<'_> {
    /// The ending, if `to` states one for this record although the record's format has no endings.
    pub(super) fn made_up_ending(&self, record: &Record, to: Format) -> Fields {
        let knows = self.format().fields().contains(Field::Ending);
        let is_decided = record.result.and_then(GameResult::winner).is_some();
        if to.always_states_ending() && is_decided && !knows {
            Fields::of(Field::Ending)
        } else {
            Fields::NONE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversion_plan::conversion_plan;

    #[test]
    fn fills_are_parsed_in_any_order_and_written_in_a_fixed_order() {
        let fill: Fill = "eval=-5, result=draw,ply=0,move=none".parse().unwrap();
        assert_eq!(fill.to_string(), "move=none,eval=-5,ply=0,result=draw");
        assert_eq!(fill.fields(), Format::Psv.needs());
        assert_eq!("".parse::<Fill>().unwrap(), Fill::default());
        for (text, message) in [
            ("eval", "\"eval\" is not of the form field=value"),
            ("score=0", "unknown field \"score\"; expected move, eval, ply, result or end_ply"),
            ("ply=-1", "\"-1\" cannot be filled in for ply; expected a number from 0 to 65535"),
            ("eval=1,eval=2", "eval is given twice"),
        ] {
            assert_eq!(text.parse::<Fill>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn plans_list_lost_and_missing_fields() {
        let none = Fill::default();
        let plan = conversion_plan(Format::Psv, Format::Hcpe, &none).unwrap();
        assert_eq!((plan.lost.to_string(), plan.filled_in), ("ply".into(), Fields::NONE));
        let plan = conversion_plan(Format::Psv, Format::Hcp, &none).unwrap();
        assert_eq!(plan.lost, Format::Psv.fields());
        let error = conversion_plan(Format::Hcpe, Format::Psv, &none).unwrap_err();
        assert_eq!(error.to_string(), "psv needs ply, which hcpe lacks");
        let fill = "ply=0".parse().unwrap();
        let plan = conversion_plan(Format::Hcpe, Format::Psv, &fill).unwrap();
        assert_eq!(plan.filled_in, Fields::of(Field::Ply));
        let error = conversion_plan(Format::Hcp, Format::Psv, &fill).unwrap_err();
        assert_eq!(error.to_string(), "psv needs move, eval, result, which hcp lacks");
        let plan = conversion_plan(Format::Hcp, Format::Sfen, &none).unwrap();
        assert_eq!(plan.filled_in, Fields::of(Field::Ply));
        let plan = conversion_plan(Format::Hcpe, Format::Sfen, &none).unwrap();
        assert_eq!(plan.filled_in, Fields::NONE);
    }
}
