//! Decodes any bytes as `pack` games.
//! Checks that nothing panics, no byte is lost, and accepted records survive a round trip.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_chunks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_chunks(Format::Pack, bytes));
