//! Any bytes as a file of `sbinpack` games: no panic, no byte lost, what is whole comes back.
#![no_main]

use kyokumen::format::Format;
use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/game_properties.rs"]
mod game_properties;

fuzz_target!(|bytes: &[u8]| game_properties::check_file(Format::Sbinpack, bytes));
