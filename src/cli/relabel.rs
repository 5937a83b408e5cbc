//! `kyokumen relabel`.

mod args;
mod by_engine;
#[cfg(feature = "network")]
mod by_network;
mod outcome;

use crate::cli::exit::ExitStatus;

pub(super) use args::RelabelArgs;

pub(super) fn run(mut args: RelabelArgs) -> anyhow::Result<ExitStatus> {
    if let Some(engine) = args.engine.take() {
        return by_engine::run(&engine, args);
    }
    // The parser takes one of both.
    let model = args.model.take().unwrap_or_default();
    #[cfg(feature = "network")]
    return by_network::run(&model, args);
    #[cfg(not(feature = "network"))]
    Err(crate::cli::exit::Usage(crate::cli::option::networks::NO_NETWORKS.to_owned()).into())
}
