//! `kyokumen split`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;

use super::option::{location, word};
use super::rearrange_args::RearrangeArgs;
use crate::cli::exit::ExitStatus;
use crate::ops::rearrange::{RearrangePlan, RearrangeRequest, SplitBy, split};
use crate::records::format_name::FormatName;

/// Deal the records of archives out to several files
///
/// Parts are named NAME-00001-of-00010.psv and so on. round-robin gives the first record to the first part, the
/// second to the second; ranges are stretches of the input, the same that --shard takes. Records are written
/// byte for byte as they were read; where the format holds games, games are dealt out. Beside the parts stands
/// a manifest.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen split all.psv -o parts --parts 10
  kyokumen split all.psv -o parts --parts 1000 --by ranges --to psv.zst

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
130 or 143 interrupted.")]
pub(super) struct SplitArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    /// Folder of the parts, made if it is not there
    #[arg(short, long, value_name = "DIR", value_parser = location())]
    output: PathBuf,

    /// Number of parts
    #[arg(long, value_name = "N")]
    parts: NonZeroU32,

    /// Who gets which record [default: round-robin]
    #[arg(long, value_name = "round-robin|ranges", value_parser = word::<SplitBy>)]
    by: Option<SplitBy>,

    /// The inputs' format, compressed in another way, as in psv.zst [default: as the first input]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    /// Start of the parts' names [default: the first input's]
    #[arg(long)]
    name: Option<String>,
}

pub(super) fn run(args: &SplitArgs) -> anyhow::Result<ExitStatus> {
    let request = args.common.request(args.output.clone(), args.to);
    let request = RearrangeRequest { name: args.name.clone(), ..request };
    let plan = RearrangePlan::in_parts(request, args.parts.get());
    let by = args.by.unwrap_or_default();
    args.common.run(plan, |plan, progress, cancel| split(plan, by, progress, cancel))
}
