//! `kyokumen-bench solve`: positions per second and memory of the search on one core. Checks known verdicts.
//!
//! The files have an SFEN in the first column and optionally the known verdict in the second: `mate`, `none` or `open`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use kyokumen::mate::judge::{InCheck, MateSettings, WhenHopeless};
use kyokumen::mate::positions::{InputPosition, LineOrByte, Positions, RecordLocation};
use kyokumen::mate::solve::{Solution, SolveOptions, solve};
use kyokumen::ops::generate::{GenerateSettings, Generator};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::rounds::{Rounds, json_line, milliseconds, per_second};

/// Positions per second of the search on one core; fails if a known verdict is contradicted
#[derive(Args)]
pub(crate) struct SolveArgs {
    /// Files with an SFEN in the first column and, if known, mate, none or open in the second [default: positions of
    /// random games]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Maximum depth of a search in plies
    #[arg(long, value_name = "PLIES", default_value_t = 31)]
    depth: u16,

    /// Maximum number of nodes of a search
    #[arg(long, default_value_t = 100_000)]
    nodes: u64,

    /// Size of the hash table in MiB
    #[arg(long, value_name = "MIB", default_value_t = MateSettings::default().hash_mb)]
    hash_mb: usize,

    /// How to search a position whose side to move is in check
    #[arg(long, value_name = "both|and|or|skip", default_value = "or", value_parser = variant::<InCheck>)]
    in_check: InCheck,

    /// What to do when a search is unlikely to end within its node limit: stop at once, or use all nodes
    #[arg(long, value_name = "give-up|go-on", default_value = "give-up", value_parser = variant::<WhenHopeless>)]
    when_hopeless: WhenHopeless,

    #[command(flatten)]
    rounds: Rounds,
}

/// Number of positions to measure if no file is given.
const GENERATED: u64 = 500;

#[derive(Serialize)]
struct Figure {
    file: String,
    positions: u64,
    positions_per_s: f64,
    nodes_per_s: f64,
    elapsed_ms: f64,
    nodes: u64,
    verdicts: BTreeMap<&'static str, u64>,
    stops: BTreeMap<&'static str, u64>,
    /// Number of verdicts that contradict the second column.
    wrong: u64,
    /// Peak memory of the process until now. `None` on systems other than Linux.
    peak_memory_mb: Option<f64>,
}

pub(crate) fn run(args: &SolveArgs) -> anyhow::Result<()> {
    let mut wrong = 0;
    for (name, positions) in args.positions()? {
        let figure = measure(name, &positions, args)?;
        wrong += figure.wrong;
        if args.rounds.json { json_line(&figure)? } else { write(&figure)? }
    }
    if wrong > 0 {
        bail!("{wrong} verdicts are wrong");
    }
    Ok(())
}

impl SolveArgs {
    fn positions(&self) -> anyhow::Result<Vec<(String, Vec<InputPosition>)>> {
        if self.files.is_empty() {
            return Ok(vec![("random games".to_owned(), generated()?)]);
        }
        self.files.iter().map(|file| Ok((file.display().to_string(), read(file)?))).collect()
    }

    const fn settings(&self) -> MateSettings {
        MateSettings {
            depth_plies: self.depth,
            nodes: self.nodes,
            hash_mb: self.hash_mb,
            in_check: self.in_check,
            when_hopeless: self.when_hopeless,
        }
    }
}

fn read(file: &Path) -> anyhow::Result<Vec<InputPosition>> {
    let at = || file.display().to_string();
    Positions::open(file, None).map(|found| found?.with_context(at)).collect()
}

fn generated() -> anyhow::Result<Vec<InputPosition>> {
    let recipe = GenerateSettings { count: GENERATED, every: 8, ..GenerateSettings::default() };
    let found = |(index, record): (u64, kyokumen::format::Record)| {
        let location = RecordLocation { index, spot: LineOrByte::Byte(0) };
        Ok(InputPosition { location, position: Position::try_from(record.setup)?, label: None })
    };
    (0..).zip(Generator::new(recipe)).map(found).collect()
}

fn measure(file: String, positions: &[InputPosition], args: &SolveArgs) -> anyhow::Result<Figure> {
    let settings = args.settings();
    settings.check()?;
    let (solutions, elapsed) = args.rounds.measure(|| round(positions, &settings))?;
    let mut verdicts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut stops: BTreeMap<&'static str, u64> = BTreeMap::new();
    let (mut nodes, mut wrong) = (0, 0);
    for Solution { input, mate_result, .. } in &solutions {
        let Some(mate_result) = mate_result else { continue };
        nodes += mate_result.nodes;
        *verdicts.entry(mate_result.verdict.word()).or_default() += 1;
        if let PositionVerdict::Unknown(stop) = mate_result.verdict {
            *stops.entry(stop.word()).or_default() += 1;
        }
        wrong += u64::from(is_wrong(mate_result.verdict, input.label.as_deref()));
    }
    let positions = positions.len() as u64;
    Ok(Figure {
        file,
        positions,
        positions_per_s: (per_second(positions, elapsed) * 10.0).round() / 10.0,
        nodes_per_s: per_second(nodes, elapsed).round(),
        elapsed_ms: milliseconds(elapsed),
        nodes,
        verdicts,
        stops,
        wrong,
        peak_memory_mb: peak_memory_mb(),
    })
}

/// Peak resident memory of this process in MiB with one decimal: `VmHWM` in `/proc/self/status`, see proc(5).
fn peak_memory_mb() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = kilobytes.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    Some((kilobytes / 1024.0 * 10.0).round() / 10.0)
}

/// Parses a variant of an enum by its serde name.
fn variant<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    serde_json::from_value(text.into())
}

/// Solves all positions. Returns the solutions and the sum of the search times.
fn round(
    positions: &[InputPosition],
    settings: &MateSettings,
) -> anyhow::Result<(Vec<Solution>, Duration)> {
    let positions: Vec<_> = positions.iter().cloned().map(|found| Ok(Ok(found))).collect();
    let mut solutions = Vec::new();
    solve(
        positions.into_iter(),
        settings,
        &SolveOptions::default(),
        1,
        |solved| -> anyhow::Result<()> {
            solutions.push(solved?);
            Ok(())
        },
    )?;
    let elapsed = solutions.iter().map(|solution| solution.elapsed).sum();
    Ok((solutions, elapsed))
}

/// Whether a verdict contradicts the known verdict.
fn is_wrong(verdict: PositionVerdict, known: Option<&str>) -> bool {
    match known {
        Some("mate") => matches!(verdict, PositionVerdict::NoMate | PositionVerdict::Loss),
        Some("none") => verdict == PositionVerdict::Win,
        _ => false,
    }
}

fn write(figure: &Figure) -> io::Result<()> {
    let Figure { file, positions, positions_per_s, nodes_per_s, wrong, .. } = figure;
    let counts = |counts: &BTreeMap<&str, u64>| {
        let counts: Vec<String> =
            counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        counts.join(", ")
    };
    let mut out = io::stdout();
    writeln!(out, "{file}: {positions_per_s:.1} positions/s, {nodes_per_s:.0} nodes/s")?;
    writeln!(out, "  {positions} positions: {}; {wrong} wrong", counts(&figure.verdicts))?;
    if !figure.stops.is_empty() {
        writeln!(out, "  stop reasons: {}", counts(&figure.stops))?;
    }
    if let Some(peak_memory_mb) = figure.peak_memory_mb {
        writeln!(out, "  peak memory until now: {peak_memory_mb:.1} MiB")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kyokumen::mate::judge::Stop;

    #[test]
    fn only_contradictions_are_wrong() {
        let unknown = PositionVerdict::Unknown(Stop::Nodes);
        for (known, wrong) in [
            (Some("mate"), [false, true, true, false]),
            (Some("none"), [true, false, false, false]),
            (Some("open"), [false; 4]),
            (None, [false; 4]),
        ] {
            let verdicts =
                [PositionVerdict::Win, PositionVerdict::Loss, PositionVerdict::NoMate, unknown];
            assert_eq!(verdicts.map(|verdict| is_wrong(verdict, known)), wrong, "{known:?}");
        }
    }
}
