//! What stands for `kyokumen selfplay` where the program is built without networks.

use std::path::PathBuf;

use super::args::SettingArgs;
use crate::cli::exit::{ExitStatus, Usage};

const ABSENT: &str = "this program was built without networks; `cargo install --path . --features network` builds them in";

pub(super) fn run(_: SettingArgs, _: Option<PathBuf>) -> anyhow::Result<ExitStatus> {
    Err(Usage(ABSENT.to_owned()).into())
}
