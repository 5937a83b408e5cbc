//! Any bytes as lines of JSON: no panic, no byte lost, what is accepted comes back.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_units;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_units(Format::Jsonl, bytes));
