//! `kyokumen split`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::option::{location, whole_number, word};
use super::rearrange_args::RearrangeArgs;
use crate::cli::exit::ExitStatus;
use crate::ops::rearrange::{
    PartLimit, RearrangePlan, RearrangeRequest, SplitBy, split, split_up_to,
};
use crate::records::format_name::FormatName;
use crate::storage::memory::Memory;

/// Deal the records of archives out to several files
///
/// Parts are named NAME-00001-of-00010.psv and so on. round-robin gives the first record to the first part, the second
/// to the second; ranges are stretches of the input, the same that --shard takes. With --size or --records parts are
/// filled one after the other as far as the limit allows; how many there are shows in a first reading. Records are
/// written byte for byte as they were read; where the format holds games, games are dealt out, and none is cut. Beside
/// the parts stands a manifest.
#[derive(Args)]
#[command(group = ArgGroup::new("how_many").required(true).args(["parts", "size", "records"]))]
#[command(after_long_help = "\
Examples:
  kyokumen split all.psv -o parts --parts 10
  kyokumen split all.psv -o parts --parts 1000 --by ranges --to psv.zst
  kyokumen split all.csa -o parts --size 1G

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct SplitArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    /// Folder of the parts, made if it is not there
    #[arg(short, long, value_name = "DIR", value_parser = location())]
    output: PathBuf,

    /// Number of parts
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..))]
    parts: Option<u32>,

    /// Bytes that a part has at most, K, M, G or T behind the number for powers of 1024; of parts that are compressed
    /// it is the size before that
    #[arg(long, value_name = "SIZE")]
    size: Option<Memory>,

    /// Records that a part has at most
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroU64>(1..))]
    records: Option<NonZeroU64>,

    /// Who gets which record [default: round-robin]
    #[arg(long, value_name = "round-robin|ranges", value_parser = word::<SplitBy>, conflicts_with_all = ["size", "records"])]
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
    let size = args.size.map(|size| PartLimit::Bytes(size.bytes()));
    let limit = size.or(args.records.map(|records| PartLimit::Records(records.get())));
    if let Some(limit) = limit {
        let plan = RearrangePlan::in_uncounted_parts(request);
        let split =
            |plan: &_, progress: &mut _, cancel: &_| split_up_to(plan, limit, progress, cancel);
        return args.common.run(plan, split);
    }
    let plan = RearrangePlan::in_parts(request, args.parts.unwrap_or(1));
    let by = args.by.unwrap_or_default();
    args.common.run(plan, |plan, progress, cancel| split(plan, by, progress, cancel))
}
