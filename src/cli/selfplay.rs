//! `kyokumen selfplay`.
//!
//! Its options are those of every build; what they ask for is done where the program is built with networks.

mod args;
#[cfg(feature = "network")]
mod command;

pub(super) use args::SelfPlayArgs;
#[cfg(feature = "network")]
pub(super) use command::run;

#[cfg(not(feature = "network"))]
pub(super) fn run(_: SelfPlayArgs) -> anyhow::Result<super::exit::ExitStatus> {
    Err(super::exit::Usage(super::option::networks::NO_NETWORKS.to_owned()).into())
}
