//! `kyokumen shuffle`.

use clap::Args;

use super::call::Call;
use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::ops::rearrange::{RearrangePlan, shuffle};

/// Shuffle the records of files
///
/// Only the inputs and the seed determine the order; --memory and --threads only affect speed. Records are sorted by a
/// random 48-bit key. Records with equal keys keep their input order; of ten billion records, about 1 in 30,000 is
/// affected. The inputs are read once. Records that do not fit into --memory are written to temporary files and read
/// back once. These files need the size of the uncompressed records and 8 bytes per record.
///
/// Records are copied byte for byte. In formats that hold games, whole games are shuffled. A manifest is written next
/// to the output.
#[derive(Args)]
#[command(mut_arg("seed", |arg| arg.help("Random seed [default: 1]").hide_short_help(false)))]
#[command(after_long_help = format!("\
Examples:
  kyokumen shuffle day1.psv day2.psv -o training.psv --seed 7
  kyokumen shuffle all.hcpe.zst -o all.shuffled.hcpe.zst --memory 16G --tmp-dir /scratch

{EXIT_STATUS_HELP}"))]
pub(super) struct ShuffleArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,
}

pub(super) fn call(args: &ShuffleArgs) -> anyhow::Result<Call> {
    let plan = RearrangePlan::new(args.common.request(&args.output))?;
    let seed = args.common.seed();
    Ok(Call::rearrangement(plan, move |plan, progress, cancel| {
        shuffle(plan, seed, progress, cancel)
    }))
}

pub(super) fn run(args: &ShuffleArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.common.request(&args.output));
    args.common
        .run(plan, |plan, progress, cancel| shuffle(plan, args.common.seed(), progress, cancel))
}
