//! `kyokumen-bench archives`: records per second of the operations on archives, from files to files.
//!
//! All files, including temporary ones, are in the system's folder for temporary files (`TMPDIR`). Outputs are flushed
//! to disk. If the disk is slow, use a folder in memory to measure the work alone.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;

use crate::folder::Folder;
use crate::rounds::{Rounds, timed, write_summary};
use kyokumen::Error;
use kyokumen::engine::progress::Progress;
use kyokumen::format::Format;
use kyokumen::ops::rearrange::{
    DedupKey, DedupSettings, OperationManifest, RearrangePlan, RearrangeRequest, Resources,
    SampleSize, SplitBy, Until, dedup, interleave, sample, shuffle, split,
};
use kyokumen::records::filters::Probability;
use kyokumen::storage::memory::Memory;

/// Records per second of shuffle, dedup, split, sample and interleave
#[derive(Args)]
pub(crate) struct ArchivesArgs {
    /// Number of records of random games
    #[arg(long, default_value_t = 5_000_000)]
    count: u64,

    /// Format of the records
    #[arg(long, default_value_t = Format::Hcp)]
    format: Format,

    /// Threads; 0 is all cores
    #[arg(long, default_value_t = 0)]
    threads: usize,

    #[command(flatten)]
    rounds: Rounds,
}

type Operation = fn(&RearrangePlan) -> Result<OperationManifest, Error>;

/// The measured operations. The flag limits the memory to a quarter of the file size.
const OPERATIONS: [(&str, bool, Operation); 8] = [
    ("shuffle", false, shuffled),
    ("shuffle, a quarter of the memory", true, shuffled),
    ("dedup --key position", false, |plan| deduped(plan, DedupKey::Position)),
    ("dedup --key position, a quarter of the memory", true, |plan| {
        deduped(plan, DedupKey::Position)
    }),
    ("dedup --key bytes", false, |plan| deduped(plan, DedupKey::Bytes)),
    ("sample --rate 0.1", false, sampled),
    ("split --parts 4", false, |plan| {
        split(plan, &SplitBy::RoundRobin.into(), &mut none(), &NEVER)
    }),
    ("interleave", false, |plan| interleave(plan, None, Until::All, 1, &mut none(), &NEVER)),
];

static NEVER: AtomicBool = AtomicBool::new(false);

fn none() -> Progress {
    Progress::none()
}

fn shuffled(plan: &RearrangePlan) -> Result<OperationManifest, Error> {
    shuffle(plan, 1, &mut none(), &NEVER)
}

fn deduped(plan: &RearrangePlan, key: DedupKey) -> Result<OperationManifest, Error> {
    dedup(plan, DedupSettings { key, average: false }, &mut none(), &NEVER)
}

fn sampled(plan: &RearrangePlan) -> Result<OperationManifest, Error> {
    let rate = Probability::new(0.1).expect("0.1 is a probability");
    sample(plan, SampleSize::Rate(rate), 1, &mut none(), &NEVER)
}

pub(crate) fn run(args: &ArchivesArgs) -> anyhow::Result<()> {
    let folder = Folder::create()?;
    let input = folder.generated(args.format, args.count)?;
    let quarter = Memory::of_bytes(input.metadata()?.len() / 4);
    for (name, is_small, operation) in OPERATIONS {
        let memory = if is_small { quarter } else { Resources::default().memory };
        let is_split = name.starts_with("split");
        let round = || -> anyhow::Result<((), Duration)> {
            let request = RearrangeRequest {
                inputs: vec![input.clone()],
                output: folder.path(if is_split { "parts" } else { "out" }),
                force: true,
                resources: Resources {
                    threads: args.threads,
                    memory,
                    tmp_dir: Some(folder.path("")),
                },
                ..RearrangeRequest::default()
            };
            let plan = if is_split {
                RearrangePlan::in_parts(request, 4)?
            } else {
                RearrangePlan::new(request)?
            };
            let (manifest, elapsed) = timed(|| operation(&plan));
            manifest?;
            Ok(((), elapsed))
        };
        let ((), elapsed) = args.rounds.measure(round)?;
        write_summary(name.to_owned(), args.count, args.threads, elapsed, args.rounds)?;
    }
    Ok(())
}
