//! Decodes any bytes as SFEN text.
//! Checks that nothing panics, no byte is lost, and accepted records survive a round trip.
#![no_main]

use kyokumen_fuzz::check_text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_text(bytes));
