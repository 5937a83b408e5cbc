//! `kyokumen inspect`.

mod args;
mod described;
mod page;
mod text;

use std::io::{self, BufWriter, Write};
use std::sync::atomic::AtomicBool;

pub(super) use self::args::InspectArgs;
use self::described::Described;
use self::text::{write_header, write_record};
use crate::cli::call::Call;
use crate::cli::exit::ExitStatus;
use crate::cli::message::say;
use crate::ops::inspect::Inspection;
use crate::records::claims::FileClaims;
use crate::records::opening::{self, Unreadable};
use crate::records::source::Input;

/// Counts of shown records; `records` includes the bad ones.
#[derive(Clone, Copy, Default)]
struct ShownCounts {
    records: u64,
    bad: u64,
}

pub(super) fn call(args: InspectArgs) -> anyhow::Result<Call> {
    let (inputs, claims) = open(&args)?;
    if let Some(path) = args.html.clone() {
        return Ok(Call::returning(move |caller| {
            page::write(&args, &path, inputs, claims, caller.cancel)?;
            Ok(Vec::<()>::new())
        }));
    }
    Ok(Call::reading(move |_| {
        let mut records = Vec::new();
        for input in inputs {
            let file = input.name.clone();
            Inspection::from_input(input, args.choice())?.for_each(|found| {
                let described = Described::new(&file, found, args.hex);
                records.push(serde_json::to_value(described)?);
                Ok::<(), anyhow::Error>(())
            })?;
        }
        Ok(records)
    }))
}

fn open(args: &InspectArgs) -> anyhow::Result<(Vec<Input>, FileClaims)> {
    args.check()?;
    let (from, dialect) = (args.from, args.dialect);
    let inputs = opening::inputs(&args.files, from, dialect, Unreadable::Accepted)?;
    let claims = FileClaims::reading(&inputs)?;
    Ok((inputs, claims))
}

pub(super) fn run(args: &InspectArgs) -> anyhow::Result<ExitStatus> {
    let (inputs, claims) = open(args)?;
    let shown = match &args.html {
        Some(path) => {
            let shown = page::write(args, path, inputs, claims, &AtomicBool::new(false))?;
            say!("  {}", path.display());
            shown
        }
        None => show(args, inputs)?,
    };
    // An empty range or sample is not an error.
    let may_be_empty = args.range.is_some() || args.sample == Some(0);
    let records = if may_be_empty { shown.records.max(1) } else { shown.records };
    Ok(ExitStatus::of_records(records, shown.bad))
}

fn show(args: &InspectArgs, inputs: Vec<Input>) -> anyhow::Result<ShownCounts> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut shown = ShownCounts::default();
    for (number, input) in inputs.into_iter().enumerate() {
        let file = input.name.clone();
        let inspection = Inspection::from_input(input, args.choice())?;
        if !args.json {
            let between = if number > 0 { "\n" } else { "" };
            write!(out, "{between}")?;
            write_header(&mut out, &inspection.header)?;
        }
        let ended = inspection.for_each(|found| {
            let described = Described::new(&file, found, args.hex);
            shown.bad += u64::from(described.error.is_some());
            shown.records += 1;
            if args.json {
                serde_json::to_writer(&mut out, &described).map_err(io::Error::from)?;
                writeln!(out)?;
            } else {
                write_record(&mut out, found, &described, args.kanji)?;
            }
            Ok::<(), anyhow::Error>(())
        });
        out.flush()?;
        ended?;
    }
    Ok(shown)
}
