//! Any bytes as a file of proofs: no panic, no endless check, what is whole comes back.
#![no_main]

use kyokumen_fuzz::check_proofs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| check_proofs(bytes));
