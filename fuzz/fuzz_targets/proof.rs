//! Any bytes as a file of proofs: no panic, no endless check, what is whole comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/proof_properties.rs"]
mod proof_properties;

fuzz_target!(|bytes: &[u8]| {
    proof_properties::check_file(bytes);
    proof_properties::check_closed(bytes);
});
