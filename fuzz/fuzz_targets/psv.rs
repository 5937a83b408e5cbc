//! Any bytes as one `psv` record: no panic, both codecs agree, what is accepted comes back.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_record(Format::Psv, bytes));
