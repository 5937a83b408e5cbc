//! Writing a record in any format: what is lost is reported, what is missing is never made up.
//!
//! A field that the target must hold and the source lacks is written only if a [`Fill`] names its value.

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

/// Appends a record in a format, canonically; text with its line end. After an error `out` is as before.
///
/// Formats that can leave a move out do so where the record has none, unless `fill` says "no move"; all
/// others write "no move". Whether the source said so or is silent is known to [`RecordRef::convert`].
///
/// # Errors
/// [`EncodeError`] if a king is missing or a field that neither the record nor `fill` has.
pub fn encode(
    format: Format,
    record: &Record,
    fill: &Fill,
    out: &mut Vec<u8>,
) -> Result<FieldChanges, EncodeError> {
    let said = record.fields();
    let record = &*fill.with_move(record, format.fields())?;
    let start = out.len();
    write(format, record, fill, out).inspect_err(|_| out.truncate(start))?;
    let mut invented = format.fields().without(said).intersection(fill.fields());
    // "No move" alone is not worth columns.
    let telling = record.fields().union(invented.without(Fields::of(Field::BestMove)));
    if format == Format::Sfen && sfen_text::is_plain(telling) {
        // A plain SFEN always has a move number.
        invented = invented.union(Fields::of(Field::Ply).without(said));
    }
    let mut lost = format.losses(said, record.ending);
    if format == Format::Usi {
        // After one move the game has not ended.
        lost = lost.union(said.intersection(Fields::of_all(&[Field::Result, Field::Ending])));
        invented = invented.without(Fields::of(Field::Result));
    }
    if format.holds_games() {
        // Of a game of one move the length says nothing.
        let result = record.result.or(fill.result);
        let of_game = format.lost_of_game(&record.setup, result, record.ending);
        lost = lost.union(said.intersection(of_game.union(Fields::of(Field::EndPly))));
        if record.best_move.is_none() {
            lost = lost.union(said.intersection(BESIDE_MOVES));
            invented = invented.without(BESIDE_MOVES);
        }
    }
    Ok(FieldChanges { lost, invented })
}

/// Fields that formats of games store per move. A position without a move has no place for them.
pub(crate) const BESIDE_MOVES: Fields =
    Fields::of_all(&[Field::BestMove, Field::EvalCp, Field::EndPly, Field::Candidates]);

impl Format {
    /// What is lost of a record with these fields when it is written in this format.
    pub fn losses(self, said: Fields, ending: Option<Ending>) -> Fields {
        let lost = said.without(self.fields());
        match ending {
            Some(ending) if !self.spec().endings.contains(&ending) => {
                lost.union(Fields::of(Field::Ending))
            }
            _ => lost,
        }
    }

    /// Whether a record with these fields, and what `fill` names, has all that this format needs.
    pub(super) fn check_needs(self, said: Fields, fill: &Fill) -> Result<(), EncodeError> {
        let fields = self.needs().without(said).without(fill.fields());
        if fields.is_empty() { Ok(()) } else { Err(EncodeError::Missing { fields }) }
    }

    /// What is lost of each record of a game that begins with this arrangement and ends so, besides
    /// [`Format::losses`]: the move number, where games of the format begin at 1.
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
            let says_move = record.best_move.is_some() || fill.no_move;
            write(&Parsed { says_move, ..Parsed::from(filled()) }, out)
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

/// The games of a chunk in order, each read when it is asked for; what is no game is an error, and so is
/// a chunk of a format that holds none.
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
    /// The CSA version in which `csa` is written.
    pub csa_version: CsaVersion,
}

/// Appends a game in a format that holds games. After an error `out` is as before.
///
/// # Errors
/// [`EncodeError`] if the format cannot say what the game needs, or holds no games.
pub fn write_game(format: Format, game: &Game, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    write_game_with(format, game, WriteOptions::default(), out)
}

/// [`write_game`] with options.
///
/// # Errors
/// As [`write_game`].
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
    /// Appends the record in a format, canonically, the record's own format included; text with its
    /// line end. After an error `out` is as before.
    ///
    /// # Errors
    /// [`ConvertError`] if the record cannot be read, or lacks a king or a field that `to` must hold
    /// and `fill` does not name.
    pub fn convert(
        &self,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        self.convert_with_lookahead(to, fill, (&mut Lookahead::default(), &|| &[]), out)
    }

    /// [`RecordRef::convert`] of one record after the other: where the bytes that are given on demand begin
    /// with the next one, its position may be transcoded with this one's.
    ///
    /// # Errors
    /// As [`RecordRef::convert`].
    pub fn convert_with_lookahead<'a>(
        &self,
        to: Format,
        fill: &Fill,
        lookahead: (&mut Lookahead, &dyn Fn() -> &'a [u8]),
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, ConvertError> {
        if let (Some(packed), Codec::Packed(target)) = (self.parts(), &to.spec().codec)
            // A move is filled in by the rules.
            && (fill.best_move.is_none() || packed.layout.best_move.is_some())
        {
            return self.transcode(packed, to, target, fill, lookahead, out);
        }
        Ok(self.convert_content(&self.record()?, to, fill, out)?)
    }

    /// [`RecordRef::convert`] for callers who have read [`RecordRef::record`] already.
    ///
    /// # Errors
    /// [`EncodeError`] if the record lacks a king or fields that `to` must hold and `fill` does not name.
    pub fn convert_content(
        &self,
        record: &Record,
        to: Format,
        fill: &Fill,
        out: &mut Vec<u8>,
    ) -> Result<FieldChanges, EncodeError> {
        let said = self.fields();
        to.check_needs(said, fill)?;
        let says_move = said.contains(Field::BestMove);
        let fill = Fill {
            no_move: fill.no_move || says_move,
            best_move: fill.best_move.filter(|_| !says_move),
            ..*fill
        };
        let mut written = encode(to, record, &fill, out)?;
        if said.contains(Field::BestMove) {
            written.invented = written.invented.without(Fields::of(Field::BestMove));
        }
        written.invented = written.invented.union(self.made_up_ending(record, to));
        if self.has_malformed_move() {
            written.lost = written.lost.union(Fields::of(Field::BestMove));
        }
        Ok(written)
    }
}

impl RecordRef<'_> {
    /// The ending, if `to` says one of the game that this format knows nothing about.
    pub(super) fn made_up_ending(&self, record: &Record, to: Format) -> Fields {
        let knows = self.format().fields().contains(Field::Ending);
        let is_decided = record.result.and_then(GameResult::winner).is_some();
        if to.always_says_ending() && is_decided && !knows {
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
    fn fills_are_read_in_any_order_and_written_in_one() {
        let fill: Fill = "eval=-5, result=draw,ply=0,move=none".parse().unwrap();
        assert_eq!(fill.to_string(), "move=none,eval=-5,ply=0,result=draw");
        assert_eq!(fill.fields(), Format::Psv.needs());
        assert_eq!("".parse::<Fill>().unwrap(), Fill::default());
        for (text, message) in [
            ("eval", "\"eval\" is not of the form field=value"),
            ("score=0", "unknown field \"score\"; known are move, eval, ply, result and end_ply"),
            ("ply=-1", "\"-1\" cannot be filled in for ply; expected a number from 0 to 65535"),
            ("eval=1,eval=2", "eval is given twice"),
        ] {
            assert_eq!(text.parse::<Fill>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn plans_name_what_is_lost_and_what_is_missing() {
        let none = Fill::default();
        let plan = conversion_plan(Format::Psv, Format::Hcpe, &none).unwrap();
        assert_eq!((plan.lost.to_string(), plan.invented), ("ply".into(), Fields::NONE));
        let plan = conversion_plan(Format::Psv, Format::Hcp, &none).unwrap();
        assert_eq!(plan.lost, Format::Psv.fields());
        let error = conversion_plan(Format::Hcpe, Format::Psv, &none).unwrap_err();
        assert_eq!(error.to_string(), "psv needs ply, which hcpe does not hold and no fill names");
        let fill = "ply=0".parse().unwrap();
        let plan = conversion_plan(Format::Hcpe, Format::Psv, &fill).unwrap();
        assert_eq!(plan.invented, Fields::of(Field::Ply));
        let error = conversion_plan(Format::Hcp, Format::Psv, &fill).unwrap_err();
        assert_eq!(
            error.to_string(),
            "psv needs move, eval, result, which hcp does not hold and no fill names"
        );
        let plan = conversion_plan(Format::Hcp, Format::Sfen, &none).unwrap();
        assert_eq!(plan.invented, Fields::of(Field::Ply));
        let plan = conversion_plan(Format::Hcpe, Format::Sfen, &none).unwrap();
        assert_eq!(plan.invented, Fields::NONE);
    }
}
