//! What stands for `kyokumen selfplay` where the program is built without networks.

use std::path::PathBuf;

use super::args::SettingArgs;
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::network_defaults::NO_NETWORKS;

pub(super) fn run(_: SettingArgs, _: Option<PathBuf>) -> anyhow::Result<ExitStatus> {
    Err(Usage(NO_NETWORKS.to_owned()).into())
}
