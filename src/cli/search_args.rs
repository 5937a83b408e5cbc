//! Options for the limits of the mate search, shared by all commands that search.
//!
//! The defaults come from the library.

use std::hint::black_box;

use clap::Args;

use super::option::{depth, heading, whole_number, word};
use crate::cli::exit::Usage;
use crate::mate::judge::{InCheck, MateSettings, WhenHopeless};
use crate::search::{TableError, TableSize};
use crate::storage::quantity::quantity;

#[derive(Args, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SearchArgs {
    #[arg(long, value_name = "PLIES", help = depth_help(), value_parser = depth(), help_heading = heading::SEARCH)]
    pub(super) depth: Option<u16>,

    #[arg(long, help = nodes_help(), value_parser = whole_number::<u64>(..), help_heading = heading::SEARCH)]
    pub(super) nodes: Option<u64>,

    #[arg(long, value_name = "MIB", help = hash_help(), value_parser = whole_number::<usize>(..), help_heading = heading::SEARCH, hide_short_help = true)]
    hash_mb: Option<usize>,

    /// What to search for if the side to move is in check: a mate against it (`and`), a mate by it (`or`), first the
    /// one and then the other (`both`), or nothing (`skip`). If it is not in check, only a mate by it is searched for
    /// [default: both]
    #[arg(long, value_name = "both|and|or|skip", value_parser = word::<InCheck>, help_heading = heading::SEARCH, hide_short_help = true)]
    pub(super) in_check: Option<InCheck>,

    /// What to do when a search is unlikely to finish within its node limit: `give-up` stops early, `go-on` uses all
    /// nodes [default: give-up]
    #[arg(long, value_name = "give-up|go-on", value_parser = word::<WhenHopeless>, help_heading = heading::SEARCH, hide_short_help = true)]
    pub(super) when_hopeless: Option<WhenHopeless>,
}

fn depth_help() -> String {
    let depth = MateSettings::default().depth_plies;
    format!("Maximum search depth in plies [default: {depth}]")
}

fn nodes_help() -> String {
    let nodes = MateSettings::default().nodes;
    format!("Maximum number of nodes per search [default: {nodes}]")
}

fn hash_help() -> String {
    let hash_mb = MateSettings::default().hash_mb;
    format!("Size of the transposition table of each thread in MiB [default: {hash_mb}]")
}

impl SearchArgs {
    pub(super) fn settings(self) -> anyhow::Result<MateSettings> {
        let default = MateSettings::default();
        let settings = MateSettings {
            depth_plies: self.depth.unwrap_or(default.depth_plies),
            nodes: self.nodes.unwrap_or(default.nodes),
            hash_mb: self.hash_mb.unwrap_or(default.hash_mb),
            in_check: self.in_check(),
            when_hopeless: self.when_hopeless.unwrap_or(default.when_hopeless),
        };
        check(&settings)?;
        let MateSettings { depth_plies, nodes, hash_mb, .. } = settings;
        tracing::info!(
            "search limits: {}, {}, a table of {hash_mb} MiB per thread",
            quantity(depth_plies, "ply"),
            quantity(nodes, "node")
        );
        Ok(settings)
    }

    pub(super) fn in_check(self) -> InCheck {
        self.in_check.unwrap_or(MateSettings::default().in_check)
    }
}

/// Checks the limits and the memory for the table before any work begins.
pub(super) fn check(settings: &MateSettings) -> anyhow::Result<()> {
    settings.check().map_err(|error| Usage(error.to_string()))?;
    Ok(check_table(settings.hash_mb)?)
}

/// Checks the memory for the table before any work begins.
pub(super) fn check_table(mib: usize) -> Result<(), TableError> {
    // The memory is only reserved, which is fast for any size. `black_box` prevents the compiler from removing the
    // allocation.
    let mut table = Vec::<u8>::new();
    if table.try_reserve_exact(mib.saturating_mul(1 << 20)).is_err() {
        return Err(TableError(TableSize::from_mib(mib)));
    }
    black_box(table);
    Ok(())
}
