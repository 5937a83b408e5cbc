//! Decodes any bytes as `jkf` games.
//! Checks that nothing panics, no byte is lost, and complete games survive a round trip.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_games;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_games(Format::Jkf, bytes));
