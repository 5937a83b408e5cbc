//! `kyokumen sample`.

use clap::Args;

use super::call::Call;
use super::message::say;
use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::cli::option::whole_number;
use crate::format::Field;
use crate::ops::rearrange::{RearrangePlan, SampleSize, sample};
use crate::records::filters::Probability;

/// Draw a random sample of the records of files
///
/// --count draws a fixed number of records; all sets of that size are equally likely. --rate draws each record
/// independently. Only the inputs and the seed determine the sample. Records keep their order and are copied byte for
/// byte. In formats that hold games, whole games are drawn. A manifest is written next to the output.
///
/// --count reads the inputs twice. If they are uncompressed files with fixed-size records, and fewer than about one in
/// 3000 is drawn, it reads only the drawn records instead. The manifest then has no checksums of the inputs.
///
/// The drawn records stay in the inputs. So a sample is not a validation set: `kyokumen split --by game --weights 95,5`
/// separates one.
#[derive(Args)]
#[command(mut_arg("memory", |arg| arg.help("Memory for the random keys of --count, 8 bytes per record; the rest goes to temporary files [default: 2G]")))]
#[command(mut_arg("seed", |arg| arg.help("Random seed [default: 1]").hide_short_help(false)))]
// --rate takes its place.
#[command(mut_arg("sample", |arg| arg.hide(true).conflicts_with_all(["count", "rate"])))]
#[command(after_long_help = format!("\
Examples:
  kyokumen sample all.psv -o some.psv --count 100000
  kyokumen sample all.psv -o tenth.psv --rate 0.1 --seed 7

{EXIT_STATUS_HELP}"))]
pub(super) struct SampleArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    size: SizeArgs,
}

#[derive(Args, Clone, Copy)]
#[group(required = true, multiple = false)]
struct SizeArgs {
    /// Number of records to draw, or of games in formats that hold games; all if there are fewer
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..))]
    count: Option<u64>,

    /// Probability of drawing each record, as in 0.25
    #[arg(long, value_name = "P")]
    rate: Option<Probability>,
}

impl SizeArgs {
    fn size(self) -> SampleSize {
        self.rate.map_or(SampleSize::Count(self.count.unwrap_or(0)), SampleSize::Rate)
    }
}

pub(super) fn call(args: &SampleArgs) -> anyhow::Result<Call> {
    let plan = RearrangePlan::new(args.common.request(&args.output))?;
    let (size, seed) = (args.size.size(), args.common.seed());
    Ok(Call::rearrangement(plan, move |plan, progress, cancel| {
        sample(plan, size, seed, progress, cancel)
    }))
}

pub(super) fn run(args: &SampleArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.common.request(&args.output));
    let size = args.size.size();
    let seed = args.common.seed();
    let has_moves = |plan: &RearrangePlan| plan.format().fields().contains(Field::BestMove);
    let by = if plan.as_ref().is_ok_and(has_moves) { "game" } else { "position" };
    let done = args
        .common
        .run(plan, |plan, progress, cancel| sample(plan, size, seed, progress, cancel))?;
    say!(
        "note: the drawn records are still in the inputs, so they are no validation set; to separate one, use `kyokumen \
         split --by {by} --weights 95,5 --names train,valid`"
    );
    Ok(done)
}
