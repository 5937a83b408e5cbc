//! Reads any bytes as a proof file.
//! Checks that nothing panics, that proof checks end, and that complete files survive a round trip.
#![no_main]

use kyokumen_fuzz::check_proofs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_proofs(bytes));
