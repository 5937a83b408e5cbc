//! `shuffle`, `dedup`, `split`, `sample` and `interleave`: no record is lost or changed, and outputs do not depend on
//! memory or threads.

mod average;
mod by_hash;
mod dedup;
mod filters;
mod memory;
mod parts;
mod sampling;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kyokumen::Error;
use kyokumen::engine::progress::Progress;
use kyokumen::format::{Format, chunks};
use kyokumen::ops::rearrange::{
    OperationManifest, RearrangePlan, RearrangeRequest, Until, interleave,
};
use snapbox::{assert_data_eq, str};

use crate::archive::{archive, encoded, records};
use crate::harness::Dir;

#[track_caller]
fn assert_refused(dir: &Dir, words: &[&str], why: &str) {
    let exists = why.contains("exists; replace it");
    let message = dir.kyokumen(words).fails(if exists { 1 } else { 2 });
    assert!(message.contains(why), "{message}");
}

fn good(format: Format, count: usize) -> Vec<u8> {
    records(count, 42).iter().flat_map(|record| encoded(format, record)).collect()
}

/// The content of a file, decompressed.
fn file(dir: &Dir, name: &str) -> Vec<u8> {
    let bytes = dir.read(name);
    if Path::new(name).extension().is_some_and(|extension| extension == "zst") {
        zstd::decode_all(&*bytes).unwrap()
    } else {
        bytes
    }
}

/// The chunks of a file in order, without header and separators.
fn in_chunks(format: Format, bytes: &[u8]) -> Vec<Vec<u8>> {
    let bytes = bytes.strip_prefix(format.header()).unwrap_or(bytes);
    let end = if format.is_lines() { &b"\n"[..] } else { b"" };
    let content = |chunk: &[u8]| chunk.strip_prefix(format.separator()).unwrap_or(chunk).to_vec();
    chunks(format, bytes).map(|chunk| [&content(chunk), end].concat()).collect()
}

fn sorted(mut chunks: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    chunks.sort();
    chunks
}

/// Formats for each kind of chunk: records of fixed size, lines, several lines, a variable number of bytes.
const SHAPES: [&str; 6] = ["hcp", "psv", "sfen", "plain", "csa", "hcpe3"];

/// Writes a file of records or games in this format. Returns its name.
fn write_input(dir: &Dir, extension: &str) -> String {
    let name = format!("a.{extension}");
    let format = Format::from_extension(extension).unwrap();
    if format.holds_games() {
        // The samples have few games.
        let sample =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(format!("sample.{extension}"));
        dir.write(&name, fs::read(sample).unwrap().repeat(3));
    } else {
        dir.write(&name, good(format, 1000));
    }
    name
}

#[test]
fn shuffle_keeps_all_chunks_in_another_order() {
    for extension in SHAPES {
        let dir = Dir::new();
        let input = write_input(&dir, extension);
        let format = Format::from_extension(extension).unwrap();
        let before = in_chunks(format, &file(&dir, &input));
        assert!(before.len() >= 3, "{extension}: {}", before.len());
        let mut orders = BTreeSet::new();
        for seed in ["1", "2", "3", "4"] {
            let output = format!("{seed}.{extension}");
            dir.kyokumen(["shuffle", &input, "-o", &output, "--seed", seed]).succeeds();
            let after = in_chunks(format, &file(&dir, &output));
            assert_eq!(sorted(after.clone()), sorted(before.clone()), "{extension}");
            orders.insert(after);
        }
        assert!(orders.len() > 1, "{extension}");
        let counts = &dir.json(format!("1.{extension}.manifest.json"))["counts"];
        assert_eq!(counts["written"], counts["input"]);
    }
}

#[test]
fn shuffle_is_deterministic_for_any_memory_limit_and_threads() {
    for extension in SHAPES {
        let dir = Dir::new();
        let input = write_input(&dir, extension);
        let output = format!("whole.{extension}");
        dir.kyokumen(["shuffle", &input, "-o", &output, "--threads", "1"]).succeeds();
        let whole = file(&dir, &output);
        for (number, (memory, threads)) in
            [("1G", "4"), ("64K", "1"), ("10K", "2"), ("500", "3"), ("1", "2")].iter().enumerate()
        {
            let output = format!("{number}.{extension}.zst");
            let words = ["shuffle", &input, "-o", &output, "--memory", memory, "--threads"];
            dir.kyokumen([&words[..], &[threads, "--tmp-dir", "."]].concat()).succeeds();
            assert!(file(&dir, &output) == whole, "{extension} {memory} {threads}");
        }
    }
}

/// Runs an operation with 200 seeds. Returns its outputs and their frequencies.
fn outcomes(
    dir: &Dir,
    inputs: &[&str],
    operation: impl Fn(&RearrangePlan, u64) -> Result<OperationManifest, Error>,
) -> BTreeMap<Vec<u8>, u32> {
    let mut counts = BTreeMap::new();
    for seed in 0..200 {
        let inputs = inputs.iter().map(|input| dir.join(input)).collect();
        let output = dir.join("out.hcp");
        let request =
            RearrangeRequest { inputs, output, force: true, ..RearrangeRequest::default() };
        operation(&RearrangePlan::new(request).unwrap(), seed).unwrap();
        *counts.entry(file(dir, "out.hcp")).or_insert(0) += 1;
    }
    counts
}

static NEVER: AtomicBool = AtomicBool::new(false);

/// Whether all outcomes are equally likely by the chi-square test.
fn are_equally_likely(counts: &BTreeMap<Vec<u8>, u32>, outcomes: usize) -> bool {
    let expected = f64::from(counts.values().sum::<u32>()) / outcomes as f64;
    let squares = counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected);
    // Exceeded by chance in one of 1,000 tests, with 5 and with 9 degrees of freedom.
    let most = BTreeMap::from([(6, 20.5), (10, 27.9)])[&outcomes];
    counts.len() == outcomes && squares.sum::<f64>() < most
}

/// Every eleventh record is bad: 91 of 1000.
#[test]
fn bad_records_are_reported_skipped_or_quarantined() {
    let dir = Dir::new();
    let mut bytes = archive(Format::Psv, 1000);
    dir.write("a.psv", &bytes);
    let mut stopped = dir.kyokumen(["dedup", "a.psv", "-o", "b.psv"]).run().transcript;
    assert!(!dir.join("b.psv").exists() && !dir.join("b.psv.partial").exists());
    for policy in ["skip", "quarantine"] {
        let words = ["dedup", "a.psv", "-o", "b.psv", "--on-error", policy, "--force"];
        dir.kyokumen([&words[..], &["--memory", "3K"]].concat()).exits(&[3]);
        let counts = &dir.json("b.psv.manifest.json")["counts"];
        assert_eq!(
            counts["bad"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>(),
            91
        );
        assert_eq!(file(&dir, "b.psv").len() as u64, 40 * counts["written"].as_u64().unwrap());
    }
    assert_eq!(file(&dir, "b.quarantine.bin").len(), 40 * 91);
    // These commands do not decode records, so they detect only a truncated end.
    bytes.truncate(bytes.len() - 3);
    dir.write("c.psv", &bytes);
    for (number, command) in
        [&["shuffle"][..], &["sample", "--count", "999"], &["interleave", "a.psv"]]
            .iter()
            .enumerate()
    {
        let output = format!("d{number}.psv");
        let words = [*command, &["c.psv", "-o", &output]].concat();
        stopped += &dir.kyokumen(&words).run().transcript;
        dir.kyokumen([&words[..], &["--on-error", "quarantine"]].concat()).exits(&[3]);
        assert_eq!(file(&dir, &format!("d{number}.quarantine.bin")), bytes[39960..]);
    }
    assert_data_eq!(
        stopped,
        str![[r#"
status 1
error: a.psv, record 5 (file offset 200): byte 1: both kings are on 1a
status 1
error: c.psv, record 999 (file offset 39960): the record has 37 bytes instead of 40; 999 complete records precede it
status 1
error: c.psv, record 999 (file offset 39960): the record has 37 bytes instead of 40; 999 complete records precede it
status 1
error: c.psv, record 999 (file offset 39960): the record has 37 bytes instead of 40; 999 complete records precede it

"#]]
    );
}

#[test]
fn parts_of_split_join_to_the_whole() {
    for extension in SHAPES {
        let dir = Dir::new();
        let input = write_input(&dir, extension);
        let format = Format::from_extension(extension).unwrap();
        let whole = in_chunks(format, &file(&dir, &input));
        for by in ["round-robin", "ranges"] {
            dir.kyokumen(["split", &input, "-o", by, "--parts", "3", "--by", by]).succeeds();
            let parts: Vec<_> = (1..=3)
                .map(|part| file(&dir, &format!("{by}/a-{part:05}-of-00003.{extension}")))
                .map(|bytes| in_chunks(format, &bytes))
                .collect();
            let joined: Vec<_> = if by == "ranges" {
                parts.concat()
            } else {
                let deal = |chunk: usize| parts[chunk % 3][chunk / 3].clone();
                (0..parts.iter().map(Vec::len).sum()).map(deal).collect()
            };
            assert!(joined == whole, "{extension} {by}");
            assert!(parts.iter().all(|part| !part.is_empty()), "{extension} {by}");
            let check = format!("{by}/a.manifest.json");
            dir.kyokumen(["verify", "--manifest", &check]).succeeds();
        }
    }
}

#[test]
fn split_by_ranges_gives_the_ranges_of_shards() {
    let dir = Dir::new();
    dir.write("a.hcp", good(Format::Hcp, 101));
    dir.kyokumen([
        "split", "a.hcp", "-o", "b", "--parts", "4", "--by", "ranges", "--to", "hcp.zst",
    ])
    .succeeds();
    let sizes = [25, 25, 25, 26];
    for (part, size) in (1..=4).zip(sizes) {
        let name = format!("a-{part:05}-of-00004.hcp.zst");
        let records = file(&dir, &format!("b/{name}")).len() / 32;
        let words = ["a.hcp", "-o", "c", "--nodes", "1", "--hash-mb", "1", "--mated", "relabel"];
        let shard_of = format!("{part}/4");
        dir.program("gen-filter", words).args(["--shard", &shard_of]).succeeds();
        let shard = file(&dir, &format!("c/a-{part:05}-of-00004.hcp"));
        assert!(shard == file(&dir, &format!("b/{name}")), "{part}");
        assert!(records.abs_diff(size) <= 1, "{part}: {records}");
    }
}

#[test]
fn interleave_keeps_the_order_of_each_input() {
    let dir = Dir::new();
    let bytes = good(Format::Psv, 3000);
    // The padding contains the number of the input, so that equal records can be distinguished.
    let mut inputs: Vec<Vec<u8>> = [0..40 * 1500, 40 * 1500..40 * 2500, 40 * 2500..40 * 3000]
        .map(|range| bytes[range].to_vec())
        .into();
    for (number, input) in (0..).zip(&mut inputs) {
        input.chunks_mut(40).for_each(|record| record[39] = number);
        dir.write(format!("{number}.psv"), input);
    }
    let parts = |mixture: &[u8]| -> Vec<Vec<u8>> {
        let part = |number: u8| mixture.chunks(40).filter(move |record| record[39] == number);
        (0..3).map(|number| part(number).flatten().copied().collect()).collect()
    };
    let mix = |words: &[&str]| {
        let inputs = ["interleave", "0.psv", "1.psv", "2.psv", "-o", "mix.psv", "--force"];
        dir.kyokumen([&inputs[..], words].concat()).succeeds();
        file(&dir, "mix.psv")
    };
    let even = mix(&[]);
    assert!(parts(&even) == inputs);
    assert!(mix(&["--seed", "2"]) != even);
    // All three inputs end together, so the first third of the output has a third of each.
    let share = |mixture: &[u8], number: usize| parts(mixture)[number].len() / 40;
    for (number, expected) in [(0, 500), (1, 333), (2, 167)] {
        assert!(share(&even[..40 * 1000], number).abs_diff(expected) < 60, "{number}");
    }
    let weighted = mix(&["--weights", "1,2,1"]);
    assert!(parts(&weighted) == inputs);
    assert!(share(&weighted[..40 * 1200], 1).abs_diff(600) < 80);
    let first = mix(&["--weights", "1,2,1", "--until", "first"]);
    assert!(weighted.starts_with(&first) && share(&first, 1) == 1000);
    let manifest = dir.json("mix.psv.manifest.json");
    assert_eq!(manifest["counts"]["written"], first.len() / 40);
    assert_eq!(manifest["inputs"][0]["to"], share(&first, 0));
}

/// There are six ways to interleave two records with two others.
#[test]
fn interleave_gives_every_order_with_the_same_probability() {
    let dir = Dir::new();
    let bytes = good(Format::Hcp, 4);
    dir.write("a.hcp", &bytes[..64]);
    dir.write("b.hcp", &bytes[64..]);
    let counts = outcomes(&dir, &["a.hcp", "b.hcp"], |plan, seed| {
        interleave(plan, None, Until::All, seed, &mut Progress::none(), &NEVER)
    });
    assert!(are_equally_likely(&counts, 6), "{counts:?}");
}

#[test]
fn games_are_counted() {
    let dir = Dir::new();
    dir.write("a.usi", "startpos moves 7g7f 3c3d\nstartpos moves 2g2f\nstartpos moves 7g7f\n");
    let split = dir.kyokumen(["split", "a.usi", "-o", "p", "--parts", "2"]).run();
    assert_data_eq!(
        split.stderr,
        str![[r#"
4 records: 4 written
  3 games
  p/a-00001-of-00002.usi (3 records, 2 games)
  p/a-00002-of-00002.usi (1 record, 1 game)

"#]]
    );
    for command in ["shuffle", "dedup --key bytes", "sample --rate 1", "interleave"] {
        dir.line(&format!("{command} a.usi -o b.usi.zst --force")).succeeds();
        assert_eq!(dir.json("b.usi.zst.manifest.json")["outputs"][0]["games"], 3, "{command}");
    }
    dir.write("a.psv", good(Format::Psv, 3));
    assert_eq!(dir.kyokumen(["shuffle", "a.psv", "-o", "b.psv"]).run().code, Some(0));
    assert_eq!(dir.json("b.psv.manifest.json")["outputs"][0].get("games"), None);
}

#[test]
fn invalid_requests_are_refused() {
    let dir = Dir::new();
    dir.write("a.psv", good(Format::Psv, 10));
    dir.write("b.hcp", good(Format::Hcp, 10));
    let games = write_input(&dir, "csa");
    let mut refusals = String::new();
    for words in [
        &["shuffle", "a.psv", "b.hcp", "-o", "c.psv"][..],
        &["shuffle", "a.psv", "-o", "c.hcp"],
        &["shuffle", "a.psv", "-o", "a.psv", "--force"],
        &["shuffle", "a.psv", "-o", "b.psv.gz"],
        &["dedup", "-", "--from", "psv", "-o", "c.psv"],
        &["dedup", &games, "-o", "c.csa"],
        &["dedup", "a.psv", "-o", "c.psv", "--key", "eval"],
        &["split", "a.psv", "-o", "p", "--parts", "0"],
        &["split", "a.psv", "-o", "a.psv", "--parts", "2"],
        &["split", "a.psv", "-o", "p", "--parts", "99", "--to", "psv.zst", "--memory", "50M"],
        &["split", "a.psv", "-o", "p", "--parts", "100000"],
        &["split", "a.psv", "-o", "-", "--parts", "2"],
        &["split", "a.psv", "-o", "p"],
        &["split", "a.psv", "-o", "p", "--parts", "2", "--size", "1M"],
        &["split", "a.psv", "-o", "p", "--size", "1M", "--by", "ranges"],
        &["split", "a.psv", "-o", "p", "--size", "39"],
        &["split", "-", "--from", "psv", "-o", "p", "--records", "2"],
        &["split", &games, "-o", "p", "--records", "1"],
        &["sample", "a.psv", "-o", "c.psv"],
        &["sample", "-", "--from", "psv", "-o", "c.psv", "--count", "3"],
        &["interleave", "a.psv", "-o", "c.psv", "--weights", "1,2"],
        &["interleave", "a.psv", "-o", "c.psv", "--weights", "0"],
        &["shuffle", "a.psv", "-o", "-", "--on-error", "quarantine"],
    ] {
        refusals += &dir.kyokumen(words).run().transcript;
    }
    assert_data_eq!(
        refusals,
        str![[r#"
status 2
error: a.psv and b.hcp have different formats; convert them to one format with `kyokumen convert`
status 2
error: cannot write psv records to c.hcp as hcp, because this command does not change the format; use `kyokumen convert`
status 2
error: a.psv would overwrite the input a.psv; choose another output
status 2
error: psv.gz can be read but not written; write psv or psv.zst
status 2
error: standard input can only be read once, from its start to its end: dedup reads its inputs twice; write the data to a file first
status 2
error: --key position cannot be used with csa: it holds games, which are compared as a whole; use --key bytes
status 2
error: invalid value 'eval' for '--key <position|position+move|content|bytes>': "eval" is not a key: expected position, position+move, content or bytes

For more information, try '--help'.
status 2
error: invalid value '0' for '--parts <N>': expected a whole number from 1 to 99999

For more information, try '--help'.
status 2
error: a.psv is not a folder
status 2
error: writing 99 parts at the same time needs more than --memory 50M; increase --memory or use --by ranges
status 2
error: invalid value '100000' for '--parts <N>': expected a whole number from 1 to 99999

For more information, try '--help'.
status 2
error: the outputs need a folder, so they cannot be written to standard output (`-`)
status 2
error: the following required arguments were not provided:
  <--parts <N>|--size <SIZE>|--records <N>|--weights <W,W,…>|--names <NAME,NAME,…>>

Usage: kyokumen split --output <DIR> <--parts <N>|--size <SIZE>|--records <N>|--weights <W,W,…>|--names <NAME,NAME,…>> <INPUT>...

For more information, try '--help'.
status 2
error: the argument '--parts <N>' cannot be used with '--size <SIZE>'

Usage: kyokumen split --output <DIR> <--parts <N>|--size <SIZE>|--records <N>|--weights <W,W,…>|--names <NAME,NAME,…>> <INPUT>...

For more information, try '--help'.
status 2
error: the argument '--size <SIZE>' cannot be used with '--by <round-robin|ranges|game|position>'

Usage: kyokumen split --output <DIR> <--parts <N>|--size <SIZE>|--records <N>|--weights <W,W,…>|--names <NAME,NAME,…>> <INPUT>...

For more information, try '--help'.
status 2
error: --size is too small: the largest record or game needs 40 bytes
status 2
error: standard input can only be read once, from its start to its end: the number of parts is known only after reading all records; write the data to a file first
status 2
error: --records is too small: the largest game has 160 records
status 2
error: the following required arguments were not provided:
  <--count <N>|--rate <P>>

Usage: kyokumen sample --output <OUTPUT> <--count <N>|--rate <P>> <INPUT>...

For more information, try '--help'.
status 2
error: standard input can only be read once, from its start to its end: --count reads the inputs twice; write the data to a file first
status 2
error: 2 weights given for 1 input; --weights needs one weight per input
status 2
error: invalid value '0' for '--weights <W,W,…>': "0" is not a list of weights: expected whole numbers from 1, as in 95,5

For more information, try '--help'.
status 2
error: --on-error quarantine needs an output file, but `-` is standard output or a pipe

"#]]
    );
    assert_eq!(dir.names("").len(), 3);
}

#[test]
fn comments_do_not_change_the_proportions_of_interleave() {
    let dir = Dir::new();
    let text = good(Format::Sfen, 100);
    dir.write("a.sfen", [b"# comment\n".repeat(900), text.clone()].concat());
    dir.write("b.sfen", &text);
    dir.kyokumen(["interleave", "a.sfen", "b.sfen", "-o", "c.sfen"]).succeeds();
    let lines = in_chunks(Format::Sfen, &file(&dir, "c.sfen"));
    let (mut rest, mut first) = (in_chunks(Format::Sfen, &text).into_iter().peekable(), 0);
    // The inputs have equal records. A line that is not the next record of one input is from the other input.
    for line in &lines[..100] {
        first += usize::from(rest.next_if_eq(line).is_some());
    }
    assert!((30..=100).contains(&first) && rest.count() > 10, "{first}");
}

/// An output that is standard input is refused, and a run that waits for input can be interrupted.
#[test]
#[cfg(unix)]
fn redirected_outputs_are_protected_and_waiting_runs_interruptible() {
    use std::io::Write;
    use std::process::Stdio;

    use crate::signals::send;

    let dir = Dir::new();
    dir.write("a.hcp", good(Format::Hcp, 10));
    let words = ["shuffle", "-", "--from", "hcp", "-o", "a.hcp", "--force"];
    let mut command = dir.kyokumen(words);
    command.0.stdin(fs::File::open(dir.join("a.hcp")).unwrap());
    command.fails(2);
    assert!(file(&dir, "a.hcp") == good(Format::Hcp, 10));
    for words in [
        &["shuffle"][..],
        &["interleave", "--weights", "1"],
        &["sample", "--rate", "0.5"],
        &["split", "--parts", "2"],
    ] {
        let mut command = dir.kyokumen(words).args(["-", "--from", "hcp", "-o", "out"]);
        let command = command.0.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&good(Format::Hcp, 10)).unwrap();
        while !["out.partial", "out"].iter().any(|name| dir.join(name).exists()) {
            std::thread::yield_now();
        }
        send(libc::SIGINT, &child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{words:?}");
        drop(input);
        assert_eq!(dir.names("").len(), 1, "{words:?}");
    }
}

#[test]
fn shuffle_drops_comments_and_keeps_one_header() {
    let dir = Dir::new();
    let mut text = b"# first\n".to_vec();
    text.extend(good(Format::Sfen, 20));
    text.extend(b"\n# last");
    dir.write("a.sfen", &text);
    let message = dir.kyokumen(["shuffle", "a.sfen", "-o", "b.sfen"]).succeeds().stderr;
    assert!(message.contains("20 written"), "{message}");
    assert_eq!(
        sorted(in_chunks(Format::Sfen, &file(&dir, "b.sfen"))),
        sorted(in_chunks(Format::Sfen, &good(Format::Sfen, 20)))
    );
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join("sample.db");
    let words = ["shuffle", sample.to_str().unwrap(), sample.to_str().unwrap(), "-o", "b.db"];
    dir.kyokumen(&words).succeeds();
    let header = String::from_utf8(Format::Db.header().to_vec()).unwrap();
    let book = String::from_utf8(file(&dir, "b.db")).unwrap();
    assert!(book.starts_with(&header));
    assert_eq!(book.matches(header.trim_end()).count(), 1);
}

#[test]
fn a_created_output_folder_is_removed_after_a_failure() {
    let dir = Dir::new();
    dir.write("in.hcp", good(Format::Hcp, 40));
    dir.write("cut.hcp", &good(Format::Hcp, 40)[..100]);
    for words in [&["dedup"][..], &["shuffle"], &["sample", "--rate", "1"], &["interleave"]] {
        let to = format!("{}/out.hcp", words[0]);
        dir.kyokumen([words, &["in.hcp", "-o", &to]].concat()).succeeds();
        assert!(!file(&dir, &to).is_empty(), "{words:?}");
    }
    fs::create_dir(dir.join("there")).unwrap();
    let split = &["split", "--parts", "2"][..];
    for words in [&["dedup"][..], &["shuffle"], &["sample", "--rate", "1"], &["interleave"], split]
    {
        for to in ["no/deep/out.hcp", "no/../no/./deep/out.hcp", "there/no/deep/out.hcp"] {
            // A folder has no extension.
            let to = if words == split { to.trim_end_matches(".hcp") } else { to };
            dir.kyokumen([words, &["cut.hcp", "-o", to]].concat()).fails(1);
            assert!(!dir.join("no").exists(), "{words:?} {to}");
        }
        // An existing folder stays, even if it is empty.
        assert!(dir.names("there").is_empty(), "{words:?}");
    }
    let unmakeable = format!("no/{}/out.hcp", "n".repeat(300));
    dir.kyokumen(["shuffle", "in.hcp", "-o", &unmakeable]).fails(1);
    assert!(!dir.join("no").exists());
    dir.kyokumen(["shuffle", "in.hcp", "-o", "whole.hcp.zst"]).succeeds();
    let whole = dir.read("whole.hcp.zst");
    dir.write("cut.hcp.zst", &whole[..whole.len() / 2]);
    dir.kyokumen(["verify", "cut.hcp.zst", "--quarantine", "no/deep"]).fails(1);
    assert!(!dir.join("no").exists());
}

#[test]
fn an_empty_input_gives_an_empty_output() {
    let dir = Dir::new();
    dir.write("a.hcp", b"");
    for (number, words) in
        [&["shuffle"][..], &["dedup"], &["sample", "--count", "3"], &["interleave"]]
            .iter()
            .enumerate()
    {
        let output = format!("{number}.hcp");
        // The status for inputs without records.
        dir.kyokumen([*words, &["a.hcp", "-o", &output]].concat()).exits(&[3]);
        assert_eq!(file(&dir, &output), b"");
        dir.kyokumen(["verify", "--manifest", &format!("{output}.manifest.json")]).succeeds();
    }
    dir.write("0.hcp", b"x");
    assert_data_eq!(
        dir.kyokumen(["verify", "--manifest", "0.hcp.manifest.json"]).run().transcript,
        str![[r#"
status 1
error: the outputs do not match their manifests

"#]]
    );
}
