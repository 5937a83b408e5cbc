//! What stands for `relabel --model` where the program is built without networks.

use std::path::{Path, PathBuf};

use super::args::SettingArgs;
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::network_defaults::NO_NETWORKS;

pub(super) fn run(
    _: &Path,
    _: SettingArgs,
    _: Vec<PathBuf>,
    _: Option<PathBuf>,
) -> anyhow::Result<ExitStatus> {
    Err(Usage(NO_NETWORKS.to_owned()).into())
}
