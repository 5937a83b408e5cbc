//! What stands for `usi --model` where the program is built without networks.

use super::args::UsiArgs;
use crate::cli::exit::{ExitStatus, Usage};
use crate::cli::network_defaults::NO_NETWORKS;

pub(super) fn run(_: &UsiArgs) -> anyhow::Result<ExitStatus> {
    Err(Usage(NO_NETWORKS.to_owned()).into())
}
