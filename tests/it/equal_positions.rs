//! The memo of verdicts: equal positions are searched once, and outputs are the same as without a memo.
//!
//! The positions come from random play. The expected results come from a separate search of each position.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kyokumen::engine::progress::Progress;
use kyokumen::format::{Fill, Format, GameResult, Record, encode};
use kyokumen::jobs::filter::{filter, filter_with};
use kyokumen::jobs::plan::{JobPlan, JobRequest};
use kyokumen::jobs::record_totals::RecordManifest;
use kyokumen::jobs::run_files::RunRequest;
use kyokumen::jobs::settings::{Settings, UnknownPolicy};
use kyokumen::mate::judge::{Judge, MateSettings, MemoHits};
use kyokumen::mate::memo::{MIN_NODES, Memo, Memoized};
use kyokumen::mate::positions::Positions;
use kyokumen::mate::solve::{Solution, SolveOptions, solve};
use kyokumen::records::position_verdict::PositionVerdict;
use kyokumen::shogi::Position;
use tempfile::TempDir;

use kyokumen_testing::positions::{Random, random_play, shared};

use crate::archive::write;

fn search(nodes: u64) -> MateSettings {
    MateSettings { nodes, hash_mb: 1, ..MateSettings::default() }
}

/// Positions of random play, most of them several times, in random order.
fn with_repetitions(seed: u64, count: usize) -> Vec<Position> {
    let mut random = Random::new(seed);
    let mut positions = Vec::new();
    for position in random_play(seed, count * 4).into_iter().skip(40).step_by(4) {
        let times = 1 + random.below(4);
        positions.extend(std::iter::repeat_n(position, times));
    }
    random.shuffle(&mut positions);
    positions
}

/// A psv file of these positions, each with another ply.
fn psv(positions: &[Position]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (ply, position) in (1..).zip(positions) {
        let record = Record {
            eval_cp: Some(0),
            ply: Some(ply),
            result: Some(GameResult::Draw),
            ..Record::new(position.setup())
        };
        let fill = Fill { no_move: true, ..Fill::default() };
        encode(Format::Psv, &record, &fill, &mut bytes).unwrap();
    }
    bytes
}

/// How a file is filtered: without a memo, as by the program, or with a memo of one bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum MemoUse {
    NoMemo,
    AsProgram,
    OneBucket,
}

fn filtered(
    input: &Path,
    memo_use: MemoUse,
    threads: usize,
    nodes: u64,
) -> (BTreeMap<String, Vec<u8>>, RecordManifest) {
    let folder = input.with_extension(format!("{memo_use:?}-{threads}"));
    let search = search(nodes);
    let request = JobRequest {
        inputs: vec![input.to_owned()],
        run: RunRequest::new(&folder),
        settings: Settings {
            search: search.clone(),
            unknown: UnknownPolicy::Split,
            threads,
            ..Settings::default()
        },
        ..JobRequest::default()
    };
    let plan = JobPlan::new(request).unwrap();
    let (mut progress, cancel) = (Progress::none(), AtomicBool::new(false));
    let filtered = match memo_use {
        MemoUse::NoMemo => {
            filter_with(plan, move || Judge::try_new(&search), &mut progress, &cancel)
        }
        MemoUse::AsProgram => filter(plan, &mut progress, &cancel),
        MemoUse::OneBucket => {
            let memo = Arc::new(Memo::with_buckets(1));
            let make_judge = move || Ok(Memoized::new(Judge::try_new(&search)?, Arc::clone(&memo)));
            filter_with(plan, make_judge, &mut progress, &cancel)
        }
    };
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    let files = files.filter(|(name, _)| !name.ends_with(".manifest.json"));
    let files = files.map(|(name, path)| (name, fs::read(path).unwrap())).collect();
    (files, filtered.unwrap().manifest)
}

#[test]
fn a_filter_with_a_memo_writes_the_same_bytes() {
    let mut positions = with_repetitions(71, 250);
    let mut random = Random::new(72);
    for round in 0..2 {
        let folder = TempDir::new().unwrap();
        let input = write(folder.path(), "a.psv", &psv(&positions));
        let (expected, alone) = filtered(&input, MemoUse::NoMemo, 2, 300);
        assert_eq!(alone.totals.saved, MemoHits::default());
        assert!(expected["a.mated.jsonl"].len() > 1000 && expected["a.psv.unknown"].len() > 400);
        for memo_use in [MemoUse::AsProgram, MemoUse::OneBucket] {
            for threads in [1, 4] {
                let (files, manifest) = filtered(&input, memo_use, threads, 300);
                assert!(files == expected, "{memo_use:?}, {threads} threads, round {round}");
                assert_eq!(manifest.totals.counts, alone.totals.counts);
                assert_eq!(manifest.outputs.len(), alone.outputs.len());
                let sums = manifest.outputs.iter().map(|output| &output.sha256);
                assert!(sums.eq(alone.outputs.iter().map(|output| &output.sha256)));
                assert!(manifest.totals.saved.answers > 0 && manifest.totals.saved.nodes > 0);
                assert!(manifest.totals.saved.nodes < manifest.totals.counts.nodes);
            }
        }
        random.shuffle(&mut positions);
    }
}

/// On one thread the hits are exact: each repetition of a position whose search takes at least `MIN_NODES` nodes.
#[test]
fn one_thread_searches_each_position_once() {
    let positions = with_repetitions(73, 200);
    let folder = TempDir::new().unwrap();
    let input = write(folder.path(), "a.psv", &psv(&positions));
    let mut judge = Judge::new(&search(200));
    let mut seen = Vec::new();
    let mut expected = MemoHits::default();
    for position in &positions {
        let mate_result = judge.judge(position, &AtomicBool::new(false));
        let setup = position.setup().with_ply(1);
        if mate_result.nodes < MIN_NODES {
            continue;
        }
        if seen.contains(&setup) {
            expected.add(MemoHits { answers: 1, nodes: mate_result.nodes });
        } else {
            seen.push(setup);
        }
    }
    assert!(expected.answers > 50, "{expected:?}");
    assert_eq!(filtered(&input, MemoUse::AsProgram, 1, 200).1.totals.saved, expected);
    let one_bucket = filtered(&input, MemoUse::OneBucket, 1, 200).1.totals.saved;
    assert!((1..expected.answers).contains(&one_bucket.answers), "{one_bucket:?}");
}

/// The solutions of a file.
fn solved(file: &Path, options: &SolveOptions, threads: usize) -> Vec<Solution> {
    let mut solutions = Vec::new();
    let positions = Positions::open(file, None);
    let ended = solve(positions, &search(150), options, threads, |solved| {
        solutions.push(solved?);
        Ok::<(), Box<dyn Error>>(())
    });
    ended.unwrap();
    solutions
}

#[test]
fn a_solution_from_the_memo_equals_that_of_a_search() {
    let positions = with_repetitions(74, 200);
    let folder = TempDir::new().unwrap();
    let lines: Vec<String> = positions.iter().map(ToString::to_string).collect();
    let text = lines.join("\n");
    let file = write(folder.path(), "a.sfen", text.as_bytes());
    for (proof, threads) in [(true, 1), (false, 1), (false, 4)] {
        let options =
            || SolveOptions { shortest: true, tsume_plies: true, proof, ..SolveOptions::default() };
        let mut known = BTreeMap::new();
        for (position, solution) in positions.iter().zip(solved(&file, &options(), threads)) {
            let mut judge = Judge::new(&search(150)).shortest(true);
            let mate_result = judge.judge(position, &AtomicBool::new(false));
            let verdict = mate_result.verdict;
            let index = solution.input.location.index;
            assert_eq!(solution.mate_result.as_ref(), Some(&mate_result), "{position}");
            let counted = judge.tsume_plies(position, verdict, &AtomicBool::new(false));
            assert_eq!(solution.tsume_plies, counted, "{position}");
            if verdict.is_mate() {
                assert_eq!(solution.is_shortest, judge.is_shortest(position), "{position}");
                let expected = proof.then(|| judge.proof(position, verdict, index)).flatten();
                assert_eq!(solution.proofs.first().cloned(), expected, "{position}");
            }
            let kind = match verdict {
                PositionVerdict::Unknown(_) => "unknown",
                verdict if verdict.is_mate() => "mate",
                _ => "no mate",
            };
            *known.entry(kind).or_insert(0) += u32::from(solution.is_from_memo);
        }
        assert!(known["unknown"] > 3 && known["no mate"] > 3, "{known:?}");
        assert_eq!(known["mate"] > 3, !proof, "{known:?}");
    }
}

/// Real games contain equal positions, and the memo finds them.
#[test]
#[ignore = "needs KYOKUMEN_DATA, a folder of positions of real games"]
fn the_memo_finds_equal_positions_of_real_games() {
    let archive = shared("dev.hcp");
    let folder = TempDir::new().unwrap();
    let records = 2_000;
    let bytes = fs::read(archive).unwrap();
    let input = write(folder.path(), "games.hcp", &bytes[..32 * records]);
    let (expected, alone) = filtered(&input, MemoUse::NoMemo, 0, 50);
    let (files, manifest) = filtered(&input, MemoUse::AsProgram, 0, 50);
    assert!(files == expected);
    assert_eq!(manifest.totals.counts, alone.totals.counts);
    assert!(manifest.totals.saved.answers > 0);
}
