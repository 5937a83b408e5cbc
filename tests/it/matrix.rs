//! Converts every format to every other and back: the bundled samples, and real games if they are available.
//!
//! Fields that a format holds must stay unchanged. Other fields are filled in and reported.

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

/// Records converted per file. `tests/interop/matrix.py` converts all.
const MAX_RECORDS: u64 = 500;

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

/// Neutral values for all fields that a format needs.
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
        let lost_fields = lost(&report.counts.lost);
        let is_filled = !report.counts.filled_in.is_empty();
        let report = run(&there, &back, neutral(from));
        assert_eq!(report.counts.written, records, "{from} {to} {from}");
        // Records may become games of one move each: the same records, but other lines.
        let is_lossless = lost_fields.is_empty() && report.counts.filled_in.is_empty();
        if is_lossless && !from.holds_games() {
            assert!(fs::read(&back).unwrap() == original, "{from} to {to} and back");
        }
        // Games can mark values as filled in, so the bytes are the same only without such values.
        if from.holds_games() && to.holds_games() && lost_fields.is_empty() && !is_filled {
            assert!(fs::read(&back).unwrap() == original, "{from} to {to} and back");
        }
    }
}

fn lost(counts: &BTreeMap<String, u64>) -> Vec<&str> {
    counts.keys().map(String::as_str).collect()
}

#[test]
fn samples_keep_their_fields_in_every_format_that_holds_them() {
    let folder = TempDir::new().unwrap();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    for from in written_formats() {
        there_and_back(&data.join(format!("sample.{from}")), from, folder.path());
    }
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn real_games_keep_their_fields_in_every_format_that_holds_them() {
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

#[test]
fn psv_is_reproduced_through_every_format_that_holds_its_fields() {
    check_psv_through_every_format(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample.psv"));
}

#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn psv_of_real_games_is_reproduced_through_every_format_that_holds_its_fields() {
    check_psv_through_every_format(&shared("dev.psv"));
}

fn check_psv_through_every_format(source: &Path) {
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
