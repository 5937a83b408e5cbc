//! Any bytes as blocks of text: no panic, no byte lost, what is accepted comes back.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_chunks;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_chunks(Format::Plain, bytes));
