//! `kyokumen dedup`.

use std::path::PathBuf;

use clap::Args;

use super::option::location;
use super::rearrange_args::{OutputArgs, RearrangeArgs};
use crate::cli::exit::ExitStatus;
use crate::ops::rearrange::{DedupKey, DedupSettings, RearrangePlan, RearrangeRequest, dedup};

/// Leave out repeated records of archives
///
/// Of records that say the same the first is written, byte for byte as it was read, and the order stays. The
/// inputs are read twice. Records are compared by 128 bits of a hash, of which neither memory nor disk holds
/// more than 24 bytes for each; the memory that they need beyond --memory is taken on disk.
///
/// position compares board, hands and side to move; position+move also the stored move; content all that a
/// record says; bytes everything, padding included. Games are compared by their bytes.
///
/// With --average the record that is written speaks for all its copies: its evaluation is their mean, rounded half away
/// from zero; its result the nearest to the mean of theirs, a draw standing half way; its move the most frequent one,
/// of several the first. All else is the first copy's. Evaluations of mates, 29000 and more, are proofs and no part of
/// a mean with centipawns: where one side mates in some copies the mean is that of these.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen dedup 2024.psv 2025.psv -o all.psv
  kyokumen dedup new.psv -o only-new.psv --reference old/*.psv test.hcpe
  kyokumen dedup all.psv -o mean.psv --average
  kyokumen dedup all.hcpe -o unique.hcpe --key position+move --memory 8G --tmp-dir /scratch

Exit status: 0 done, 1 failed, 2 usage, 3 done but nothing was read, or bad records were skipped or quarantined, \
129, 130 or 143 interrupted.")]
pub(super) struct DedupArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Leave out also what is equal to a record of these files, in any formats: new archives without what the old ones,
    /// or a test set, hold
    #[arg(long, value_name = "FILE", num_args = 1.., value_parser = location())]
    reference: Vec<PathBuf>,

    /// What is compared [default: position]
    #[arg(
        long,
        value_name = "position|position+move|content|bytes",
        default_value_t,
        hide_default_value = true
    )]
    key: DedupKey,

    /// Write the mean evaluation and result of all copies of a record, and their most frequent move
    #[arg(long)]
    average: bool,
}

pub(super) fn run(args: &DedupArgs) -> anyhow::Result<ExitStatus> {
    let request = args.common.request(args.output.output.clone(), None);
    let request = RearrangeRequest { references: args.reference.clone(), ..request };
    let plan = RearrangePlan::new(request);
    let settings = DedupSettings { key: args.key, average: args.average };
    args.common.run(plan, |plan, progress, cancel| dedup(plan, settings, progress, cancel))
}
