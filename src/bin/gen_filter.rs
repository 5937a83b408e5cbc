//! The program `gen-filter`, an alias for `kyokumen filter`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kyokumen::cli::gen_filter()
}
