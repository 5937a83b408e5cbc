//! The program `kyokumen-usi`, an alias for `kyokumen usi` that graphical interfaces can start without arguments.

use std::process::ExitCode;

fn main() -> ExitCode {
    kyokumen::cli::kyokumen_usi()
}
