//! `kyokumen marubatsu dataset`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;

use super::super::option::word;
use super::output::write_file;
use crate::marubatsu::Solution;

/// Write all 5,478 positions as a table, with their values and best moves
///
/// Columns: `board`, `to_move`, `value` (seen from ○), `distance` (plies to the end), `best_moves` (numbers of squares),
/// `symmetry_class` (0 to 764). Rows stand by ply, and those of a ply in the order of their boards.
#[derive(Args)]
pub(super) struct DatasetArgs {
    /// File of the table, or a folder for it, in which it is named marubatsu; `-` is standard output
    #[arg(short, long, value_name = "DIR|FILE")]
    output: PathBuf,

    /// Format: jsonl [default: jsonl]
    #[arg(long, default_value = "jsonl", hide_default_value = true,
          value_name = "FORMAT", value_parser = word::<TableFormat>)]
    to: TableFormat,

    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

/// Formats of tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TableFormat {
    Jsonl,
}

impl TableFormat {
    const fn extension(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
        }
    }
}

pub(super) fn run(args: &DatasetArgs) -> anyhow::Result<()> {
    let solution = Solution::new();
    let mut rows = Vec::new();
    match args.to {
        TableFormat::Jsonl => {
            for solved in solution.positions() {
                serde_json::to_writer(&mut rows, solved)?;
                rows.push(b'\n');
            }
        }
    }
    if args.output == Path::new("-") {
        return Ok(io::stdout().write_all(&rows)?);
    }
    let path = file(&args.output, args.to.extension());
    write_file(&path, &rows, args.force)?;
    eprintln!("{} positions  {}", solution.positions().len(), path.display());
    Ok(())
}

/// The file itself, if it has the format's extension; otherwise one in this folder.
fn file(output: &Path, extension: &str) -> PathBuf {
    let is_file = output.extension().is_some_and(|found| found == extension);
    if is_file { output.to_owned() } else { output.join(format!("marubatsu.{extension}")) }
}
