//! Limits of the search as options, for the commands that take no configuration file.
//!
//! Names and defaults are those of `kyokumen filter`.

use clap::Args;

use super::Usage;
use super::option::word;
use crate::pipeline::judge::{InCheck, SearchSettings, WhenHopeless};

#[derive(Args, Clone, Debug)]
pub(super) struct SearchArgs {
    /// Plies that a search goes below the position
    #[arg(long, value_name = "PLIES", default_value_t = SearchSettings::default().depth_plies)]
    depth: u16,

    /// Nodes after which a search gives up
    #[arg(long, default_value_t = SearchSettings::default().nodes)]
    nodes: u64,

    /// Size of each thread's table, in MiB
    #[arg(long, value_name = "MIB", default_value_t = SearchSettings::default().hash_mb)]
    hash_mb: usize,

    /// What to ask when the side to move is in check: is it being mated (and), does it mate (or)
    #[arg(long, value_name = "both|and|or|skip", default_value = "both", value_parser = word::<InCheck>)]
    in_check: InCheck,

    /// What to do once a search is unlikely to end within its nodes: stop there, or use them up
    #[arg(long, value_name = "give-up|go-on", default_value = "give-up", value_parser = word::<WhenHopeless>)]
    when_hopeless: WhenHopeless,

    /// Threads; 0 is all cores
    #[arg(long, default_value_t = 0)]
    pub(super) threads: usize,
}

impl SearchArgs {
    pub(super) fn settings(&self) -> Result<SearchSettings, Usage> {
        let settings = SearchSettings {
            depth_plies: self.depth,
            nodes: self.nodes,
            hash_mb: self.hash_mb,
            in_check: self.in_check,
            when_hopeless: self.when_hopeless,
        };
        settings.check().map_err(|error| Usage(error.to_string()))?;
        Ok(settings)
    }
}
