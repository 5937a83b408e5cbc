//! `kyokumen verify --proof`.

use std::io;
use std::io::Write;
use std::path::PathBuf;

use super::super::message::name;
use super::super::report::json_line;
use crate::cli::exit::ExitStatus;
use crate::ops::verify::{ProofsReport, verify_proofs};
use crate::storage::quantity::quantity;

pub(super) fn check_files(
    paths: &[PathBuf],
    threads: usize,
    json: bool,
) -> anyhow::Result<ExitStatus> {
    for path in paths {
        let report = verify_proofs(path, threads)?;
        if json { json_line(&report)? } else { write_report(&report)? }
    }
    Ok(ExitStatus::Done)
}

fn write_report(report: &ProofsReport) -> io::Result<()> {
    let ProofsReport { file, proofs, win, loss, steps, longest_plies, .. } = report;
    let mut out = io::stdout();
    let file = name(file);
    let hold = if *proofs == 1 { "holds" } else { "hold" };
    write!(out, "{file}: {} {hold}: {win} win, {loss} loss; ", quantity(*proofs, "proof"))?;
    let plies = quantity(*longest_plies, "ply");
    writeln!(out, "{}, the longest mate within {plies}", quantity(*steps, "step"))
}
