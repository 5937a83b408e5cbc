//! `kyokumen sample`.

use clap::Args;

use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::ExitStatus;
use crate::cli::option::whole_number;
use crate::ops::rearrange::{RearrangePlan, SampleSize, sample};
use crate::records::filters::Probability;

/// Take a random part of archives
///
/// --count takes so many records, every set of that size with the same probability; --rate takes each record
/// with a probability of its own. Which ones depends on the inputs and the seed alone. The order stays, and
/// records are written byte for byte as they were read; where the format holds games, games are taken. Beside
/// the output stands a manifest; few records of one size, of files that are not compressed, are taken without
/// reading the others, and the manifest then has no checksum of what was not read.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen sample all.psv -o test.psv --count 100000
  kyokumen sample all.psv -o tenth.psv --rate 0.1 --seed 7

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct SampleArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    size: SizeArgs,

    /// Which of all samples [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_parser = whole_number::<u64>(..))]
    seed: u64,
}

#[derive(Args, Clone, Copy)]
#[group(required = true, multiple = false)]
struct SizeArgs {
    /// So many records (of formats of games: games), or all if there are fewer
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..))]
    count: Option<u64>,

    /// Each record with this probability, as in 0.25
    #[arg(long, value_name = "P")]
    rate: Option<Probability>,
}

impl SizeArgs {
    fn size(self) -> SampleSize {
        self.rate.map_or(SampleSize::Count(self.count.unwrap_or(0)), SampleSize::Rate)
    }
}

pub(super) fn run(args: &SampleArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.common.request(args.output.output.clone(), None));
    let size = args.size.size();
    args.common.run(plan, |plan, progress, cancel| sample(plan, size, args.seed, progress, cancel))
}
