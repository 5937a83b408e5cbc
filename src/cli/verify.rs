//! `kyokumen verify`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;

use super::advice::option;
use super::call::Call;
use super::exit::run_error;
use super::message::{message, name, say};
use super::option::{location, whole_number};
use super::record_args::{RunArgs, dialect};
use super::report::{json_line, records};
use crate::cli::exit::ExitStatus;
use crate::engine::messages::shortened;
use crate::format::RecordPlace;
use crate::format::move16::Dialect;
use crate::jobs::output_verification::{OutputsReport, verify_outputs};
use crate::ops::verify::{
    Example, Finding, Level, ProofsReport, VerifyPlan, VerifyReport, VerifyRequest, WRONG_NAME,
    verify, verify_proofs,
};
use crate::records::format_name::FormatName;
use crate::storage::path_text::path_of;
use crate::storage::quantity::quantity;
use crate::storage::signals::Interrupt;

/// Check records, the outputs of runs, or proofs of mates
///
/// For each record, the bytes, the position, the stored move and the result are checked. A record that cannot be read
/// is bad and counts as an error. A readable but unusual record, for example one with an illegal move, counts as a
/// warning and is good (without --strict). --quarantine copies the good records to one file and the bad records to
/// another, byte for byte and in order. A third file (.bad.jsonl) has the reasons.
///
/// --manifest compares the outputs of a run with the checksums in their manifests. For several shards, it also checks
/// that all belong to the same run and that none is missing.
///
/// --proof checks the files that `kyokumen solve --proof` writes. An independent, deliberately simple move generator
/// checks that each move of the attacker is legal and gives check, that every defence is answered, and that every line
/// ends in mate. The check uses no code of the solver and stops at the first error.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  kyokumen verify games.psv
  kyokumen verify games.psv --quarantine sorted
      writes sorted/games.good.psv, sorted/games.psv.bad and sorted/games.bad.jsonl (a line for
      each bad record)
  kyokumen verify --manifest clean/*.manifest.json
  kyokumen verify --proof mates.proofs

Exit status:
  0  all checks passed
  1  failure, an output that exists, or a wrong output or proof
  2  usage error, or a file of unknown format
  3  bad records, no records, or a file whose extension contradicts its content
  129, 130 or 143  interrupted by a signal")]
pub(super) struct VerifyArgs {
    /// Files of records to check; `-` is standard input and needs --from
    #[arg(value_name = "FILE", required_unless_present_any = ["proof", "manifest"], value_parser = location())]
    files: Vec<PathBuf>,

    /// Proof files to check, zstd-compressed if the name ends in .zst; `-` is standard input
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["files", "from", "dialect", "limit", "strict", "quarantine", "force", "progress"], value_parser = location())]
    proof: Vec<PathBuf>,

    /// Check the outputs that these manifests describe
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["files", "proof", "from", "dialect", "limit", "strict", "quarantine", "force", "progress", "threads"], value_parser = location())]
    manifest: Vec<PathBuf>,

    /// Format of the files, such as psv or psv.zst; see `kyokumen formats` [default: from the extension, or else from
    /// the content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<FormatName>,

    /// Encoding of packed moves: apery, yaneuraou or rshogi [default: detected from the stored moves]
    #[arg(long, value_name = "DIALECT", value_parser = dialect)]
    dialect: Option<Dialect>,

    /// Read only the first N records of each file
    #[arg(long, value_name = "N", conflicts_with = "quarantine", value_parser = whole_number::<u64>(..))]
    limit: Option<u64>,

    /// Treat warnings as errors, so that a record with a warning is bad
    #[arg(long)]
    strict: bool,

    /// Copy the good and the bad records to separate files in this folder, which is created if it does not exist
    #[arg(long, value_name = "DIR", value_parser = location())]
    quarantine: Option<PathBuf>,

    #[command(flatten)]
    run: RunArgs,

    /// Print one JSON object per file
    #[arg(long)]
    json: bool,
}

pub(super) fn call(args: VerifyArgs) -> anyhow::Result<Call> {
    if !args.proof.is_empty() {
        let (proofs, threads) = (args.proof, args.run.work.threads());
        return Ok(Call::reading(move |_| {
            let reports = proofs.iter().map(|path| verify_proofs(path, threads));
            Ok(reports.collect::<Result<Vec<_>, _>>()?)
        }));
    }
    if !args.manifest.is_empty() {
        return Ok(Call::reading(move |_| Ok(verify_outputs(&args.manifest)?)));
    }
    let plans = VerifyPlan::new(args.request())?;
    Ok(Call::returning(move |caller| {
        let mut reports = Vec::new();
        for plan in plans {
            let advice = plan.remedy().and_then(caller.advice);
            let mut progress = caller.progress(plan.records);
            let mut report = verify(plan, &mut progress, caller.cancel)?;
            if let Some(advice) = advice {
                report.advise(&advice);
            }
            reports.push(report);
        }
        Ok(reports)
    }))
}

pub(super) fn run(args: VerifyArgs) -> anyhow::Result<ExitStatus> {
    if !args.proof.is_empty() {
        return check_proofs(&args.proof, args.run.work.threads(), args.json);
    }
    if !args.manifest.is_empty() {
        return check_manifests(&args.manifest, args.json);
    }
    let (mode, json, folder) = (args.run.work.progress, args.json, args.quarantine.clone());
    let plans = VerifyPlan::new(args.request())?;
    let interrupt = Interrupt::watch().context("cannot watch for signals")?;
    let mut outcome = ExitStatus::Done;
    for plan in plans {
        let mut progress = mode.start(plan.records);
        let remedy = plan.remedy();
        let report = verify(plan, &mut progress, &interrupt.cancel());
        drop(progress);
        let mut report = report.map_err(|error| run_error(error, &interrupt))?;
        if let Some(remedy) = remedy {
            report.advise(&option(remedy));
        }
        let is_read = report.findings.iter().all(|finding| finding.name != WRONG_NAME);
        if is_read && ExitStatus::of_records(report.records, report.bad) != ExitStatus::Done
            || report.findings.iter().any(|finding| finding.level == Level::Error)
        {
            outcome = ExitStatus::BadRecords;
        }
        if json {
            json_line(&report)?;
            continue;
        }
        write_report(&report)?;
        if let Some(folder) = &folder {
            write_outputs(&report, folder);
        }
    }
    Ok(outcome)
}

impl VerifyArgs {
    fn request(self) -> VerifyRequest {
        VerifyRequest {
            inputs: self.files,
            from: self.from,
            dialect: self.dialect,
            limit: self.limit,
            quarantine: self.quarantine,
            force: self.run.force,
            strict: self.strict,
            threads: self.run.work.threads(),
        }
    }
}

fn write_report(report: &VerifyReport) -> io::Result<()> {
    let VerifyReport { file, format, good, bad, comments, .. } = report;
    let wrong_name = report.findings.iter().filter(|finding| finding.name == WRONG_NAME);
    if let Some(found) = wrong_name.flat_map(|finding| &finding.examples).next() {
        return writeln!(io::stdout(), "{}", message(&found.what));
    }
    let comments = match comments {
        0 => String::new(),
        comments => format!(", {}", quantity(*comments, "comment")),
    };
    let all = records(report.records);
    let file = name(file);
    let mut text = format!("{file}: {format}, {all}: {good} good, {bad} bad{comments}\n");
    let width = report.findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
    for finding in &report.findings {
        text += &line(finding, width);
    }
    io::stdout().write_all(text.as_bytes())
}

fn line(finding: &Finding, width: usize) -> String {
    let Finding { level, name, records, examples } = finding;
    let level = match level {
        Level::Error => "error",
        Level::Warning => "warning",
    };
    let examples: Vec<String> = examples.iter().map(place_of).collect();
    let more = if *records > examples.len() as u64 { "; …" } else { "" };
    format!("  {level:<7}  {name:<width$}  {records:>9} found: {}{more}\n", examples.join("; "))
}

fn place_of(example: &Example) -> String {
    let Example { record, byte, what } = example;
    let colon = if what.is_empty() { "" } else { ": " };
    let place = RecordPlace { index: *record, offset: *byte };
    format!("{place}{colon}{what}")
}

fn write_outputs(report: &VerifyReport, folder: &Path) {
    for output in &report.outputs {
        say!("  {} ({})", folder.join(path_of(&output.file)).display(), records(output.records));
    }
}

/// Compares outputs with their manifests, and the manifests of shards with each other.
fn check_manifests(files: &[PathBuf], json: bool) -> anyhow::Result<ExitStatus> {
    let reports = verify_outputs(files)?;
    for report in &reports {
        if json { json_line(report) } else { write_outputs_report(report) }?;
    }
    match reports.iter().map(|report| report.problems.len()).sum() {
        0 => Ok(ExitStatus::Done),
        1 => anyhow::bail!("the outputs do not match their manifests"),
        faults => {
            anyhow::bail!("the outputs do not match their manifests: {faults} differences")
        }
    }
}

fn write_outputs_report(report: &OutputsReport) -> io::Result<()> {
    let OutputsReport { run, manifests, problems, .. } = report;
    let mut out = io::stdout().lock();
    let differences = match problems.len() {
        0 => "no differences".to_owned(),
        number => quantity(number as u64, "difference"),
    };
    let manifests = quantity(*manifests, "manifest");
    writeln!(out, "{}, {manifests}: {differences}", name(run))?;
    shortened(problems).iter().try_for_each(|problem| writeln!(out, "  {}", name(problem)))
}

fn check_proofs(paths: &[PathBuf], threads: usize, json: bool) -> anyhow::Result<ExitStatus> {
    for path in paths {
        let report = verify_proofs(path, threads)?;
        if json { json_line(&report)? } else { write_proofs_report(&report)? }
    }
    Ok(ExitStatus::Done)
}

fn write_proofs_report(report: &ProofsReport) -> io::Result<()> {
    let ProofsReport { file, proofs, win, loss, steps, longest_plies, .. } = report;
    let mut out = io::stdout();
    let file = name(file);
    write!(out, "{file}: {} verified: {win} win, {loss} loss; ", quantity(*proofs, "proof"))?;
    let plies = quantity(*longest_plies, "ply");
    writeln!(out, "{}, longest mate {plies}", quantity(*steps, "step"))
}
