//! Decodes any bytes as an `hcpe` record.
//! Checks that nothing panics, both codecs agree, and accepted records survive a round trip.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_record(Format::Hcpe, bytes));
