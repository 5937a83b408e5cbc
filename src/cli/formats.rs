//! `kyokumen formats`.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::report::{json_line, terminal_width, wrapped};
use crate::cli::exit::ExitStatus;
use crate::format::{Field, Fields, Format, MAX_CHUNK_BYTES, MAX_LINE_BYTES};
use crate::records::source::MAX_WINDOW_MIB;

/// Width of the lines of text.
const TEXT_WIDTH: usize = 96;

/// List the file formats with their fields
///
/// The columns are the name, the chunk (the smallest part of a file that can be decoded alone), and the fields that
/// records hold besides the position. "needs" lists the fields that each record must have. The option --fill of
/// `convert` supplies missing ones.
#[derive(Args)]
pub(super) struct FormatsArgs {
    /// Print one JSON object per format
    #[arg(long)]
    json: bool,
}

/// One line of `--json`.
#[derive(Serialize)]
struct Described {
    format: &'static str,
    extensions: Vec<&'static str>,
    #[serde(rename = "unit")]
    chunk: String,
    holds: Vec<&'static str>,
    needs: Vec<&'static str>,
    written: bool,
    /// Whether endings are read but not written.
    #[serde(skip)]
    only_reads_ending: bool,
}

pub(super) fn run(args: &FormatsArgs) -> anyhow::Result<ExitStatus> {
    let formats = Format::ALL.map(Described::new);
    if args.json {
        formats.iter().try_for_each(json_line)?;
        return Ok(ExitStatus::Done);
    }
    let width = terminal_width();
    // A narrow terminal has no room for a column of fields.
    let indent = if width < 60 { 2 } else { 24 };
    let mut out = io::stdout().lock();
    let mut line = |line: &str, indent| writeln!(out, "{}", wrapped(line, width, indent));
    line(&format!("{:<8} {:<14} holds besides the position", "format", "chunk"), indent)?;
    for Described { format, chunk, holds, needs, written, only_reads_ending, .. } in &formats {
        let shown = |&name: &&'static str| match name {
            "ending" if *only_reads_ending => "ending (only read)",
            name => name,
        };
        let holds = holds.iter().map(shown).collect::<Vec<_>>().join(", ");
        let holds = if holds.is_empty() { "nothing" } else { &*holds };
        line(&format!("{format:<8} {chunk:<14} {holds}"), indent)?;
        if !needs.is_empty() {
            line(&format!("{:<indent$}needs {}", "", needs.join(", ")), indent)?;
        }
        if !written {
            line(&format!("{:<indent$}is only read", ""), indent)?;
        }
    }
    let width = width.min(TEXT_WIDTH);
    let mut paragraph = |text: &str| writeln!(out, "\n{}", wrapped(text, width, 0));
    paragraph(
        "All formats may be compressed: .zst is read and written, .gz and .xz are only read.",
    )?;
    paragraph(&format!(
        "Longer lines and groups are bad records: the limit is {} KiB for a line, {} MiB for a game or \
         another group of records, and 64 KiB for a group in plain and db. The limit for the window of a \
         zstd frame and the dictionary of an xz block is {MAX_WINDOW_MIB} MiB.",
        MAX_LINE_BYTES >> 10,
        MAX_CHUNK_BYTES >> 20,
    ))?;
    Ok(ExitStatus::Done)
}

impl Described {
    fn new(format: Format) -> Self {
        let names = |fields: Fields| fields.iter().map(Field::name).collect();
        let chunk = match (format.record_len(), format.is_lines(), format.holds_games()) {
            (Some(len), ..) => format!("{len} bytes"),
            (None, true, true) => "a game a line".to_owned(),
            (None, true, false) => "a line".to_owned(),
            (None, false, true) => "a game".to_owned(),
            (None, false, false) => "some lines".to_owned(),
        };
        Self {
            format: format.name(),
            extensions: format.extensions(),
            chunk,
            holds: names(format.fields()),
            needs: names(format.needs()),
            written: format.is_written(),
            only_reads_ending: format.fields().contains(Field::Ending)
                && format.endings().is_empty(),
        }
    }
}
