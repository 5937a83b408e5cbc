//! `kyokumen status`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use console::{Alignment, Term, measure_text_width, pad_str};

use super::call::Call;
use super::message::{name, say};
use super::option::{location, whole_number};
use super::report::{json_line, terminal_width, wrapped};
use crate::cli::exit::ExitStatus;
use crate::engine::messages::shortened;
use crate::jobs::status::{RunStatus, RunUnit, ShardState, ShardStatus, status};
use crate::storage::files;
use crate::storage::quantity::{duration, left, noun, rounded, separated};

/// Show the progress of all runs writing to a folder
///
/// Shards may run on other machines. Their progress is read from their checkpoints, which are written every ten seconds
/// unless the run sets --checkpoint-every. Before its first checkpoint, a run shows 0 records.
#[derive(Args)]
pub(super) struct StatusArgs {
    /// Folder or URL of the outputs
    #[arg(value_name = "DIR", value_parser = location())]
    folder: PathBuf,

    /// Print one JSON object per run
    #[arg(long)]
    json: bool,

    /// Repeat every SECONDS until all shards are done [default: 5]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "5", require_equals = true, value_parser = whole_number::<u64>(1..))]
    watch: Option<u64>,
}

pub(super) fn call(args: StatusArgs) -> Call {
    Call::reading(move |_| Ok(status(&args.folder)?))
}

pub(super) fn run(args: &StatusArgs) -> anyhow::Result<ExitStatus> {
    let terminal = Term::stdout();
    let mut is_waiting = false;
    loop {
        let runs = match args.watch {
            // The first run will create the folder.
            Some(_) if !files::is_object(&args.folder) && !args.folder.exists() => Vec::new(),
            _ => status(&args.folder)?,
        };
        match args.watch {
            None if runs.is_empty() => {
                anyhow::bail!("no runs found in {}", args.folder.display());
            }
            Some(_) if runs.is_empty() && !is_waiting => {
                say!("waiting for the first run in {}", args.folder.display());
                is_waiting = true;
            }
            Some(_) if !runs.is_empty() && !args.json && terminal.is_term() => {
                terminal.clear_screen()?;
            }
            _ => {}
        }
        for run in &runs {
            if args.json {
                json_line(run)?;
            } else {
                write_run(run, terminal_width())?;
            }
        }
        let mut shards = runs.iter().flat_map(|run| &run.shards);
        let is_unfinished = runs.is_empty() || shards.any(|shard| shard.state != ShardState::Done);
        match args.watch {
            Some(pause_s) if is_unfinished => thread::sleep(Duration::from_secs(pause_s)),
            _ => return outcome(&runs),
        }
    }
}

fn outcome(runs: &[RunStatus]) -> anyhow::Result<ExitStatus> {
    match runs.iter().map(|run| run.problems.len()).sum() {
        0 => Ok(ExitStatus::Done),
        1 => anyhow::bail!("1 problem in the manifests; standard output describes it"),
        problems => {
            anyhow::bail!("{problems} problems in the manifests; standard output describes them")
        }
    }
}

fn write_run(run: &RunStatus, width: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let line = format!("{}: {}", name(&run.name), summary(run));
    writeln!(out, "{}", wrapped(&line, width, 2))?;
    for line in table(run, width) {
        writeln!(out, "{}", name(&line))?;
    }
    let problems = shortened(&run.problems);
    problems.iter().try_for_each(|problem| writeln!(out, "  {problem}"))
}

/// `3 done, 1 running, 1 missing; 300 of 500 records, 12 records/s, 17 s left`
fn summary(run: &RunStatus) -> String {
    let number = |state| {
        let shards = run.shards.iter().filter(|shard| shard.state == state);
        shards.map(|shard| u64::from(shard.shards)).sum::<u64>()
    };
    let states = ShardState::ALL.map(|state| (number(state), state.name()));
    let states = states.iter().filter(|(number, _)| *number > 0);
    let states: Vec<_> = states.map(|(number, name)| format!("{number} {name}")).collect();
    let unit = run.unit.name();
    let units = noun(run.records.unwrap_or(run.done) == 1, unit);
    let about = if run.is_estimate { "about " } else { "" };
    let of = run.records.map(|records| format!(" of {about}{}", separated(records)));
    let of = of.unwrap_or_default();
    let speed = match run.records_per_s {
        speed if speed > 0.0 => {
            format!(", {} {}/s", rounded(speed), noun(false, run.unit.name_in_speeds()))
        }
        _ => String::new(),
    };
    let left = run.eta_s.map_or(String::new(), |eta_s| format!(", {}", left(eta_s)));
    format!("{}; {}{of} {units}{speed}{left}", states.join(", "), separated(run.done))
}

/// A column of the table of shards.
struct Column {
    title: &'static str,
    /// 0 is the most important.
    rank: u8,
    text: fn(&ShardStatus) -> String,
}

const fn column(title: &'static str, rank: u8, text: fn(&ShardStatus) -> String) -> Column {
    Column { title, rank, text }
}

const SEPARATOR: &str = "  ";
const STATE: &str = "state";
const MATED: &str = "mated";
const UNKNOWN: &str = "unknown";
const PROCESS: &str = "process";

fn columns(unit: RunUnit) -> [Column; 10] {
    let speed = match unit {
        RunUnit::Records => "rec/s",
        RunUnit::Games => "pos/s",
    };
    [
        column("shard", 0, |shard| shard.shard.clone().unwrap_or_else(|| "all".to_owned())),
        column(STATE, 1, |shard| shard.state.name().to_owned()),
        column("%", 2, |shard| shard.records.map_or(String::new(), |all| percent(shard.done, all))),
        column("done", 5, |shard| separated(shard.done)),
        column("of", 6, |shard| shard.records.map_or_else(|| "?".to_owned(), separated)),
        column(MATED, 7, |shard| separated(shard.mated)),
        column(UNKNOWN, 8, |shard| separated(shard.unknown)),
        column(speed, 4, |shard| shard.records_per_s.map_or(String::new(), rounded)),
        column("left", 3, |shard| shard.eta_s.map_or(String::new(), duration)),
        column(PROCESS, 9, |shard| {
            let owner = shard.owner.as_ref();
            owner.map_or(String::new(), |owner| format!("{} on {}", owner.pid, owner.host))
        }),
    ]
}

/// The percentage that is done, rounded down.
pub(super) fn percent(done: u64, all: u64) -> String {
    (u128::from(done) * 100).checked_div(all.into()).unwrap_or(100).to_string()
}

/// The lines of the table of shards, without columns that have no figures. For example, some runs do not search for
/// mates. On a narrow terminal, the less important columns are left out.
fn table(run: &RunStatus, width: usize) -> Vec<String> {
    let mut columns = Vec::from(columns(run.unit));
    columns.retain(|column| match column.title {
        PROCESS => run.shards.iter().any(|shard| shard.owner.is_some()),
        MATED => run.shards.iter().any(|shard| shard.mated > 0),
        UNKNOWN => run.shards.iter().any(|shard| shard.unknown > 0),
        _ => true,
    });
    let cells = |column: &Column| {
        let texts = run.shards.iter().map(|shard| (column.text)(shard));
        let texts: Vec<_> = std::iter::once(column.title.to_owned()).chain(texts).collect();
        let width = texts.iter().map(|text| measure_text_width(text)).max().unwrap_or_default();
        // Numbers are aligned to the right, words to the left.
        let alignment = match column.title {
            STATE | PROCESS => Alignment::Left,
            _ => Alignment::Right,
        };
        let padded = |text: &String| pad_str(text, width, alignment, None).into_owned();
        (width + SEPARATOR.len(), texts.iter().map(padded).collect::<Vec<_>>())
    };
    let mut columns: Vec<_> = columns.iter().map(|column| (column.rank, cells(column))).collect();
    while columns.iter().map(|(_, (width, _))| width).sum::<usize>() > width {
        let least = columns.iter().map(|(rank, _)| *rank).max();
        columns.retain(|(rank, _)| Some(*rank) != least);
    }
    let line = |row: usize| {
        let cells = columns.iter().map(|(_, (_, cells))| format!("{SEPARATOR}{}", cells[row]));
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..=run.shards.len()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_table_keeps_whole_columns_the_most_important_first() {
        let shard = ShardStatus {
            shard: Some("3/10".to_owned()),
            shards: 1,
            state: ShardState::Running,
            done: 1_234_567,
            records: Some(4_000_000),
            mated: 31,
            unknown: 7,
            bad: 0,
            records_per_s: Some(12_346.0),
            eta_s: Some(224.0),
            owner: None,
        };
        let run = RunStatus {
            name: "a".to_owned(),
            unit: RunUnit::Records,
            done: 0,
            records: None,
            is_estimate: false,
            records_per_s: 0.0,
            eta_s: None,
            shards: vec![shard],
            problems: Vec::new(),
        };
        for (width, titles) in [
            (usize::MAX, "shard state % done of mated unknown rec/s left"),
            (78, "shard state % done of mated unknown rec/s left"),
            (77, "shard state % done of mated rec/s left"),
            (68, "shard state % done of rec/s left"),
            (61, "shard state % done rec/s left"),
            (50, "shard state % rec/s left"),
            (39, "shard state % left"),
            (31, "shard state %"),
            (19, "shard state"),
            (3, ""),
        ] {
            let lines = table(&run, width);
            assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>().join(" "), titles);
            assert!(lines.iter().all(|line| line.len() <= width), "{lines:?}");
        }
        let row = "   3/10  running  30  1,234,567  12,346  3 min 44 s";
        assert_eq!(table(&run, 60)[1], row);
        let mut games = RunStatus { unit: RunUnit::Games, ..run.clone() };
        games.shards[0].unknown = 0;
        assert_eq!(
            table(&games, 99)[0],
            "  shard  state     %       done         of  mated   pos/s        left"
        );
        let mut other = games;
        other.shards[0].mated = 0;
        assert_eq!(
            table(&other, 99)[0],
            "  shard  state     %       done         of   pos/s        left"
        );
        let mut large = run;
        large.shards[0].done = 123_456_789_012;
        assert!(table(&large, 62)[1].contains("running  3086419  123,456,789,012  12,346"));
    }
}
