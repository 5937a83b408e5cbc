//! `kyokumen split`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::option::{location, whole_number, word};
use super::rearrange_args::RearrangeArgs;
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::ops::rearrange::{
    PartLimit, RearrangePlan, RearrangeRequest, SplitBy, split, split_up_to,
};
use crate::records::format_name::FormatName;
use crate::storage::memory::Memory;

/// Split archives into several files
///
/// The parts are named NAME-00001-of-00010.psv and so on. --by round-robin writes the first record to the first part,
/// the second to the second, and so on. --by ranges writes contiguous ranges, the same as the shards of `filter
/// --shard`. --size and --records fill one part after the other up to the limit. With them, the inputs are read twice:
/// once to count the parts, once to write them.
///
/// Records are copied byte for byte. In formats that hold games, whole games are distributed. A manifest is written
/// next to the parts.
#[derive(Args)]
#[command(mut_arg("memory", |arg| arg.help("Memory for records that are read ahead, and for compressed parts that are written at the same time [default: 2G]")))]
#[command(group = ArgGroup::new("how_many").required(true).args(["parts", "size", "records"]))]
#[command(after_long_help = format!("\
Examples:
  kyokumen split all.psv -o parts --parts 10
  kyokumen split all.psv -o parts --parts 1000 --by ranges --to psv.zst
  kyokumen split all.csa -o parts --size 1G

{EXIT_STATUS_HELP}"))]
pub(super) struct SplitArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    /// Folder for the parts, created if missing
    #[arg(short, long, value_name = "DIR", value_parser = location())]
    output: PathBuf,

    /// Number of parts
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..))]
    parts: Option<u32>,

    /// Maximum size of a part before compression, in bytes or with the suffix K, M, G or T for powers of 1024
    #[arg(long, value_name = "SIZE")]
    size: Option<Memory>,

    /// Maximum number of records of a part
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroU64>(1..))]
    records: Option<NonZeroU64>,

    /// How to distribute records to the parts; not for --size and --records [default: round-robin]
    #[arg(long, value_name = "round-robin|ranges", value_parser = word::<SplitBy>, conflicts_with_all = ["size", "records"])]
    by: Option<SplitBy>,

    /// Format of the parts: the format of the inputs, compressed or not, as in psv.zst [default: same as the first
    /// input]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    /// Base name of the parts [default: from the first input]
    #[arg(long)]
    name: Option<String>,
}

pub(super) fn run(args: &SplitArgs) -> anyhow::Result<ExitStatus> {
    let request = args.common.request_without_tmp_dir(args.output.clone(), args.to);
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
