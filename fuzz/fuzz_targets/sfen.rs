//! Any bytes as a file of SFEN text: no panic, no byte lost, what is accepted comes back.
#![no_main]

use kyokumen_fuzz::check_text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_text(bytes));
