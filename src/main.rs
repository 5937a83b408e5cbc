//! `kyokumen`: every command.

use std::process::ExitCode;

fn main() -> ExitCode {
    kyokumen::cli::kyokumen()
}
