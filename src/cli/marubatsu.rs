//! `kyokumen marubatsu`: the commands of the crate `kyokumen-marubatsu`, and the table of all positions.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit::{ExitStatus, Usage};
use super::message::say;
use super::option::word;
use super::report::{json_line, milliseconds};
use crate::error::Error;
use crate::marubatsu::Solution;
use crate::marubatsu::cli::{self, Command};
use crate::ops::page::write_page;
use crate::ops::solved_marubatsu::{SOLVED_MARUBATSU, marubatsu_row};
use crate::records::claims::FileClaims;
use crate::records::output_kind::OutputKind;
use crate::records::table_file::TableFile;
use crate::storage::table::TableFormat;
use crate::storage::{files, platform};

/// Solve and play tic-tac-toe: the complete tree, searches, players and matches
///
/// Boards are written row by row from the top with `o`, `x` or `.` for each square: `oo./.x./...`. ○ moves first.
/// Squares are numbered 0 to 8, row by row. Values are seen from ○: 1 if ○ wins, -1 if × wins, 0 for a draw.
#[derive(Args)]
pub(super) struct MarubatsuArgs {
    #[command(subcommand)]
    command: MarubatsuCommand,
}

#[derive(Subcommand)]
enum MarubatsuCommand {
    #[command(flatten)]
    Crate(Command),
    Dataset(DatasetArgs),
}

/// Write all 5,478 positions as a table, with their values and best moves
///
/// The columns are `board`, `to_move`, `value` (seen from ○), `distance` (plies to the end), `best_moves` (square
/// numbers) and `symmetry_class` (0 to 764). Rows are sorted by ply, then by board.
#[derive(Args)]
struct DatasetArgs {
    /// Output file, or a folder for a file named marubatsu; `-` is standard output, for JSON lines only
    #[arg(short, long, value_name = "DIR|FILE")]
    output: PathBuf,

    /// Format of the table [default: jsonl]
    #[arg(
        long,
        default_value = "jsonl",
        hide_default_value = true,
        value_name = "parquet|jsonl|npz",
        value_parser = word::<TableFormat>
    )]
    to: TableFormat,

    /// Replace an existing file
    #[arg(long)]
    force: bool,

    /// Print a report of the written table as one JSON object
    #[arg(long)]
    json: bool,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    positions: usize,
    elapsed_ms: f64,
}

pub(super) fn run(args: &MarubatsuArgs) -> anyhow::Result<ExitStatus> {
    match &args.command {
        MarubatsuCommand::Crate(command) => {
            let text = command.run(write_files).map_err(usage)?;
            io::stdout().write_all(text.as_bytes())?;
        }
        MarubatsuCommand::Dataset(args) => dataset(args)?,
    }
    Ok(ExitStatus::Done)
}

fn usage(error: anyhow::Error) -> anyhow::Error {
    error.downcast::<cli::Usage>().map_or_else(|other| other, |it| Usage(it.to_string()).into())
}

/// Writes all files. All are checked before the first is written.
fn write_files(files: &[(&Path, String)], force: bool) -> anyhow::Result<()> {
    let mut claims = FileClaims::reading(&[])?;
    let plans = files.iter().map(|(path, _)| claims.lone_output(OutputKind::Kept, path, force));
    let plans = plans.collect::<Result<Vec<_>, Error>>()?;
    for (plan, (path, text)) in plans.into_iter().zip(files) {
        create_folder_of(path)?;
        write_page(plan, text)?;
    }
    Ok(())
}

/// Creates the folder of a file. Objects in an object store have none.
fn create_folder_of(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|_| !files::is_object(path));
    folder.map_or(Ok(()), |folder| {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))
    })
}

fn dataset(args: &DatasetArgs) -> anyhow::Result<()> {
    let started = Instant::now();
    let (solution, table) = (Solution::new(), &SOLVED_MARUBATSU);
    if args.output == Path::new("-") {
        if args.json {
            return Err(Usage(
                "--json cannot be used together with -o -: the rows go to standard output"
                    .to_owned(),
            )
            .into());
        }
        if args.to != TableFormat::Jsonl {
            return Err(Usage(format!("{} cannot be written to standard output", args.to)).into());
        }
        let mut lines = Vec::new();
        for solved in solution.positions() {
            args.to.push_row(table, &marubatsu_row(solved), &mut lines);
        }
        return Ok(io::stdout().write_all(&lines)?);
    }
    let path = file(&args.output, args.to.name());
    let plan = TableFile::plan(&path, table, args.to, args.force)?;
    create_folder_of(&path)?;
    let mut file = TableFile::create(plan, table, args.to)?;
    solution.positions().iter().try_for_each(|solved| file.push(&marubatsu_row(solved)))?;
    file.finish()?;
    let positions = solution.positions().len();
    if args.json {
        let elapsed_ms = milliseconds(started.elapsed());
        json_line(&Report { file: path, positions, elapsed_ms })?;
    } else {
        say!("{positions} positions  {}", path.display());
    }
    Ok(())
}

/// Returns `output` if it has the extension of the format or is a pipe or device. Otherwise it is a folder; returns a
/// file in it.
fn file(output: &Path, extension: &str) -> PathBuf {
    let is_file = output.extension().is_some_and(|found| found == extension);
    if is_file || platform::is_pipe(output) {
        output.to_owned()
    } else {
        output.join(format!("marubatsu.{extension}"))
    }
}
