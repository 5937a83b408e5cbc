//! `kyokumen split`.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::call::Call;
use super::json_lines;
use super::option::{location, whole_number, word};
use super::rearrange_args::RearrangeArgs;
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus};
use crate::error::Error;
use crate::ops::rearrange::{
    MAX_PARTS, PartLimit, RearrangePlan, RearrangeRequest, SplitBy, SplitSettings, Weights, split,
    split_up_to,
};
use crate::records::format_name::FormatName;
use crate::storage::memory::Memory;
use crate::storage::quantity::quantity;

/// Split files into parts
///
/// The parts are named NAME-00001-of-00010.psv and so on. --by round-robin writes the first record to the first part,
/// the second to the second, and so on. --by ranges writes contiguous ranges, the same as the shards of `filter
/// --shard`. --size and --records fill one part after the other up to the limit. With them, the inputs are read twice:
/// once to count the parts, once to write them.
///
/// --by game keeps the records of a game together, and --by position keeps equal positions together, so that training
/// and validation data have none in common. Which part receives a game or position depends only on the content of the
/// game or position, --weights and --seed. This part stays the same if the input grows or a filter is given. The
/// sizes match the weights approximately.
///
/// --by game needs the records of each game in a row. A game ends where the move number does not increase or the result
/// changes. In formats without move numbers, such as hcpe, it also ends at the initial position, and where the move
/// does not lead to the next record and the board comes nearer to the initial position. In doubt, games stay together.
/// Records that are not in game order are refused. If some games seem to begin in the middle, a warning has their
/// number. Filter after the split, or with it.
///
/// Records are copied byte for byte. In formats that hold games, whole games are distributed. A manifest is written
/// next to the parts.
#[derive(Args)]
#[command(mut_arg("memory", |arg| arg.help("Memory for records that are read ahead, and for compressed parts that are written at the same time [default: 2G]")))]
#[command(mut_arg("seed", |arg| arg.help("Seed of --by game, --by position and --sample [default: 1]")))]
#[command(group = ArgGroup::new("how_many").required(true).multiple(true).args(["parts", "size", "records", "weights", "names"]))]
#[command(after_long_help = format!("\
Examples:
  kyokumen split all.psv -o parts --parts 10
  kyokumen split all.psv -o parts --parts 1000 --by ranges --to psv.zst
  kyokumen split all.csa -o parts --size 1G
  kyokumen split all.psv -o data --by game --weights 95,5 --names train,valid

{EXIT_STATUS_HELP}"))]
pub(super) struct SplitArgs {
    #[command(flatten)]
    common: RearrangeArgs,

    /// Folder for the parts, created if missing
    #[arg(short, long, value_name = "DIR", value_parser = location())]
    output: PathBuf,

    /// Number of parts
    #[arg(long, value_name = "N", value_parser = whole_number::<u32>(1..=MAX_PARTS.into()))]
    parts: Option<u32>,

    /// Relative sizes of the parts as whole numbers, for --by game and --by position [default: equal]
    #[arg(long, value_name = "W,W,…")]
    weights: Option<Weights>,

    /// Names of the parts, with --by: all.psv becomes all-NAME.psv [default: 00001-of-00010 and so on]
    #[arg(long, value_name = "NAME,NAME,…", value_delimiter = ',', requires = "by")]
    names: Vec<String>,

    /// Maximum size of a part before compression, in bytes or with the suffix K, M, G or T for powers of 1024
    #[arg(long, value_name = "SIZE", conflicts_with_all = ["parts", "records", "weights", "names"])]
    size: Option<Memory>,

    /// Maximum number of records of a part
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroU64>(1..), conflicts_with_all = ["parts", "weights", "names"])]
    records: Option<NonZeroU64>,

    /// How to distribute records to the parts; not for --size and --records [default: round-robin]
    #[arg(long, value_name = "round-robin|ranges|game|position", value_parser = word::<SplitBy>, conflicts_with_all = ["size", "records"])]
    by: Option<SplitBy>,

    /// Format of the parts: the format of the inputs, compressed or not, as in psv.zst [default: same as the first
    /// input]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    /// Base name of the parts [default: from the first input]
    #[arg(long)]
    name: Option<String>,
}

pub(super) fn call(args: &SplitArgs) -> anyhow::Result<Call> {
    if let Some(limit) = args.limit() {
        let plan = RearrangePlan::in_uncounted_parts(args.request())?;
        return Ok(Call::rearrangement(plan, move |plan, progress, cancel| {
            split_up_to(plan, limit, progress, cancel)
        }));
    }
    let (plan, settings) = (args.plan(args.request())?, args.settings());
    Ok(Call::rearrangement(plan, move |plan, progress, cancel| {
        split(plan, &settings, progress, cancel)
    }))
}

pub(super) fn run(args: &SplitArgs) -> anyhow::Result<ExitStatus> {
    let request = args.request();
    if let Some(limit) = args.limit() {
        let plan = RearrangePlan::in_uncounted_parts(request);
        let split =
            |plan: &_, progress: &mut _, cancel: &_| split_up_to(plan, limit, progress, cancel);
        return args.common.run(plan, split);
    }
    let settings = args.settings();
    let plan = args.plan(request);
    args.common.run(plan, |plan, progress, cancel| split(plan, &settings, progress, cancel))
}

impl SplitArgs {
    fn request(&self) -> RearrangeRequest {
        let request = self.common.request_without_tmp_dir(self.output.clone(), self.to);
        json_lines::set_run_over(self.name.as_ref(), &request.inputs, None);
        RearrangeRequest { name: self.name.clone(), ..request }
    }

    /// The limit of each part, if the number of parts is not known.
    fn limit(&self) -> Option<PartLimit> {
        let size = self.size.map(|size| PartLimit::Bytes(size.bytes()));
        size.or(self.records.map(|records| PartLimit::Records(records.get())))
    }

    fn settings(&self) -> SplitSettings {
        let by = self.by.unwrap_or_default();
        SplitSettings { by, weights: self.weights.clone(), seed: self.common.seed() }
    }

    /// A plan whose number of parts is known.
    fn plan(&self, request: RearrangeRequest) -> Result<RearrangePlan, Error> {
        let names = self.names.len();
        let weights = self.weights.as_ref().map_or(names, Weights::len);
        let parts = self.parts.map_or(weights, |parts| parts as usize);
        if names == 0 {
            return RearrangePlan::in_parts(request, u32::try_from(parts).unwrap_or(u32::MAX));
        }
        if names != parts {
            return Err(Error::usage(format!(
                "{} given for {}; --names needs one name per part",
                quantity(names, "name"),
                quantity(parts, "part")
            )));
        }
        RearrangePlan::in_named_parts(request, &self.names)
    }
}
