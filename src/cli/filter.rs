//! `kyokumen filter`, also known as `gen-filter`.

use std::path::PathBuf;

use clap::Args;

use super::{Outcome, Usage};

/// Remove positions with a proven forced mate
#[derive(Args)]
pub(super) struct FilterArgs {
    /// Files of positions, read as one sequence; `-` is standard input
    inputs: Vec<PathBuf>,
}

pub(super) fn run(args: FilterArgs) -> anyhow::Result<Outcome> {
    if args.inputs.is_empty() {
        return Err(Usage("no input".to_owned()).into());
    }
    Ok(Outcome::Done)
}
