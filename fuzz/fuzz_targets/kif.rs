//! Decodes any bytes as KIF or KI2 games or as BOD diagrams.
//! Checks that nothing panics, no byte is lost, and complete games survive a round trip.
#![no_main]

use kyokumen::format::Format;
use kyokumen_fuzz::check_games;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u, Format::Bod] {
        check_games(format, bytes);
    }
});
