//! Any bytes as a file of `jkf` games: no panic, no byte lost, what is whole comes back.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_games;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_games(Format::Jkf, bytes));
