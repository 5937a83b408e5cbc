//! Games as records of the output's format.

use kyokumen_selfplay::FinishedGame;

use crate::format::{EncodeError, Fill, Format, encode, write_game};
use crate::records::stream::EncodedRecords;

/// A game as a record of its own where the format holds games, else its positions that are to be trained on.
pub(super) fn encoded(
    format: Format,
    finished: &FinishedGame,
) -> Result<EncodedRecords, EncodeError> {
    let mut encoded = EncodedRecords::default();
    let game = &finished.game;
    if format.holds_games() {
        format.append_unit(encoded.open_record(), |out| write_game(format, game, out))?;
        encoded.end_group(game.moves.len());
        return Ok(encoded);
    }
    let records = game.records().into_iter().filter_map(Result::ok);
    for record in records.filter(|record| !record.is_not_for_training) {
        encode(format, &record, &Fill::default(), encoded.open_record())?;
        encoded.end_record();
    }
    Ok(encoded)
}
