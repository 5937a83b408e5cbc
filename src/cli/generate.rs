//! `kyokumen generate`.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use anyhow::Context;
use clap::Args;

use super::message::say;
use super::option::{location, whole_number};
use super::report::records;
use crate::cli::exit::{ExitStatus, Interrupted, Usage};
use crate::format::{Field, Format};
use crate::ops::generate::{GenerateSettings, Generator, invented};
use crate::records::claims::FileClaims;
use crate::records::format_name::FormatName;
use crate::records::opening::check_compression;
use crate::records::output_kind::OutputKind;
use crate::records::sink::{OutputPlan, Sinks};
use crate::storage::signals::Interrupt;

/// Make positions of random games, with the move played and the game's result
///
/// The same seed makes the same bytes everywhere. Games begin at the start position; both sides play at
/// random, in some games with a liking for checks or captures. A game ends with mate (a win), with a
/// position that comes for the fourth time (a draw, or a loss by perpetual check), or at the move limit (a
/// draw). Nobody evaluates the positions: their evaluation is 0.
#[derive(Args)]
pub(super) struct GenerateArgs {
    /// Records to make
    #[arg(long, value_name = "N", value_parser = whole_number::<u64>(..))]
    count: u64,

    /// Seed of the random numbers [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_parser = whole_number::<u64>(..))]
    seed: u64,

    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_parser = location())]
    output: PathBuf,

    /// Format of the file, one of `kyokumen formats`, as in psv or psv.zst [default: by extension]
    #[arg(long, value_name = "FORMAT")]
    to: Option<FormatName>,

    /// Take one of so many positions of each game [default: 1]
    #[arg(long, default_value_t = 1, hide_default_value = true, value_name = "PLIES", value_parser = whole_number::<usize>(1..=MAX_PLIES))]
    every: usize,

    /// Moves after which a game is a draw [default: 256]
    #[arg(long, default_value_t = 256, hide_default_value = true, value_name = "MOVES", value_parser = whole_number::<usize>(1..=MAX_PLIES))]
    max_moves: usize,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// The largest ply number of a record.
const MAX_PLIES: u64 = u16::MAX as u64;

/// Records per write.
const RECORDS_AT_A_TIME: usize = 1 << 12;

pub(super) fn run(args: &GenerateArgs) -> anyhow::Result<ExitStatus> {
    let format = args.format()?;
    let recipe = GenerateSettings {
        count: args.count,
        seed: args.seed,
        every: args.every,
        most_moves: args.max_moves,
    };
    let mut generator = Generator::new(recipe);
    write(&mut generator, format, &args.output, args.force)?;
    report(&generator, args.count, format.format);
    Ok(ExitStatus::Done)
}

impl GenerateArgs {
    fn format(&self) -> Result<FormatName, Usage> {
        let by_name = || FormatName::from_file_name(&self.output.to_string_lossy());
        let format = self.to.or_else(by_name).ok_or_else(|| {
            let output = self.output.display();
            Usage(format!("the name of {output} does not say its format; say it with --to"))
        })?;
        check_compression(format).map_err(|error| Usage(error.to_string()))
    }
}

fn write(
    generator: &mut Generator,
    format: FormatName,
    path: &Path,
    force: bool,
) -> anyhow::Result<()> {
    let kind = OutputKind::Kept;
    let lone =
        FileClaims::reading(&[]).and_then(|mut claims| claims.lone_output(kind, path, force));
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let plan = OutputPlan {
        compression: format.compression,
        header: format.format.header(),
        separator: format.format.separator(),
        ..lone?
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
    let ends: Vec<String> =
        generator.ends().iter().map(|(end, games)| format!("{games} by {end}")).collect();
    let how = if ends.is_empty() { "" } else { "; how the games ended: " };
    say!("{}{how}{}", records(count), ends.join(", "));
    if invented(format).contains(Field::EvalCp) {
        say!("evaluations are 0: nobody evaluated these positions");
    }
}
