//! `kyokumen interleave`.

use clap::Args;

use super::option::{whole_number, word};
use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::ExitStatus;
use crate::ops::rearrange::{RearrangePlan, Until, Weights, interleave};

/// Mix archives into one
///
/// Again and again one of the inputs, drawn by lot, gives its next record; the order within each stays. Without
/// --weights what is left of each input counts, so that all end together and every mixture is as likely as any
/// other. Records are written byte for byte as they were read; where the format holds games, games are mixed.
/// Beside the output stands a manifest.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen interleave openings.psv middle.psv endings.psv -o all.psv
  kyokumen interleave own.psv others.psv -o mix.psv --weights 3,1 --until first

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct InterleaveArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// How often each input has its turn, relative to the others [default: as much as is left of it]
    #[arg(long, value_name = "W,W,…")]
    weights: Option<Weights>,

    /// End when all inputs are at their end, or when it is the turn of the first that is [default: all]
    #[arg(long, value_name = "all|first", value_parser = word::<Until>)]
    until: Option<Until>,

    /// Which of all mixtures [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_parser = whole_number::<u64>(..))]
    seed: u64,
}

pub(super) fn run(args: &InterleaveArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.common.request(args.output.output.clone(), None));
    let until = args.until.unwrap_or_default();
    let weights = args.weights.as_ref();
    args.common.run(plan, |plan, progress, cancel| {
        interleave(plan, weights, until, args.seed, progress, cancel)
    })
}
