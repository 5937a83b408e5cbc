//! `kyokumen generate`.

use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::Context;
use clap::Args;

use super::advice::with_remedies;
use super::message::say;
use super::option::{location, whole_number};
use super::report::records;
use crate::cli::exit::{ExitStatus, Interrupted, Usage};
use crate::error::Error;
use crate::format::{Field, Format};
use crate::ops::generate::{GenerateSettings, Generator, filled_in};
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::opening::check_compression;
use crate::records::output_kind::OutputKind;
use crate::records::sink::{OutputPlan, Sinks};
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;

/// Generate test records from random games, with the moves played and the results
///
/// The same seed produces the same bytes on every machine. Games begin at the start position. Both sides play random
/// moves; in some games they prefer checks or captures. A game ends by mate (a win), by the fourth occurrence of a
/// position (a draw, or a loss by perpetual check), or at the move limit (a draw). The positions are not evaluated:
/// their evaluation is 0.
#[derive(Args)]
pub(super) struct GenerateArgs {
    /// Number of records to generate
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..))]
    count: u64,

    /// Random seed [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_parser = whole_number::<u64>(..))]
    seed: u64,

    /// Output file; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_parser = location())]
    output: PathBuf,

    /// Format of the output, such as psv or psv.zst; see `kyokumen formats` [default: from the extension]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    /// Keep every PLIES-th position of each game, from a random start [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_name = "PLIES", value_parser = whole_number::<usize>(1..=MAX_PLIES))]
    every: usize,

    /// Number of moves after which a game is a draw [default: 256]
    #[arg(long, default_value_t = 256, hide_default_value = true, value_name = "MOVES", value_parser = whole_number::<usize>(1..=MAX_PLIES))]
    max_moves: usize,

    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

/// The largest ply number of a record.
const MAX_PLIES: u64 = u16::MAX as u64;

/// Number of records per write.
const RECORDS_AT_A_TIME: usize = 1 << 12;

pub(super) fn run(args: &GenerateArgs) -> anyhow::Result<ExitStatus> {
    let format = args.format()?;
    let settings = GenerateSettings {
        count: args.count,
        seed: args.seed,
        every: args.every,
        most_moves: args.max_moves,
    };
    let mut generator = Generator::new(settings);
    write(&mut generator, format, &args.output, args.force)?;
    report(&generator, args.count, format.format);
    Ok(ExitStatus::Done)
}

impl GenerateArgs {
    fn format(&self) -> Result<FormatName, Usage> {
        let by_name = || FormatName::from_file_name(&self.output.to_string_lossy());
        let format =
            self.to.or_else(by_name).ok_or_else(|| Error::unknown_output_format(&self.output));
        format.and_then(check_compression).map_err(|error| Usage(with_remedies(&error)))
    }
}

fn write(
    generator: &mut Generator,
    format: FormatName,
    path: &Path,
    force: bool,
) -> anyhow::Result<()> {
    let kind = OutputKind::Kept;
    let output =
        FileClaims::reading(&[]).and_then(|mut claims| claims.lone_output(kind, path, force));
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let plan = OutputPlan {
        compression: format.compression,
        header: format.format.header(),
        separator: format.format.separator(),
        ..output?
    };
    let mut sinks = Sinks::create(&[plan])?;
    loop {
        let encoded = generator.encode_next(format.format, RECORDS_AT_A_TIME)?;
        if encoded.is_empty() {
            break;
        }
        sinks.write(kind, &encoded)?;
        if interrupt.cancel().load(Ordering::Relaxed) {
            return Err(Interrupted::removed(interrupt.signal().unwrap_or(0)).into());
        }
    }
    Ok(sinks.finish()?.commit()?)
}

fn report(generator: &Generator, count: u64, format: Format) {
    let games = generator.ends().values().sum::<u64>();
    if games == 0 {
        say!("{}", records(count));
    } else {
        let verbs = iter::once("ended by").chain(iter::repeat("by"));
        let ends = generator.ends().iter().zip(verbs);
        let ends: Vec<_> = ends.map(|((end, number), by)| format!("{number} {by} {end}")).collect();
        let ends = ends.join(", ");
        say!("{} from {}: {ends}", records(count), quantity(games, "game"));
    }
    if filled_in(format).contains(Field::EvalCp) {
        say!("all evaluations are 0, because the positions were not evaluated");
    }
}
