//! The program `kyokumen`. If it is started under the name `gen-filter`, for example by a link, it acts as that
//! program.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args_os().next().unwrap_or_default();
    if Path::new(&name).file_stem().is_some_and(|name| name == "gen-filter") {
        return kyokumen::cli::gen_filter();
    }
    kyokumen::cli::kyokumen()
}
