//! Any bytes as an opening book: no panic, no byte lost, what is accepted comes back.
#![no_main]

use kyokumen::format::Format;
use libfuzzer_sys::fuzz_target;

#[allow(dead_code, reason = "each target uses its part")]
#[path = "../../tests/it/format_properties.rs"]
mod format_properties;

fuzz_target!(|bytes: &[u8]| format_properties::check_units(Format::Db, bytes));
