//! Every format to every other: the bundled samples, and real games where they stand beside the checkout.
//!
//! What a format holds must come through it unchanged; what it does not hold is filled in and told.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kyokumen::engine::progress::Progress;
use kyokumen::format::{Field, Fill, Format, conversion_plan};
use kyokumen::ops::convert::{
    ConvertPlan, ConvertReport, ConvertRequest, ConvertSettings, convert,
};
use kyokumen_testing::positions::shared;
use tempfile::TempDir;

/// Records of a file that are taken; `tests/interop/matrix.py` takes all.
const MAX_RECORDS: u64 = 2000;

fn written_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| format.is_written())
}

fn run(from: &Path, to: &Path, fill: Fill) -> ConvertReport {
    let request = ConvertRequest {
        inputs: vec![from.to_owned()],
        output: to.to_owned(),
        force: true,
        settings: ConvertSettings {
            fill,
            canonical: true,
            limit: Some(MAX_RECORDS),
            ..ConvertSettings::default()
        },
        ..ConvertRequest::default()
    };
    let plan = ConvertPlan::new(request).unwrap_or_else(|error| {
        panic!("{} to {}: {error}", from.display(), to.display());
    });
    let mut progress = Progress::none();
    convert(plan, &mut progress, &AtomicBool::new(false)).unwrap_or_else(|error| {
        panic!("{} to {}: {error}", from.display(), to.display());
    })
}

/// Fills whatever a format needs.
fn neutral(format: Format) -> Fill {
    Fill::neutral(format.needs())
}

/// Converts a file to every format and from there back, and compares.
fn there_and_back(source: &Path, from: Format, folder: &Path) {
    let canonical = folder.join(format!("canonical.{from}"));
    let records = run(source, &canonical, neutral(from)).counts.written;
    let original = fs::read(&canonical).unwrap();
    for to in written_formats() {
        if !to.holds_positions() && !from.fields().contains(Field::BestMove) {
            assert!(conversion_plan(from, to, &neutral(to)).is_err());
            continue;
        }
        let there = folder.join(format!("there.{to}"));
        let back = folder.join(format!("back.{from}"));
        let report = run(&canonical, &there, neutral(to));
        assert_eq!((report.counts.input, report.counts.written), (records, records), "{from} {to}");
        if from.holds_games() && !to.fields().contains(Field::BestMove) {
            continue;
        }
        let said = lost(&report.counts.lost);
        let is_filled = !report.counts.invented.is_empty();
        let report = run(&there, &back, neutral(from));
        assert_eq!(report.counts.written, records, "{from} {to} {from}");
        // A game of one move a record is the same records in other lines.
        let is_lossless = said.is_empty() && report.counts.invented.is_empty();
        if is_lossless && !from.holds_games() {
            assert!(fs::read(&back).unwrap() == original, "{from} to {to} and back");
        }
        // What was filled in is said in games that can say it.
        if from.holds_games() && to.holds_games() && said.is_empty() && !is_filled {
            assert!(fs::read(&back).unwrap() == original, "{from} to {to} and back");
        }
    }
}

fn lost(counts: &BTreeMap<String, u64>) -> Vec<&str> {
    counts.keys().map(String::as_str).collect()
}

#[test]
fn samples_come_through_every_format_that_holds_what_they_say() {
    let folder = TempDir::new().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for from in written_formats() {
        there_and_back(&data.join(format!("sample.{from}")), from, folder.path());
    }
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn real_games_come_through_every_format_that_holds_what_they_say() {
    let folder = TempDir::new().unwrap();
    for (name, from) in [
        ("dev_engine.hcpe", Format::Hcpe),
        ("dev_engine.psv", Format::Psv),
        ("dev_engine.sfen.zst", Format::Sfen),
    ] {
        let path = shared(name);
        there_and_back(&path, from, folder.path());
    }
}

/// The same content by way of any format is the same bytes.
#[test]
fn all_ways_lead_to_the_same_psv() {
    by_every_format(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample.psv"));
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn all_ways_lead_to_the_same_psv_of_real_games() {
    by_every_format(&shared("dev.psv"));
}

fn by_every_format(source: &Path) {
    let folder = TempDir::new().unwrap();
    let mut expected = fs::read(source).unwrap();
    expected.truncate(MAX_RECORDS as usize * 40);
    for by in written_formats().filter(|by| *by != Format::Psv) {
        let held = Format::Psv.fields().intersection(by.fields());
        if held != Format::Psv.fields() || by.holds_games() {
            continue;
        }
        let there = folder.path().join(format!("there.{by}"));
        let back = folder.path().join("back.psv");
        assert!(lost(&run(source, &there, neutral(by)).counts.lost).is_empty());
        assert!(lost(&run(&there, &back, Fill::default()).counts.lost).len() <= 1);
        assert!(fs::read(&back).unwrap() == expected, "by {by}");
    }
}
