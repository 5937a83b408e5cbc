//! Solving files: results depend only on the positions, not on format, order or threads.
//!
//! The positions come from `data/` and from random play.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kyokumen::mate::judge::{Judge, MateResult, MateSettings};
use kyokumen::mate::positions::{LineOrByte, Positions};
use kyokumen::mate::solve::{Solution, SolveOptions, solve};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;
use kyokumen_testing::positions::{Random, random_play};
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use tempfile::TempDir;

use crate::harness::Dir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(name)
}

fn settings(nodes: u64) -> MateSettings {
    MateSettings { nodes, hash_mb: 1, ..MateSettings::default() }
}

/// The solutions and the messages about bad records, each in the order of their delivery.
fn solved(file: &Path, settings: &MateSettings, threads: usize) -> (Vec<Solution>, Vec<String>) {
    let (mut solutions, mut bad) = (Vec::new(), Vec::new());
    let ended =
        solve(Positions::open(file, None), settings, &SolveOptions::default(), threads, |solved| {
            match solved {
                Ok(solution) => solutions.push(solution),
                Err(error) => bad.push(error.to_string()),
            }
            Ok::<(), Box<dyn Error>>(())
        });
    ended.unwrap();
    (solutions, bad)
}

/// The values that must not depend on the format: record number, verdict, nodes.
fn verdicts(solutions: &[Solution]) -> Vec<(u64, Option<PositionVerdict>, u64)> {
    let verdict = |solution: &Solution| {
        let mate_result = solution.mate_result.as_ref();
        let nodes = mate_result.map_or(0, |mate_result| mate_result.nodes);
        (solution.input.location.index, mate_result.map(|mate_result| mate_result.verdict), nodes)
    };
    solutions.iter().map(verdict).collect()
}

#[test]
fn verdicts_depend_neither_on_format_nor_on_threads() {
    let settings = settings(200);
    let (expected, bad) = solved(&data("sample.sfen"), &settings, 1);
    assert_eq!((expected.len(), bad.len()), (2000, 0));
    assert!((0..).zip(&expected).all(|(index, solution)| solution.input.location.index == index));
    let folder = TempDir::new().unwrap();
    let compressed = folder.path().join("sample.psv.zst");
    let bytes = fs::read(data("sample.psv")).unwrap();
    fs::write(&compressed, zstd::encode_all(&bytes[..], 3).unwrap()).unwrap();
    for file in [data("sample.hcp"), data("sample.hcpe"), data("sample.psv"), compressed] {
        let (solutions, bad) = solved(&file, &settings, 3);
        assert_eq!(bad, [] as [String; 0]);
        assert!(verdicts(&solutions) == verdicts(&expected), "{}", file.display());
    }
}

/// Positions of the sample and of random play.
fn mixed_positions() -> Vec<Position> {
    let (sample, _) = solved(&data("sample.sfen"), &settings(0), 1);
    let mut positions: Vec<Position> =
        sample.into_iter().step_by(5).map(|solution| solution.input.position).collect();
    let wild = random_play(61, 2_500);
    positions.extend(wild.iter().filter(|position| position.in_check()).cloned());
    positions.extend(wild.into_iter().step_by(9));
    positions
}

/// Writes the positions to a file and solves it. Returns the result of each position.
fn results(
    positions: &[Position],
    settings: &MateSettings,
    threads: usize,
) -> HashMap<String, MateResult> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("positions.sfen");
    let text: Vec<String> = positions.iter().map(|position| format!("{position}\n")).collect();
    fs::write(&file, text.concat()).unwrap();
    let (solutions, bad) = solved(&file, settings, threads);
    assert_eq!((solutions.len(), bad.len()), (positions.len(), 0));
    let judged = solutions.into_iter();
    judged.map(|s| (s.input.position.to_string(), s.mate_result.unwrap())).collect()
}

/// Verdict, line and nodes of a position are the same alone, in any order, on any number of threads.
#[test]
fn results_depend_neither_on_order_nor_on_threads() {
    let settings = settings(400);
    let mut positions = mixed_positions();
    let expected: HashMap<String, MateResult> = positions
        .iter()
        .map(|position| {
            let alone = Judge::new(&settings).judge(position, &AtomicBool::new(false));
            (position.to_string(), alone)
        })
        .collect();
    let mut random = Random::new(62);
    for threads in [1, 1, 2, 4] {
        let judged = results(&positions, &settings, threads);
        for (sfen, mate_result) in &expected {
            assert_eq!(&judged[sfen], mate_result, "{sfen} on {threads} threads");
        }
        random.shuffle(&mut positions);
    }
    let having = |wanted: fn(&MateResult) -> bool| expected.values().filter(|j| wanted(j)).count();
    let long = having(|mate_result| mate_result.line.len() > 3);
    let lost = having(|mate_result| mate_result.verdict == PositionVerdict::Loss);
    let open = having(|mate_result| matches!(mate_result.verdict, PositionVerdict::Unknown(_)));
    assert!(long > 20 && lost > 10 && open > 20, "{long} {lost} {open}");
}

#[test]
fn text_lines_start_with_an_sfen_or_are_comments() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("problems.tsv");
    let text = "# problems\n\
                4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l16p 1\tmate\t1\r\n\
                \n\
                4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1\tmate\t1\r\n\
                \x20\t\n\
                4k4\n\
                9/9/9/9/9/9/9/9/4K4 b - 1\n\
                startpos";
    fs::write(&file, text).unwrap();
    let (solutions, bad) = solved(&file, &settings(100), 2);
    let found: Vec<_> = solutions.iter().map(|solution| &solution.input).collect();
    assert_eq!(found.iter().map(|found| found.location.index).collect::<Vec<_>>(), [0, 1, 4]);
    assert_eq!(
        found.iter().map(|found| found.location.spot).collect::<Vec<_>>(),
        [LineOrByte::Line(2), LineOrByte::Line(4), LineOrByte::Line(8)]
    );
    assert_eq!(found[1].label.as_deref(), Some("mate"));
    assert_eq!(found[2].label, None);
    assert_eq!(found[2].position, Position::start());
    assert_eq!(bad.len(), 2);
    assert!(bad[0].starts_with("line 6: "), "{}", bad[0]);
    assert_eq!(bad[1], "line 7: the White king is missing, so there is no king to mate");
}

#[test]
fn a_truncated_file_has_one_bad_record_with_its_offset() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("cut.hcpe");
    fs::write(&file, &fs::read(data("sample.hcpe")).unwrap()[..38 * 5 + 20]).unwrap();
    let (solutions, bad) = solved(&file, &settings(10), 1);
    assert_eq!(solutions.len(), 5);
    assert_eq!(bad.len(), 1);
    assert!(bad[0].starts_with("record 5 (file offset 190): "), "{}", bad[0]);
}

#[test]
fn faults_in_text_files_have_a_line_number() {
    let edge = "+---------------------------+\n";
    let ranks: Vec<_> = ["玉", "・", "歩", "・", "・", "・", "・", "・", "・"]
        .iter()
        .zip("一二三四五六七八九".chars())
        .map(|(piece, rank)| format!("| ・ ・ ・ ・ {piece} ・ ・ ・ ・|{rank}\n"))
        .collect();
    let ranks = ranks.concat().replace(" 玉", "v玉");
    let good = format!("後手の持駒：なし\n{edge}{ranks}{edge}先手の持駒：金\n先手番\n");
    let bad = good.replace('歩', "鬼");
    let dir = Dir::new();
    dir.write("a.bod", format!("{good}{bad}"));
    let offset = good.len();
    let fault = "5c: expected a piece or ・, found 鬼";
    let expected = format!("a.bod, line 19, record 1 (file offset {offset}): {fault}\n");
    let ran = dir.kyokumen(["solve", "a.bod"]).run();
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    let err = dir.kyokumen(["convert", "a.bod", "-o", "a.sfen"]).fails(1);
    assert_eq!(
        err.lines().last().map(|line| format!("{line}\n")),
        Some(format!("error: {expected}"))
    );
    dir.write("b.bod", bad);
    let err = dir.kyokumen(["convert", "b.bod", "-o", "b.sfen"]).fails(2);
    let expected = format!("first error: line 5, record 0 (file offset 0): {fault}\n");
    assert!(err.ends_with(&expected), "{err}");
    dir.write(
        "c.bod",
        good.lines().filter(|line| !line.contains('九')).collect::<Vec<_>>().join("\n"),
    );
    let err = dir.kyokumen(["convert", "c.bod", "-o", "c.sfen"]).fails(2);
    assert!(err.ends_with(": the diagram has 8 ranks instead of 9\n"), "{err}");
}

#[test]
fn the_first_bad_lines_are_reported_and_the_rest_counted() {
    let dir = Dir::new();
    let file = dir.write("a.txt", "4k4 is no position\n".repeat(173));
    assert_data_eq!(
        dir.kyokumen([Path::new("solve"), &file]).run().transcript,
        str![[r#"
status 3
[FOLDER]/a.txt, line 1: character 4: found ' ', expected / and the next rank
...
[FOLDER]/a.txt, line 20: character 4: found ' ', expected / and the next rank
[FOLDER]/a.txt: … and 153 more
173 records: 173 bad
[..] s, 0 positions/s, 0 nodes/s

"#]]
    );
}

/// Without `--depth`, `--all` searches every move of a position in a file to any depth. With a depth limit, uniqueness
/// may be undecided.
#[test]
fn all_moves_are_searched_to_any_depth() {
    let dir = Dir::new();
    let sfen = "l2s1g2l/4pk1r1/bp2r4/p1n1g1Kpp/7n1/3PPPP1P/PPN1G2P1/1BP3GS1/L1S4NL w S4P 104";
    dir.write("position.sfen", sfen);
    for (options, uniqueness) in [(&[][..], "unique"), (&["--depth", "20"], "undecided")] {
        let words = ["solve", "--all", "--json", "position.sfen"];
        let solution = dir.kyokumen(words).args(options).run().json();
        assert_eq!(solution["uniqueness"], uniqueness, "{options:?}");
    }
}

/// A mate in 1 may take only two microseconds, so whole microseconds would be too coarse.
#[test]
fn search_times_have_nanosecond_precision() {
    let words = ["solve", "--json", "--depth", "1", "--limit", "50"];
    let lines = Dir::new().kyokumen(words).args([data("sample.sfen")]).run().text();
    let nanoseconds = lines.lines().map(|line| {
        let solution: Value = serde_json::from_str(line).unwrap();
        solution["elapsed_ms"].as_f64().unwrap() * 1e6
    });
    let nanoseconds: Vec<f64> = nanoseconds.collect();
    assert_eq!(nanoseconds.len(), 50);
    assert!(nanoseconds.iter().all(|time| (time - time.round()).abs() < 1e-3), "{nanoseconds:?}");
    assert!(nanoseconds.iter().any(|time| time.round() % 1e3 != 0.0), "{nanoseconds:?}");
}
