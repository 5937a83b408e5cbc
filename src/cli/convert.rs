//! `kyokumen convert`.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::call::Call;
use super::exit::run_error;
use super::json_lines;
use super::message::say;
use super::option::heading;
use super::record_args::{InputArgs, RecordArgs, RunArgs};
use super::report::{self, records};
use crate::cli::exit::{EXIT_STATUS_HELP, ExitStatus, Usage};
use crate::error::ErrorKind;
use crate::format::{ConversionPlan, Field, Fields, Fill, Format};
use crate::ops::convert::{
    ConvertPlan, ConvertReport, ConvertRequest, ConvertSettings, MakeGames, convert,
};
use crate::records::sink::is_standard_output;
use crate::storage::path_text::path_of;
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;

/// Convert files of positions and games between formats
///
/// `kyokumen formats` lists the formats. Some hold single records, others whole games. If games are converted to
/// records, each move becomes a record. If records are converted to games, consecutive records are joined into one game
/// if each leads to the next.
///
/// If the output needs a field that the input lacks, its value must be given with --fill. Three values need no --fill.
/// An SFEN gets move number 1 if the ply is unknown. A game with a winner but no ending gets a resignation, or an
/// interruption if the winner is to move. A move in hcpe3 gets the visit count 1. Fields that the output can never hold
/// are listed on standard error before the run. All lost fields are counted after it.
///
/// If the format stays the same, records are copied byte for byte, including padding and the order of the pieces in
/// hand; --canonical re-encodes them. Between kif and kifu, and between ki2 and ki2u, only the text encoding and line
/// ends change. Between KIF and KI2, games are rewritten. Names, times, comments and variations are kept if the output
/// can hold them; losses are counted.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = format!("\
Examples:
  kyokumen convert games.psv -o games.hcpe
  kyokumen convert a.hcpe b.hcpe.zst -o all.psv --fill ply=0
  zstd -dc games.psv.zst | kyokumen convert - --from psv -o - --to sfen | head

  kyokumen convert all.psv -o all.npz --max-abs-eval 2000

  kyokumen convert all.psv -o part.psv --every 100
  kyokumen convert all.psv -o quiet.psv --drop-in-check --legal-move --dedup --result black,white

  kyokumen convert all.psv -o rescaled.psv --eval-scale 600:361

  kyokumen convert all.psv -o all.hcp --max-abs-eval 499
      replaces `psv_to_hcp all.psv all.hcp 500`, except that psv_to_hcp keeps records from
      early in a game whatever their evaluation is

{EXIT_STATUS_HELP}"))]
pub(super) struct ConvertArgs {
    #[command(flatten)]
    inputs: InputArgs,

    #[command(flatten)]
    request: ConvertRequest,

    #[command(flatten)]
    records: RecordArgs,

    #[command(flatten)]
    run: RunArgs,

    /// Write the report as one JSON object to standard output, or to standard error if the records go to standard
    /// output
    #[arg(long, help_heading = heading::OUTPUTS)]
    json: bool,
}

pub(super) fn call(args: ConvertArgs) -> anyhow::Result<Call> {
    let plan = ConvertPlan::new(args.request())?;
    Ok(Call::returning(move |caller| {
        let mut progress = caller.progress(plan.records);
        Ok(convert(plan, &mut progress, caller.cancel)?)
    }))
}

pub(super) fn run(args: ConvertArgs) -> anyhow::Result<ExitStatus> {
    let (mode, json) = (args.run.work.progress, args.json);
    let (output, given) = (args.request.output.clone(), args.request.settings.fill);
    json_lines::set_output(&output);
    let plan = ConvertPlan::new(args.request())?;
    if !json {
        announce(&plan);
    }
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut progress = mode.start(plan.records);
    let report = convert(plan, &mut progress, &interrupt.cancel());
    drop(progress);
    let report = report.map_err(|error| match error.kind() {
        ErrorKind::BadRecord(bad) if !bad.missing.is_empty() => {
            let fill = given.or(Fill::neutral(bad.missing));
            let labels = fill.labels(bad.missing);
            let caution =
                if labels.is_empty() { "" } else { " (do not train with filled-in values)" };
            Usage(format!("{bad}; supply them with --fill {fill}{caution}")).into()
        }
        _ => run_error(error, &interrupt),
    })?;
    if json {
        write_json(&report, &output)?;
    } else {
        write_summary(&report, &output);
    }
    Ok(ExitStatus::of_records(report.counts.input, report.counts.bad.all()))
}

impl ConvertArgs {
    fn request(self) -> ConvertRequest {
        let Self { inputs, request, records, run, json } = self;
        ConvertRequest {
            inputs: inputs.into_paths(),
            from: records.from,
            dialect: records.dialect,
            force: run.force,
            checksums: json,
            settings: ConvertSettings {
                filters: records.filters(),
                limit: records.limit,
                threads: run.work.threads(),
                ..request.settings
            },
            ..request
        }
    }
}

/// Prints how each input format is converted, as far as the formats alone determine it.
fn announce(plan: &ConvertPlan) {
    let mut announced: Vec<Format> = Vec::new();
    for (range, conversion) in plan.ranges.iter().zip(&plan.conversions) {
        let (from, to) = (range.input.format, plan.to);
        if announced.contains(&from) {
            continue;
        }
        announced.push(from);
        let settings = &plan.settings;
        let rewrites = settings.canonical
            || settings.mirror
            || (from == Format::Csa && settings.csa_version.is_some());
        match (to.takes_chunks_of(from), rewrites) {
            (true, _) if settings.eval_scale.is_some() => {
                say!("{from} to {to}: evaluations are rescaled");
            }
            (true, false) if from.is_kif() => {
                say!("{from} to {to}: games are copied; only text encoding and line ends change");
            }
            (true, false) if matches!(from, Format::Csa | Format::Jkf) => {
                say!("{from} to {to}: games are copied, in UTF-8");
            }
            (true, false) => say!("{from} to {to}: records are copied unchanged"),
            (true, true) => say!("{from} to {to}: records are re-encoded"),
            (false, _) => {
                say!("{from} to {to}: {}", changes(from, *conversion, plan));
            }
        }
    }
}

/// The changes that the formats imply for every record. Losses that depend on the record are counted during the run.
fn changes(from: Format, conversion: ConversionPlan, plan: &ConvertPlan) -> String {
    let mut changes = Vec::new();
    let always_lost = conversion.lost.intersection(from.needs());
    if !always_lost.is_empty() {
        changes.push(format!("lost: {always_lost}"));
    }
    if let Some(values) = filled_in(from, conversion.filled_in, plan) {
        changes.push(format!("filled in: {values}"));
    }
    let absent = plan.to.absent(from, conversion);
    if !absent.is_empty() {
        changes.push(format!("no array of: {absent}"));
    }
    let optional = conversion.lost.without(from.needs());
    let info = plan.to.records().map(|to| to.cannot_hold_info_of(from)).unwrap_or_default();
    let may_be_lost: Vec<String> = (!optional.is_empty())
        .then(|| optional.to_string())
        .into_iter()
        .chain(info.into_iter().map(ToString::to_string))
        .collect();
    if !may_be_lost.is_empty() {
        changes.push(format!("lost if present: {}", may_be_lost.join(", ")));
    }
    if to_games(from, plan) && !from.fields().contains(Field::BestMove) {
        changes.push("each position becomes a game without moves".to_owned());
    } else if to_games(from, plan) && plan.settings.make_games == MakeGames::Joined {
        changes.push("consecutive records are joined into games".to_owned());
    }
    if conversion.filled_in.contains(Field::Ending) {
        changes.push(format!("{from} stores no endings, so won games end by resignation"));
    }
    if changes.is_empty() { "no field is lost or filled in".to_owned() } else { changes.join("; ") }
}

/// Whether single records become games.
fn to_games(from: Format, plan: &ConvertPlan) -> bool {
    plan.to.records().is_some_and(Format::holds_games) && !from.holds_games()
}

/// The values that are filled in, in the syntax of `--fill`; `None` if there are none.
fn filled_in(from: Format, filled_in: Fields, plan: &ConvertPlan) -> Option<String> {
    let fill = plan.settings.fill;
    // A text line may lack any field. Which ones is known only after it is read.
    let by_line =
        if from.is_sparse() { plan.to.fields().intersection(fill.fields()) } else { Fields::NONE };
    let fields = filled_in.union(by_line).without(Fields::of(Field::Ending));
    if fields.is_empty() {
        return None;
    }
    let neutral = Fill::neutral(fields);
    let values = Fill {
        no_move: neutral.no_move && fill.best_move.is_none(),
        best_move: fill.best_move.filter(|_| neutral.no_move),
        eval_cp: neutral.eval_cp.and(fill.eval_cp),
        // A plain SFEN always has a move number.
        ply: neutral.ply.map(|_| fill.ply.unwrap_or(1)),
        result: neutral.result.and(fill.result),
        end_ply: neutral.end_ply.and(fill.end_ply),
    };
    Some(format!("{values}{}", if by_line.is_empty() { "" } else { " in lines without the field" }))
}

fn write_summary(report: &ConvertReport, output: &Path) {
    let counts = &report.counts;
    let filtered = counts.filtered.values().sum::<u64>();
    let bad = counts.bad.all();
    let (input, written) = (records(counts.input), counts.written);
    let by_condition = report::filtered(&counts.filtered);
    say!("{input}: {written} written, {filtered} filtered, {bad} bad{by_condition}");
    let written = [(counts.games, "game"), (counts.positions, "position")];
    let written: Vec<String> = written
        .into_iter()
        .filter_map(|(number, what)| Some(quantity(number.filter(|&number| number > 0)?, what)))
        .collect();
    if !written.is_empty() {
        say!("  {}", written.join(", "));
    }
    report::fields(&counts.lost, &counts.filled_in);
    report::lost_info(&counts.lost_info, &report.to);
    for (field, &number) in &counts.missing {
        let place = if number == counts.written { "no array of it" } else { "null in its array" };
        say!("  {field} missing in {}: {place}", records(number));
    }
    for (warning, &number) in &counts.warnings {
        say!("  {warning} in {}", records(number));
    }
    for written in &report.outputs {
        let path = output.with_file_name(path_of(&written.file));
        say!("  {} ({})", path.display(), records(written.records));
    }
}

fn write_json(report: &ConvertReport, output: &Path) -> anyhow::Result<()> {
    let mut line = serde_json::to_string(report)?;
    line.push('\n');
    if is_standard_output(output) {
        if json_lines::write("report", report) {
            return Ok(());
        }
        std::io::stderr().write_all(line.as_bytes())?;
    } else {
        std::io::stdout().write_all(line.as_bytes())?;
    }
    Ok(())
}
