//! The program `kyokumen`. If it is started under the name `gen-filter` or `kyokumen-usi`, by a link or as a copy, it
//! acts as that program. Windows ignores the case of names.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    let stem = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy();
    if stem.eq_ignore_ascii_case("gen-filter") {
        kyokumen::cli::gen_filter()
    } else if stem.eq_ignore_ascii_case("kyokumen-usi") {
        kyokumen::cli::kyokumen_usi()
    } else {
        kyokumen::cli::kyokumen()
    }
}
