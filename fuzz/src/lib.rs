//! The properties that the targets check. The tests check the same properties on random and damaged input.

use kyokumen::format::Format;
use kyokumen_testing::{game_properties, record_properties};

#[path = "../../tests/it/proof_properties.rs"]
mod proof_properties;

/// Checks bytes as one record of a packed format.
pub fn check_record(format: Format, bytes: &[u8]) {
    record_properties::check_record(format, bytes);
}

/// Checks bytes as a file of records.
pub fn check_chunks(format: Format, bytes: &[u8]) {
    record_properties::check_chunks(format, bytes);
}

/// Checks bytes as SFEN text.
pub fn check_text(bytes: &[u8]) {
    record_properties::check_text(bytes);
}

/// Checks bytes as a file of games.
pub fn check_games(format: Format, bytes: &[u8]) {
    game_properties::check_file(format, bytes);
}

/// Checks bytes as a proof file.
pub fn check_proofs(bytes: &[u8]) {
    proof_properties::check_file(bytes);
    proof_properties::check_closed(bytes);
}
