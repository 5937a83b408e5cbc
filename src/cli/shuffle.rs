//! `kyokumen shuffle`.

use clap::Args;

use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::ExitStatus;
use crate::cli::option::whole_number;
use crate::ops::rearrange::{RearrangePlan, shuffle};

/// Bring the records of archives into a random order
///
/// The inputs and the seed alone decide the order: --memory and --threads change only the speed. Each record is
/// ordered by 48 random bits; the few that have the same bits (of ten billion one in 30,000) keep the order of the
/// inputs. The inputs are read once; what does not fit into memory goes to temporary files, which are read once more.
/// Records are written byte for byte as they were read; where the format holds games, games are shuffled. Beside the
/// output stands a manifest.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen shuffle day1.psv day2.psv -o training.psv --seed 7
  kyokumen shuffle all.hcpe.zst -o all.shuffled.hcpe.zst --memory 16G --tmp-dir /scratch

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct ShuffleArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Which of all orders [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_parser = whole_number::<u64>(..))]
    seed: u64,
}

pub(super) fn run(args: &ShuffleArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.common.request(args.output.output.clone(), None));
    args.common.run(plan, |plan, progress, cancel| shuffle(plan, args.seed, progress, cancel))
}
