//! `dedup --average`: of equal records one is written, with the averages of all.

use kyokumen::format::{Format, GameResult, Record, RecordRef};

use super::{assert_refused, file, in_chunks};
use crate::archive::{archive, encoded, records};
use crate::harness::Dir;

/// Records that often contradict an earlier record of the same position.
fn contradicting(format: Format) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut copy = |record: &Record, padding: u8| {
        let mut chunk = encoded(format, record);
        if format == Format::Psv {
            chunk[39] = padding;
        }
        bytes.extend(chunk);
    };
    let all = records(300, 42);
    for (i, record) in all.iter().enumerate() {
        copy(record, (i % 3) as u8);
        for more in 0..i % 4 {
            let place = i * more / 4;
            let mut other = all[place].clone();
            let step = i16::try_from(i * 37 % 500).unwrap();
            other.eval_cp = Some(match i % 11 {
                0 => 29_990 + step % 10,
                1 => step % 10 - 30_000,
                _ => step - 250,
            });
            other.result = Some(GameResult::ALL[i % 3]);
            other.ending = None;
            other.ply = other.ply.map(|ply| ply + 1);
            other.setup = other.setup.with_ply(other.ply.unwrap());
            if i % 3 > 0 {
                // Several of them agree on another move.
                other.best_move = all[place + 1].best_move;
            }
            copy(&other, 7);
        }
    }
    bytes
}

fn read(format: Format, chunk: &[u8]) -> Record {
    let line = chunk.strip_suffix(b"\n").unwrap_or(chunk);
    RecordRef::new(format, line).unwrap().record().unwrap()
}

fn key(format: Format, chunk: &[u8], by_move: bool) -> String {
    let line = chunk.strip_suffix(b"\n").unwrap_or(chunk);
    let position = RecordRef::new(format, line).unwrap().position_key().unwrap();
    let best_move = by_move.then(|| read(format, chunk).best_move);
    format!("{position:?} {best_move:?}")
}

/// The mean, rounded to the nearest integer. Halves are rounded away from 0.
fn mean(numbers: &[i64]) -> i64 {
    (numbers.iter().sum::<i64>() as f64 / numbers.len() as f64).round() as i64
}

/// The average of records, computed from the definition.
fn merged(copies: &[Record]) -> Record {
    let evals: Vec<i64> = copies.iter().filter_map(|copy| copy.eval_cp.map(i64::from)).collect();
    let wins: Vec<i64> = evals.iter().copied().filter(|&eval_cp| eval_cp >= 29_000).collect();
    let losses: Vec<i64> = evals.iter().copied().filter(|&eval_cp| eval_cp <= -29_000).collect();
    let others: Vec<i64> = evals.iter().copied().filter(|eval_cp| eval_cp.abs() < 29_000).collect();
    let counted = match (wins.is_empty(), losses.is_empty()) {
        (false, true) => &wins,
        (true, false) => &losses,
        _ if others.is_empty() => &evals,
        _ => &others,
    };
    let results: Vec<i64> = copies
        .iter()
        .filter_map(|copy| copy.result)
        .map(|result| match result {
            GameResult::BlackWin => 1,
            GameResult::Draw => 0,
            GameResult::WhiteWin => -1,
        })
        .collect();
    let result = match mean(&results) {
        1 => GameResult::BlackWin,
        0 => GameResult::Draw,
        _ => GameResult::WhiteWin,
    };
    let moves: Vec<_> = copies.iter().filter_map(|copy| copy.best_move).collect();
    let frequency = |best_move| moves.iter().filter(|&&other| other == best_move).count();
    let most = moves.iter().map(|&best_move| frequency(best_move)).max();
    let best_move = moves.iter().copied().find(|&best_move| Some(frequency(best_move)) == most);
    let eval_cp = i16::try_from(mean(counted)).unwrap();
    let first = copies[0].clone();
    Record { best_move, eval_cp: Some(eval_cp), result: Some(result), ..first }
}

/// The expected output, the number of records that represent several, and the most records that one represents.
fn expected(bytes: &[u8], format: Format, by_move: bool) -> (Vec<u8>, usize, usize) {
    let chunks = in_chunks(format, bytes);
    let keys: Vec<String> = chunks.iter().map(|chunk| key(format, chunk, by_move)).collect();
    let (mut out, mut several, mut most) = (Vec::new(), 0, 0);
    for (i, chunk) in chunks.iter().enumerate() {
        if keys[..i].contains(&keys[i]) {
            continue;
        }
        let copies = chunks.iter().zip(&keys).filter(|(_, key)| **key == keys[i]);
        let copies: Vec<Record> = copies.map(|(chunk, _)| read(format, chunk)).collect();
        let mut written = encoded(format, &merged(&copies));
        if format == Format::Psv {
            written[39] = chunk[39];
        }
        if copies.len() > 1 {
            (several, most) = (several + 1, most.max(copies.len()));
        }
        out.extend(written);
    }
    (out, several, most)
}

#[test]
fn the_first_of_equal_records_gets_the_averages() {
    for format in [Format::Hcpe, Format::Psv, Format::Sfen, Format::Jsonl] {
        let dir = Dir::new();
        let (input, output) = (format!("a.{format}"), format!("b.{format}"));
        let bytes = contradicting(format);
        dir.write(&input, &bytes);
        for key in ["position", "position+move"] {
            let (expected, several, most) = expected(&bytes, format, key == "position+move");
            assert!(several > 50 && most > 2 && expected.len() < bytes.len());
            for (memory, threads) in [("1G", "1"), ("20K", "2"), ("100", "3")] {
                let words = ["dedup", &input, "-o", &output, "--average", "--key", key, "--force"];
                let more = ["--memory", memory, "--threads", threads, "--tmp-dir", "."];
                let message = dir.kyokumen([&words[..], &more].concat()).succeeds().stderr;
                assert!(file(&dir, &output) == expected, "{format} {key} {memory}");
                assert!(message.contains(&format!("{several} averages of ")), "{message}");
            }
            let manifest = dir.json(format!("{output}.manifest.json"));
            assert_eq!(manifest["settings"]["average"], true);
            let averaged = &manifest["counts"]["averaged"];
            let count = |name: &str| averaged[name].as_u64().unwrap() as usize;
            assert_eq!((count("records"), count("most_copies")), (several, most));
            let left_out = manifest["counts"]["filtered"]["duplicate"].as_u64().unwrap() as usize;
            assert_eq!(count("copies"), several + left_out);
            assert!(count("evaluations") > 0 && count("evaluations") <= several);
            assert!(count("results") > 0);
            assert_eq!(count("moves") > 0, key == "position");
            let words = ["verify", "--manifest", &format!("{output}.manifest.json")];
            dir.kyokumen(&words).succeeds();
        }
    }
}

/// A position with 100,000 copies in many blocks becomes one record.
#[test]
fn copies_in_many_blocks_are_averaged() {
    let dir = Dir::new();
    let mut record = records(1, 42).remove(0);
    let mut bytes = Vec::new();
    for i in 0..100_000_i32 {
        record.eval_cp = Some((i % 2001 - 1000) as i16);
        bytes.extend(encoded(Format::Psv, &record));
    }
    dir.write("a.psv", &bytes);
    dir.kyokumen(["dedup", "a.psv", "-o", "b.psv", "--average", "--memory", "1M"]).succeeds();
    let sum: i64 = (0..100_000).map(|i| i % 2001 - 1000).sum();
    record.eval_cp = Some((sum as f64 / 100_000.0).round() as i16);
    assert_eq!(file(&dir, "b.psv"), encoded(Format::Psv, &record));
    let averaged = &dir.json("b.psv.manifest.json")["counts"]["averaged"];
    assert_eq!((&averaged["records"], &averaged["most_copies"]), (&1.into(), &100_000.into()));
}

#[test]
fn records_of_references_do_not_count_in_averages() {
    let dir = Dir::new();
    let bytes = contradicting(Format::Psv);
    let (old, new) = bytes.split_at(bytes.len() / 160 * 40);
    dir.write("old.psv", old);
    dir.write("new.psv", new);
    let words = ["dedup", "new.psv", "-o", "b.psv", "--average", "--reference", "old.psv"];
    dir.kyokumen(&words).succeeds();
    let seen: Vec<_> =
        in_chunks(Format::Psv, old).iter().map(|chunk| key(Format::Psv, chunk, false)).collect();
    let is_new = |chunk: &Vec<u8>| !seen.contains(&key(Format::Psv, chunk, false));
    let new = in_chunks(Format::Psv, new).into_iter().filter(is_new).collect::<Vec<_>>().concat();
    let (expected, several, _) = expected(&new, Format::Psv, false);
    assert!(several > 5, "{several}");
    assert!(file(&dir, "b.psv") == expected);
}

#[test]
fn average_is_refused_where_it_would_have_no_effect() {
    let dir = Dir::new();
    dir.write("a.psv", contradicting(Format::Psv));
    dir.write("a.hcp", archive(Format::Hcp, 3));
    dir.write("a.usi", b"startpos moves 7g7f\n");
    for (input, key, why) in [
        ("a.psv", "bytes", "use --key position or --key position+move"),
        ("a.psv", "content", "--average has no effect"),
        (
            "a.hcp",
            "position",
            "hcp records have no evaluations; remove --average to keep the first of equal records",
        ),
        ("a.usi", "bytes", "convert them with `kyokumen convert`"),
    ] {
        let output = input.replace('a', "b");
        assert_refused(&dir, &["dedup", input, "-o", &output, "--average", "--key", key], why);
    }
}
