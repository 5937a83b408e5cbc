//! The samples in `data/`: their commands reproduce them, and they contain the positions that examples need.
//!
//! The commands are read from `data/README.md`, so the page and the files always agree.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kyokumen::format::{Format, RecordRef, chunks, records};
use kyokumen::mate::judge::{Judge, MateSettings};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;

use crate::harness::Dir;

/// Formats for people. Their samples are whole games.
const WHOLE_GAMES: [Format; 6] =
    [Format::Csa, Format::Kif, Format::Kifu, Format::Ki2, Format::Ki2u, Format::Jkf];

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

/// The commands on the page, split into words.
fn commands() -> Vec<Vec<String>> {
    let page = fs::read_to_string(data().join("README.md")).unwrap();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
    page.lines().filter_map(|line| line.strip_prefix("kyokumen ")).map(words).collect()
}

#[test]
fn the_commands_on_the_page_reproduce_the_samples() {
    let dir = Dir::new();
    let commands = commands();
    assert_eq!(commands.len(), Format::ALL.len());
    for mut words in commands {
        let sample = words.pop().unwrap();
        let name = sample.strip_prefix("data/").unwrap();
        dir.kyokumen(&words).args([name]).succeeds();
        let (made, kept) = (dir.read(name), fs::read(data().join(name)).unwrap());
        assert!(made == kept, "{sample} differs from the output of its command");
    }
}

/// The positions of a sample, without their move numbers.
fn positions(format: Format) -> Vec<String> {
    let bytes = fs::read(data().join(format!("sample.{format}"))).unwrap();
    chunks(format, &bytes)
        .flat_map(|chunk| records(format, format.dialect(), chunk))
        .map(|record| record.unwrap().setup().unwrap().with_ply(1).to_string())
        .collect()
}

#[test]
fn samples_of_all_formats_hold_the_same_positions() {
    let expected = positions(Format::Sfen);
    assert_eq!(expected.len(), 2000);
    let (whole_games, samples): (Vec<_>, Vec<_>) =
        Format::ALL.into_iter().partition(|format| WHOLE_GAMES.contains(format));
    for format in samples {
        assert!(positions(format) == expected, "{format}");
    }
    let expected = positions(whole_games[0]);
    assert_eq!(expected.len(), 2000);
    for format in whole_games {
        assert!(positions(format) == expected, "{format}");
    }
}

#[test]
fn the_sample_contains_wins_losses_and_positions_without_mate() {
    let settings = MateSettings { nodes: 1000, hash_mb: 1, ..MateSettings::default() };
    let mut judge = Judge::new(&settings);
    let bytes = fs::read(data().join("sample.hcp")).unwrap();
    let mut verdicts = Vec::new();
    for record in bytes.chunks(32) {
        let setup = RecordRef::new(Format::Hcp, record).unwrap().setup().unwrap();
        let position = Position::try_from(setup).unwrap();
        verdicts.push(judge.judge(&position, &AtomicBool::new(false)).verdict);
    }
    let count = |verdict| verdicts.iter().filter(|&&found| found == verdict).count();
    assert!(count(PositionVerdict::Win) >= 100);
    assert!(count(PositionVerdict::Loss) >= 1);
    assert!(count(PositionVerdict::NoMate) >= 1000);
}
