//! `kyokumen interleave`.

use clap::Args;

use super::call::Call;
use super::option::word;
use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::ops::rearrange::{RearrangePlan, Until, Weights, interleave};

/// Mix files into one, keeping the order of each
///
/// Each step draws one input at random and writes its next record. Without --weights, an input is drawn with a
/// probability proportional to its remaining records. The inputs then end together, and all mixtures are equally
/// likely.
///
/// Records are copied byte for byte. In formats that hold games, whole games are mixed. A manifest is written next to
/// the output.
#[derive(Args)]
#[command(mut_arg("seed", |arg| arg.help("Random seed [default: 1]").hide_short_help(false)))]
#[command(mut_arg("memory", |arg| arg.help("Memory for the records that are read ahead [default: 2G]")))]
#[command(after_long_help = format!("\
Examples:
  kyokumen interleave openings.psv middle.psv endings.psv -o all.psv
  kyokumen interleave own.psv others.psv -o mix.psv --weights 3,1 --until first

{EXIT_STATUS_HELP}"))]
pub(super) struct InterleaveArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Relative probability of each input, in order [default: its number of remaining records]
    #[arg(long, value_name = "W,W,…")]
    weights: Option<Weights>,

    /// When to stop: `all` after the last record of every input, `first` when an input without remaining records is
    /// drawn [default: all]
    #[arg(long, value_name = "all|first", value_parser = word::<Until>)]
    until: Option<Until>,
}

pub(super) fn call(args: InterleaveArgs) -> anyhow::Result<Call> {
    let plan = RearrangePlan::new(args.common.request(&args.output))?;
    let (until, seed) = (args.until.unwrap_or_default(), args.common.seed());
    Ok(Call::rearrangement(plan, move |plan, progress, cancel| {
        interleave(plan, args.weights.as_ref(), until, seed, progress, cancel)
    }))
}

pub(super) fn run(args: &InterleaveArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.common.request(&args.output));
    let until = args.until.unwrap_or_default();
    let weights = args.weights.as_ref();
    args.common.run(plan, |plan, progress, cancel| {
        interleave(plan, weights, until, args.common.seed(), progress, cancel)
    })
}
