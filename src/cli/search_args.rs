//! Limits of the search as options, the same for every command that searches.
//!
//! The defaults are those of the library.

use std::hint::black_box;

use clap::Args;

use super::option::{depth, heading, whole_number, word};
use crate::cli::exit::Usage;
use crate::mate::judge::{InCheck, MateSettings, WhenHopeless};
use crate::search::{TableError, TableSize};

#[derive(Args, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SearchArgs {
    #[arg(long, value_name = "PLIES", help = depth_help(), value_parser = depth(), help_heading = heading::SEARCH)]
    pub(super) depth: Option<u16>,

    #[arg(long, help = nodes_help(), value_parser = whole_number::<u64>(..), help_heading = heading::SEARCH)]
    pub(super) nodes: Option<u64>,

    #[arg(long, value_name = "MIB", help = hash_help(), value_parser = whole_number::<usize>(..), help_heading = heading::SEARCH, hide_short_help = true)]
    hash_mb: Option<usize>,

    /// What to ask when the side to move is in check: is it being mated (and), does it mate (or)
    /// [default: both]
    #[arg(long, value_name = "both|and|or|skip", value_parser = word::<InCheck>, help_heading = heading::SEARCH, hide_short_help = true)]
    in_check: Option<InCheck>,

    /// What to do once a search is unlikely to end within its nodes: stop there, or use them up
    /// [default: give-up]
    #[arg(long, value_name = "give-up|go-on", value_parser = word::<WhenHopeless>, help_heading = heading::SEARCH, hide_short_help = true)]
    pub(super) when_hopeless: Option<WhenHopeless>,
}

fn depth_help() -> String {
    let depth = MateSettings::default().depth_plies;
    format!("Plies that a search goes below the position [default: {depth}]")
}

fn nodes_help() -> String {
    let nodes = MateSettings::default().nodes;
    format!("Nodes after which a search ends [default: {nodes}]")
}

fn hash_help() -> String {
    let hash_mb = MateSettings::default().hash_mb;
    format!(
        "Size of the table, in MiB; of each thread where each has a position [default: {hash_mb}]"
    )
}

impl SearchArgs {
    pub(super) fn settings(self) -> anyhow::Result<MateSettings> {
        let default = MateSettings::default();
        let settings = MateSettings {
            depth_plies: self.depth.unwrap_or(default.depth_plies),
            nodes: self.nodes.unwrap_or(default.nodes),
            hash_mb: self.hash_mb.unwrap_or(default.hash_mb),
            in_check: self.in_check.unwrap_or(default.in_check),
            when_hopeless: self.when_hopeless.unwrap_or(default.when_hopeless),
        };
        check(&settings)?;
        let MateSettings { depth_plies, nodes, hash_mb, .. } = settings;
        tracing::info!(
            "search: {depth_plies} plies, {nodes} nodes, a table of {hash_mb} MiB for each thread"
        );
        Ok(settings)
    }
}

/// Fails before any work begins if the limits are invalid or there is not enough memory for the table.
pub(super) fn check(settings: &MateSettings) -> anyhow::Result<()> {
    settings.check().map_err(|error| Usage(error.to_string()))?;
    Ok(check_table(settings.hash_mb)?)
}

/// Fails before any work begins if there is not enough memory for the table.
pub(super) fn check_table(mib: usize) -> Result<(), TableError> {
    // Reserved only, which takes no time whatever the size; what is not looked at might not be reserved at all.
    let mut room = Vec::<u8>::new();
    if room.try_reserve_exact(mib.saturating_mul(1 << 20)).is_err() {
        return Err(TableError(TableSize::from_mib(mib)));
    }
    black_box(room);
    Ok(())
}
