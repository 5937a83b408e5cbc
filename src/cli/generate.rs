//! `kyokumen generate`.

use std::iter;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::Args;
use serde_json::json;

use super::advice::with_remedies;
use super::call::Call;
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

pub(super) fn call(args: GenerateArgs) -> anyhow::Result<Call> {
    let format = args.format()?;
    let plan = args.output(format)?;
    Ok(Call::returning(move |caller| {
        let mut generator = args.generator();
        if !write(&mut generator, format, plan, caller.cancel)? {
            return Err(Error::interrupted().into());
        }
        Ok(json!({"records": args.count, "games": generator.ends()}))
    }))
}

pub(super) fn run(args: &GenerateArgs) -> anyhow::Result<ExitStatus> {
    let format = args.format()?;
    let mut generator = args.generator();
    let plan = args.output(format)?;
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    if !write(&mut generator, format, plan, &interrupt.cancel())? {
        return Err(Interrupted::removed(interrupt.signal().unwrap_or(0)).into());
    }
    report(&generator, args.count, format.format);
    Ok(ExitStatus::Done)
}

impl GenerateArgs {
    fn generator(&self) -> Generator {
        Generator::new(GenerateSettings {
            count: self.count,
            seed: self.seed,
            every: self.every,
            most_moves: self.max_moves,
        })
    }

    fn output(&self, format: FormatName) -> Result<OutputPlan, Error> {
        let mut claims = FileClaims::reading(&[])?;
        Ok(OutputPlan {
            compression: format.compression,
            header: format.format.header(),
            separator: format.format.separator(),
            ..claims.lone_output(OutputKind::Kept, &self.output, self.force)?
        })
    }

    fn format(&self) -> Result<FormatName, Usage> {
        let by_name = || FormatName::from_file_name(&self.output.to_string_lossy());
        let format =
            self.to.or_else(by_name).ok_or_else(|| Error::unknown_output_format(&self.output));
        format.and_then(check_compression).map_err(|error| Usage(with_remedies(&error)))
    }
}

/// Writes all records. Returns false and leaves no file if it is cancelled.
fn write(
    generator: &mut Generator,
    format: FormatName,
    plan: OutputPlan,
    cancel: &AtomicBool,
) -> Result<bool, Error> {
    let mut sinks = Sinks::create(&[plan])?;
    loop {
        let encoded = generator.encode_next(format.format, RECORDS_AT_A_TIME);
        let encoded = encoded.map_err(|error| Error::internal(error.to_string()))?;
        if encoded.is_empty() {
            break;
        }
        sinks.write(OutputKind::Kept, &encoded)?;
        if cancel.load(Ordering::Relaxed) {
            return Ok(false);
        }
    }
    sinks.finish()?.commit()?;
    Ok(true)
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
