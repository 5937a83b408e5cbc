//! `kyokumen dedup`.

use std::path::PathBuf;

use clap::Args;

use super::call::Call;
use super::option::location;
use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::ops::rearrange::{DedupKey, DedupSettings, RearrangePlan, RearrangeRequest, dedup};

/// Remove duplicate records from files
///
/// Records with the same position are duplicates. The first is kept, byte for byte; the order of the inputs stays. The
/// inputs are read twice. Records are compared by a 128-bit hash. A hash and its record number take up to 24 bytes;
/// hashes that do not fit into --memory go to temporary files.
///
/// --key chooses the parts that must be equal: `position` is board, hands and side to move, `position+move` adds the
/// stored move, `content` is all fields, and `bytes` is all bytes, including padding. Games are always compared by
/// their bytes.
///
/// --average replaces the labels of the kept record. Its evaluation is the mean of all copies, rounded half away from
/// zero. For the mean result, a win of Black counts 1, a draw 0 and a win of White −1. A mean of 0.5 or more is a win
/// of Black, a mean of −0.5 or less a win of White, any other a draw. The move is the most frequent one; of several
/// equally frequent moves, the earliest.
///
/// Mate evaluations (29000 or more in absolute value) are not averaged with others. If all mate evaluations of a
/// position favour the same side, their mean is written. If some favour Black and some White, the mean of the other
/// evaluations is written. If there are no others, it is the mean of the mate evaluations.
#[derive(Args)]
#[command(mut_arg("memory", |arg| arg.help("Memory for the hashes of records; the rest goes to temporary files [default: 2G]")))]
#[command(after_long_help = format!("\
Examples:
  kyokumen dedup 2024.psv 2025.psv -o all.psv
  kyokumen dedup new.psv -o only-new.psv --reference old/*.psv test.hcpe
  kyokumen dedup all.psv -o mean.psv --average
  kyokumen dedup all.hcpe -o unique.hcpe --key position+move --memory 8G --tmp-dir /scratch

{EXIT_STATUS_HELP}"))]
pub(super) struct DedupArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Also remove records that occur in these files, such as older data or a test set. They may have any format
    #[arg(long, value_name = "FILE", num_args = 1.., value_parser = location())]
    reference: Vec<PathBuf>,

    /// Parts of a record that must be equal [default: position]
    #[arg(
        long,
        value_name = "position|position+move|content|bytes",
        default_value_t,
        hide_default_value = true
    )]
    key: DedupKey,

    /// Write the mean evaluation and result of all copies, and their most frequent move
    #[arg(long)]
    average: bool,
}

pub(super) fn call(args: &DedupArgs) -> anyhow::Result<Call> {
    let settings = args.settings();
    let plan = RearrangePlan::new(args.request())?;
    Ok(Call::rearrangement(plan, move |plan, progress, cancel| {
        dedup(plan, settings, progress, cancel)
    }))
}

pub(super) fn run(args: &DedupArgs) -> anyhow::Result<ExitStatus> {
    let plan = RearrangePlan::new(args.request());
    let settings = args.settings();
    args.common.run(plan, |plan, progress, cancel| dedup(plan, settings, progress, cancel))
}

impl DedupArgs {
    fn request(&self) -> RearrangeRequest {
        let request = self.common.request(&self.output);
        RearrangeRequest { references: self.reference.clone(), ..request }
    }

    const fn settings(&self) -> DedupSettings {
        DedupSettings { key: self.key, average: self.average }
    }
}
